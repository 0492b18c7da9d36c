"""The steps of a model solution lead to the reference, and each can be written in the action grammar."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swefuse.collect.actions import parse, render
from swefuse.errors import DataError
from swefuse.records import Action
from swefuse.tasks.steps import solution
from swefuse.workspace import apply_edit

LINES = st.lists(st.sampled_from(["a = 1", "b = 2", "", "    c()", "a = 1  # a"]), max_size=8)
TEXTS = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines))


@settings(max_examples=300, deadline=None)
@given(before=TEXTS, after=TEXTS, more=TEXTS)
def test_the_edits_lead_to_the_reference(before: str, after: str, more: str) -> None:
    assume(before or after != "\n")  # an empty file cannot be given one empty line
    files, reference = {"m.py": before, "n.py": "x\n"}, {"m.py": after, "n.py": "x\n", "new.py": more}
    steps = solution(files, reference, "why")
    state = dict(files)
    for step in steps:
        if step.action.name in ("edit", "create"):
            state = apply_edit(state, step.action)
            if "m.py" in step.action.path and (step.action.old or step.action.new):
                assert parse(render(step.action, step.thought)) == (step.thought, step.action)
    assert state == reference
    assert next(step.thought for step in steps if step.action.name in ("edit", "create")) == "why"
    assert (steps[0].action.name, steps[-1].action.name) == ("view" if before != after else "test", "submit")


def test_it_looks_runs_the_tests_edits_and_runs_them_again() -> None:
    steps = solution({"m.py": "a\nb\n", "t.py": ""}, {"m.py": "a\nc\n", "t.py": ""}, "b is wrong")
    assert [step.action for step in steps] == [
        Action(name="view", path="m.py"), Action(name="test"), Action(name="edit", path="m.py", line=2, old="b\n", new="c\n"),
        Action(name="test"), Action(name="submit"),
    ]  # fmt: skip
    assert [step.thought for step in steps] == ["", "", "b is wrong", "", ""]


@pytest.mark.parametrize(("before", "after"), [("a\nb", "a\nb\nc"), ("a", "b\n"), ("a\n", "a\nb"), ("a\nb\n", "b")])
def test_a_last_line_without_an_end_is_no_trouble(before: str, after: str) -> None:
    state = {"m": before}
    for step in solution({"m": before}, {"m": after}):
        state = apply_edit(state, step.action) if step.action.name == "edit" else state
    assert state == {"m": after}


def test_a_file_cannot_be_removed() -> None:
    with pytest.raises(DataError, match=r"m\.py is removed"):
        solution({"m.py": "a\n"}, {})
