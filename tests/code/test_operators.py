"""The set of edits: each applies, and (almost) each bug has an edit that mends it."""

from __future__ import annotations

import ast
import random

import pytest

from swefuse.code.meaning import meaning
from swefuse.code.operators import Bug, Edit, apply, breaks, edits, mending, removals
from swefuse.errors import DataError
from swefuse.tasks.families import corpus_functions

CORPUS = corpus_functions()
SHARES = 8  # each function is checked on one edit in so many, another share for each function


def test_every_edit_of_the_corpus_applies_parses_and_changes_the_code() -> None:
    checked = 0
    for at, spec in enumerate(CORPUS):
        for edit in edits(spec.text, spec.name)[at % SHARES :: SHARES]:
            result = apply(spec.text, edit)
            assert result != spec.text, (spec.key, edit)
            ast.parse(result)
            checked += 1
    assert checked > 5000


def test_the_mending_edit_restores_the_original() -> None:
    """Over the whole corpus; of the bugs by substitution no more than one in twenty is out of reach."""
    lost = tried = 0
    for spec in CORPUS:
        bugs = [bug for bug in breaks(spec.text, spec.name) if bug.old.count("\n") == 0]
        for bug in random.Random(spec.key).sample(bugs, min(2, len(bugs))) + removals(spec.text, spec.name)[:1]:
            broken = apply(spec.text, bug)
            mend = mending(spec.text, broken, spec.name)
            if mend is not None:
                result = apply(broken, mend)
                assert result == spec.text or (bug.new == "" and meaning(result) == meaning(spec.text)), (spec.key, bug, mend)
            tried += "\n" not in bug.old
            lost += "\n" not in bug.old and mend is None
    assert tried > 1000
    assert lost / tried < 0.05


def test_the_order_is_stable_and_free_of_duplicates() -> None:
    for spec in CORPUS[::40]:
        found = edits(spec.text, spec.name)
        assert found == edits(spec.text, spec.name)
        assert len({edit[1:] for edit in found}) == len(found)


EXAMPLE = """
def pick(items: list[int], limit: int) -> int:
    if limit < 0:
        raise ValueError("limit")
    total = 0
    for index in range(1, len(items)):
        if items[index] > limit and not total == 7:
            total += items[index - 1]
    return total
"""


@pytest.mark.parametrize(
    ("kind", "line", "old", "new"),
    [
        (Bug.COMPARISON, 7, ">", "<"),
        (Bug.BOUNDARY, 7, ">", ">="),
        (Bug.BOUNDARY, 6, "1", "0"),
        (Bug.ARITHMETIC, 8, "+=", "-="),
        (Bug.CONSTANT, 5, "0", "1"),
        (Bug.VARIABLE, 7, "limit", "total"),
        (Bug.CONDITION, 7, "and", "or"),
        (Bug.RETURN, 9, "return ", ""),
        (Bug.RETURN, 9, "total", "limit"),
        (Bug.GUARD, 3, '    if limit < 0:\n        raise ValueError("limit")\n', ""),
        (Bug.STATEMENT, 5, "    total = 0\n", ""),
    ],
)
def test_bugs_of_each_kind_and_their_mending(kind: Bug, line: int, old: str, new: str) -> None:
    [bug] = [bug for bug in breaks(EXAMPLE, "pick") if (bug.kind, bug.line, bug.old, bug.new) == (kind, line, old, new)]
    broken = apply(EXAMPLE, bug)
    mend = mending(EXAMPLE, broken, "pick")
    assert mend is not None
    assert meaning(apply(broken, mend)) == meaning(EXAMPLE)
    assert mend in edits(broken, "pick")


def test_an_unrelated_state_has_no_mending() -> None:
    assert mending(EXAMPLE, EXAMPLE.replace("total = 0", "total = 5").replace("> limit", "< limit"), "pick") is None
    assert mending(EXAMPLE, EXAMPLE, "pick") is None


def test_edit_becomes_an_action() -> None:
    action = Edit(Bug.CONSTANT, 5, 1, "0", "1").action("a.py")
    assert (action.name, action.path, action.line, action.nth, action.old, action.new) == ("edit", "a.py", 5, 1, "0", "1")


def test_errors_name_the_cause() -> None:
    with pytest.raises(DataError, match="does not parse"):
        edits("def f(:\n", "f")
    with pytest.raises(DataError, match="no top-level function g; functions: f"):
        edits("def f():\n    pass\n", "g")
