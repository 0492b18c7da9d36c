"""A run as it might have come out: plausible figures, and ``HOSTILE`` text wherever programs or people write text."""

from __future__ import annotations

import math
import random

from swefuse.evaluate.report_model import (
    Agreement,
    Attempt,
    Bins,
    Chart,
    Difference,
    Example,
    Flow,
    Histogram,
    Intervals,
    KindScores,
    ReportData,
    ReportModel,
    Scores,
    Series,
    Stage,
    ValueDetail,
    ValueScores,
)

HOSTILE = (
    "</script></pre><img src=x onerror=alert(1)> \" ' & \x1b[31mred\x1b[0m \x00\x07\x9b \u202eevil\u2066 \ud800 {{x}} $css [bold]"
)
KINDS = (
    "comparison",
    "arithmetic",
    "boundary",
    "constant",
    "wrong variable",
    "dropped guard",
    "dropped statement",
    "inverted condition",
    "wrong return",
)
_MODELS = ("random", "rule", "base", "sft", "control", "rlvr")
_SAMPLED = {
    "recombined": (0.071, 0.104, 0.068, 0.536, 0.579, 0.626),
    "unseen": (0.062, 0.118, 0.059, 0.214, 0.231, 0.262),
    "real": (0.079, 0.121, 0.071, 0.268, 0.281, 0.302),
}
_TASKS = {"recombined": 504, "unseen": 207, "real": 306}
_CHANGES = {
    "recombined": ((0.090, 0.058, 0.121), (0.047, 0.014, 0.081)),
    "unseen": ((0.048, 0.004, 0.093), (0.031, -0.012, 0.074)),
    "real": ((0.034, -0.006, 0.075), (0.021, -0.019, 0.060)),
}


def _scores(sampled: float, model: str, n: int) -> Scores:
    rule = model == "rule"
    greedy = sampled if rule else min(sampled * 1.18, 1)
    best = None if model in ("random", "rule") else min(sampled * 1.27, 1)
    return Scores(greedy=greedy, sampled=sampled, pass4=sampled if rule else min(sampled * 1.45, 1), bestof4=best, n=n)


def report() -> ReportModel:
    """``report.json`` of the run."""
    results = {
        split: {model: _scores(value, model, _TASKS[split]) for model, value in zip(_MODELS, values, strict=True)}
        for split, values in _SAMPLED.items()
    }
    differences = {
        split: dict(zip(("rlvr-sft", "rlvr-control"), (Difference(sampled=change) for change in changes), strict=True))
        for split, changes in _CHANGES.items()
    }
    return ReportModel(
        seed=0,
        seconds={
            "total": 812.4,
            "tasks": 96.1,
            "collect": 31.0,
            "sft": 263.8,
            "control": 141.2,
            "rlvr": 168.9,
            "evaluate": 104.7,
            "report": 0.6,
        },
        peak_rss_mb=2318.4,
        counts={"functions": 1262, "proven": 11804, "refused": 2671, "trajectories": 11804, "accepted": 11790, "rollouts": 12544},
        versions={"swefuse": "0.1.0", "python": "3.11.7", "torch": "2.13.0", "transformers": "5.24.0"},
        results=results,
        differences=differences,
        value=ValueScores(three_way=0.741, majority=0.575, decisive=0.894, auc=0.942, ece=0.041),
    )


def _curve(start: float, end: float, steps: int, noise: float, seed: int) -> tuple[tuple[float, float], ...]:
    dice = random.Random(seed)
    rate = 5 / steps
    return tuple((float(i), end + (start - end) * math.exp(-i * rate) + dice.gauss(0, noise)) for i in range(1, steps + 1))


