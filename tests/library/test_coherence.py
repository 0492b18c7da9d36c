"""Coherence: a trajectory in which anything does not follow from the step before is refused, and an honest one never is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_samples import FIX, TASK, WAY, passing, walk

from swefuse.collect.actions import parse
from swefuse.errors import PatchError
from swefuse.library.coherence import coherence
from swefuse.records import Trajectory
from swefuse.workspace import ref


def reason(trajectory: Trajectory) -> str | None:
    return coherence(TASK, trajectory, passing())


def with_step(number: int, **change: Any) -> Trajectory:
    """The honest trajectory with one step (counted from 1) changed."""
    honest = walk(WAY)
    steps = list(honest.steps)
    steps[number - 1] = steps[number - 1].model_copy(update=change)
    return honest.model_copy(update={"steps": tuple(steps)})


EDITS = ("@edit m.py:1\n+# a\n", "@edit m.py:2*2\n-x\n+y\n", "@create n.py\n+a\n")
MESSAGES = st.sampled_from(["@view m.py\n", "@test\n", "@search x\n", "@undo\n", FIX, *EDITS])


@given(st.lists(MESSAGES, max_size=8))
def test_whatever_an_honest_agent_did_is_coherent(messages: list[str]) -> None:
    try:
        trajectory = walk([*messages, "@submit\n"])
    except (PatchError, IndexError):  # an action that does not apply here
        return
    assert reason(trajectory) is None


def test_the_state_of_every_step_is_replayed() -> None:
    start, end = ref(TASK.files), walk(WAY).final
    other = ref({**TASK.files, "m.py": "def f(x):\n    return x * 1\n"})
    wrong_after = "the state after it is not what its action makes of the state before"
    assert reason(with_step(3, after=other)) == f"step 3: {wrong_after}"
    assert reason(with_step(3, after=start)) == f"step 3: {wrong_after}"
    assert reason(with_step(4, after=start)) == f"step 4: {wrong_after}"  # a test changes nothing
    assert reason(with_step(4, before=start)) == "step 4: it does not start from the state that the step before it left"
    assert reason(with_step(1, before=end)) == "step 1: it does not start from the state that the step before it left"


def test_undo_returns_to_the_state_before_the_last_edit() -> None:
    both = walk([FIX, "@edit m.py:1\n+# a\n", "@undo\n", "@undo\n", FIX, "@submit\n"])
    assert reason(both) is None
    steps = list(both.steps)
    steps[2] = steps[2].model_copy(update={"after": both.initial})  # says that it went two states back
    assert reason(both.model_copy(update={"steps": tuple(steps)})) is not None
    nothing = with_step(1, raw="@undo\n", action=walk(["@create n.py\n+a\n", "@undo\n"]).steps[1].action)
    assert reason(nothing) == "step 1: there is nothing to undo"


def test_what_was_written_is_what_is_recorded() -> None:
    unlike = "what was written means another thought or action than the step records"
    assert reason(with_step(3, raw=FIX.replace("++", "+*"))) == f"step 3: {unlike}"
    assert reason(with_step(3, thought="another")) == f"step 3: {unlike}"
    assert reason(with_step(3, raw=FIX + "\n")) == f"step 3: {unlike}"
    assert reason(with_step(3, action=None)) == f"step 3: {unlike}"
    assert reason(with_step(1, raw="what now?\n", action=None)) == "step 1: what was written is no action"


def test_actions_apply_to_the_state_before() -> None:
    for raw, start in [
        ("@edit m.py:9\n-x\n+y\n", "step 1: line 9 does not exist"),
        ("@edit m.py:2\n-z\n+y\n", "step 1: 'z' (occurrence 1) is not on line 2"),
        ("@create m.py\n+x\n", "step 1: m.py exists already"),
        ("@create ../n.py\n+x\n", "step 1: path '../n.py' leaves the workspace"),
        ("@view n.py\n", "step 1: there is no file n.py"),
    ]:
        dummy = walk(["@test\n", *WAY])
        step = dummy.steps[0].model_copy(update={"raw": raw, "action": parse(raw)[1]})
        failing = dummy.model_copy(update={"steps": (step, *dummy.steps[1:])})
        assert (reason(failing) or "").startswith(start), raw
        unkept = step.model_copy(update={"keep": False})  # kept out of the loss, a mistake may stand in the context
        assert reason(failing.model_copy(update={"steps": (unkept, *dummy.steps[1:])})) is None
        moved = unkept.model_copy(update={"after": dummy.final})
        assert reason(failing.model_copy(update={"steps": (moved, *dummy.steps[1:])})) is not None


def test_an_unkept_step_may_be_no_action_but_not_a_false_record() -> None:
    assert reason(with_step(1, raw="hm\n", action=None, keep=False)) is None
    assert reason(with_step(1, raw="@submit\n", keep=False)) is not None


@pytest.mark.parametrize("raw", ["@edit test_m.py:5\n-2\n+0\n", "@create ./test_m.py\n+x = 1\n"])
def test_protected_paths_are_not_written_not_even_in_between(raw: str) -> None:
    refusal = reason(walk([raw, "@undo\n", *WAY])) or ""
    assert refusal.startswith("step 1: it writes to ")
    assert refusal.endswith("which is protected")


def test_the_end_is_one_submit_and_the_files_that_the_steps_make() -> None:
    assert reason(walk(WAY[:-1])) == "step 4: submit comes once, as the last step"
    assert reason(walk(["@submit\n", *WAY])) == "step 1: submit comes once, as the last step"
    assert reason(walk(WAY, steps=())) == "it has no steps"
    lie = "the final files are not those that the steps lead to"
    assert reason(walk(WAY, files={"m.py": "def f(x):\n    return 2\n"})) == lie
    assert reason(walk(WAY, files={**walk(WAY).files, "more.py": ""})) == lie
    assert reason(walk(WAY, final=ref(TASK.files))) == lie
    assert reason(walk(WAY, files={**TASK.files, **walk(WAY).files})) is None  # unchanged files may be named too


def test_it_starts_from_the_task() -> None:
    for strange in (walk(WAY, task_id="another"), walk(WAY, initial=walk(WAY).final)):
        assert reason(strange) == "it starts from another task or another state of its files"
