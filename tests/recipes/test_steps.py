"""The arithmetic of the equal-compute control, the pools, and the summary over seeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hand_made import report

from swefuse.errors import InfraError
from swefuse.evaluate.report import ReportData, save
from swefuse.evaluate.report_model import MODELS, Difference
from swefuse.evaluate.run import Result, save_results
from swefuse.learn.batch import Example
from swefuse.library.store import Library
from swefuse.recipes.config import QuickstartConfig
from swefuse.recipes.steps import Run, accepted, control_steps
from swefuse.recipes.summary import summarise_seeds, together
from swefuse.records import Kind, Provenance, Task
from swefuse.tasks.store import save_tasks


def made(folder: Path, rounds: list[tuple[float, float]], **settings: object) -> Run:
    (folder / "rlvr").mkdir()
    rows = [json.dumps({"forward_tokens": forward, "trained_tokens": trained}) for forward, trained in rounds]
    (folder / "rlvr" / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    return Run(QuickstartConfig.model_validate(settings), folder)


def examples(*lengths: int) -> list[Example]:
    return [Example(tuple(range(length)), (1,), ((),), "x") for length in lengths]


def test_the_control_processes_as_many_tokens_as_stage_2(tmp_path: Path) -> None:
    # stage 2: 4000 + 3 * 1000 + 2000 + 0 = 9000 forward tokens; a step: 3 * 50 tokens * 4 rows = 600
    run = made(tmp_path, [(4000, 1000), (2000, 0)], sft={"batch": 4})
    assert control_steps(run, examples(40, 60)) == 15
    assert control_steps(run, examples(100)) == 8  # 7.5, to even
    assert control_steps(run, examples(100_000)) == 1  # never none


def task(number: int, split: str) -> Task:
    files = {"m.py": str(number)}
    return Task(
        id=Task.make_id(Kind.BUGFIX, files, ()), kind=Kind.BUGFIX, instruction="", files=files, editable=(), suites=(),
        provenance=Provenance(source="t"), split=split,
    )  # fmt: skip


def test_the_pools_share_out_the_train_tasks_by_the_seed(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    save_tasks(tmp_path / "tasks" / "tasks.jsonl", [task(n, "train" if n < 10 else "unseen") for n in range(12)])
    first, second = Run(QuickstartConfig(rl_share=0.3), tmp_path), Run(QuickstartConfig(rl_share=0.3, seed=1), tmp_path)
    sft, rlvr = first.pools
    assert (len(sft), len(rlvr)) == (7, 3)
    assert {t.id for t in sft + rlvr} == {t.id for t in first.split("train")} and len(first.split("train")) == 10
    assert Run(QuickstartConfig(rl_share=0.3), tmp_path).pools == first.pools != second.pools


def test_a_gate_that_let_nothing_through_stops_the_run(tmp_path: Path) -> None:
    with Library(tmp_path / "library.db", create=True):
        pass
    with pytest.raises(InfraError, match="the gate accepted no trajectory"):
        accepted(Run(QuickstartConfig(), tmp_path))


def evaluated(folder: Path, greedy: dict[str, list[bool | None]]) -> None:
    """Per-task results of every model in a run folder: one task a function, four samples that all went as the greedy episode."""
    (folder / "eval").mkdir(parents=True)
    tasks = max((len(solved) for solved in greedy.values()), default=2)
    for model in MODELS:
        solved = greedy.get(model, [False] * tasks)
        rows = [Result(str(n), "real", "guard", f"f{n}", ok, 4 * bool(ok), 4, None, 0) for n, ok in enumerate(solved)]
        save_results(folder / "eval" / f"{model}.jsonl", rows)


def test_all_seeds_together_are_one_paired_sample_by_function(tmp_path: Path) -> None:
    folders = [tmp_path / "seed-0", tmp_path / "seed-1"]
    evaluated(folders[0], {"sft": [True, True, None], "rule": [True, False, True]})
    evaluated(folders[1], {"sft": [True, False, True], "rule": [False, False, True]})
    found = together([*folders])["real"]
    # five graded tasks, four solved; the sixth was not graded and leaves its rule's success out of the pair too
    assert found["models"]["sft"]["greedy"][0] == pytest.approx(4 / 5)
    assert found["models"]["sft"]["sampled"][0] == pytest.approx(4 / 6)
    assert found["differences"]["sft-rule"]["greedy"][0] == pytest.approx((0 + 1 + 1 + 0 + 0) / 5)
    assert found["differences"]["sft-random"]["greedy"][0] == pytest.approx(4 / 5)
    mean, low, high = found["differences"]["sft-rule"]["greedy"]
    assert 0 <= low < mean < high <= 0.5, "a resample of f0 alone (+1 of 2) gives the most"
    assert together(folders)["unseen"]["models"]["sft"]["greedy"] is None


def test_seeds_are_counted_by_their_intervals(tmp_path: Path) -> None:
    changes = [((0.1, 0.05, 0.2), None), ((0.1, 0.0, 0.2), (0.1, 0.01, 0.2)), ((-0.1, -0.2, -0.01), (0.1, 0.01, 0.2))]
    folders = []
    for seed, (sft, control) in enumerate(changes):
        folders.append(tmp_path / f"seed-{seed}")
        evaluated(folders[-1], {})
        pooled = {"rlvr-sft": Difference(sampled=(0.1, 0.05 - seed / 10, 0.2))} if seed else {}
        save(folders[-1], report(sft=sft, control=control, seed=seed), ReportData(pooled=pooled))
    summarise_seeds(folders, tmp_path)
    found = json.loads((tmp_path / "seeds.json").read_text())
    assert found["of"] == 3 and [row["seed"] for row in found["seeds"]] == [0, 1, 2]
    assert found["interval_above_zero"]["unseen"] == {"rlvr-sft": 1, "rlvr-control": 2}
    assert found["interval_above_zero"]["real"] == {"rlvr-sft": 0, "rlvr-control": 0}
    assert found["interval_above_zero"]["all"] == {"rlvr-sft": 0, "rlvr-control": 0}
    assert found["seeds"][1]["differences"]["all"] == {"rlvr-sft": [0.1, pytest.approx(-0.05), 0.2]}
    assert found["seeds"][0]["results"]["unseen"]["rlvr"]["sampled"] == 0.5
