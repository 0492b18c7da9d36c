"""Prove any tasks anew, whatever their source: the stage behind ``swefuse tasks prove``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from swefuse.errors import DataError
from swefuse.records import Evidence, Kind, Outcome, Task, Verdict, content_hash
from swefuse.sandbox import environments
from swefuse.scale import Executor
from swefuse.scale.executor import InlineExecutor
from swefuse.tasks.leaks import leaks, reachable
from swefuse.tasks.prove import failing
from swefuse.tasks.store import logged, save_lines, save_tasks
from swefuse.tasks.workers import verifier
from swefuse.verify.kinds import RULES
from swefuse.verify.screen import protected_paths
from swefuse.verify.strength import strength
from swefuse.verify.verifier import VERSION

Progress = Callable[[int, int], None]


class Refusal(StrEnum):
    """Why a task is not proven; there is no other reason."""

    NO_TESTS = "it has no test that decides"
    NO_REFERENCE = "it has no reference solution"
    SANDBOX = "the sandbox could not run it"
    FLAKY = "its runs do not always give the same results"
    REFERENCE_FAILS = "the reference does not pass"
    START_PASSES = "the initial state passes"
    OTHER_TESTS = "the initial state fails other tests than the task says"
    TAMPERING = "a change of its tests is not noticed"
    LEAK = "the answer can be found from inside"
    DATA = "it contradicts itself"


@dataclass(frozen=True, slots=True)
class How:
    """``repeats``: runs of each side that must agree. ``mutants``: at most so many for its strength; 0 leaves it unmeasured."""

    repeats: int = 3
    mutants: int = 0


@dataclass(frozen=True, slots=True)
class Proved:
    """What became of a task: itself with new evidence, or the refusal with what was seen."""

    task: Task
    refusal: Refusal | None = None
    detail: str = ""


def prove_task(task: Task, how: How) -> Proved:
    """Prove one task in this process's verifier, started with ``tasks.workers.init_worker``."""
    try:
        return _proved(task, how)
    except DataError as error:
        return Proved(task, Refusal.DATA, str(error)[:300])


def _proved(task: Task, how: How) -> Proved:
    alone = RULES[task.kind].alone
    if not alone and not any(suite.expected for suite in task.suites):
        return Proved(task, Refusal.NO_TESTS)
    if task.reference is None:
        return Proved(task, Refusal.NO_REFERENCE)
    if refused := _tampered(task):
        return refused
    forms: list[str | None] = [None] if alone else [suite.form for suite in task.suites if suite.expected]
    judge = verifier()
    right = [judge.verify(task, task.reference, form, how.repeats, fresh=True) for form in forms]
    start = [judge.verify(task, task.files, form, how.repeats, fresh=True) for form in forms]
    for verdict in (*right, *start):
        if verdict.outcome is Outcome.INFRA:
            return Proved(task, Refusal.SANDBOX, verdict.reason[:300])
        if verdict.outcome is Outcome.FLAKY or verdict.matrix:
            return Proved(task, Refusal.FLAKY, f"{verdict.form}: {', '.join(verdict.matrix)}"[:300])
    for verdict in right:
        if verdict.outcome is not Outcome.PASSED:
            return Proved(task, Refusal.REFERENCE_FAILS, f"{verdict.form}: {verdict.reason or sorted(failing(verdict))[:5]}"[:300])
    if start[0].outcome is Outcome.PASSED:
        return Proved(task, Refusal.START_PASSES, start[0].form)
    for suite, verdict in zip(task.suites, start, strict=False):
        if not alone and failing(verdict) != set(suite.fail_to_pass):
            other = sorted(failing(verdict) ^ set(suite.fail_to_pass))
            return Proved(task, Refusal.OTHER_TESTS, f"{suite.form}: {', '.join(other)}"[:300])
    found = leaks(task) or ([inside] if task.provenance.commit and (inside := reachable(judge.sandbox, task)) else [])
    if found:
        return Proved(task, Refusal.LEAK, "; ".join(found)[:300])
    return Proved(_with_evidence(task, right, start, how))


def _tampered(task: Task) -> Proved | None:
    """A changed test file must be refused before anything runs."""
    tests = [path for path in protected_paths(task) if path in task.files]
    if tests and task.kind is not Kind.QA:
        changed = {**task.files, tests[0]: task.files[tests[0]] + "\n"}
        verdict = verifier().verify(task, changed, fresh=True)
        if verdict.outcome is not Outcome.TAMPERED:
            return Proved(task, Refusal.TAMPERING, tests[0])
    return None


def _with_evidence(task: Task, right: Sequence[Verdict], start: Sequence[Verdict], how: How) -> Task:
    old = task.evidence or Evidence(repeats=0, reference_passes=True, null_fails=True)
    new: dict[str, Any] = {
        "repeats": how.repeats, "reference_passes": True, "null_fails": True, "sandbox": right[0].sandbox,
        "failing_ids": tuple(sorted(failing(start[0]))), "python": environments.version(old.environment),
        "cpu_s": round(right[0].cpu_s, 4),
    }  # fmt: skip
    if how.mutants and not RULES[task.kind].alone and task.kind is not Kind.QA:
        measured = strength(task, InlineExecutor(), how.mutants)
        new |= {"strength": measured.share, "mutants": measured.judged}
    return task.model_copy(update={"evidence": old.model_copy(update=new)})


def run(
    tasks: Sequence[Task], out: Path, how: How, executor: Executor, progress: Progress = lambda done, total: None
) -> dict[str, Any]:
    """Prove all tasks; ``out`` then holds ``tasks.jsonl``, ``refused.jsonl`` and ``proved.jsonl``, from which a later call goes on.

    Returns counts: ``tasks``, ``proven``, ``refused`` by reason. The executor's processes must have been started with
    ``tasks.workers.init_worker``.
    """
    log = out / "proved.jsonl"
    known = {row["key"]: row for row in logged(log, appended=True)}
    keys = [
        content_hash([VERSION, how.repeats, how.mutants, task.model_dump(mode="json", exclude={"evidence"})])[:20] for task in tasks
    ]
    fresh = [(key, task) for key, task in zip(keys, tasks, strict=True) if key not in known]
    progress(len(tasks) - len(fresh), len(tasks))
    with log.open("a", encoding="utf-8") as file:
        found = executor.map(partial(prove_task, how=how), [task for _, task in fresh])
        for number, ((key, _), one) in enumerate(zip(fresh, found, strict=True), len(tasks) - len(fresh) + 1):
            evidence = None if one.refusal else one.task.evidence and one.task.evidence.model_dump(mode="json")
            known[key] = {"key": key, "refusal": one.refusal or "", "detail": one.detail, "evidence": evidence}
            file.write(json.dumps(known[key]) + "\n")
            file.flush()
            progress(number, len(tasks))
    kept, refused = list[Task](), list[dict[str, Any]]()
    for key, task in zip(keys, tasks, strict=True):
        row = known[key]
        if row["refusal"]:
            refused.append({"task": task.id, "reason": row["refusal"], "detail": row["detail"]})
        else:
            kept.append(task.model_copy(update={"evidence": Evidence.model_validate(row["evidence"])}))
    save_tasks(out / "tasks.jsonl", kept)
    save_lines(out / "refused.jsonl", map(json.dumps, refused))
    reasons = {reason.value: sum(row["reason"] == reason for row in refused) for reason in Refusal}
    return {"tasks": len(tasks), "proven": len(kept), "refused": {reason: count for reason, count in reasons.items() if count}}
