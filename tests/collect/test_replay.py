"""A reference solution is told in several ways, each carried out for real and true to what was seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_task import function_task
from swefuse.collect.agent import Judge
from swefuse.collect.replay import GRAINS, ORDERS, Plan, changes, plans, replay, replays
from swefuse.errors import DataError, PatchError
from swefuse.library.coherence import coherence
from swefuse.records import Kind, Outcome, Provenance, Suite, Task
from swefuse.verify import Verifier
from swefuse.workspace import apply_edit

CODE = "def half(x):\n    return x // 2\n\n\ndef third(x):\n    y = x\n    return y // 3\n"
RIGHT = "def half(x):\n    return x / 2\n\n\ndef third(x):\n    if not x:\n        return 0\n    return x / 3\n"
TEST = "from calc import half, third\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
TEST += "\n\ndef test_third():\n    assert third(0) == 0\n"
LINES = st.lists(st.sampled_from(["a = 1", "b = a", "", "    c()", "return x // 2"]), max_size=6)


def file_task(reference: dict[str, str] | None = None) -> Task:
    files = {"calc.py": CODE, "tests/test_calc.py": TEST}
    test = "tests/test_calc.py"
    suites = (Suite(form="pytest", files=(test,), fail_to_pass=(f"{test}::test_half",), pass_to_pass=(f"{test}::test_third",)),)
    return Task.make(
        Kind.BUGFIX, instruction="Repair half.", files=files, editable=("calc.py",), protected=(test,), suites=suites,
        reference=reference or {**files, "calc.py": RIGHT}, provenance=Provenance(source="t"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Verifier() as made:
        yield Judge(lambda items: [made.verify(item.task, item.files) for item in items])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("grain", GRAINS)
def test_every_way_passes_and_its_steps_chain(judge: Judge, order: str, grain: str) -> None:
    task = file_task()
    made = replay(task, judge, Plan(order, grain))  # type: ignore[arg-type]
    assert made.verdict is not None and made.verdict.outcome is Outcome.PASSED
    assert coherence(task, made, made.verdict) is None and all(one.keep for one in made.steps)
    names = [one.action.name for one in made.steps if one.action]
    start = {"test_first": ["test", "view"], "look_first": ["view", "test"], "search_first": ["test", "search", "view"]}[order]
    assert names[: len(start)] == start and names[-2:] == ["test", "submit"]
    first = next(one for one in made.steps if one.action and one.action.name == "edit")
    told = next(one.observation for one in made.steps if one.action and one.action.name == "test")
    quoted = first.thought.split("\n")[0].strip("`")
    assert quoted.startswith("FAIL tests/test_calc.py::test_half") and quoted in told
    assert made.steps[-1].thought == "The tests pass now."


def test_grains_differ_in_what_an_edit_changes() -> None:
    narrow, lines, span = (list(changes(file_task(), grain)) for grain in ("narrow", "lines", "span"))
    assert len(span) == 1 < len(lines) == len(narrow)
    assert ("//", "/") in [(edit.old, edit.new) for edit in narrow]
    assert ("    return x // 2", "    return x / 2") in [(edit.old, edit.new) for edit in lines]


@given(before=LINES, after=LINES, ends=st.tuples(st.booleans(), st.booleans()), grain=st.sampled_from(GRAINS))
def test_the_edits_of_any_change_give_it(before: list[str], after: list[str], ends: tuple[bool, bool], grain: str) -> None:
    old, new = ("\n".join(rows) + ("\n" if rows and end else "") for rows, end in zip((before, after), ends, strict=True))
    task = file_task().model_copy(update={"files": {"m.py": old}, "reference": {"m.py": new}})
    state = dict(task.files)
    try:
        for edit in changes(task, grain):  # type: ignore[arg-type]
            state = apply_edit(state, edit)
    except PatchError:
        return
    assert state == task.reference


def test_ways_are_many_and_the_same_each_time(judge: Judge) -> None:
    task = file_task()
    assert plans(task, 9) == plans(task, 9) and len(set(plans(task, 9))) == 9
    made, problem = replays(task, judge, 5)
    assert len(made) == len({one.id for one in made}) == 5 and problem == ""
    small = function_task()
    first, *_ = replays(small, judge, 2)[0]
    assert [one.action.name for one in first.steps if one.action] == ["view", "test", "edit", "test", "submit"]
    assert first.policy.model == "scripted/reference"


def test_what_cannot_be_told_says_why(judge: Judge) -> None:
    gone = file_task(reference={"tests/test_calc.py": TEST, "other.py": "x = 1\n"})
    assert replays(gone, judge, 3) == ([], "calc.py is removed, for which there is no action")
    many = file_task(reference={**file_task().files, **{f"m{n}.py": "x = 1\n" for n in range(9)}})
    assert replays(many, judge, 1)[1] == "the solution changes more than 8 files"
    with pytest.raises(DataError, match="no reference"):
        replay(file_task().model_copy(update={"reference": None}), judge, Plan("look_first", "lines"))
