"""Damage is found wherever it is, and only what nobody needs is removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_samples import varied

from swefuse.errors import DataError
from swefuse.library import Filter, Library
from swefuse.library.facts import WORDS
from swefuse.library.upkeep import Freed

_DELETE = f"INSERT INTO words (words, rowid, {', '.join(WORDS)}) VALUES ('delete', 1, 'repair', '', '', '')"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "l.db", create=True) as opened:
        opened.add_many([varied("a", strength=0.5, repo="me/tool"), varied("b", refused=True)])
        yield opened


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE entry SET strength = 0.9 WHERE seq = 1", "entry 1 (a): its columns or reasons are not those of its records"),
        ("UPDATE entry SET repo = 'x' WHERE seq = 2", "entry 2 (b): its columns or reasons are not those of its records"),
        ("UPDATE entry SET shape = 'x' WHERE seq = 2", "entry 2 (b): its columns or reasons are not those of its records"),
        ("UPDATE entry SET current = 0 WHERE seq = 2", "trajectory b has no current entry"),
        (_DELETE, "the full-text index lacks the words of entry 1"),
        ("INSERT INTO words (rowid, patch) VALUES (1, 'more')", "the full-text index holds other words under 1 than"),
        (
            "INSERT INTO words (rowid, patch) VALUES (9, 'more')",
            "the full-text index holds words under 9, which is no entry's number",
        ),
        ("DELETE FROM words_docsize WHERE id = 2", "the full-text index lacks the words of entry 2"),
        ("UPDATE entry SET doc = 7 WHERE seq = 2", "the full-text index lacks the words of entry 7"),
    ],
)
def test_what_differs_is_found(library: Library, statement: str, told: str) -> None:
    assert library.verify() == []
    library._db().execute(statement)
    assert any(problem.startswith(told) for problem in library.verify()), library.verify()
    assert not library._db().in_transaction


def test_two_texts_cannot_share_their_words(library: Library) -> None:
    library.add_many([varied("c", instruction="something else")])
    library._db().execute("UPDATE entry SET doc = 1 WHERE seq = 3")
    assert "entry 3 (c): its words are those of another trajectory" in library.verify()


def test_a_clean_library_loses_nothing(library: Library) -> None:
    before = list(library.query())
    assert library.gc() == Freed(0, 0, 0) == library.gc(superseded=True)
    assert list(library.query()) == before and library.verify() == []


def test_bodies_of_nobody_go(library: Library) -> None:
    library._db().execute("INSERT INTO body (sha, data) VALUES ('x', zeroblob(100000))")
    freed = library.gc()
    assert (freed.entries, freed.bodies) == (0, 1) and freed.bytes > 90_000
    assert library.get("a") == varied("a", strength=0.5, repo="me/tool") and library.verify() == []


def test_superseded_entries_go_when_asked_unless_a_snapshot_holds_them(library: Library) -> None:
    library.snapshot("v1", Filter(accepted=True))  # a as it is now
    library.tag("t")
    library.add_many([varied("a", instruction="other words"), varied("b", instruction="words of b")])
    library.add_many([varied("b", instruction="last")])
    assert library.gc() == Freed(0, 0, 0) and library.stats().superseded == 3
    freed = library.gc(superseded=True)
    assert (freed.entries, freed.bodies, library.stats().superseded) == (2, 3, 1)  # their tasks, and the ruling that refused b
    assert library.verify() == []
    with Library(library.path.with_name("l.db@v1")) as old:
        assert old.get("a") == varied("a", strength=0.5, repo="me/tool")
    counts = {word: library.count(Filter(query=word)) for word in ("repair", "words", "last")}
    assert counts == {"repair": 0, "words": 1, "last": 1}
    assert library.stats().tags == {"t": 2}
    assert library.add_many([varied("c")]) == 1 and library.verify() == []


def test_words_stay_while_another_entry_has_them(library: Library) -> None:
    library.add_many([varied("b")])  # judged again: the same text
    assert library.gc(superseded=True).entries == 1
    assert library.count(Filter(query="repair")) == 2 and library.verify() == []


def test_nothing_is_removed_where_a_body_is_damaged(library: Library) -> None:
    library.add_many([varied("a")])
    library._db().execute("UPDATE body SET data = zeroblob(9) WHERE sha = (SELECT task_sha FROM entry WHERE seq = 1)")
    rows = library._db().execute("SELECT count(*) FROM entry").fetchone()
    with pytest.raises(DataError, match="is damaged"):
        library.gc(superseded=True)
    assert library._db().execute("SELECT count(*) FROM entry").fetchone() == rows
