"""Run one suite of a task on one candidate: build the job, run it, hand the records to the judge."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from swefuse.code.imports import imported_modules
from swefuse.errors import DataError
from swefuse.records import Call, Suite, Task
from swefuse.sandbox import environments
from swefuse.sandbox.base import Job, Output, Sandbox
from swefuse.verify.judge import Judgement, judge_calls, judge_pytest, wanted
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files


@dataclass(frozen=True, slots=True)
class Limits:
    """CPU seconds for one run of a whole suite, per form."""

    calls_cpu_s: float = 0.1
    pytest_cpu_s: float = 20.0

    def of(self, form: str) -> float:
        """The limit of one form."""
        return self.calls_cpu_s if form == "calls" else self.pytest_cpu_s


@dataclass(frozen=True, slots=True)
class How:
    """How one run of a suite is made.

    ``part``: ``visible`` are the calls that an agent may see; only pytest can end at the first failure. The other three are for
    pytest alone: ``shuffle`` above 0 seeds another order of the tests, ``fresh_process`` gives up what a warm worker saves,
    ``count_lines`` has the lines of Python counted that the tests execute.
    """

    part: Literal["all", "visible", "to_first_failure"] = "all"
    shuffle: int = 0
    fresh_process: bool = False
    count_lines: bool = False


PLAIN = How()


def is_cold(task: Task) -> bool:
    """Whether a warm worker is known to judge the task's tests otherwise."""
    return bool(task.evidence and task.evidence.cold)


def environment_of(task: Task) -> str:
    """Folder of the environment in which the task's tests run; empty for the program's own."""
    return environments.folder(task.evidence.environment if task.evidence else "")


def run_suite(
    sandbox: Sandbox, task: Task, suite: Suite, files: Files, changed: Sequence[str], limits: Limits, how: How = PLAIN
) -> tuple[Judgement, Output]:
    """Run the suite once; ``changed`` Python files must parse. Raises SandboxError, or DataError for a contradictory task."""
    parse = tuple(path for path in changed if path.endswith(".py") and path in files)
    protected = tuple(path for path in protected_paths(task) if path in task.files)
    if suite.form == "calls":
        calls = selected_calls(suite, how.part == "visible")
        arguments = tuple((call.id, call.args) for call in calls)
        # without the test files: they hold the answers, and the candidate can search its process
        modules = {path: text for path, text in files.items() if path.endswith(".py") and path not in protected}
        output = sandbox.run(Job("calls", modules, parse, suite.entry, arguments, cpu_s=limits.calls_cpu_s))
        return judge_calls(calls, output), output
    nonce = secrets.token_hex(16)
    laid_over = {**files, **{path: task.files[path] for path in protected}}
    # what the task's own files import, not what the candidate's do: it is imported outside of the candidate's process
    preload = imported_modules(tuple(text for path, text in sorted(task.files.items()) if path.endswith(".py")))
    job = Job(
        "pytest", laid_over, parse, tests=suite.expected, protected=protected, nonce=nonce, preload=preload,
        fail_fast=how.part == "to_first_failure", shuffle=how.shuffle, fresh_process=how.fresh_process or is_cold(task),
        environment=environment_of(task),
        count_lines=how.count_lines, cpu_s=limits.pytest_cpu_s,
    )  # fmt: skip
    output = sandbox.run(job)
    return judge_pytest(suite.expected, output, nonce), output


def selected_calls(suite: Suite, visible_only: bool) -> list[Call]:
    """The calls that decide, in the suite's order. Raises DataError unless each expected id has one call with a tuple."""
    expected = set(suite.expected)
    calls = [call for call in suite.calls if call.id in expected]
    if not len(calls) == len(suite.expected) == len(expected) == len({call.id for call in calls}):
        raise DataError(f"the expected ids of the suite for {suite.entry} are not those of its calls, each once")
    for call in calls:
        if not isinstance(wanted(call.args)[1], tuple):
            raise DataError(f"arguments must be the text of a tuple, not {call.args[:100]!r}")
    return [call for call in calls if call.visible or not visible_only]
