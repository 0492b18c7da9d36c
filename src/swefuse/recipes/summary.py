"""Several seeds side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from swefuse.evaluate.report_model import COMPARISONS, SPLITS, load
from swefuse.tasks.store import save_lines


def summarise_seeds(folders: Sequence[Path], out: Path) -> None:
    """Write ``seeds.json``: every seed's figures, and in how many seeds each difference has an interval above 0."""
    reports = [load(folder)[0] for folder in folders]
    above = {
        split: {
            pair: sum(1 for r in reports if (d := r.differences[split][pair].sampled) is not None and d[1] > 0)
            for pair in COMPARISONS
        }
        for split in SPLITS
    }
    rows = [
        {"seed": r.seed, "results": r.model_dump(mode="json")["results"], "differences": r.model_dump(mode="json")["differences"]}
        for r in reports
    ]
    save_lines(out / "seeds.json", [json.dumps({"seeds": rows, "interval_above_zero": above, "of": len(reports)}, indent=1)])
