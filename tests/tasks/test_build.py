"""The whole stage, small."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from swefuse.tasks.build import TasksConfig, run
from swefuse.tasks.store import load_tasks

SMALL = TasksConfig(
    train_tasks=30,
    heldout_tasks=9,
    real_tasks=18,
    composed_functions=20,
    unseen_functions=24,
    recombined_functions=6,
    agreement_sample=1,
)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_stage_writes_proven_tasks_that_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    two = run(SMALL, tmp_path / "two", lambda done, total: steps.append((done, total)))
    one = run(SMALL.model_copy(update={"workers": 1}), tmp_path / "one")
    assert (one / "tasks.jsonl").read_bytes() == (two / "tasks.jsonl").read_bytes()
    tasks = load_tasks(two / "tasks.jsonl")
    summary = json.loads((two / "summary.json").read_text())
    splits = Counter(task.split for task in tasks)
    assert summary["tasks"] == dict(splits)
    assert set(splits) == {"train", "unseen", "recombined", "real"}
    assert splits["real"] > 9 >= max(splits["unseen"], splits["recombined"]), "as many as were asked for, each by its own setting"
    assert all(task.evidence and task.evidence.repeats == 3 for task in tasks)
    held = {task.provenance.body_hash for task in tasks if task.split != "train"}
    assert not held & {task.provenance.body_hash for task in tasks if task.split == "train"}
    assert sum(summary["agreement"]["judged_in_both_forms"].values()) == 9
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
