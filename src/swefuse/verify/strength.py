"""How good a task's tests are: the share of small bugs in the reference solution that they notice (mutation analysis).

A task whose tests let bugs through rewards wrong patches. Some mutants mean the same as the original and nobody can kill them, so a
share below 1 is no proof of bad tests; a low one is a reason to look at what survived.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swefuse.code.functions import Source, functions
from swefuse.code.operators import Edit, apply, breaks
from swefuse.errors import DataError
from swefuse.records import Outcome, Task
from swefuse.scale.executor import Executor
from swefuse.verify.many import Candidate, verify_many
from swefuse.workspace import Files

Progress = Callable[[int, int], None]
BATCH = 32  # mutants between two looks at the clock


@dataclass(frozen=True, slots=True)
class Mutant:
    """One bug put into the reference: where, what it does, and the state that it gives."""

    path: str
    function: str
    edit: Edit
    files: Files

    def __str__(self) -> str:
        kind, line, nth, old, new = self.edit
        where = f" (number {nth} in the line)" if nth > 1 else ""
        return f"{self.path}:{line} {self.function}: {kind}: {old.strip()!r} -> {new.strip()!r}{where}"


@dataclass(frozen=True, slots=True)
class Strength:
    """``killed`` of ``judged`` mutants; ``survivors`` passed every test. ``listed``: how many there are to choose from.

    ``ungraded``: mutants that got no verdict, which count neither way.
    """

    killed: int
    judged: int
    listed: int
    ungraded: int
    survivors: tuple[Mutant, ...]

    @property
    def share(self) -> float | None:
        """Share of the judged mutants that the tests killed, in [0, 1]; None when none was judged."""
        return self.killed / self.judged if self.judged else None


def mutants(task: Task) -> list[Mutant]:
    """Every mutant of the functions that the task is about: those that the reference solution changed, else all that it may edit.

    Two edits that give the same text count once, and one that gives back the task's own broken state is a mutant like any other.
    Raises DataError for a task without a reference solution.
    """
    if task.reference is None:
        raise DataError(f"task {task.id} has no reference solution, so there is nothing to put bugs into")
    paths = [path for path in task.editable if path.endswith(".py") and path in task.reference]
    found = [mutant for path in paths for mutant in _of_file(task.reference, path, task.files.get(path))]
    return found or [mutant for path in paths for mutant in _of_file(task.reference, path, None)]


def _of_file(reference: Files, path: str, before: str | None) -> list[Mutant]:
    """Mutants of the functions of one file that differ from ``before``, or of all without it."""
    text = reference[path]
    unique: dict[str, Mutant] = {}
    for name in _changed(text, before):
        for edit in breaks(text, name):
            state = apply(text, edit)
            unique.setdefault(state, Mutant(path, name, edit, {**reference, path: state}))
    return list(unique.values())


def _changed(text: str, before: str | None) -> list[str]:
    def bodies(module: str) -> dict[str, str]:
        source = Source(module)
        return {node.name: "\n".join(source.lines[node.lineno - 1 : node.end_lineno]) for node in functions(source.tree)}

    now = bodies(text)
    if before is None:
        return list(now)
    try:
        then = bodies(before)
    except DataError:
        return list(now)
    return [name for name, body in now.items() if then.get(name) != body]


def strength(
    task: Task,
    executor: Executor,
    most: int = 100,
    seconds: float | None = None,
    form: str | None = None,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
) -> Strength:
    """Judge at most ``most`` mutants, drawn by ``seed``, and stop asking for more after ``seconds``.

    The executor's processes must have been started with ``verify.init_worker``. Same seed, same mutants; only ``seconds`` can make
    two runs differ, and then by how many are judged. Raises DataError when the reference solution itself does not pass.
    """
    listed = mutants(task)
    chosen = random.Random(f"strength|{seed}|{task.id}").sample(listed, min(most, len(listed)))
    assert task.reference is not None
    (first,) = verify_many([Candidate(task, task.reference, form)], executor)
    if first.outcome is not Outcome.PASSED:
        raise DataError(f"task {task.id}: the reference solution is {first.outcome}, so its mutants say nothing")
    return _judge(task, chosen, executor, form, seconds, len(listed), progress)


def _judge(
    task: Task,
    chosen: Sequence[Mutant],
    executor: Executor,
    form: str | None,
    seconds: float | None,
    listed: int,
    progress: Progress,
) -> Strength:
    started = time.monotonic()
    killed = judged = ungraded = 0
    survivors: list[Mutant] = []
    for at in range(0, len(chosen), BATCH):
        if seconds is not None and time.monotonic() - started >= seconds:
            break
        part = chosen[at : at + BATCH]
        for mutant, verdict in zip(
            part, verify_many([Candidate(task, m.files, form, fail_fast=True) for m in part], executor), strict=True
        ):
            if not verdict.outcome.graded or verdict.outcome is Outcome.UNPARSED:
                ungraded += 1
                continue
            judged += 1
            if verdict.outcome is Outcome.PASSED:
                survivors.append(mutant)
            else:
                killed += 1
        progress(at + len(part), len(chosen))
    return Strength(killed, judged, listed, ungraded, tuple(survivors))
