"""What a run showed, in words that follow from the figures alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from swefuse.evaluate.report_model import SPLITS, Difference, ReportModel
from swefuse.learn.settings import RlvrSettings


def findings(
    report: ReportModel,
    value: dict[str, dict[str, Any]],
    rounds: Sequence[dict[str, Any]],
    settings: RlvrSettings,
    pooled: Mapping[str, Difference],
) -> list[str]:
    """Sentences for the top of the page, the most important first."""
    found = [sentence for split in SPLITS for sentence in _split(report, split)]
    return [*_together(report, pooled), *found, _value(value), _weights(value, rounds, settings), *_infra(report)]


def _compared(differences: Mapping[str, Difference]) -> list[str]:
    """How RLVR stands to each opponent it was compared with."""
    found = []
    for pair, other in (("rlvr-sft", "SFT"), ("rlvr-control", "the control with the same compute")):
        change = differences[pair].sampled if pair in differences else None
        if change is not None:
            mean, low, high = change
            word = "above" if low > 0 else "below" if high < 0 else "within noise of"
            found.append(f"RLVR is {word} {other} ({mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f})")
    return found


def _together(report: ReportModel, pooled: Mapping[str, Difference]) -> list[str]:
    said = _compared(pooled)
    n = sum(report.results[split]["rlvr"].n for split in SPLITS)
    return [f"All {n} held-out tasks together, sampled pass@1: {'; '.join(said)}."] if said else []


def _split(report: ReportModel, split: str) -> list[str]:
    scores = report.results[split]
    if scores["sft"].sampled is None or scores["rlvr"].sampled is None:
        return []
    parts = [
        f"{split} ({scores['sft'].n} tasks): sampled pass@1 is {scores['sft'].sampled:.2f} after SFT "
        f"and {scores['rlvr'].sampled:.2f} after RLVR"
    ]
    parts += _compared(report.differences[split])
    ceiling = []
    for key, name in (("greedy", "greedy"), ("pass4", "pass@4")):
        after, before = getattr(scores["rlvr"], key), getattr(scores["sft"], key)
        if after is not None and before is not None:
            ceiling.append(f"{name} {after:.2f} (SFT {before:.2f})")
    return ["; ".join(parts) + "." + (f" After RLVR: {', '.join(ceiling)}." if ceiling else "")]


def _value(value: dict[str, dict[str, Any]]) -> str:
    head, platt = value["head"], value["platt"]
    beats = head["three_way"] > head["majority"]
    return (
        f"The value model is right on {head['three_way']:.2f} of {head['n']} held-out pairs "
        f"and on {head['decisive']:.2f} of those with a winner; the majority class gives {head['majority']:.2f}, "
        f"a four-number Platt fit {platt['three_way']:.2f} and {platt['decisive']:.2f}. "
        + ("It knows more than the majority class." if beats else "It does not beat the majority class.")
    )


def _weights(value: dict[str, dict[str, Any]], rounds: Sequence[dict[str, Any]], settings: RlvrSettings) -> str:
    if settings.weight.mode == "off":
        return "Entropy weights were off in this run."
    acting = [row["effective_share"] for row in rounds if row.get("weights_on")]
    if not acting:
        return "Entropy weights never acted: the run ended within the warm-up rounds."
    share = sum(acting) / len(acting)
    text = f"Entropy weights ({settings.weight.mode}) left pairs worth {share:.0%} of their number in effect. "
    if value["head"]["three_way"] <= value["head"]["majority"]:
        return text + "They cannot have helped by knowledge, since the value model behind them does not beat the majority class."
    return text + (
        "They can have helped by dwelling on pairs of which the value model is sure, but verdicts here are exact, "
        "so there was no label noise to filter, and one run without a weights-off arm cannot tell their share in the gain."
    )


def _infra(report: ReportModel) -> list[str]:
    lost = report.counts.get("ungraded_episodes", 0)
    return [f"{lost} episodes could not be graded and count for nobody."] if lost else []
