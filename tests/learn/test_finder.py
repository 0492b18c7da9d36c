from __future__ import annotations

import json
from itertools import pairwise
from math import exp, log
from pathlib import Path

import pytest
import torch
from test_sft import examples

from learn_samples import library, model, tokenizer
from swefuse.cli.main import main
from swefuse.errors import DataError
from swefuse.learn.finder import find, rates, smoothed, steepest
from swefuse.learn.model import save
from swefuse.learn.sft import SftSettings


def test_rates_rise_by_equal_factors() -> None:
    assert rates(4, 1e-3, 1.0) == pytest.approx([1e-3, 1e-2, 1e-1, 1.0])
    assert rates(3) == pytest.approx([1e-6, 1e-3, 1.0])


def test_smoothing_by_hand() -> None:
    assert smoothed([4.0, 1.0, 1.0, 4.0, 10.0], 1) == [4.0, 2.0, 2.0, 5.0, 10.0]
    assert smoothed([1.0, 2.0, 6.0, 2.0, 9.0], 2) == [1.0, 3.0, 4.0, 17 / 3, 9.0]
    assert smoothed([1.0, 2.0, 3.0, 4.0], 2) == [1.0, 2.0, 3.0, 4.0], "a straight line stays as it is"


def test_the_steepest_fall_by_hand() -> None:
    """Flat, falling by 1, 3, 3 and 1, then rising: the middle of the fall by 3; what falls after the least is noise."""
    lrs = [exp(n) for n in range(8)]
    losses = [9.0, 9.0, 8.0, 5.0, 2.0, 1.0, 20.0, 3.0]
    assert smoothed(losses, 1)[1:7] == pytest.approx([26 / 3, 22 / 3, 5.0, 8 / 3, 23 / 3, 8.0])
    slopes = [(22 / 3 - 9) / 2, (5 - 26 / 3) / 2, (8 / 3 - 22 / 3) / 2]
    assert min(slopes) == slopes[2] and log(steepest(lrs, losses)) == pytest.approx(3.0)
    with pytest.raises(DataError, match="never fell"):
        steepest(lrs, [1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    with pytest.raises(DataError, match="never fell"):
        steepest([1.0, 2.0], [2.0, 1.0])


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_rates_are_tried_on_a_copy(optimizer: str) -> None:
    learner = model()
    before = {name: value.clone() for name, value in learner.state_dict().items()}
    settings = SftSettings.model_validate({"batch": 4, "optimizer": optimizer, "prompt_loss": 0.0})
    found = find(learner, examples(), settings, 24)
    assert [lr for lr, _ in found] == rates(24)[: len(found)]
    assert all(torch.equal(before[name], value) for name, value in learner.state_dict().items())
    losses = [loss for _, loss in found]
    assert min(losses) < 0.8 * losses[0] and 1e-5 < steepest([lr for lr, _ in found], losses) < 0.5
    assert all(abs(b - a) < 0.01 for a, b in pairwise(losses[:4])), "the first rates are too small to move anything"
    whole = find(learner, examples(), settings, 24)
    parts = find(learner, examples(), settings.model_copy(update={"micro_batch": 1}), 24)
    assert whole == found
    assert [loss for _, loss in parts[:12]] == pytest.approx(losses[:12], rel=1e-4)


def test_the_command_suggests_a_rate_and_trains_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(model(), tokenizer(), tmp_path / "base")
    parts = {"--model": tmp_path / "base", "--library": library(tmp_path / "l.db", True, True), "--out": tmp_path / "out"}
    given = ["train", "sft", *(str(word) for pair in parts.items() for word in pair), "--set", "batch=2"]
    assert main([*given, "--find-lr", "7"]) == 2
    assert "7 steps are too few" in capsys.readouterr().err
    assert main([*given, "--find-lr", "20", "--set", "steps=5"]) == 2
    assert "'steps' has no effect with --find-lr" in capsys.readouterr().err
    assert main([*given, "--find-lr", "20"]) == 0
    written = json.loads((tmp_path / "out" / "lr_finder.json").read_text())
    assert capsys.readouterr().out == f"lr={written['suggested']:.3g}\n"
    assert written["steps"][0]["lr"] == pytest.approx(1e-6) and len(written["steps"]) > 8
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["lr_finder.json"]
