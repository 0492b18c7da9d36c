"""Reports and value figures with the numbers that a test needs."""

from __future__ import annotations

from typing import Any

from swefuse.evaluate.report_model import COMPARISONS, MODELS, SPLITS, Difference, ReportModel, Scores, ValueScores

Change = tuple[float, float, float] | None


def report(
    sft: Change = None, control: Change = None, ungraded: int = 0, seed: int = 0, ceiling: float | None = 0.75
) -> ReportModel:
    """A run that measured the split ``unseen`` only: sampled 0.25 after SFT and 0.5 after RLVR, with these differences."""
    none = Scores(greedy=None, sampled=None, pass4=None, bestof4=None, n=0)
    results = {split: dict.fromkeys(MODELS, none) for split in SPLITS}
    results["unseen"]["sft"] = Scores(greedy=ceiling and 0.3, sampled=0.25, pass4=ceiling and 0.6, bestof4=None, n=40)
    results["unseen"]["rlvr"] = Scores(greedy=ceiling, sampled=0.5, pass4=ceiling and 0.9, bestof4=None, n=40)
    differences = {split: dict.fromkeys(COMPARISONS, Difference(sampled=None)) for split in SPLITS}
    differences["unseen"] = dict(zip(COMPARISONS, (Difference(sampled=sft), Difference(sampled=control)), strict=True))
    return ReportModel(
        seed=seed, seconds={"total": 1.0}, peak_rss_mb=1.0, counts={"ungraded_episodes": ungraded}, versions={}, results=results,
        differences=differences, value=ValueScores(three_way=None, majority=None, decisive=None, auc=None, ece=None),
    )  # fmt: skip


def value(three_way: float, majority: float) -> dict[str, dict[str, Any]]:
    """Figures of the value model as ``eval/value.json`` holds them."""
    head = {"three_way": three_way, "majority": majority, "decisive": 0.9, "n": 120}
    return {"head": head, "platt": {"three_way": 0.61, "decisive": 0.72}}
