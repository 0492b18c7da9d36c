"""Several seeds side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from swefuse.evaluate.report_model import COMPARISONS, SPLITS, Difference, load
from swefuse.tasks.store import save_lines


def summarise_seeds(folders: Sequence[Path], out: Path) -> None:
    """Write ``seeds.json``: every seed's figures, and in how many seeds each difference has an interval above 0.

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
    save_lines(out / "seeds.json", [json.dumps({"seeds": rows, "interval_above_zero": above, "of": len(reports)}, indent=1)])


def _above_zero(difference: Difference) -> bool:
    return difference.sampled is not None and difference.sampled[1] > 0
