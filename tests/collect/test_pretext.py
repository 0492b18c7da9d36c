"""Exercises of repair without tests."""

from __future__ import annotations

from dataclasses import replace

from swefuse.code.operators import Bug
from swefuse.collect import protocol
from swefuse.collect.pretext import exercises
from swefuse.policy.base import Choice
from swefuse.tasks.spec import MODULE, FunctionSpec
from swefuse.workspace import apply_edit


def make_spec(text: str, name: str) -> FunctionSpec:
    return FunctionSpec("text", "there.module:1", name, text, "0" * 16, "")


SPEC = make_spec(
    "def most(rows, least):\n    best = least\n    for at, row in enumerate(rows):\n        if row > best and at < 9:\n"
    "            best = row + 1\n    return best\n",
    "most",
)


def test_the_last_step_mends_the_bug_and_was_open() -> None:
    made = exercises(SPEC, 6, seed=1)
    assert len(made) == 6
    for task, shown in made:
        *before, last = shown.steps
        assert last.action is not None
        assert task.files[MODULE] != SPEC.text
        assert Choice(last.thought, last.action) in protocol.choices(task, task.files, before)
        assert apply_edit(task.files, last.action) == {MODULE: SPEC.text} == task.reference
    assert len({task.id for task, _ in made}) == 6


def test_as_many_kinds_as_there_are_and_the_same_ones_again() -> None:
    kinds = {task.provenance.operator for task, _ in exercises(SPEC, 5, seed=2)}
    assert len(kinds) == 5
    assert kinds <= {kind.value for kind in Bug}
    assert exercises(SPEC, 5, seed=2) == exercises(SPEC, 5, seed=2) != exercises(SPEC, 5, seed=3)


def test_a_function_without_bugs_gives_none() -> None:
    assert exercises(make_spec("def f():\n    pass\n", "f"), 3, seed=0) == []
    assert exercises(replace(SPEC, text="def f(:\n", name="f"), 3, seed=0) == []
