"""Does every step of a trajectory follow from the one before? Replays the actions on the task's files; runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath

from swefuse.collect.dialects import meaning
from swefuse.errors import PatchError
from swefuse.records import Action, Step, Task, Trajectory, Verdict
from swefuse.verify.screen import protected_paths
from swefuse.workspace import apply_edit, ref

State = tuple[Mapping[str, str], str]


def coherence(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """The steps lead from the task's files to the trajectory's, each by what it says.

    Text that was written means its action; ``edit`` and ``create`` apply to the state before and make exactly the state after,
    ``undo`` returns to the state before the last of them, everything else changes nothing; protected paths are not written, not
    even in between; ``submit`` comes once, at the end. A step that is not kept may fail to parse or to apply if it then changed
    nothing. ``trajectory.files`` is laid over the task's files.

    Example: raw ``@edit m.py:4`` … whose ``after`` is that of another edit ->
    ``step 3: the state after it is not what its action makes of the state before``.
    """
    start = ref(task.files)
    if trajectory.task_id != task.id or trajectory.initial != start:
        return "it starts from another task or another state of its files"
    if not trajectory.steps:
        return "it has no steps"
    states: list[State] = [(task.files, start)]
    protected = frozenset(protected_paths(task))
    for number, step in enumerate(trajectory.steps, 1):
        if (reason := _follow(step, states, protected)) is not None:
            return f"step {number}: {reason}"
        if (step.action is not None and step.action.name == "submit") != (number == len(trajectory.steps)):
            return f"step {number}: submit comes once, as the last step"
    files, final = states[-1]
    if trajectory.final != final or {**task.files, **trajectory.files} != files:
        return "the final files are not those that the steps lead to"
    return None


def replay(task: Task, trajectory: Trajectory) -> Iterator[tuple[int, Step, Mapping[str, str], Mapping[str, str]]]:
    """Every step with its number, counted from 1, and the files before and after it as its action makes them.

    What does not apply changes nothing; whether a step may be so is for ``coherence`` to say. The two mappings are one object
    exactly where nothing was written or undone.

    Example: ``[before is after for *_, before, after in replay(task, trajectory)]`` of view, edit, submit ->
    ``[True, False, True]``.
    """
    states: list[State] = [(task.files, "")]
    for number, step in enumerate(trajectory.steps, 1):
        before = states[-1][0]
        if step.action is not None:
            with suppress(PatchError, UnicodeEncodeError):
                _advance(step.action, states)
        yield number, step, before, states[-1][0]


def _follow(step: Step, states: list[State], protected: frozenset[str]) -> str | None:
    """Take one step from the last of ``states``, which is a stack that ``undo`` pops. The reason if it cannot be taken."""
    if step.before != states[-1][1]:
        return "it does not start from the state that the step before it left"
    if _meaning(step) != (None if step.action is None else (step.thought, step.action)):
        return "what was written means another thought or action than the step records"
    if step.action is None:
        if step.keep:
            return "what was written is no action"
    elif step.action.name in ("edit", "create") and str(PurePosixPath(step.action.path)) in protected:
        return f"it writes to {step.action.path}, which is protected"
    else:
        try:
            _advance(step.action, states)
        except (PatchError, UnicodeEncodeError) as error:
            if step.keep:
                return str(error)
    if step.after != states[-1][1]:
        return "the state after it is not what its action makes of the state before"
    return None


def _meaning(step: Step) -> tuple[str, Action] | None:
    try:
        return meaning(step.raw)
    except PatchError:
        return None


def _advance(action: Action, states: list[State]) -> None:
    files = states[-1][0]
    if action.name in ("edit", "create"):
        changed = apply_edit(files, action)
        states.append((changed, ref(changed)))
    elif action.name == "undo":
        if len(states) == 1:
            raise PatchError("there is nothing to undo")
        states.pop()
    elif action.name == "view" and action.path not in files:
        raise PatchError(f"there is no file {action.path} to view")
