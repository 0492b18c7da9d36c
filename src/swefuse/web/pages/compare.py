"""Compare: models of several runs on the same splits, with intervals, and what each has more than a chosen one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from starlette.responses import Response

from swefuse.errors import DataError, nearest
from swefuse.evaluate import charts
from swefuse.evaluate.comparison import Comparison
from swefuse.evaluate.html.markup import Html
from swefuse.evaluate.report_model import Difference
from swefuse.web.places import Place
from swefuse.web.results import Measured, differences, files, measured
from swefuse.web.site import Site, url

RUNS = 8
ROWS = 60  # of one split


def add_to(app: FastAPI, site: Site) -> None:
    """Add the page."""

    @app.get("/compare")
    def compare(
        request: Request,
        run: Annotated[list[str], Query(default_factory=list, max_length=RUNS)],
        model: Annotated[list[str], Query(default_factory=list, max_length=ROWS)],
        base: Annotated[str, Query(max_length=400)] = "",
    ) -> Response:
        known = [place for place in site.places.all().values() if files(place) or place.file("report.json")]
        chosen = [site.places.get(name) for name in run] or known[:3]
        found = [row for place in chosen for row in measured(place)]
        models = list(dict.fromkeys(row.model for row in found))
        shown = [row for row in found if not model or row.model in model]
        labels = list(dict.fromkeys(row.label for row in shown))
        against = _against(chosen, base, shown) if base else {}
        values = {
            "here": "compare", "known": [place.name for place in known], "picked": [place.name for place in chosen],
            "models": models, "model": model, "base": base, "labels": list(dict.fromkeys(row.label for row in found)),
            "splits": splits(shown, against), "axis": charts.share_axis(), "count": len(labels),
            "clear": url("/compare", run=[place.name for place in chosen]),
        }  # fmt: skip
        return site.page(request, "compare.html", values)


def _against(chosen: list[Place], base: str, shown: list[Measured]) -> dict[tuple[str, str], Comparison | str]:
    """(label, split) -> what that model has more than the base. Raises DataError for a base that there is not."""
    paths = {f"{place.name}:{model}": path for place in chosen for model, path in files(place).items()}
    if base not in paths:
        raise DataError(f"there are no results of {base!r} among the chosen runs{nearest(base, paths)}")
    found: dict[tuple[str, str], Comparison | str] = {}
    for label in dict.fromkeys(row.label for row in shown):
        if label in paths and label != base:
            found |= {(label, split): one for split, one in differences(paths[label], paths[base]).items()}
    return found


def splits(shown: list[Measured], against: dict[tuple[str, str], Comparison | str]) -> list[dict[str, Any]]:
    """One table a split: a row for each model of each run."""
    made = []
    for split in dict.fromkeys(row.split for row in shown):
        of = [row for row in shown if row.split == split][:ROWS]
        told = [against.get((row.label, split)) for row in of]
        pairs = [
            Difference(sampled=(one.sampled.mean, one.sampled.low, one.sampled.high)) if isinstance(one, Comparison) else None
            for one in told
        ]
        axis = charts.difference_axis(pair for pair in pairs if pair)
        rows = [
            {
                "is": row, "tone": charts.tone(row.model, 0), "drawing": charts.share_row(row.label, row.scores, row.intervals),
                "difference": one if isinstance(one, Comparison) else None, "why": one if isinstance(one, str) else "",
                "gap": charts.difference_row(row.label, pair, axis) if pair else Html(),
                "side": charts.reading(pair) if pair else "none",
            }
            for row, one, pair in zip(of, told, pairs, strict=True)
        ]  # fmt: skip
        made.append({"name": split, "rows": rows, "scale": charts.difference_scale(axis), "compared": any(pairs)})
    return made
