"""Runs: how far each is and how its training goes, several laid over each other, and how their settings differ."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from starlette.responses import Response

from swefuse.errors import DataError
from swefuse.evaluate import charts, tables
from swefuse.evaluate.html.markup import Html, join
from swefuse.evaluate.report_model import Chart, Series, headline, load
from swefuse.evaluate.sketches import spark
from swefuse.learn.symptoms import SYMPTOMS
from swefuse.web.files import Row, flat, number, table
from swefuse.web.places import Place
from swefuse.web.progress import Status, status
from swefuse.web.site import Site

EVERY_S = 3
SHOWN = 50  # runs in the table of one page
LAID = 8  # runs in one chart
# title, axis, then (key, name) of each line; of several runs only the first key is drawn
CURVES: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    ("Sampled candidates that pass", "share", (("pass_rate", "pass rate"),)),
    ("Entropy of the policy's choices", "nats", (("policy_entropy", "policy"),)),
    ("Entropy of the value model's verdicts", "0 to 1", (("mean_h", "mean h"),)),
    ("Loss of the policy", "loss", (("loss", "policy"),)),
    ("Loss of the value model", "nats", (("head_loss", "value model"),)),
    ("Value model on what it has not learnt from", "share", (("value_accuracy", "accuracy"), ("value_majority", "majority class"))),
    ("Distance from the start", "nats", (("kl", "KL"),)),
    ("Pairs that the weights leave in effect", "share", (("effective_share", "effective"), ("decisive_share", "with a winner"))),
)


def add_to(app: FastAPI, site: Site) -> None:
    """Add the page."""

    @app.get("/")
    def runs(
        request: Request,
        run: Annotated[list[str], Query(default_factory=list, max_length=LAID)],
        q: Annotated[str, Query(max_length=200)] = "",
        start: Annotated[int, Query(ge=0)] = 0,
    ) -> Response:
        known = [place for place in site.places.all().values() if q.lower() in place.name.lower()]
        shown = known[start : start + SHOWN]
        rows = [_row(place, status(place)) for place in shown]
        chosen = [site.places.get(name) for name in run] or _newest(shown)
        found = {place.name: status(place) for place in chosen}
        values = {
            "here": "runs", "rows": rows, "q": q, "start": start, "count": len(known), "size": SHOWN, "picked": list(found),
            "charts": draw(found), "events": [one for name, each in found.items() for one in events(name, each)],
            "differences": differences(chosen), "single": _single(chosen[0], found[chosen[0].name]) if len(chosen) == 1 else None,
            "every": 0 if all(one.finished for one in found.values()) and all(row["finished"] for row in rows) else EVERY_S,
            "run": chosen[0].name if chosen else "",
        }  # fmt: skip
        return site.page(request, "runs.html", values)


def _newest(places: Sequence[Place]) -> list[Place]:
    return sorted(places, key=lambda place: -status(place).wrote)[:1]


def _row(place: Place, seen: Status) -> dict[str, Any]:
    """One line of the table."""
    last = seen.rounds[-1] if seen.rounds else {}
    loss = [number(row, "loss", "choice_loss") for row in seen.steps if "loss" in row]
    return {
        "name": place.name, "said": seen.said, "finished": seen.finished, "done": seen.done, "total": seen.total,
        "bar": charts.bar(seen.share) if seen.share is not None else Html(), "left": seen.left_s,
        "ago": max(0.0, time.time() - seen.wrote) if seen.wrote else None,
        "pass_rate": number(last, "pass_rate"), "entropy": number(last, "policy_entropy"),
        "pass_line": spark([number(row, "pass_rate") for row in seen.rounds], "pass rate by round"),
        "loss": loss[-1] if loss else None, "loss_line": spark(loss, "loss of stage 1 by step"),
        "alarms": len(seen.events), "library": place.library is not None,
    }  # fmt: skip


def draw(found: dict[str, Status]) -> list[Html]:
    """The charts of some runs; one run shows every line of a chart, several show its first one each."""
    alone = len(found) == 1
    made = []
    for title, axis, keys in CURVES:
        lines = [
            Series(name=label if alone else name, points=points(seen.rounds, "round", key))
            for name, seen in found.items()
            for key, label in (keys if alone else keys[:1])
        ]
        made.append(Chart(title=title, x_label="round", y_label=axis, series=tuple(line for line in lines if line.points)))
    steps = [Series(name="loss" if alone else name, points=points(seen.steps, "step", "loss")) for name, seen in found.items()]
    made.insert(1, Chart(title="Loss of stage 1", x_label="step", y_label="nats", series=tuple(s for s in steps if s.points)))
    return [charts.line_chart(chart) for chart in made if chart.series]


def points(rows: Sequence[Row], x: str, y: str) -> tuple[tuple[float, float], ...]:
    """What rows hold of two keys, rows without one of them left out."""
    pairs = ((number(row, x), number(row, y)) for row in rows)
    return tuple((a, b) for a, b in pairs if a is not None and b is not None and math.isfinite(a) and math.isfinite(b))


def events(name: str, seen: Status) -> list[dict[str, Any]]:
    """What a run's watch raised, each kind once, with cause and remedy."""
    kinds: dict[str, list[Row]] = {}
    for row in seen.events:
        kinds.setdefault(str(row.get("event", "")), []).append(row)
    told = []
    for kind, rows in kinds.items():
        known = SYMPTOMS.get(kind)
        told.append({
            "run": name, "kind": kind, "rounds": [int(number(row, "round") or 0) for row in rows][:12], "count": len(rows),
            "value": number(rows[-1], "value"), "limit": number(rows[-1], "limit"),
            "what": known.what if known else str(rows[-1].get("what", "")),
            "cause": known.cause if known else "", "remedy": known.remedy if known else "",
        })  # fmt: skip
    return told


