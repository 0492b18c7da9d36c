"""Verifier: how many candidates a second, what the cache saved, how verdicts ended, and which attacks were caught."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from starlette.responses import Response

from swefuse.evaluate import charts, tables
from swefuse.evaluate.html.markup import Html, percent
from swefuse.evaluate.report_model import Chart, Series
from swefuse.records import Outcome
from swefuse.web.files import Row, number, table
from swefuse.web.places import Place
from swefuse.web.progress import status
from swefuse.web.scans import Verdicts, verdicts
from swefuse.web.site import Site

MOST_REASONS = 25


def add_to(app: FastAPI, site: Site) -> None:
    """Add the page."""

    @app.get("/verifier")
    def verifier(request: Request, run: Annotated[str, Query(max_length=300)] = "") -> Response:
        place = _with_verdicts(site, run)
        seen = status(place)
        file = place.file("verdicts.sqlite")
        counts = verdicts(file) if file else None
        rates = stages(table(place.file("state.json")))
        values = {
            "here": "verifier", "place": place, "stages": rates, "total": total(rates), "charts": drawn(seen.rounds),
            "outcomes": bars(counts), "counts": counts, "tampered": counts.outcomes["TAMPERED"] if counts else 0,
            "reasons": reasons(counts), "sampled": sampled(seen.rounds),
            "every": 1 if counts and not counts.whole else 0 if seen.finished else 5,
        }  # fmt: skip
        return site.page(request, "verifier.html", values)


def _with_verdicts(site: Site, run: str) -> Place:
    if run:
        return site.places.get(run)
    known = site.places.all().values()
    return next((place for place in known if place.file("verdicts.sqlite")), None) or site.places.get("")


def stages(state: Row) -> list[dict[str, Any]]:
    """By stage that verified: candidates, how many the cache knew, runs, seconds of the stage, candidates a second."""
    verified, done = state.get("verified"), state.get("done")
    if not isinstance(verified, dict) or not isinstance(done, dict):
        return []
    found = []
    for name, counts in verified.items():
        candidates = number(counts, "candidates") if isinstance(counts, dict) else None
        if not candidates:
            continue
        known, runs, seconds = number(counts, "known") or 0.0, number(counts, "runs") or 0.0, number(done, name) or 0.0
        found.append({
            "name": name, "candidates": int(candidates), "known": int(known), "runs": int(runs), "seconds": seconds,
            "rate": candidates / seconds if seconds else None, "hit": known / candidates,
        })  # fmt: skip
    return found


def total(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of all stages together."""
    candidates = sum(one["candidates"] for one in found)
    known = sum(one["known"] for one in found)
    return {"candidates": candidates, "known": known, "hit": known / candidates if candidates else None}


def rate(row: Row) -> float | None:
    """Candidates that a round verified in a second of verifying."""
    outcomes, times = row.get("outcomes"), row.get("seconds")
    spent = number(times, "verify") if isinstance(times, dict) else None
    count = sum(number(outcomes, name) or 0.0 for name in outcomes) if isinstance(outcomes, dict) else 0.0
    return count / spent if spent and count else None


def drawn(rounds: Sequence[Row]) -> list[Html]:
    """Candidates a second, and the share of each outcome, by round of stage 2."""
    speed = tuple((at, value) for row in rounds if (value := rate(row)) is not None and (at := number(row, "round")) is not None)
    made = [
        Chart(
            title="Candidates verified a second", x_label="round", y_label="a second", series=(Series(name="rate", points=speed),)
        )
    ]
    lines = []
    for outcome in Outcome:
        points = tuple(
            (number(row, "round") or 0.0, (number(row["outcomes"], outcome.value) or 0.0) / max(1.0, _sum(row["outcomes"])))
            for row in rounds
            if isinstance(row.get("outcomes"), dict)
        )
        if any(value for _, value in points):
            lines.append(Series(name=outcome.value, points=points))
    made.append(Chart(title="How verdicts ended", x_label="round", y_label="share", series=tuple(lines)))
    return [charts.line_chart(chart) for chart in made if any(line.points for line in chart.series)]


def _sum(outcomes: Row) -> float:
    return sum(number(outcomes, name) or 0.0 for name in outcomes)


def sampled(rounds: Sequence[Row]) -> dict[str, int]:
    """Outcomes of all candidates that stage 2 sampled."""
    found: Counter[str] = Counter()
    for row in rounds:
        outcomes = row.get("outcomes")
        if isinstance(outcomes, dict):
            found.update({str(name): int(number(outcomes, name) or 0) for name in outcomes})
    return dict(found.most_common())


def bars(counts: Verdicts | None) -> Html:
    """Outcomes of the distinct candidates that the cache holds."""
    if counts is None or not counts.count:
        return Html()
    rows = [(name, float(many), f"{many:,} ({percent(many / counts.count)} %)") for name, many in counts.outcomes.most_common()]
    return tables.bars(
        ("Outcome", "Distinct candidates"), rows, "What the cache of verdicts holds; INFRA, FLAKY and TIMEOUT are not kept."
    )


def reasons(counts: Verdicts | None) -> list[tuple[str, int]]:
    """Why candidates were refused before or in spite of their tests, the most frequent first."""
    return counts.reasons.most_common(MOST_REASONS) if counts else []
