"""Bugs that people wrote: HumanEvalFix on the functions of HumanEval that are held out, as tasks for a policy that chooses edits.

Many of these bugs take more than one small edit; ``within_reach`` says how many an edit that is open mends, by running them all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from swefuse.code.operators import edits
from swefuse.errors import DataError
from swefuse.recipes.contamination import held_out
from swefuse.records import Kind, Provenance, Task
from swefuse.scale.executor import InlineExecutor
from swefuse.tasks.build import TasksConfig
from swefuse.tasks.observe import results
from swefuse.tasks.prepare import MOST_EDITS, prepare
from swefuse.tasks.spec import MODULE, TEST_MODULE, FunctionSpec
from swefuse.tasks.suites import make_suites, module_of_tests
from swefuse.tasks.workers import init_worker
from swefuse.tasks.workers import sandbox as worker_sandbox


def human_tasks(file: Path, config: TasksConfig) -> tuple[list[Task], int]:
    """The tasks of a HumanEvalFix file whose functions are held out, and how many of its rows these functions have."""
    rows = {row["task_id"].rpartition("/")[2]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    specs = [spec for spec in held_out(config) if spec.family == "real"]
    mine = [(spec, rows[number]) for spec in specs if (number := spec.topic.rpartition("/")[2]) in rows]
    with InlineExecutor(init_worker) as executor:
        ready = list(executor.map(prepare, [spec for spec, _ in mine]))
        made = [_task(one.spec, row) for one, (_, row) in zip(ready, mine, strict=True) if not one.reason]
    return [task for task in made if task is not None], len(mine)


def _task(spec: FunctionSpec, row: dict[str, str]) -> Task | None:
    """The task, or None where its calls do not notice the bug or too many edits are open."""
    broken = row["declaration"] + row["buggy_solution"].rstrip("\n") + "\n"
    try:
        if len(edits(broken, spec.name)) > MOST_EDITS:
            return None
    except DataError:
        return None
    got = results(worker_sandbox(), {MODULE: broken}, f"{MODULE}:{spec.name}", spec.calls)
    failing = frozenset(id_ for id_, result in got.items() if result.outcome != "passed")
    if not failing:
        return None
    files = {MODULE: broken, TEST_MODULE: module_of_tests(spec)}
    return Task.make(
        Kind.BUGFIX, instruction=f"Some tests of `{spec.name}` in {MODULE} fail. Find the bug and repair it.", files=files,
        editable=(MODULE,), protected=(TEST_MODULE,), suites=make_suites(replace(spec), failing),
        provenance=Provenance(source="humanevalfix", licence="MIT", function=spec.name, body_hash=spec.body_hash, topic=spec.topic,
                              operator=row["bug_type"]), split="real",
    )  # fmt: skip


def kinds(tasks: Sequence[Task]) -> dict[str, int]:
    """How many tasks there are of each type of bug that the dataset names."""
    return {kind: sum(task.provenance.operator == kind for task in tasks) for kind in {task.provenance.operator for task in tasks}}
