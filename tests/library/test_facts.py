"""What the index holds of an entry."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_samples import TASK, WAY, walk
from store_samples import varied

from swefuse.library.facts import facts, repository, shape, terms, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("parse_date(UTC)", ["parse", "date", "utc"]),
        ("Straße, naïve; e\u0301", ["strasse", "naïve", "é"]),
        ("日本語 x2", ["日本語", "x2"]),
        ("\udc89 \x00 --", []),
        ("a" * 100, ["a" * 64]),
    ],
)
def test_words_of_a_text(text: str, found: list[str]) -> None:
    assert terms(text) == found


@settings(deadline=None)
@given(st.text())
def test_the_index_cuts_words_where_we_do(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE w USING fts5(t, content='', tokenize='ascii')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab('w', 'row')")
        db.execute("INSERT INTO w (rowid, t) VALUES (1, ?)", (" ".join(terms(text)),))
        assert {term for (term,) in db.execute("SELECT term FROM v")} == set(terms(text))


def test_words_stand_in_the_column_that_they_are_from() -> None:
    entry = varied("a", instruction="Mend the timezone")
    instruction, thoughts, paths, patch = (set(text.split()) for text in words(entry.task, entry.trajectory))
    assert instruction == {"mend", "the", "timezone"}
    assert thoughts == {"wrong", "sign"}
    assert paths == {"m", "py"}
    assert patch == {"return", "x", "1"}, "the lines that go and come"


def test_an_answer_that_was_no_action_is_searched_as_it_stands() -> None:
    entry = varied("a")
    steps = (entry.trajectory.steps[0].model_copy(update={"action": None, "thought": "", "raw": "Sorry, I refuse"}),)
    told = words(entry.task, entry.trajectory.model_copy(update={"steps": steps}))[1]
    assert told == "sorry i refuse"


@pytest.mark.parametrize(
    "name", ["https://github.com/pallets/click.git", "git@github.com:me/Click", "pallets__click.8f1a2b3c", "click/"]
)
def test_forks_and_mirrors_are_one_repository(name: str) -> None:
    assert repository(name, "commits") == "click"


def test_tasks_without_repository_belong_together_by_source() -> None:
    assert repository("", "corpus") == "source corpus" != repository("", "humaneval")


def test_the_shape_of_an_edit_leaves_names_and_undone_edits_out() -> None:
    def edited(old: str, new: str, *after: str) -> str:
        files = {**TASK.files, "m.py": f"def f(x):\n    return {old}\n"}
        task = TASK.model_copy(update={"files": files})
        return shape(walk((f"@edit m.py:2\n-{old}\n+{new}\n", *after), task))

    assert edited("total - x", "total + x") == edited("a - b", "a + b") == edited("a  -  b", "a+b")
    assert edited("a - b", "a + b") != edited("a - b", "a * b")
    assert edited("a - b", "a - 1") == edited("a - b", "a - 27") != edited("a - b", "a - c")
    assert edited("a - b", "a + b", "@undo\n") == "" == shape(walk(["@test\n"]))


def test_facts_name_the_units_of_splits() -> None:
    one = varied("a", repo="me/tool", function="m.py:f", body_hash="h1", strength=0.5)
    assert facts(one.task, one.trajectory)[:4] == ("me/tool", "tool", "h1", 0.5)
    unknown = varied("a")
    assert facts(unknown.task, unknown.trajectory)[:4] == ("", "source corpus", f"task {unknown.task.id}", None)
    assert facts(unknown.task, walk(WAY))[4] == sum(len(step.raw + step.observation) for step in walk(WAY).steps)