def _charts() -> tuple[Chart, ...]:
    loss = Series(name="SFT", points=_curve(3.7, 0.16, 495, 0.04, 1))
    more = Series(name="control", points=tuple((x + 495, y) for x, y in _curve(0.18, 0.11, 200, 0.02, 2)))
    return (
        Chart(title="SFT loss falls, then flattens", x_label="optimizer step", y_label="nats per token", series=(loss, more)),
        Chart(
            title="Pass rate of rollouts by round",
            x_label="round",
            y_label="share passed",
            series=(Series(name="RLVR", points=_curve(0.47, 0.64, 48, 0.012, 3)),),
        ),
        Chart(
            title="Value model against the majority class",
            x_label="round",
            y_label="3-way accuracy",
            series=(
                Series(name="residual head", points=_curve(0.5, 0.74, 48, 0.01, 4)),
                Series(name="Platt", points=_curve(0.62, 0.73, 48, 0.008, 5)),
                Series(name="majority", points=((1.0, 0.575), (48.0, 0.575))),
            ),
        ),
        Chart(
            title="Policy entropy",
            x_label="round",
            y_label="nats",
            series=(Series(name="entropy", points=((0.0, math.nan), *_curve(1.31, 0.84, 48, 0.02, 6))),),
        ),
        Chart(
            title="What the weights keep",
            x_label="round",
            y_label="share",
            series=(
                Series(name="kept share", points=_curve(1.0, 0.71, 48, 0.015, 7)),
                Series(name="effective sample size", points=_curve(1.0, 0.58, 48, 0.015, 8)),
            ),
        ),
    )


def _histograms() -> tuple[Histogram, ...]:
    edges = tuple(i / 12 for i in range(13))

    def bins(label: str, peak: float, n: int, seed: int) -> Bins:
        dice, counts = random.Random(seed), [0] * 12
        for _ in range(n):
            counts[min(int(12 * dice.betavariate(2 + 6 * peak, 2 + 6 * (1 - peak))), 11)] += 1
        return Bins(label=label, bins=edges, counts=tuple(counts))

    rounds = tuple(bins(f"round {r}", 0.95 - r / 60, 700 + 9 * r, r) for r in (1, 8, 16, 24, 32, 40, 48))
    weights = tuple(bins(f"round {r}", 0.3 + r / 120, 700 + 9 * r, 90 + r) for r in (8, 24, 48))
    return Histogram(title="Entropy of the verdict, 0 sure to 1 clueless", by=rounds), Histogram(
        title="Weight of a pair", by=weights
    )


