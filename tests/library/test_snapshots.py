"""What a model saw can be read again later, whatever became of the library."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from store_samples import varied

from swefuse.errors import DataError
from swefuse.library import Filter, Library
from swefuse.library.snapshots import named


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Library(tmp_path / "l.db", create=True) as library:
        library.add_many([varied("a", source="commits"), varied("b"), varied("c", refused=True)])
        library.snapshot("v1")
    return tmp_path / "l.db"


def at(path: Path, name: str) -> Library:
    return Library(path.with_name(f"{path.name}@{name}"))


def test_a_snapshot_stays_as_it_was(path: Path) -> None:
    with Library(path) as library, at(path, "v1") as old:
        before = list(old.iter_accepted()), old.fingerprint(), old.stats().accepted, list(old.query())
        assert [entry.trajectory.id for entry in before[0]] == ["a", "b"] and before[1] == library.fingerprint()
        library.add_many([varied("a", refused=True), varied("d", source="commits")])
        assert (list(old.iter_accepted()), old.fingerprint(), old.stats().accepted, list(old.query())) == before
        assert old.get("a").decision.accepted and not library.get("a").decision.accepted
        with pytest.raises(DataError, match="holds no trajectory 'd'"):
            old.get("d")
        assert (old.count(Filter(source="commits")), old.search(Filter(query="repair"), 1)[0].trajectory_id) == (1, "c")
        assert library.verify() == [] == old.verify()


def test_a_snapshot_of_a_part_holds_that_part(path: Path) -> None:
    with Library(path) as library:
        made = library.snapshot("v2", Filter(accepted=True, source="commits"))
        assert (made.entries, made.accepted) == (1, 1)
        first, second = library.snapshots()
        assert (first.name, first.entries, first.accepted, first.fingerprint) == ("v1", 3, 2, library.fingerprint())
        assert second == made and second.made.endswith("+00:00")
    with at(path, "v2") as part:
        assert [entry.trajectory.id for entry in part.iter_accepted()] == ["a"] and part.fingerprint() == made.fingerprint


def test_names_are_taken_once_and_are_plain(path: Path) -> None:
    with Library(path) as library:
        with pytest.raises(DataError, match="there is a snapshot 'v1' already, and a snapshot never changes; choose another name"):
            library.snapshot("v1")
        for name in ("", "a b", "-x", "a@b", "a/b", "x" * 65):
            with pytest.raises(DataError, match="is no name for a snapshot"):
                library.snapshot(name)
        assert [each.name for each in library.snapshots()] == ["v1"]


def test_an_unknown_snapshot_is_told_with_those_that_there_are(path: Path) -> None:
    with pytest.raises(DataError, match="there is no snapshot 'v9'; snapshots: v1"):
        at(path, "v9")


def test_nothing_is_written_to_a_snapshot(path: Path) -> None:
    with at(path, "v1") as old:
        for write in (
            lambda: old.add_many([varied("x")]),
            lambda: old.tag("t"),
            lambda: old.snapshot("v2"),
            lambda: old.split("function", {"all": 1}),
            lambda: old.gc(),
            lambda: old.merge(old),
        ):
            with pytest.raises(DataError, match=r"l\.db@v1 is a snapshot, which never changes; name the library itself"):
                write()


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM member", "UPDATE member SET seq = 3 WHERE seq = 1", "DELETE FROM snapshot", "UPDATE snapshot SET name = 'v0'"],
)
def test_the_file_itself_refuses_to_change_one(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="a snapshot is never changed"):
        db.execute(statement)
    db.close()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO member VALUES (1, 99)",
        "DELETE FROM entry WHERE seq = 2",
        "UPDATE entry SET ruling_sha = (SELECT ruling_sha FROM entry WHERE seq = 3) WHERE seq = 1",
    ],
)
def test_a_snapshot_that_was_tampered_with_is_found(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    with db:
        db.execute(statement)
    db.close()
    with Library(path) as library:
        assert "snapshot v1: its entries are not those that it was taken of" in library.verify()


def test_files_with_such_names_are_files(path: Path, tmp_path: Path) -> None:
    assert named(path) == (path, None)
    assert named(tmp_path / "l.db@v1") == (path, "v1")
    assert named(tmp_path / "no.db@v1") == (tmp_path / "no.db@v1", None)
    with Library(tmp_path / "m.db@v1", create=True) as library:
        library.add_many([varied("m")])
    with Library(tmp_path / "m.db@v1") as library:
        assert (library.count(), library.snapshot_name) == (1, None)
