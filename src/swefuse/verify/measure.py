"""What a passing candidate's score may hold beside its tests: how much code it runs, and which lint findings it brings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from swefuse.code import lint
from swefuse.errors import InfraError
from swefuse.records import Suite, Task
from swefuse.sandbox.base import Job, Sandbox
from swefuse.verify.screen import protected_paths
from swefuse.verify.tests import Limits, selected_calls
from swefuse.workspace import Files

Measure = Literal["cost", "style"]
SLOWER = 40  # a counted run may take so many times the CPU time of a plain one


def lines_run(sandbox: Sandbox, task: Task, suite: Suite, files: Files, limits: Limits) -> int | None:
    """Lines of Python that all calls of a suite execute together: the same number in every run of the same code.

    None in the ``pytest`` form, and where the count did not come to its end. The candidate's own process counts, so one that cheats
    can make it small; it is worth the few hundredths that the score gives for it, and no failing test.
    """
    if suite.form != "calls":
        return None
    protected = set(protected_paths(task))
    modules = {path: text for path, text in files.items() if path.endswith(".py") and path not in protected}
    calls = tuple((call.id, call.args) for call in selected_calls(suite, visible_only=False))
    job = Job("calls", modules, (), suite.entry, calls, count_lines=True, cpu_s=SLOWER * limits.calls_cpu_s)
    last = sandbox.run(job).records.rstrip("\n").rpartition("\n")[2]
    try:
        lines = json.loads(last).get("lines")
    except (ValueError, AttributeError):
        return None
    return lines if type(lines) is int and lines >= 1 else None


def new_findings(task: Task, files: Files, changed: Sequence[str]) -> int | None:
    """Lint findings in the changed Python files that their initial versions do not have; None when the analysis cannot run."""
    paths = [path for path in changed if path.endswith(".py") and path in files]
    try:
        after = lint.lint([(path, files[path]) for path in paths])
        before = lint.lint([(path, task.files.get(path, "")) for path in paths])
    except InfraError:
        return None
    return sum((new - old).total() for new, old in zip(after, before, strict=True))
