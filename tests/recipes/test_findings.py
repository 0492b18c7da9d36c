"""The words follow from the figures, whichever way they fall."""

from __future__ import annotations

import pytest
from hand_made import Change, report, value

from swefuse.evaluate.report_model import Difference
from swefuse.learn.settings import RlvrSettings, WeightSettings
from swefuse.recipes.findings import findings

ROUNDS = [
    {"weights_on": False, "effective_share": 1.0},
    {"weights_on": True, "effective_share": 0.5},
    {"weights_on": True, "effective_share": 0.7},
]
SOFT = RlvrSettings(weight=WeightSettings(mode="soft"))
UNWEIGHTED = RlvrSettings(weight=WeightSettings(mode="off"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((0.1, 0.02, 0.2), "RLVR is above SFT (+0.100, 95 % interval +0.020 to +0.200)"),
        ((0.1, 0.0, 0.2), "RLVR is within noise of SFT (+0.100, 95 % interval +0.000 to +0.200)"),
        ((0.0, -0.1, 0.2), "RLVR is within noise of SFT (+0.000, 95 % interval -0.100 to +0.200)"),
        ((-0.1, -0.2, 0.0), "RLVR is within noise of SFT (-0.100, 95 % interval -0.200 to +0.000)"),
        ((-0.1, -0.2, -0.05), "RLVR is below SFT (-0.100, 95 % interval -0.200 to -0.050)"),
    ],
)
def test_above_below_and_within_noise(change: Change, words: str) -> None:
    first = findings(report(sft=change), value(0.7, 0.5), ROUNDS, SOFT, {})[0]
    assert first == (
        f"unseen (40 tasks): sampled pass@1 is 0.25 after SFT and 0.50 after RLVR; {words}."
        " After RLVR: greedy 0.75 (SFT 0.30), pass@4 0.90 (SFT 0.60)."
    )


def test_all_splits_together_come_first() -> None:
    pooled = {"rlvr-sft": Difference(sampled=(0.05, 0.01, 0.09)), "rlvr-control": Difference(sampled=(0.02, -0.01, 0.05))}
    first = findings(report(), value(0.7, 0.5), ROUNDS, SOFT, pooled)[0]
    n = sum(models["rlvr"].n for models in report().results.values())
    assert first == (
        f"All {n} held-out tasks together, sampled pass@1: RLVR is above SFT (+0.050, 95 % interval +0.010 to +0.090); "
        "RLVR is within noise of the control with the same compute (+0.020, 95 % interval -0.010 to +0.050)."
    )


def test_the_control_is_named_as_such_and_splits_that_were_not_measured_are_not_spoken_of() -> None:
    found = findings(report(control=(-0.1, -0.2, -0.05)), value(0.7, 0.5), ROUNDS, SOFT, {})
    assert len(found) == 3
    assert "RLVR is below the control with the same compute (-0.100, 95 % interval -0.200 to -0.050)." in found[0]


def test_no_ceiling_no_words_about_it() -> None:
    assert findings(report(ceiling=None), value(0.7, 0.5), ROUNDS, SOFT, {})[0].endswith("0.50 after RLVR.")


def test_a_value_model_that_knows_something() -> None:
    _, knows, weights = findings(report(), value(0.7, 0.5), ROUNDS, SOFT, {})
    assert knows == (
        "The value model is right on 0.70 of 120 held-out pairs and on 0.90 of those with a winner; the majority class gives 0.50, "
        "a four-number Platt fit 0.61 and 0.72. It knows more than the majority class."
    )
    assert weights.startswith("Entropy weights (soft) left pairs worth 60% of their number in effect. They can have helped")


@pytest.mark.parametrize("three_way", [0.4, 0.5])
def test_a_value_model_that_does_not_beat_the_majority_class(three_way: float) -> None:
    _, knows, weights = findings(report(), value(three_way, 0.5), ROUNDS, SOFT, {})
    assert knows.endswith("It does not beat the majority class.")
    assert weights.endswith(
        "They cannot have helped by knowledge, since the value model behind them does not beat the majority class."
    )


def test_weights_that_never_acted_are_given_no_credit() -> None:
    assert findings(report(), value(0.7, 0.5), ROUNDS, UNWEIGHTED, {})[2] == "Entropy weights were off in this run."
    assert findings(report(), value(0.7, 0.5), ROUNDS[:1], SOFT, {})[2] == (
        "Entropy weights never acted: the run ended within the warm-up rounds."
    )


def test_lost_episodes_are_told() -> None:
    assert (
        findings(report(ungraded=3), value(0.7, 0.5), ROUNDS, SOFT, {})[-1]
        == "3 episodes could not be graded and count for nobody."
    )
