"""What a passing candidate's score may hold beside its tests: how much code it runs, and which lint findings it brings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import Literal

from swefuse.code import lint
from swefuse.errors import InfraError
from swefuse.records import Outcome, Suite, Task
from swefuse.sandbox.base import Job, Sandbox
from swefuse.verify.judge import judge_calls
from swefuse.verify.screen import protected_paths
from swefuse.verify.tests import How, Limits, run_suite, selected_calls
from swefuse.workspace import Files

Measure = Literal["cost", "style"]
SLOWER = 40  # a counted run of calls may take so many times the CPU time of a plain one
MOST_LINES = 1 << 53
TIMES = 5  # runs of the candidate and of the reference whose CPU time is compared


def lines_run(sandbox: Sandbox, task: Task, suite: Suite, files: Files, limits: Limits) -> int | None:
    """Lines of Python that all calls, or tests, of a suite execute together: the same number in every run of the same code.

    What pytest itself executes is left out, and so is what runs in other threads and processes. None where the count did not come
    to its end. The candidate's own process counts, so one that cheats can make it small; it is worth the few hundredths that the
    score gives for it, and no failing test.
    """
    if suite.form == "pytest":
        judgement, output = run_suite(sandbox, task, suite, files, (), limits, How(count_lines=True))
    else:
        protected = set(protected_paths(task))
        modules = {path: text for path, text in files.items() if path.endswith(".py") and path not in protected}
        wanted = selected_calls(suite, visible_only=False)
        arguments = tuple((call.id, call.args) for call in wanted)
        job = Job("calls", modules, (), suite.entry, arguments, count_lines=True, cpu_s=SLOWER * limits.calls_cpu_s)
        output = sandbox.run(job)
        judgement = judge_calls(wanted, output)
    if judgement.outcome is not Outcome.PASSED:
        return None
    lines = json.loads(output.records.rstrip("\n").rpartition("\n")[2]).get("lines")  # the judge has read it: it is an object
    return lines if type(lines) is int and 1 <= lines < MOST_LINES else None


def seconds_run(
    sandbox: Sandbox, task: Task, suite: Suite, files: Files, reference: Files, limits: Limits
) -> tuple[float, float] | None:
    """Median CPU seconds of the candidate and of the reference, which take turns, for suites whose lines cannot be counted.

    None where a run came to no end. Differences of a few hundredths are noise.
    """
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(TIMES):
        for state, found in zip((files, reference), spent, strict=True):
            judgement, output = run_suite(sandbox, task, suite, state, (), limits)
            if judgement.outcome is not Outcome.PASSED:
                return None
            found.append(max(output.cpu_s, 0.001))
    return median(spent[0]), median(spent[1])


def new_findings(task: Task, files: Files, changed: Sequence[str]) -> int | None:
    """Lint findings in the changed Python files that their initial versions do not have; None when the analysis cannot run."""
    paths = [path for path in changed if path.endswith(".py") and path in files]
    try:
        after = lint.lint([(path, files[path]) for path in paths])
        before = lint.lint([(path, task.files.get(path, "")) for path in paths])
    except InfraError:
        return None
    return sum((new - old).total() for new, old in zip(after, before, strict=True))
