"""The suites of a task beside the one that was asked for: a kind whose point is equal behaviour looks at all of them."""

from __future__ import annotations

from swefuse.records import Outcome
from swefuse.verify.kinds.base import Trial
from swefuse.verify.tests import run_suite


def other_suites(trial: Trial) -> str:
    """Why the candidate does not pass the task's other suites; empty when it does."""
    for suite in trial.task.suites:
        if suite.form != trial.suite.form:
            judgement, _ = run_suite(trial.sandbox, trial.task, suite, trial.files, trial.changed, trial.limits)
            if judgement.outcome is not Outcome.PASSED:
                failed = [id_ for id_, result in judgement.tests.items() if result.outcome != "passed"]
                return f"{judgement.outcome} in the form {suite.form}: {judgement.reason or ', '.join(failed[:5])}"[:500]
    return ""
