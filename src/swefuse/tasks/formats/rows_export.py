"""Write tasks as rows: one that came from a row of that format exactly as it was read, others as rows of SWE-bench."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swefuse.errors import DataError, PatchError
from swefuse.records import Task
from swefuse.tasks.commits import is_test
from swefuse.tasks.environment import supplied
from swefuse.tasks.formats import clones
from swefuse.tasks.formats.rows import Fields, dumps
from swefuse.verify.patch import apply_patch, make_patch
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files

LIKE_SWEBENCH = ("swebench", "swegym", "swerebench")
NO_PYTEST = "it has no tests in the form pytest"
NO_REFERENCE = "it has no reference solution"
NO_CLONE = "its repository is not below --repos, and the row needs its commit"
OTHER_STATE = "its initial state is not its commit with other tests"
NO_TEXT = "its patch holds bytes that are no UTF-8"
NO_PATCH = "its patches do not lead from one state to the other"
NOT_FROM_IT = "it did not come from a row of this format"


@dataclass(frozen=True, slots=True)
class Written:
    """Lines of the rows, in the order of their tasks; tasks that are none, with the reason; how many rows are exactly as they were
    read, and how many name no commit, since their tasks come from no repository."""

    lines: list[str]
    refused: list[tuple[Task, str]]
    exact: int
    without_commit: int


def export(name: str, tasks: Sequence[Task], repos: Path | None = None, names: Mapping[str, str] | None = None) -> Written:
    """Rows of the format ``name``. ``repos``: folder of clones; ``names``: what the repositories of tasks are called in rows."""
    lines: list[str] = []
    refused: list[tuple[Task, str]] = []
    exact = without = 0
    for task in tasks:
        if line := _kept(name, task):
            exact += 1
            lines.append(line)
            continue
        made = _made(task, repos, names or {}) if name == "swebench" else NOT_FROM_IT
        if isinstance(made, str):
            refused.append((task, made))
        else:
            without += not made["base_commit"]
            lines.append(dumps(made))
    return Written(lines, refused, exact, without)


def _kept(name: str, task: Task) -> str:
    """The row that the task was made from, unless its states or tests have become others; else empty."""
    held, source = task.provenance.parameters, task.provenance.source
    fits = source == name or (name == "swebench" and source in LIKE_SWEBENCH)
    return held.get("row", "") if fits and held.get("row_of") == task.id else ""


def _made(task: Task, repos: Path | None, names: Mapping[str, str]) -> Fields | str:
    """A row of SWE-bench for a task, or why there is none."""
    suite, origin = task.suite("pytest"), task.provenance
    if suite is None:
        return NO_PYTEST
    if task.reference is None:
        return NO_REFERENCE
    repo = names.get(origin.repo, names.get("", origin.repo))
    commit = origin.parameters.get("parent") or origin.parameters.get("base", "")
    base: Files = {path: text for path, text in task.files.items() if path not in protected_paths(task)}
    initial, reference = task.files, task.reference
    if commit:
        repository = clones.find(repos, repo) if repos is not None else None
        base = clones.state(repository, (commit,))[1] if repository else {}
        if not base:
            return NO_CLONE
        added = _supplied(base, initial, reference)
        initial, reference = ({path: text for path, text in one.items() if path not in added} for one in (initial, reference))
    try:
        test_patch, patch = _patches(base, initial, reference, protected_paths(task))
    except UnicodeDecodeError:
        return NO_TEXT
    except PatchError:
        return NO_PATCH
    except DataError:
        return OTHER_STATE
    return {
        "repo": repo, "instance_id": f"{(repo or origin.source).replace('/', '__')}-{task.id}", "base_commit": commit,
        "patch": patch, "test_patch": test_patch, "problem_statement": task.instruction, "hints_text": "",
        "created_at": origin.parameters.get("date", ""), "version": "", "FAIL_TO_PASS": json.dumps(suite.fail_to_pass),
        "PASS_TO_PASS": json.dumps(suite.pass_to_pass), "environment_setup_commit": commit,
    }  # fmt: skip


def _supplied(base: Files, initial: Files, reference: Files) -> dict[str, str]:
    """Files of a task that were put beside its commit, as an installation would have done."""
    beside = {path for path, text in initial.items() if path not in base and reference.get(path) == text and not is_test(path)}
    added = supplied({path: text for path, text in reference.items() if path not in beside})
    return {path: text for path, text in added.items() if path in beside and initial[path] == text}


def _patches(base: Files, initial: Files, reference: Files, tests: Sequence[str]) -> tuple[str, str]:
    """The patch of the tests and that of the source. Raises DataError where the first would have to change more than tests."""
    moved = {path for path in base.keys() | initial.keys() if base.get(path) != initial.get(path)}
    if not all(is_test(path) or path in tests for path in moved):
        raise DataError(OTHER_STATE)
    found = []
    for before, after in ((base, initial), (initial, reference)):
        patch = make_patch(before, after)
        found.append(patch.decode("utf-8"))
        if patch and apply_patch(before, patch).files != dict(after):
            raise PatchError(NO_PATCH)
    return found[0], found[1]
