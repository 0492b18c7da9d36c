"""Several seeds side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from swefuse.evaluate.report_model import COMPARISONS, MODELS, SPLITS, Difference, load
from swefuse.evaluate.run import Result, load_results
from swefuse.evaluate.stats import Interval, cluster_bootstrap, paired_bootstrap
from swefuse.tasks.store import save_lines

PAIRS = ("sft-random", "sft-rule", *COMPARISONS)
MEASURES: dict[str, Callable[[Result], float | None]] = {
    "greedy": lambda result: None if result.greedy is None else float(result.greedy),
    "sampled": lambda result: result.sampled if result.n else None,
}


def summarise_seeds(folders: Sequence[Path], out: Path) -> None:
    """Write ``seeds.json``: every seed's figures, in how many of them each difference has an interval above 0, and all together.

    The split ``all`` holds the tasks of the three splits together.
    """
    reports, data = zip(*map(load, folders), strict=True)
    found = {split: [r.differences[split] for r in reports] for split in SPLITS} | {"all": [d.pooled for d in data]}
    above = {
        split: {pair: sum(pair in d and _above_zero(d[pair]) for d in differences) for pair in COMPARISONS}
        for split, differences in found.items()
    }
    rows = [
        {
            "seed": r.seed,
            "seconds": r.seconds["total"],
            "peak_rss_mb": r.peak_rss_mb,
            "results": r.model_dump(mode="json")["results"],
            "differences": {split: {k: v.sampled for k, v in differences[n].items()} for split, differences in found.items()},
        }
        for n, r in enumerate(reports)
    ]
    whole = {"seeds": rows, "interval_above_zero": above, "of": len(reports), "together": together(folders)}
    save_lines(out / "seeds.json", [json.dumps(whole, indent=1)])


def _above_zero(difference: Difference) -> bool:
    return difference.sampled is not None and difference.sampled[1] > 0


def together(folders: Sequence[Path]) -> dict[str, dict[str, dict[str, dict[str, Interval | None]]]]:
    """By split ``models`` and ``differences`` of pairs, greedy and sampled, over the tasks of all seeds at once.

    The same functions are held out in every seed: an interval draws functions, and all their tasks of all seeds come along. It says
    how far other functions would change the figure, not how far other seeds would. None where fewer than two functions are left.
    """
    rows = {
        model: [result for folder in folders for result in load_results(folder / "eval" / f"{model}.jsonl")] for model in MODELS
    }
    return {
        split: {
            "models": {model: {name: _interval(rows, split, name, model) for name in MEASURES} for model in MODELS},
            "differences": {pair: {name: _interval(rows, split, name, *pair.split("-")) for name in MEASURES} for pair in PAIRS},
        }
        for split in (*SPLITS, "all")
    }


def _interval(rows: Mapping[str, Sequence[Result]], split: str, measure: str, model: str, other: str = "") -> Interval | None:
    """A model's mean, or what it has more than another, on the tasks that were graded for both."""
    value = MEASURES[measure]
    kept = []
    for a, b in zip(rows[model], rows[other or model], strict=True):
        x, y = value(a), value(b)
        if x is not None and y is not None and split in (a.split, "all"):
            kept.append((x, y, a.function))
    if len({function for *_, function in kept}) < 2:
        return None
    first, second, functions = (list(column) for column in zip(*kept, strict=True))
    return paired_bootstrap(first, second, functions) if other else cluster_bootstrap(first, functions)
