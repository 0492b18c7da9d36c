"""Candidate in, verdict out: cache, screen, run, judge, canaries, score. The one place where rewards come from."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from swefuse.code.functions import syntax_problem
from swefuse.errors import DataError, SandboxError
from swefuse.records import Outcome, Suite, Task, TestResult, Verdict, content_hash
from swefuse.sandbox import Output, open_sandbox
from swefuse.sandbox.base import WALL_FACTOR
from swefuse.verify.cache import VerdictCache, environment_lock
from swefuse.verify.canary import perturbed
from swefuse.verify.judge import ABSENT, MISSING, Judgement
from swefuse.verify.kinds import RULES, Found, Trial
from swefuse.verify.measure import Measure, lines_run, new_findings, seconds_run
from swefuse.verify.score import score, speed, style
from swefuse.verify.screen import changed_paths, screen
from swefuse.verify.tests import PLAIN, How, Limits, is_cold, run_suite
from swefuse.workspace import Files, ref

NOT_RUN = TestResult(outcome="missing", detail="not run: an earlier test failed")
COLD_SHARE = 0.02
DIFFERENT = "the runs fail in different ways"
FIRST_CPU_S = 2.0  # most suites take a tenth of it; the rest of the limit is for those whose reference is slow itself
SLOWER = 10.0
MOST_DECOYS = 256  # tasks whose canaries, and whose reference's results, are remembered
VERSION = 8  # part of every cache key: raise it whenever the same candidate may get another verdict


class Verifier:
    """Verifies candidates, one after another, in one sandbox slot.

    ``sandbox_name``: see ``open_sandbox``. ``cache``: keep verdicts in memory; with ``cache_path`` also in that SQLite file.
    ``cold_share``: share of the candidates that pass in the ``pytest`` form which are run once more in a new process; one that does
    not pass there is FLAKY, and a sign that warm workers cannot be trusted with its task. ``measure``: parts of the score beside
    the tests, for candidates that pass: ``cost`` (lines that run, against the reference; CPU time where they cannot be counted),
    ``style`` (new lint findings).

    ``tally`` counts what was done: ``candidates``, of these ``known`` from the cache, ``refused`` before any run, ``stopped_early``
    by ``fail_fast``; ``runs`` of tests in the sandbox, beside them ``retries`` after a failure of the sandbox, among them
    ``cold_runs`` of the sample; ``cold_disagreed``, candidates that passed warm and not cold.
    """

    def __init__(
        self,
        sandbox_name: str = "local",
        cache: bool = True,
        cache_path: Path | None = None,
        limits: Limits | None = None,
        cold_share: float = COLD_SHARE,
        measure: Collection[Measure] = (),
    ) -> None:
        self.sandbox = open_sandbox(sandbox_name)
        self.limits = limits or Limits()
        self.cold_share, self.measure = cold_share, frozenset(measure)
        self._costs: dict[tuple[str, str], int | None] = {}
        self._name = sandbox_name
        self._cache = VerdictCache(cache_path) if cache else None
        self.tally: Counter[str] = Counter()
        self._common: dict[tuple[int, str, bool, Limits], tuple[Task, str]] = {}
        self._allowed: dict[tuple[str, str], float] = {}
        self._alone: dict[tuple[str, str], bool] = {}
        self._decoys: dict[tuple[str, str], tuple[Task, tuple[str, ...]]] = {}
        self._memo: dict[Hashable, Any] = {}

    def verify(
        self,
        task: Task,
        files: Files,
        form: str | None = None,
        repeats: int = 1,
        visible_only: bool = False,
        fresh: bool = False,
        fail_fast: bool = False,
    ) -> Verdict:
        """Verdict on a whole state ``files`` of the task's workspace.

        ``form`` picks the suite (default: ``calls`` where the task has it). ``repeats`` runs must agree, else FLAKY, in the
        ``pytest`` form each in another order of the tests; a verdict that is known from at least as many is not run again, unless
        it is to be ``fresh``. ``visible_only`` runs only the calls that an agent may see. INFRA when the sandbox failed twice.
        Raises DataError when there is no such suite.

        ``fail_fast``, for callers that only ask whether all pass: in the ``pytest`` form the fail-to-pass tests are run first, and
        nothing after the first failure; what was not run counts as not passed and is told in ``parts``. It has no effect with
        several ``repeats``, and where these tests do not pass alone on the task's own reference.
        """
        suite = pick_suite(task, form)
        self.tally["candidates"] += 1
        key = ""
        if self._cache is not None:
            key = self._key(task, suite, files, visible_only)
            for name in () if fresh else (key, f"{key}-fast")[: 1 + fail_fast]:
                known = self._cache.get(name)
                if known is not None and known.repeats >= repeats:
                    self.tally["known"] += 1
                    return known
        changed = changed_paths(task, files)
        reasons = screen(task, files, changed)
        if reasons:
            self.tally["refused"] += 1
            verdict = Verdict(outcome=Outcome.TAMPERED, form=suite.form, reason="; ".join(reasons)[:1000])
        else:
            early = self._first_failure(task, suite, files, changed) if fail_fast and repeats == 1 else None
            self.tally["stopped_early"] += early is not None
            run = self._run_alone if RULES[task.kind].alone else self._run
            verdict = early or run(task, suite, files, changed, repeats, visible_only)
        if self._cache is not None:
            self._cache.put(f"{key}-fast" if "not_run" in verdict.parts else key, verdict)
        return verdict

    def close(self) -> None:
        """End the sandbox and close the cache."""
        self.sandbox.close()
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _key(self, task: Task, suite: Suite, files: Files, visible_only: bool) -> str:
        """Under which the verdict on a state is kept; all but the state is the same for many candidates and hashed once."""
        slot = (id(task), suite.form, visible_only, self.limits)
        held = self._common.get(slot)
        if held is None or held[0] is not task:
            environment = task.evidence.environment if task.evidence and suite.form == "pytest" else ""
            how = [self._name, environment_lock(environment), self.limits.of(suite.form), visible_only, sorted(self.measure)]
            what = [
                ref(task.files),
                ref(task.reference or {}),
                suite_digest(suite),
                task.goal,
                task.protected,
                task.editable,
                is_cold(task),
            ]
            if len(self._common) >= MOST_DECOYS:
                self._common.clear()
            held = self._common[slot] = (task, content_hash([VERSION, *how, *what]))
        return f"{held[1]}-{ref(files)}"

    def _first_failure(self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...]) -> Verdict | None:
        """The verdict on a candidate that fails a fail-to-pass test; None when only the whole suite can tell."""
        if suite.form != "pytest" or not suite.fail_to_pass or not suite.pass_to_pass or not task.reference:
            return None
        only = suite.model_copy(update={"pass_to_pass": ()})
        try:
            if not self._stands_alone(task, only):
                return None
            judgement, output = self._once(task, only, files, changed, How("to_first_failure"))
        except SandboxError:
            return None
        if judgement.outcome is Outcome.PASSED:
            return None
        tests = {id_: judgement.tests.get(id_, NOT_RUN) for id_ in suite.expected}
        if not judgement.reason:  # the run came to its end: what is missing was left out
            tests = {id_: NOT_RUN if result in (MISSING, ABSENT) else result for id_, result in tests.items()}
        parts = {
            "pass_rate": sum(result.outcome == "passed" for result in tests.values()) / max(1, len(tests)),
            "not_run": float(sum(result is NOT_RUN for result in tests.values())),
        }
        return Verdict(
            outcome=judgement.outcome, form=suite.form, tests=tests, parts=parts, reason=judgement.reason,
            score=score(judgement.outcome, parts["pass_rate"]) if changed else 0.0,
            cpu_s=output.cpu_s, wall_s=output.wall_s, sandbox=self.sandbox.identity,
        )  # fmt: skip

    def _run(self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...], repeats: int, visible_only: bool) -> Verdict:
        runs: list[Judgement] = []
        cpu_s = wall_s = 0.0
        parts: dict[str, float] = {}
        try:
            for number in range(repeats):  # other orders, so that tests which need each other are found out
                how = How("visible") if visible_only else How(shuffle=number)
                judgement, output = self._once(task, suite, files, changed, how)
                runs.append(judgement)
                cpu_s, wall_s = cpu_s + output.cpu_s, wall_s + output.wall_s
                if judgement.outcome is Outcome.TIMEOUT:
                    break  # more of them would cost as much and change nothing
            repeats = len(runs)
            first = runs[0]
            outcome, reason, matrix = agreed(runs)
            if outcome is Outcome.PASSED and suite.form == "pytest" and changed:
                outcome, reason = self._doubted(task, suite, files, changed, parts)
            if outcome is Outcome.PASSED and not visible_only and (check := RULES[task.kind].check):
                found = check(self._trial(task, suite, files, changed))
                parts |= {**found.parts, "share": found.share}
                outcome, reason = (found.outcome, found.reason) if found.reason else (outcome, reason)
        except SandboxError as error:
            return Verdict(outcome=Outcome.INFRA, form=suite.form, reason=str(error), repeats=repeats)
        parts["pass_rate"] = sum(result.outcome == "passed" for result in first.tests.values()) / max(1, len(first.tests))
        if not changed:
            reason = reason or "nothing was changed"
        if outcome is Outcome.PASSED and changed and not visible_only:
            self._measured(task, suite, files, changed, parts)
        total = score(outcome, parts["pass_rate"] * parts.get("share", 1.0), parts.get("speed"), parts.get("style"))
        return Verdict(
            outcome=outcome, form=suite.form, tests=first.tests, parts=parts, reason=reason, repeats=repeats, matrix=matrix,
            score=total if changed else 0.0,  # the empty patch earns nothing
            cpu_s=cpu_s / repeats, wall_s=wall_s / repeats, sandbox=self.sandbox.identity,
        )  # fmt: skip

    def _run_alone(
        self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...], repeats: int, visible_only: bool
    ) -> Verdict:
        """The verdict on a candidate of a kind whose check runs all there is to run; an agent may see the whole of it."""
        started, found = time.monotonic(), list[Found]()
        for path in changed:
            if path.endswith(".py") and path in files and (problem := syntax_problem(files[path])):
                return Verdict(outcome=Outcome.UNPARSED, form=suite.form, reason=f"{path} does not parse: {problem}")
        try:
            for _ in range(repeats):
                self.tally["runs"] += 1
                found.append(RULES[task.kind].check(self._trial(task, suite, files, changed)))  # type: ignore[misc]
        except SandboxError as error:
            return Verdict(outcome=Outcome.INFRA, form=suite.form, reason=str(error), repeats=repeats)
        runs = [Judgement(one.outcome if one.reason else Outcome.PASSED, dict(one.tests), one.reason) for one in found]
        outcome, reason, matrix = agreed(runs)
        share = min(one.share for one in found)
        return Verdict(
            outcome=outcome, form=suite.form, tests=runs[0].tests, parts={**found[0].parts, "share": share}, reason=reason,
            score=score(outcome, share) if changed else 0.0, repeats=repeats, matrix=matrix,
            wall_s=(time.monotonic() - started) / repeats, sandbox=self.sandbox.identity,
        )  # fmt: skip

    def _trial(self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...]) -> Trial:
        return Trial(self.sandbox, task, suite, files, changed, self.limits, self._memo)

    def _measured(self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...], parts: dict[str, float]) -> None:
        """Enter what is to be measured, as far as it can be."""
        if "style" in self.measure and (findings := new_findings(task, files, changed)) is not None:
            parts["findings"], parts["style"] = float(findings), style(findings)
        if "cost" not in self.measure or not task.reference:
            return
        key = _of(task, suite)
        try:
            if key not in self._costs:
                if len(self._costs) >= MOST_DECOYS:
                    self._costs.clear()
                self._costs[key] = lines_run(self.sandbox, task, suite, task.reference, self.limits)
            cost, reference = lines_run(self.sandbox, task, suite, files, self.limits), self._costs[key]
            both: tuple[float, float] | None = (cost, reference) if cost and reference else None
            if both is None and suite.form == "pytest":
                both = seconds_run(self.sandbox, task, suite, files, task.reference, self.limits)
        except SandboxError:
            return
        if both:
            parts["cost"], parts["reference_cost"], parts["speed"] = float(both[0]), float(both[1]), speed(*both)

    def _doubted(
        self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...], parts: dict[str, float]
    ) -> tuple[Outcome, str]:
        """Outcome and reason of a candidate that passed in the process of its tests: canaries and, for some, a cold run."""
        if task.reference:
            canaries, sung = self._canaries(task, suite, files, changed)
            if canaries:
                parts["canaries"] = float(canaries)
            if sung:
                return (
                    Outcome.TAMPERED,
                    f"{len(sung)} of {canaries} tests pass even if they expect other values, such as {sung[0][:300]}",
                )
        if int(content_hash([task.id, ref(files)])[:8], 16) < self.cold_share * 2**32:
            parts["cold"] = 1.0
            self.tally["cold_runs"] += 1
            cold, _ = self._once(task, suite, files, changed, How(fresh_process=True))
            if cold.outcome is not Outcome.PASSED:
                self.tally["cold_disagreed"] += 1
                return Outcome.FLAKY, f"passed in a warm worker, {cold.outcome} in a new process: {cold.reason}"[:1000]
        return Outcome.PASSED, ""

    def _stands_alone(self, task: Task, suite: Suite) -> bool:
        """Whether the reference passes this part of the tests without the others before them."""
        key = _of(task, suite)
        if key not in self._alone:
            reference = task.reference or {}
            judgement, _ = self._once(task, suite, reference, changed_paths(task, reference))
            if len(self._alone) >= MOST_DECOYS:
                self._alone.clear()
            self._alone[key] = judgement.outcome is Outcome.PASSED
        return self._alone[key]

    def _once(self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...], how: How = PLAIN) -> tuple[Judgement, Output]:
        """One run; cold where the task asks for it.

        In the ``pytest`` form a candidate that hangs is given up after FIRST_CPU_S, unless the task's reference needs so long that
        it may take more.
        """
        if suite.form != "pytest" or not task.reference or self.limits.pytest_cpu_s <= FIRST_CPU_S:
            return self._attempt(task, suite, files, changed, self.limits, how)
        judgement, output = self._attempt(task, suite, files, changed, replace(self.limits, pytest_cpu_s=FIRST_CPU_S), how)
        if judgement.outcome is not Outcome.TIMEOUT or (allowed := self._may_take(task, suite)) <= FIRST_CPU_S:
            return judgement, output
        return self._attempt(task, suite, files, changed, replace(self.limits, pytest_cpu_s=allowed), how)

    def _attempt(
        self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...], limits: Limits, how: How
    ) -> tuple[Judgement, Output]:
        """One run within ``limits``; a failure of the sandbox is tried once more, in the new worker that it then has."""
        self.tally["runs"] += 1
        try:
            return run_suite(self.sandbox, task, suite, files, changed, limits, how)
        except SandboxError:
            self.tally["retries"] += 1
            return run_suite(self.sandbox, task, suite, files, changed, limits, how)

    def _may_take(self, task: Task, suite: Suite) -> float:
        """CPU seconds that a candidate may take: SLOWER times what the reference does, at most what the limits say."""
        key = _of(task, suite)
        if key not in self._allowed:
            reference, most = task.reference or {}, self.limits.pytest_cpu_s
            judgement, output = self._attempt(task, suite, reference, changed_paths(task, reference), self.limits, PLAIN)
            if len(self._allowed) >= MOST_DECOYS:
                self._allowed.clear()
            # tests may wait instead of computing: elapsed seconds are limited to WALL_FACTOR times the CPU seconds
            taken = max(output.cpu_s, output.wall_s / WALL_FACTOR)
            # one whose reference hangs too proves nothing, however long it runs
            self._allowed[key] = FIRST_CPU_S if judgement.outcome is Outcome.TIMEOUT else min(most, SLOWER * taken)
        return self._allowed[key]

    def _canaries(self, task: Task, suite: Suite, files: Files, changed: tuple[str, ...]) -> tuple[int, list[str]]:
        """How many tests fail on the reference once they expect other values, and those of them that pass on ``files``."""
        key = _of(task, suite)
        if key not in self._decoys:
            if len(self._decoys) >= MOST_DECOYS:
                self._decoys.clear()
            self._decoys[key] = self._decoy(task, suite)
        decoy, usable = self._decoys[key]
        if not usable or ref(files) == ref(task.reference or {}):  # the reference was asked when they were chosen
            return len(usable), []
        judgement, _ = self._once(decoy, suite, files, changed)
        return len(usable), [id_ for id_ in usable if judgement.tests[id_].outcome == "passed"]

    def _decoy(self, task: Task, suite: Suite) -> tuple[Task, tuple[str, ...]]:
        """The task with tests that expect other values, and the ids of those that the reference then fails."""
        try:
            tests = {path: perturbed(task.files[path]) for path in suite.files if path in task.files and path.endswith(".py")}
        except (SyntaxError, ValueError, RecursionError):
            return task, ()
        decoy = task.model_copy(update={"files": {**task.files, **tests}})
        reference = task.reference or {}
        judgement, _ = self._once(decoy, suite, reference, changed_paths(task, reference))
        return decoy, tuple(id_ for id_ in suite.expected if judgement.tests[id_].outcome == "failed")


def agreed(runs: Sequence[Judgement]) -> tuple[Outcome, str, dict[str, tuple[str, ...]]]:
    """Outcome and reason of runs of one candidate, and of each test on which they disagree its outcome in every run.

    FLAKY is one that passed in some runs and not in others. One that never passed has failed, however differently.
    """
    first = runs[0]
    outcomes: dict[str, tuple[str, ...]] = {id_: tuple(run.tests[id_].outcome for run in runs) for id_ in first.tests}
    matrix = {id_: row for id_, row in outcomes.items() if len(set(row)) > 1}
    if not matrix and all(run.outcome is first.outcome for run in runs):
        return first.outcome, first.reason, {}
    if not any(run.outcome is Outcome.PASSED for run in runs):  # else whoever fails could choose not to be graded
        worst = next((run for run in runs if run.outcome is Outcome.TAMPERED), first)
        return worst.outcome, worst.reason or DIFFERENT, matrix
    return Outcome.FLAKY, f"{len(runs)} runs disagree on {', '.join(matrix) or 'the outcome'}"[:1000], matrix


def _of(task: Task, suite: Suite) -> tuple[str, str]:
    """Under which is kept what the reference of a task shows; an id does not tell references, or decoys, apart."""
    return ref({**task.files, "reference": ref(task.reference or {})}), suite_digest(suite)


def pick_suite(task: Task, form: str | None) -> Suite:
    """The suite of that form, or by default the ``calls`` one, else the ``pytest`` one. Raises DataError when there is none."""
    if RULES[task.kind].alone and form in (None, "pytest"):
        return task.suite("pytest") or Suite(form="pytest")
    suite = task.suite(form) if form else task.suite("calls") or task.suite("pytest")
    if suite is None:
        raise DataError(f"task {task.id} has no suite of form {form or 'calls or pytest'}")
    return suite


@lru_cache(maxsize=4096)
def suite_digest(suite: Suite) -> str:
    """Content hash of a suite."""
    return content_hash(suite.model_dump())