def settings(place: Place) -> dict[str, str]:
    """A run's settings by their dotted names: of a recipe, or those that a stage's manifest holds."""
    config = table(place.file("config.toml"))
    if config:
        return flat(config)
    held = table(place.file("manifest.json", "rlvr/manifest.json", "sft/manifest.json")).get("settings")
    return flat(held) if isinstance(held, dict) else {}


def differences(chosen: Sequence[Place]) -> list[tuple[str, list[str]]]:
    """Settings in which some runs differ: (name, value of each run, a dash where it has none)."""
    if len(chosen) < 2:
        return []
    known = [settings(place) for place in chosen]
    names = sorted({name for one in known for name in one})
    rows = [(name, [one.get(name, "\u2013") for one in known]) for name in names]
    return [row for row in rows if len(set(row[1])) > 1]


def _single(place: Place, seen: Status) -> dict[str, Any]:
    """What is shown of one run alone: its stages, its result, and its settings."""
    longest = max((stage.seconds or 0.0 for stage in seen.stages), default=0.0) or 1.0
    stages = [(stage, charts.bar((stage.seconds or 0.0) / longest)) for stage in seen.stages]
    result: list[Html] = []
    said = ""
    if place.file("report.json"):
        result, said = _guarded(lambda: _result(place))
    return {"stages": stages, "result": result, "headline": said, "settings": settings(place), "place": place}


def _result(place: Place) -> tuple[list[Html], str]:
    report, data = load(place.folder)
    compared = any(pair.sampled for pairs in report.differences.values() for pair in pairs.values())
    parts = [tables.difference_table(report)] if compared else []
    parts += [tables.split_results(split, models, data.intervals.get(split, {})) for split, models in report.results.items()]
    return parts, headline(report)


def _guarded(make: Callable[[], tuple[list[Html], str]]) -> tuple[list[Html], str]:
    """A report that is no longer, or not yet, what this version reads is said to be so; the rest of the page stands."""
    try:
        return make()
    except (DataError, OSError) as error:
        return [join([str(error)])], ""
