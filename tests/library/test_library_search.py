"""Questions to a library: fields, words, tags, and the order of what is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library_samples import walk
from store_samples import varied

from swefuse.errors import DataError
from swefuse.library import Entry, Filter, Library
from swefuse.library import selection as selection_module
from swefuse.library.selection import match
from swefuse.records import Kind


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    batch = [
        varied("a", instruction="the timezone is wrong", repo="me/tool", strength=0.9, source="commits"),
        varied("b", instruction="a guard is missing", kind=Kind.REFACTOR, strength=0.8, repo="you/other"),
        varied("c", refused=True, instruction="nothing", strength=0.2),
        varied("d", instruction='AND so on: it\'s "quoted" (1*2)', split="unseen"),
    ]
    long = varied("e", instruction="nothing")
    thought = walk(("#about the timezone of others\n@view m.py\n", "@test\n"), id="e")
    batch.append(Entry(long.task, thought, long.verdict, long.decision))
    with Library(tmp_path_factory.mktemp("search") / "l.db", create=True) as opened:
        for entry in batch:
            opened.add_many([entry])
        opened.tag("good", Filter(kind="refactor"))
        yield opened


def names(library: Library, **fields: object) -> str:
    which = Filter(**fields)  # type: ignore[arg-type]
    found = "".join(row.trajectory_id for row in library.search(which))
    assert library.count(which) == len(found)
    assert sorted(found) == [row.trajectory_id for row in library.query(which)]
    return found


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, "edcba"),
        ({"kind": "refactor"}, "b"),
        ({"source": "commits"}, "a"),
        ({"repo": "you/other"}, "b"),
        ({"split": "unseen"}, "d"),
        ({"min_strength": 0.8}, "ba"),
        ({"min_strength": 0.0}, "cba"),
        ({"min_steps": 3}, "dcba"),
        ({"max_steps": 2}, "e"),
        ({"tag": "good"}, "b"),
        ({"tag": "bad"}, ""),
        ({"accepted": True, "min_strength": 0.1}, "ba"),
        ({"refused_by": "verdict"}, "c"),
        ({"query": "timezone"}, "ae"),  # in the instruction it counts more than in a thought
        ({"query": "TimeZone THE"}, "ae"),
        ({"query": "timezone", "max_steps": 2}, "e"),
        ({"query": "time"}, ""),
        ({"query": "time*"}, "ae"),
        ({"query": "AND"}, "d"),
        ({"query": '"quoted" AND (1*2) NOT-so NEAR/2 -on'}, ""),
        ({"query": "it's \"quoted"}, "d"),
        ({"query": "instruction:guard"}, ""),
    ],
)
def test_what_is_found_and_in_which_order(library: Library, fields: dict[str, object], found: str) -> None:
    assert names(library, **fields) == found


def test_pages_follow_each_other(library: Library) -> None:
    pages = [library.search(Filter(), limit=2, offset=at) for at in (0, 2, 4, 6)]
    assert ["".join(row.trajectory_id for row in page) for page in pages] == ["ed", "cb", "a", ""]


def test_rows_tell_what_was_asked_for(library: Library) -> None:
    (row,) = library.search(Filter(tag="good"))
    assert (row.repo, row.strength, row.tags, row.split) == ("you/other", 0.8, ("good",), "")
    (refused,) = library.query(Filter(accepted=False))
    assert refused.reasons == ("verdict: the verdict is FAILED",)


@pytest.mark.parametrize("query", ["", "  ", "!!! ---", "\x00"])
def test_a_search_without_words_is_refused(library: Library, query: str) -> None:
    with pytest.raises(DataError, match="holds no word; give some letters or digits"):
        library.search(Filter(query=query))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from("ab1_é\"*()^:+-.{} \n'ANDORNEAR/,"), max_size=30))
def test_no_search_is_an_error_of_syntax(library: Library, query: str) -> None:
    try:
        library.search(Filter(query=query))
    except DataError as error:
        assert "holds no word" in str(error)


def test_a_star_counts_behind_a_word_alone() -> None:
    assert match("time* UTC *x") == '"time" * "utc" "x"'
    assert match("parse_date*") == '"parse" "date" *'


def test_what_is_everywhere_is_sorted_by_age(tmp_path: Path) -> None:
    """Beyond MANY matches nothing is ranked; the same order as without a query shows that."""
    texts = ["word word", *["other"] * 3]
    with Library(tmp_path / "l.db", create=True) as opened:
        opened.add_many(varied(f"{number:02}", instruction=f"{texts[number % 4]} common") for number in range(8))
        db = opened._db()
        few = selection_module.found(db, Filter(query="common word"), selection_module.Scope(), None, 0)
        assert few == [5, 1]
        assert selection_module.found(db, Filter(query="common"), selection_module.Scope(), 3, 0, many=7) == [8, 7, 6]


def test_tags_stay_when_a_trajectory_is_judged_again(tmp_path: Path) -> None:
    with Library(tmp_path / "l.db", create=True) as opened:
        opened.add_many([varied("a"), varied("b")])
        assert opened.tag("hard") == 2
        assert opened.tag("hard") == 0
        assert opened.tag("odd", Filter(query="repair")) == 2
        opened.add_many([varied("a", refused=True)])
        assert opened.stats().tags == {"hard": 2, "odd": 2}
        assert opened.tag("hard", Filter(accepted=True), remove=True) == 1
        assert [row.tags for row in opened.query()] == [("hard", "odd"), ("odd",)]
        with pytest.raises(DataError, match="'a b' is no name for a tag"):
            opened.tag("a b")


def test_a_text_that_is_judged_again_is_indexed_once(tmp_path: Path) -> None:
    with Library(tmp_path / "l.db", create=True) as opened:
        opened.add_many([varied("a")])
        opened.add_many([varied("a", refused=True)])
        assert opened.count(Filter(query="repair")) == 1
        assert opened._db().execute("SELECT count(*) FROM words_docsize").fetchone() == (1,)
        opened.add_many([varied("a", instruction="something else")])
        assert (opened.count(Filter(query="repair")), opened.count(Filter(query="else"))) == (0, 1)
        assert opened.verify() == []
