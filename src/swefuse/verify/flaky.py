"""Tests that do not always say the same: found by repeating the reference solution, then left out, or their task refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from swefuse.errors import DataError
from swefuse.records import Evidence, Outcome, Suite, Task, Verdict
from swefuse.scale.executor import Executor
from swefuse.verify.judge import PASSED
from swefuse.verify.many import Candidate, verify_many
from swefuse.verify.tests import is_cold
from swefuse.verify.verifier import DIFFERENT, pick_suite

Progress = Callable[[int, int], None]
Policy = Literal["leave_out", "refuse"]
_ANY = Evidence(repeats=0, reference_passes=False, null_fails=False)


@dataclass(frozen=True, slots=True)
class Flakiness:
    """What ``runs`` runs of a task's reference showed: ``matrix`` holds the outcomes of each test on which they disagree.

    ``vanished`` are tests that no run has, though each came to its end: their ids hold a time or a random number. ``cold`` says why
    the task's tests need a new interpreter, where a warm worker gives other results; all else is then about cold runs. ``problem``
    says why nothing can be told, or is empty. ``rate``: share of the suite's tests that are flaky or vanished, in [0, 1].
    """

    runs: int
    matrix: Mapping[str, tuple[str, ...]]
    rate: float
    problem: str = ""
    vanished: tuple[str, ...] = ()
    cold: str = ""


def flakiness(
    tasks: Sequence[Task], executor: Executor, repeats: int = 5, form: str | None = None, progress: Progress = lambda d, t: None
) -> list[Flakiness]:
    """Run every task's reference ``repeats`` times, in the ``pytest`` form in other orders of its tests; in the order of ``tasks``.

    There a cold run is compared with them, and where it differs all is repeated cold. The executor's processes must have been
    started with ``verify.init_worker``. Raises DataError for a task without a reference.
    """
    for task in tasks:
        if task.reference is None:
            raise DataError(f"task {task.id} has no reference solution, so there is nothing to repeat")
    compared = [at for at, task in enumerate(tasks) if pick_suite(task, form).form == "pytest" and not is_cold(task)]
    done, total, found = 0, len(tasks) + len(compared), []
    for task, verdict in _runs(tasks, executor, repeats, form):
        found.append(_read(pick_suite(task, form), verdict, repeats))
        progress(done := done + 1, total)
    saved: list[int] = []  # those whose reference passes cold and not warm
    for at, (task, verdict) in zip(compared, _runs([_cold(tasks[at]) for at in compared], executor, 1, form), strict=True):
        failing = [id_ for id_ in pick_suite(task, form).expected if verdict.tests.get(id_, PASSED).outcome != "passed"]
        failing = [id_ for id_ in failing if id_ not in found[at].matrix and id_ not in found[at].vanished]
        if found[at].problem and verdict.outcome is Outcome.PASSED:
            saved.append(at)
        elif not found[at].problem and failing:
            names = ", ".join(failing[:3])
            found[at] = replace(found[at], problem=f"the reference passes in a warm worker and not in a new interpreter: {names}")
        progress(done := done + 1, total)
    for at, (task, verdict) in zip(saved, _runs([_cold(tasks[at]) for at in saved], executor, repeats, form), strict=True):
        why = f"in a warm worker {found[at].problem}"
        found[at] = replace(_read(pick_suite(task, form), verdict, repeats), cold=why)
    return found


def _runs(tasks: Iterable[Task], executor: Executor, repeats: int, form: str | None) -> Iterator[tuple[Task, Verdict]]:
    kept = list(tasks)
    items = [Candidate(task, task.reference or {}, form, repeats, fresh=True) for task in kept]
    return zip(kept, verify_many(items, executor), strict=True)


def _cold(task: Task, why: str = "to compare") -> Task:
    return task.model_copy(update={"evidence": (task.evidence or _ANY).model_copy(update={"cold": why})})


def _read(suite: Suite, verdict: Verdict, repeats: int) -> Flakiness:
    steady = {id_: result.outcome for id_, result in verdict.tests.items() if id_ not in verdict.matrix}
    whole = verdict.outcome in (Outcome.PASSED, Outcome.FLAKY) or (verdict.outcome is Outcome.FAILED and bool(verdict.tests))
    died = verdict.outcome is Outcome.FAILED and verdict.reason not in ("", DIFFERENT)
    ended = whole and not died and not any("missing" in row for row in verdict.matrix.values())
    vanished = tuple(id_ for id_ in suite.expected if ended and steady.get(id_) == "missing")
    failing = [id_ for id_, outcome in steady.items() if outcome != "passed" and id_ not in vanished]
    problem = ""
    if not whole:
        problem = f"the reference is {verdict.outcome}: {verdict.reason}"
    elif failing or len(vanished) == len(suite.expected):
        problem = f"the reference is FAILED: {', '.join(failing[:3]) or verdict.reason}"
    elif verdict.outcome is Outcome.FLAKY and not verdict.matrix:
        problem = verdict.reason  # the runs differ, but not in any test: nothing could be left out
    rate = (len(verdict.matrix) + len(vanished)) / max(1, len(suite.expected))
    return Flakiness(repeats, verdict.matrix, rate, problem[:1000], vanished)


def without_flaky(task: Task, found: Flakiness, form: str | None = None, policy: Policy = "leave_out") -> Task:
    """The task with its flaky and vanished tests left out of what decides, and with what was found in its evidence; the same task
    where nothing was.

    Raises DataError, saying why, when it has to be refused: a fail-to-pass test that is flaky decides nothing, a reference that
    does not pass proves nothing, and with ``refuse`` any test that was to be left out is one too many.
    """
    if found.problem:
        raise DataError(found.problem)
    suite, unsteady = pick_suite(task, form), {*found.matrix, *found.vanished}
    decisive = [id_ for id_ in suite.fail_to_pass if id_ in unsteady]
    if decisive:
        raise DataError(f"fail-to-pass tests are flaky: {', '.join(decisive)}"[:1000])
    if unsteady and policy == "refuse":
        raise DataError(f"tests are flaky: {', '.join(sorted(unsteady))}"[:1000])
    if found.cold:
        task = _cold(task, found.cold)
    if not unsteady:
        return task
    kept = suite.model_copy(update={"pass_to_pass": tuple(id_ for id_ in suite.pass_to_pass if id_ not in unsteady)})
    suites = tuple(kept if one is suite else one for one in task.suites)
    evidence = (task.evidence or _ANY).model_copy(update={"flake_rate": found.rate})
    return task.revised(suites=suites, evidence=evidence)
