"""``swefuse report`` on the folder of one run, and on a folder that holds several seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.evaluate.report import ReportData, save
from swefuse.evaluate.report_model import COMPARISONS, MODELS, SPLITS, Difference, ReportModel, Scores, ValueScores
from swefuse.evaluate.run import Result, save_results
from swefuse.recipes.summary import summarise_seeds

Capture = pytest.CaptureFixture[str]


def run_of(folder: Path, seed: int) -> Path:
    scores = Scores(greedy=0.5, sampled=0.25, pass4=None, bestof4=None, n=2)
    value = ValueScores(three_way=None, majority=None, decisive=None, auc=None, ece=None)
    report = ReportModel(
        seed=seed, seconds={"total": 1.0}, peak_rss_mb=1.0, counts={}, versions={}, value=value,
        results={split: dict.fromkeys(MODELS, scores) for split in SPLITS},
        differences={split: dict.fromkeys(COMPARISONS, Difference(sampled=None)) for split in SPLITS},
    )  # fmt: skip
    (folder / "eval").mkdir(parents=True)
    for model in MODELS:
        rows = [Result(str(n), "real", "guard", f"f{n}", bool(n) and model == "sft", n, 4, None, 0) for n in range(2)]
        save_results(folder / "eval" / f"{model}.jsonl", rows)
    save(folder, report, ReportData())
    return folder


def test_the_folder_of_several_seeds_gives_a_page_each_and_one_table(tmp_path: Path, capsys: Capture) -> None:
    folders = [run_of(tmp_path / f"seed-{seed}", seed) for seed in (2, 10)]
    summarise_seeds(folders, tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert all((folder / "report.html").is_file() for folder in folders)
    assert out.index("seed 2") < out.index("seed 10"), "in the order of the seeds, not of their names"
    assert "SFT minus rule" in out and "+50.0 [+0.0, +100.0]" in out
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 2
    assert "seed folders" in capsys.readouterr().err and not (tmp_path / "page.html").exists()


def test_the_folder_of_one_run_gives_its_page(tmp_path: Path, capsys: Capture) -> None:
    run_of(tmp_path / "run", 0)
    assert main(["report", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "run" / "report.html")
