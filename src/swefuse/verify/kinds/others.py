"""What kinds have in common whose point is equal behaviour: all suites are looked at, and nothing may hide from being measured."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from swefuse.records import Outcome
from swefuse.verify.kinds.base import Trial
from swefuse.verify.tests import run_suite
from swefuse.workspace import Files


def other_suites(trial: Trial) -> str:
    """Why the candidate does not pass the task's other suites; empty when it does."""
    for suite in trial.task.suites:
        if suite.form != trial.suite.form:
            judgement, _ = run_suite(trial.sandbox, trial.task, suite, trial.files, trial.changed, trial.limits)
            if judgement.outcome is not Outcome.PASSED:
                failed = [id_ for id_, result in judgement.tests.items() if result.outcome != "passed"]
                return f"{judgement.outcome} in the form {suite.form}: {judgement.reason or ', '.join(failed[:5])}"[:500]
    return ""


DYNAMIC = frozenset(
    {"exec", "eval", "compile", "__import__", "importlib", "runpy", "globals", "locals", "vars", "builtins", "__builtins__"}
    | {"pickle", "marshal", "getattr", "setattr", "__code__", "ctypes", "types"}
)


def strange_names(trial: Trial, names: frozenset[str]) -> str:
    """Which of ``names`` the candidate uses in what it changed, and neither the initial state nor the reference does."""
    known = {name for state in (trial.task.files, trial.task.reference or {}) for name in _used(state, state)}
    new = sorted((_used(trial.files, trial.changed) & names) - known)
    return f"it uses {', '.join(new)}, which hides what it does from what is measured" if new else ""


def _used(state: Files, paths: Iterable[str]) -> set[str]:
    """Names, attributes and imported names in some files."""
    found: set[str] = set()
    for path in paths:
        try:
            tree = ast.parse(state.get(path, "")) if path.endswith(".py") else None
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found |= {part for alias in node.names for part in (*alias.name.split("."), alias.asname or "")}
                found |= set((getattr(node, "module", "") or "").split("."))
    return found