def _by_kind() -> dict[str, dict[str, dict[str, KindScores]]]:
    dice = random.Random(5)

    def one(value: float, n: int) -> KindScores:
        sampled = min(max(dice.gauss(value, 0.12), 0), 1)
        return KindScores(greedy=min(1.15 * sampled, 1), sampled=sampled, n=n)

    return {
        split: {
            model: {kind: one(value, _TASKS[split] // 9) for kind in KINDS} for model, value in zip(_MODELS, values, strict=True)
        }
        for split, values in _SAMPLED.items()
    }


_SOURCE = '''def rolling_mean(values, width):
    """Mean of every window of that width."""
    if width < 1 or width > len(values):
        raise ValueError("width")
    total = sum(values[:width])
    means = [total / width]
    for i in range(width, len(values)):
        total += values[i] - values[i - width - 1]
        means.append(total / width)
    return means
'''
_FAILING = """FAIL rolling_mean([1, 2, 3, 4], 2)
  got  [1.5, 0.5, 3.5]
  want [1.5, 2.5, 3.5]
1 failed, 5 passed
"""


def _diff(old: str, new: str) -> str:
    loop = "     for i in range(width, len(values)):\n"
    head = "--- a/rolling.py\n+++ b/rolling.py\n@@ -5,5 +5,5 @@\n     means = [total / width]\n" + loop
    return f"{head}-        total += {old}\n+        total += {new}\n         means.append(total / width)\n     return means\n"


def _examples() -> tuple[Example, ...]:
    old = "values[i] - values[i - width - 1]"
    base = Attempt(name="base", diff=_diff(old, "values[i] + values[i - width - 1]"), passed=False, output=_FAILING)
    rlvr = Attempt(name="RLVR", diff=_diff(old, "values[i] - values[i - width]"), passed=True, output="6 passed in 0.01 s\n")
    said = "Some tests of rolling.py fail. Find the cause and repair it."
    wild = Attempt(name=HOSTILE, diff="", passed=False, output=HOSTILE * 3)
    common = {"instruction": said, "source": _SOURCE, "failing": _FAILING}
    return (
        Example(task="rolling_mean", split="recombined", kind="boundary", models=(base, rlvr), **common),
        Example(task="HumanEval/12", split="real", kind="wrong variable", models=(base, rlvr), **common),
        Example(
            task=f"x{HOSTILE}",
            split="unseen",
            kind="constant",
            models=(base, wild),
            instruction=HOSTILE,
            source=HOSTILE,
            failing=HOSTILE,
        ),
    )


def data() -> ReportData:
    """``report_data.json`` of the run."""
    return ReportData(
        title="Quickstart: nano on three held-out families",
        verdict=(
            "RLVR raised sampled pass@1 on recombined functions by 9.0 points over SFT and by 4.7 over the control.",
            "On unseen and on real functions the intervals against the control include 0: an effect there is not shown.",
            "RLVR sharpens: greedy and pass@4 moved by less than their intervals.",
            "The residual head is no better than the four-number Platt fit, so its entropy can hardly have helped.",
        ),
        stages=tuple(
            Stage(name=name, seconds=seconds, note=note)
            for name, seconds, note in (
                ("tasks", 96.1, "50,112 executions"),
                ("collect", 31.0, ""),
                ("SFT", 263.8, "495 steps"),
                ("control", 141.2, "200 steps"),
                ("RLVR", 168.9, "48 rounds"),
                ("evaluate", 104.7, ""),
            )
        ),
        pipeline=tuple(
            Flow(label=label, count=count, note=note)
            for label, count, note in (
                ("functions", 1262, "corpus and HumanEval, 318 held out whole"),
                ("bugs tried", 14475, "nine operators"),
                ("tasks proven", 11804, "three runs each, same answers"),
                ("trajectories", 11804, "every observation executed"),
                ("accepted", 11790, "syntax, tests, lint, coherence"),
                ("trained on", 9216, "kinds balanced"),
            )
        ),
        refusals={
            "bug is not noticed by any test": 1803,
            "answers differ between runs": 12,
            "duplicate of an earlier task": 644,
            "reference fails": 3,
            "worker timeout": 195,
            "gate: new lint finding": 14,
            HOSTILE: 1,
        },
        agreement=Agreement(checked=360, agreed=360),
        charts=_charts(),
        histograms=_histograms(),
        by_kind=_by_kind(),
        intervals={
            split: {
                model: Intervals(
                    greedy=(max(1.18 * v - 0.045, 0), min(1.18 * v + 0.045, 1)), sampled=(max(v - 0.035, 0), min(v + 0.035, 1))
                )
                for model, v in zip(_MODELS, values, strict=True)
            }
            for split, values in _SAMPLED.items()
        },
        value_detail=(
            ValueDetail(name="majority class (tie)", three_way=0.575, n=1612),
            ValueDetail(name="sum of log-probs", three_way=0.684, decisive=0.871, auc=0.94, ece=0.112, n=1612),
            ValueDetail(name="Platt (4 numbers)", three_way=0.732, decisive=0.887, auc=0.941, ece=0.045, n=1612),
            ValueDetail(name="residual head", three_way=0.741, decisive=0.894, auc=0.942, ece=0.041, n=1612),
        ),
        examples=_examples(),
        config=f'seed = 0\nbudget = "full"\n\n[sft]\nsteps = 495\nlearning_rate = 0.002\n# {HOSTILE}\n',
        manifest={"library": {"version": 1, "tasks": 9216, "hash": "9f2c41d07a"}, "note": HOSTILE},
    )
