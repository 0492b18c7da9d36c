"""Two evaluations side by side, by hand, and by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.errors import DataError
from swefuse.evaluate.bestof import Sample
from swefuse.evaluate.comparison import compare
from swefuse.evaluate.figures import figures
from swefuse.evaluate.run import Result, save_results

Capture = pytest.CaptureFixture[str]


def row(number: int, passed: int, greedy: bool | None = True, n: int = 4, split: str = "real", function: str = "") -> Result:
    kept = tuple(Sample(k < passed, str(k), -float(k), None, 10) for k in range(n))
    return Result(str(number), split, "guard", function or f"f{number}", greedy, passed, n, None, 0, "humaneval", kept)


def test_a_difference_with_its_interval_its_greedy_side_and_its_power() -> None:
    a = [row(n, 3, greedy=n < 6) for n in range(10)]
    b = [row(n, 1 if n % 2 else 2, greedy=n >= 8) for n in range(11)]
    found = compare(a, b)
    assert (found.tasks, found.functions, found.missing) == (10, 10, 1)
    assert found.sampled.mean == pytest.approx((5 * 0.5 + 5 * 0.25) / 10) and found.verdict == "better"
    assert (found.only_a, found.only_b) == (6, 2) and found.p == pytest.approx(2 * (1 + 8 + 28) / 256)
    spread = (10 * 0.125**2 / 9) ** 0.5
    assert found.detectable == pytest.approx(2.801585 * spread / 10**0.5, abs=1e-5)
    back = compare(b, a)
    assert back.verdict == "worse" and back.sampled.mean == -found.sampled.mean and back.p == found.p


def test_what_differs_by_chance_is_within_noise_and_functions_count_once() -> None:
    a, b = [row(n, 2 + n % 2) for n in range(8)], [row(n, 3 - n % 2) for n in range(8)]
    assert compare(a, b).verdict == "within noise"
    together = compare([row(n, 3, function="f" if n < 4 else "g") for n in range(8)], [row(n, 1) for n in range(8)])
    assert together.functions == 2 and together.detectable == 0, "both functions differ alike"


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(DataError, match="no graded task in common"):
        compare([row(1, 2)], [row(2, 2)])
    with pytest.raises(DataError, match="no graded task in common"):
        compare([row(1, 0, n=0)], [row(1, 2)])


def test_the_figures_of_an_evaluation() -> None:
    found = figures([row(0, 4), row(1, 0, greedy=False), row(2, 1, n=2)])
    assert found["pass_at"] == {"1": pytest.approx(0.5), "2": pytest.approx((1 + 0 + 1) / 3), "4": 0.5}
    assert found["best_of"]["4"]["logprob"] == 0.5 and found["best_of"]["4"]["value"] is None
    assert found["best_of"]["4"]["headroom"] == {"majority": None, "logprob": None, "value": None}, "nothing can be gained in these"
    assert found["tokens"] == {"a_sample": 10, "a_solution": 20} and found["by_source"] == {"humaneval": {"sampled": 0.5, "n": 3}}
    assert figures([])["pass_at"] == {}


def test_compare_by_the_command(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a").mkdir()
    save_results(tmp_path / "a" / "results.jsonl", [row(n, 4, split="real" if n % 2 else "unseen") for n in range(8)])
    save_results(tmp_path / "b.jsonl", [row(n, 2, split="real" if n % 2 else "unseen") for n in range(8)])
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b.jsonl")]) == 0
    text = capsys.readouterr().out
    assert "real: A minus B +50.0 points of pass@1 [+50.0, +50.0]: better" in text and "4 tasks of 4 functions" in text
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unseen"]["verdict"] == "better"
    assert main(["compare", str(tmp_path / "a"), str(tmp_path)]) == 2
    assert "holds no results" in capsys.readouterr().err
