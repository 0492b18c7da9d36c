"""Bugs that people wrote: HumanEvalFix on the functions of HumanEval that are held out, as tasks for a policy that chooses edits.

Many of these bugs take more than one small edit; ``within_reach`` says how many an edit that is open mends, by running them all.
"""

from __future__ import annotations

import json
from pathlib import Path

from swefuse.code.operators import edits
from swefuse.errors import DataError
from swefuse.learn.board import choices, exact_pass, make_board
from swefuse.learn.model import load, steady
from swefuse.learn.tokens import codec_for
from swefuse.recipes.contamination import held_out
from swefuse.records import Kind, Provenance, Task
from swefuse.sandbox.choose import AUTO, resolve
from swefuse.scale.executor import InlineExecutor, ProcessExecutor
from swefuse.tasks.build import TasksConfig
from swefuse.tasks.observe import results
from swefuse.tasks.prepare import MOST_EDITS, prepare
from swefuse.tasks.spec import MODULE, TEST_MODULE, FunctionSpec
from swefuse.tasks.suites import make_suites, module_of_tests
from swefuse.tasks.workers import init_worker
from swefuse.tasks.workers import sandbox as worker_sandbox
from swefuse.verify.many import init_worker as init_verifier
from swefuse.verify.many import verify_many


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
        editable=(MODULE,), protected=(TEST_MODULE,), suites=make_suites(spec, failing),
        provenance=Provenance(source="humanevalfix", licence="MIT", function=spec.name, body_hash=spec.body_hash, topic=spec.topic,
                              operator=row["bug_type"]), split="real",
    )  # fmt: skip


def human(model: Path, file: Path, config: TasksConfig) -> dict[str, float]:
    """Exact sampled pass@1 of a model and of picking any edit, as shares of all rows of held-out functions; the reach of edits."""
    steady(0, 2)
    tasks, count = human_tasks(file, config)
    with ProcessExecutor(2, init_verifier, (resolve(AUTO),), chunk=16) as executor:
        board = make_board(tasks, lambda items: verify_many(items, executor))
    policy, tokenizer = load(model)
    solved = exact_pass(policy, codec_for(tokenizer), board)
    anyhow = [len(place.good) / len(choices(place)) for place in board]
    return {
        "nano_human_sampled": sum(solved) / count, "nano_human_random": sum(anyhow) / count,
        "nano_human_reach": sum(bool(place.good) for place in board) / count, "nano_human_rows": count,
    }  # fmt: skip
