"""A small task, honest trajectories on it, and library entries, for the tests of this room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from swefuse.collect.actions import parse
from swefuse.collect.prompts import show_file
from swefuse.library import Entry, gate
from swefuse.library.conformance import sound
from swefuse.library.gate import Item
from swefuse.records import Action, Outcome, PolicyIdentity, Step, Task, TestResult, Trajectory, Verdict
from swefuse.workspace import apply_edit, ref

TASK: Task = sound()[0]
FIX = "#wrong sign\n@edit m.py:2\n--\n++\n"
WAY = ("@view m.py\n", "@test\n", FIX, "@test\n", "@submit\n")


def passing(task: Task = TASK) -> Verdict:
    """A verdict in which every expected test of the calls form passes."""
    suite = task.suite("calls")
    assert suite is not None
    results = {id_: TestResult(outcome="passed") for id_ in suite.expected}
    return Verdict(outcome=Outcome.PASSED, form="calls", tests=results, score=1.0)


def look(action: Action, files: Mapping[str, str]) -> str:
    """What an agent gets to see after an action that left these files; ``m.py`` is right once it adds."""
    if action.name == "view":
        return show_file(files[action.path])
    if action.name == "search":
        rows = (
            (path, at, row) for path in sorted(files) for at, row in enumerate(files[path].split("\n"), 1) if action.text in row
        )
        return "\n".join(f"{path}:{at}>{row}" for path, at, row in rows) or "no match"
    if action.name == "test":
        return "PASS f(1,) gave 2" if "return x + 1" in files["m.py"] else "FAIL f(1,) gave 0, expected 2"
    return "submitted" if action.name == "submit" else "ok"


def walk(messages: Sequence[str], task: Task = TASK, **fields: Any) -> Trajectory:
    """What an honest agent records for these messages; ``fields`` replace those of the trajectory."""
    history = [dict(task.files)]
    steps = []
    for raw in messages:
        thought, action = parse(raw)
        before = ref(history[-1])
        if action.name in ("edit", "create"):
            history.append(apply_edit(history[-1], action))
        elif action.name == "undo":
            history.pop()
        shown = look(action, history[-1])
        steps.append(Step(thought=thought, action=action, raw=raw, observation=shown, before=before, after=ref(history[-1])))
    made = {
        "id": "t", "task_id": task.id, "initial": ref(task.files), "steps": tuple(steps), "final": ref(history[-1]),
        "files": {path: text for path, text in history[-1].items() if task.files.get(path) != text}, "stop_reason": "submit",
        "policy": PolicyIdentity(model="scripted"), "source": "replay",
    }  # fmt: skip
    return Trajectory.model_validate({**made, **fields})


def item(messages: Sequence[str] = WAY, **fields: Any) -> Item:
    """An item for the gate with a passing verdict."""
    return TASK, walk(messages, **fields), passing()


def entries(names: Sequence[str], refused: Sequence[str] = ()) -> list[Entry]:
    """One entry per trajectory id; those in ``refused`` have a verdict that failed."""
    failed = passing().model_copy(update={"outcome": Outcome.FAILED})
    items: list[Item] = [(TASK, walk(WAY, id=name), failed if name in refused else passing()) for name in names]
    return [Entry(*each, decision) for each, decision in zip(items, gate(items, ["verdict", "coherence"]), strict=True)]
