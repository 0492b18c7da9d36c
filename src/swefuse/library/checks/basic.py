"""The first questions: does it compile, do its tests pass, is it clean, and can a model be trained on it?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

from swefuse.code import analysers, lint
from swefuse.library.parts import changed_sources
from swefuse.records import Outcome, Task, Trajectory, Verdict
from swefuse.verify.kinds import RULES

UNVERIFIED = "unverified"  # begins the reason of a verdict on what nobody can run
Item = tuple[Task, Trajectory, Verdict]
Analyse = Callable[[Sequence[tuple[str, str]]], list[lint.Findings]]


def syntax(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """Every Python file that the trajectory changed compiles.

    Example: ``def f(:`` -> ``m.py, line 1: invalid syntax``.
    """
    for path in changed_sources(task, trajectory):
        try:
            with warnings.catch_warnings():  # an invalid escape is a warning, and must not become an error by somebody's filter
                warnings.simplefilter("ignore")
                compile(trajectory.files[path], path, "exec", dont_inherit=True)
        except SyntaxError as error:
            return f"{path}{f', line {error.lineno}' if error.lineno else ''}: {error.msg}"
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return f"{path}: {error or type(error).__name__}"
    return None


def passed(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """The verdict is PASSED, holds a pass for every expected id of the task's suite in that form, and is that of the task's kind.

    A kind whose check runs all there is to run (``Rules.alone``) has no suite; of its verdict no test may have failed. One whose
    check comes after the tests leaves the share of the work that was done; without it the check was not asked.

    Example: a verdict over the visible calls only -> ``10 of 14 expected tests did not pass, first t4``.
    """
    if not verdict.outcome.graded:
        if verdict.reason.startswith(f"{UNVERIFIED}: "):
            return verdict.reason
        return f"not graded ({verdict.outcome}), verify it again: {verdict.reason}"
    if verdict.outcome is not Outcome.PASSED:
        return f"the verdict is {verdict.outcome}"
    rules, suite = RULES[task.kind], task.suite(verdict.form)
    if rules.alone:
        expected = tuple(verdict.tests)
    elif suite is not None and suite.expected:
        expected = suite.expected
    else:
        return f"the task has no tests of the form {verdict.form!r}"
    lacking = [id_ for id_ in expected if id_ not in verdict.tests or verdict.tests[id_].outcome != "passed"]
    if lacking:
        return f"{len(lacking)} of {len(expected)} expected tests did not pass, first {lacking[0]}"
    if rules.check is not None and "share" not in verdict.parts:
        return f"the verdict does not say what the check of the kind {task.kind} found"
    return None


def static(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """Static analysis finds nothing in the changed files that it did not find in the initial ones.

    Example: the fix adds ``import os`` and does not use it -> ``m.py: F401 `os` imported but unused``.
    """
    return new_findings([(task, trajectory, verdict)])[0]


def types(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """mypy finds nothing in the changed files that it did not find in the initial ones. Optional; extra ``gate``.

    Example: ``return str(total)`` in a function that is to return an int -> ``m.py: return-value Incompatible return …``.
    """
    return new_findings([(task, trajectory, verdict)], analysers.mypy)[0]


def bandit(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """bandit finds nothing in the changed files that it did not find in the initial ones. Optional; extra ``gate``.

    Example: ``yaml.load(text)`` -> ``m.py: B506 Use of unsafe yaml load. …``.
    """
    return new_findings([(task, trajectory, verdict)], analysers.bandit)[0]


def trainable(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """At least one step counts in the loss, and every token trace is whole: four lists of one length, only finite numbers.

    Example: every step has ``keep=False`` -> ``no step to train on``.
    """
    for number, step in enumerate(trajectory.steps, 1):
        if step.trace is None:
            continue
        numbers = (step.trace.logprobs, step.trace.raw_logprobs, step.trace.entropies)
        if not step.trace.token_ids or any(len(row) != len(step.trace.token_ids) for row in numbers):
            return f"step {number}: the lists of its token trace are empty or differ in length"
        if not all(math.isfinite(number) for row in numbers for number in row):
            return f"step {number}: its token trace holds numbers that are not finite"
    if not any(step.keep and step.raw for step in trajectory.steps):
        return "no step to train on"
    return None


def new_findings(batch: Sequence[Item], analyse: Analyse = lint.lint) -> list[str | None]:
    """What an analyser finds in changed files and did not find before, of many items.

    All final files go into one call, then the initial versions of those in which there is something.
    """
    finals = [(at, path) for at, (task, trajectory, _) in enumerate(batch) for path in changed_sources(task, trajectory)]
    found = analyse([(path, batch[at][1].files[path]) for at, path in finals])
    suspects = [(at, path, findings) for (at, path), findings in zip(finals, found, strict=True) if findings]
    known = analyse([(path, batch[at][0].files.get(path, "")) for at, path, _ in suspects])
    answers: list[str | None] = [None] * len(batch)
    for (at, path, findings), before in zip(suspects, known, strict=True):
        if new := sorted(findings - before):
            answers[at] = answers[at] or f"{path}: {'; '.join(new)}"
    return answers
