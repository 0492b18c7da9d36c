"""Better tests for function tasks: generated inputs, answered by the reference, that notice the bugs which slipped through."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from swefuse.errors import DataError
from swefuse.records import Call, Evidence, Suite, Task
from swefuse.scale.executor import InlineExecutor
from swefuse.tasks.inputs import candidates
from swefuse.tasks.observe import observe, results
from swefuse.tasks.prove import prove
from swefuse.tasks.workers import sandbox
from swefuse.verify.screen import protected_paths
from swefuse.verify.strength import Mutant, Strength, strength
from swefuse.workspace import Files

INPUTS = 200
CPU_S = 1.0  # of all generated calls together
SEVERAL = 3  # times that the reference must give the same answer


@dataclass(frozen=True, slots=True)
class Strengthened:
    """A task with more calls and the strength before and after; the same task and no calls where nothing could be added."""

    task: Task
    added: tuple[Call, ...]
    before: Strength
    after: Strength


def strengthen(task: Task, most: int = 8, mutants: int = 100, seconds: float | None = None, seed: int = 0) -> Strengthened:
    """Add at most ``most`` hidden calls to the ``calls`` suite, those that kill the most mutants which survive it.

    Runs in a process of ``tasks.workers.init_worker``. ``mutants``, ``seconds`` and ``seed``: see ``strength``. The new task is
    proven anew, and its evidence holds its strength; tests in the ``pytest`` form stay as they are. Raises DataError for a task
    without a reference or without calls, and for one whose reference does not pass.
    """
    suite = task.suite("calls")
    if suite is None or task.reference is None:
        raise DataError(f"task {task.id} has no tests as calls or no reference solution, so no call can be added")
    before = strength(task, InlineExecutor(), mutants, seconds, "calls", seed)
    added, killed = _choose(task, suite, before.survivors, most, seed)
    made = _with_calls(task, suite, added) if added else task
    if added:
        proof = prove([made], InlineExecutor(), SEVERAL)
        if proof.refused:  # an answer that is another on another day
            return Strengthened(measured(task, before), (), before, before)
        made = proof.tasks[0]
    survivors = tuple(mutant for mutant in before.survivors if mutant not in killed)
    after = replace(before, killed=before.judged - len(survivors), survivors=survivors)
    return Strengthened(measured(made, after), added, before, after)


def measured(task: Task, found: Strength) -> Task:
    """The task with its strength in its evidence."""
    evidence = task.evidence or Evidence(repeats=0, reference_passes=False, null_fails=False)
    return task.model_copy(update={"evidence": evidence.model_copy(update={"strength": found.share, "mutants": found.judged})})


def _choose(task: Task, suite: Suite, survivors: Sequence[Mutant], most: int, seed: int) -> tuple[tuple[Call, ...], list[Mutant]]:
    """The calls that kill the most survivors, one after the other, and what they kill."""
    new = _answered(task, suite, seed) if survivors else []
    kills: dict[str, list[Mutant]] = {call.id: [] for call in new}
    for mutant in survivors:
        found = results(sandbox(), _modules(mutant.files, task), suite.entry, new, CPU_S)
        for id_, result in found.items():
            if result.outcome not in ("passed", "missing"):
                kills[id_].append(mutant)
    chosen: list[Call] = []
    killed: list[Mutant] = []
    while len(chosen) < most:
        best = max(new, key=lambda call: (sum(m not in killed for m in kills[call.id]), -len(call.args)), default=None)
        fresh = [m for m in kills[best.id] if m not in killed] if best else []
        if best is None or not fresh:
            break
        chosen.append(best)
        killed += fresh
    return tuple(chosen), killed


def _answered(task: Task, suite: Suite, seed: int) -> list[Call]:
    """Calls of generated inputs with the reference's answers, those that the suite has left out."""
    old = [call.args for call in suite.calls]
    texts = candidates(random.Random(f"strengthen|{seed}|{task.id}"), old, INPUTS + len(old))
    fresh = [text for text in texts if text not in old]
    answers = observe(sandbox(), _modules(task.reference or {}, task), suite.entry, fresh, CPU_S)
    taken = {call.id for call in suite.calls}
    names = (name for number in count(1) if (name := f"generated-{number}") not in taken)
    good = [(text, got) for text, got in zip(fresh, answers, strict=True) if not got.trouble]
    return [Call(id=next(names), args=text, want=got.want, raises=got.raises) for text, got in good]


def _modules(files: Files, task: Task) -> dict[str, str]:
    protected = set(protected_paths(task))
    return {path: text for path, text in files.items() if path.endswith(".py") and path not in protected}


def _with_calls(task: Task, suite: Suite, added: Sequence[Call]) -> Task:
    """The task with more calls: decisive are those that its initial state does not pass."""
    found = results(sandbox(), _modules(task.files, task), suite.entry, added, CPU_S)
    failing = tuple(call.id for call in added if found[call.id].outcome != "passed")
    held = tuple(call.id for call in added if call.id not in failing)
    stronger = suite.model_copy(
        update={
            "calls": (*suite.calls, *added),
            "fail_to_pass": suite.fail_to_pass + failing,
            "pass_to_pass": suite.pass_to_pass + held,
        }
    )
    suites = tuple(stronger if one is suite else one for one in task.suites)
    return task.revised(suites=suites)
