"""What is open to the agent, step by step."""

from __future__ import annotations

import ast

import pytest

from function_task import BUGGY, MENDED, PATH, function_task
from swefuse.collect.actions import parse, render
from swefuse.collect.protocol import MAX_STEPS, choices, entry
from swefuse.policy.base import Choice
from swefuse.records import Action, ActionName, Step
from swefuse.workspace import apply_edit

LONGER = '''def double(x: int) -> int:
    """Twice x."""
    total = 0
    if x is None:
        raise ValueError("x")
    for part in [x, x]:
        if part != 0 and not part == 0:
            total -= part
    return total
'''


def steps(*names: ActionName) -> list[Step]:
    return [Step(thought="", action=Action(name=name), raw="", observation="", before="", after="") for name in names]


@pytest.mark.parametrize(
    ("done", "open_"),
    [
        ((), Action(name="view", path=PATH)),
        (("view",), Action(name="test")),
        (("view", "test", "edit"), Action(name="test")),
        (("view", "test", "edit", "test"), Action(name="submit")),
    ],
)
def test_all_but_the_edit_is_forced(done: tuple[ActionName, ...], open_: Action) -> None:
    assert choices(function_task(), {PATH: MENDED}, steps(*done)) == (Choice("", open_),)


def test_nothing_is_open_after_submit_and_the_way_fits_its_limit() -> None:
    whole: tuple[ActionName, ...] = ("view", "test", "edit", "test", "submit")
    assert choices(function_task(), {PATH: MENDED}, steps(*whole)) == ()
    assert len(whole) == MAX_STEPS


@pytest.mark.parametrize("text", [BUGGY, LONGER])
def test_every_open_edit_applies_parses_and_can_be_written(text: str) -> None:
    files = {PATH: text}
    found = choices(function_task(text), files, steps("view", "test"))
    assert len(found) == len(set(found)) > 5
    for choice in found:
        changed = apply_edit(files, choice.action)
        assert changed != files
        ast.parse(changed[PATH])
        assert parse(render(choice.action, choice.thought)) == (choice.thought, choice.action)
        assert "\n" not in choice.thought and choice.thought
    assert found == choices(function_task(text), dict(files), steps("view", "test"))


def test_the_mending_edit_is_open() -> None:
    found = choices(function_task(), {PATH: BUGGY}, steps("view", "test"))
    assert MENDED in [apply_edit({PATH: BUGGY}, choice.action)[PATH] for choice in found]


def test_the_entry_point_is_path_and_function() -> None:
    assert entry(function_task()) == (PATH, "double")
