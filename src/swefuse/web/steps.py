"""A trajectory's steps as a page shows them: each edit as the diff that it made, found by doing it again."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple

from swefuse.errors import PatchError
from swefuse.records import Action, Step, Task, Trajectory
from swefuse.workspace import apply_edit

LONGEST = 200_000  # characters of a file of which a diff is made


class Shown(NamedTuple):
    """A step, its number from 1, what it did in a few words, the diff that it made (empty for none), and the tokens written."""

    number: int
    step: Step
    what: str
    diff: str
    tokens: int
    entropy: float | None


def shown(task: Task, trajectory: Trajectory) -> list[Shown]:
    """All steps in their order."""
    history = [dict(task.files)]
    found = []
    for number, step in enumerate(trajectory.steps, 1):
        before = history[-1]
        _act(history, step)
        trace = step.trace
        entropy = sum(trace.entropies) / len(trace.entropies) if trace and trace.entropies else None
        diff = diff_of(before, history[-1]) or _literal(step.action)
        found.append(Shown(number, step, _what(step.action), diff, len(trace.token_ids) if trace else 0, entropy))
    return found


def _act(history: list[dict[str, str]], step: Step) -> None:
    """Do a step's edit again, unless it changed nothing when it was done."""
    action = step.action
    if action is None or step.before == step.after:
        return
    if action.name == "undo" and len(history) > 1:
        history.pop()
    elif action.name in ("edit", "create"):
        try:
            history.append(dict(apply_edit(history[-1], action)))
        except (PatchError, KeyError, IndexError):
            history.append(dict(history[-1]))  # of another version; what it wanted is shown instead


def _literal(action: Action | None) -> str:
    """What an edit said, where its effect cannot be shown."""
    if action is None or action.name not in ("edit", "create"):
        return ""
    old = "".join(f"-{line}\n" for line in action.old[:LONGEST].splitlines())
    return old + "".join(f"+{line}\n" for line in (action.new or action.text)[:LONGEST].splitlines())


def diff_of(before: dict[str, str], after: dict[str, str]) -> str:
    """What changed from one state to another, as a unified diff; empty for nothing, and for files too large to compare."""
    parts: list[str] = []
    for path in sorted({*before, *after}):
        a, b = before.get(path, ""), after.get(path, "")
        if a != b and len(a) + len(b) <= LONGEST:
            lines = difflib.unified_diff(a.splitlines(), b.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
            parts += [f"{line}\n" for line in lines]
    return "".join(parts)


def _what(action: Action | None) -> str:
    if action is None:
        return "no action"
    where = action.path + (f":{action.line}" if action.line else "")
    return " ".join(part for part in (where, action.text if action.name in ("search", "run") else "") if part)[:200]


def final_diff(task: Task, trajectory: Trajectory) -> str:
    """All that a trajectory changed, in one diff."""
    return diff_of(dict(task.files), {**task.files, **trajectory.files})


def totals(steps: Sequence[Shown]) -> tuple[int, int]:
    """Edits, and tokens that a model wrote."""
    return sum(bool(one.diff) for one in steps), sum(one.tokens for one in steps)
