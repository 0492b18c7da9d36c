"""Tests that do not always say the same: found by repeating the reference solution, then left out, or their task refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from swefuse.errors import DataError
from swefuse.records import Outcome, Suite, Task, Verdict
from swefuse.scale.executor import Executor
from swefuse.verify.verifier import Candidate, pick_suite, verify_many

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Flakiness:
    """What ``runs`` runs of a task's reference showed: ``matrix`` holds the outcomes of each test on which they disagree.

    ``problem`` says why nothing can be told, or is empty. ``rate``: share of the suite's tests that are flaky, in [0, 1].
    """

    runs: int
    matrix: Mapping[str, tuple[str, ...]]
    rate: float
    problem: str = ""


def flakiness(
    tasks: Sequence[Task], executor: Executor, repeats: int = 5, form: str | None = None, progress: Progress = lambda d, t: None
) -> list[Flakiness]:
    """Run every task's reference ``repeats`` times, in the ``pytest`` form in other orders of its tests; in the order of ``tasks``.

    The executor's processes must have been started with ``verify.init_worker``. Raises DataError for a task without a reference.
    """
    items = []
    for task in tasks:
        if task.reference is None:
            raise DataError(f"task {task.id} has no reference solution, so there is nothing to repeat")
        items.append(Candidate(task, task.reference, form, repeats, fresh=True))
    found: list[Flakiness] = []
    for item, verdict in zip(items, verify_many(items, executor), strict=True):
        found.append(_read(pick_suite(item.task, form), verdict, repeats))
        progress(len(found), len(items))
    return found


def _read(suite: Suite, verdict: Verdict, repeats: int) -> Flakiness:
    problem = "" if verdict.outcome in (Outcome.PASSED, Outcome.FLAKY) else f"the reference is {verdict.outcome}: {verdict.reason}"
    if verdict.outcome is Outcome.FLAKY and not verdict.matrix:
        problem = verdict.reason  # the runs differ, but not in any test: nothing could be left out
    return Flakiness(repeats, verdict.matrix, len(verdict.matrix) / max(1, len(suite.expected)), problem)


def without_flaky(task: Task, found: Flakiness, form: str | None = None) -> Task:
    """The task with its flaky tests left out of what decides and the rate in its evidence; the same task where there are none.

    Raises DataError, saying why, when it has to be refused: a fail-to-pass test that is flaky decides nothing, and a reference that
    does not pass proves nothing.
    """
    if found.problem:
        raise DataError(found.problem)
    suite = pick_suite(task, form)
    decisive = [id_ for id_ in suite.fail_to_pass if id_ in found.matrix]
    if decisive:
        raise DataError(f"fail-to-pass tests are flaky: {', '.join(decisive)}"[:1000])
    if not found.matrix:
        return task
    kept = suite.model_copy(update={"pass_to_pass": tuple(id_ for id_ in suite.pass_to_pass if id_ not in found.matrix)})
    suites = tuple(kept if one is suite else one for one in task.suites)
    evidence = task.evidence.model_copy(update={"flake_rate": found.rate}) if task.evidence else None
    return task.model_copy(update={"id": Task.make_id(task.kind, task.files, suites), "suites": suites, "evidence": evidence})
