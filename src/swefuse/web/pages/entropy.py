"""Entropy: how sure the value model was, round by round, and what its pairs would have counted under other settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from swefuse.evaluate import charts
from swefuse.evaluate.html.markup import Html, fraction
from swefuse.evaluate.report_model import Bins, Chart, Histogram, Series
from swefuse.evaluate.sketches import Dot, scatter
from swefuse.learn.entropy import Mode
from swefuse.web.files import Row
from swefuse.web.pages.pairs import with_pairs
from swefuse.web.pages.runs import points, settings
from swefuse.web.places import Place
from swefuse.web.progress import status
from swefuse.web.site import Site, url
from swefuse.web.verdicts import MODES, Kept, Weighed, curve, kept, weigh

PANELS = 8
DRAWN = 600  # pairs in the drawing
LISTED = 25


class Asked(BaseModel):
    """The query of this page. ``mode`` empty and numbers below 0: as the run had them."""

    model_config = ConfigDict(frozen=True, str_max_length=200)

    run: str = ""
    mode: Literal["", "off", "soft", "hard", "posterior", "recorded", "prior"] = ""
    lam: Annotated[float, Field(ge=-1, le=20, allow_inf_nan=False)] = -1
    tau: Annotated[float, Field(ge=-1, le=2, allow_inf_nan=False)] = -1
    round: Annotated[int, Field(ge=0)] = 0


def add_to(app: FastAPI, site: Site) -> None:
    """Add the page."""

    @app.get("/entropy")
    def entropy(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        place = with_pairs(site, asked.run)
        seen = status(place)
        every, older = kept(place)
        pairs = [] if older else [pair for pair in every if not asked.round or pair.round == asked.round]
        mode, lam, tau = chosen(asked, place, pairs)
        weighed = weigh(pairs, mode, lam, tau)
        values = {
            "here": "entropy", "place": place, "asked": asked, "mode": mode, "lam": lam, "tau": tau, "modes": MODES,
            "histograms": histograms(seen.rounds), "charts": drawn(seen.rounds), "older": older, "count": len(pairs),
            "rounds": sorted({pair.round for pair in every}) if not older else [],
            "curve": weights(place, pairs, weighed, (mode, lam, tau)), "effective": weighed.effective,
            "before": _effective(pairs), "counted": sum(w >= 0.5 for w in weighed.weights),
            "moved": moved(place, pairs, weighed), "as_run": url("/entropy", run=place.name, round=asked.round or ""),
        }  # fmt: skip
        return site.page(request, "entropy.html", values)


def chosen(asked: Asked, place: Place, pairs: list[Kept]) -> tuple[Mode, float, float]:
    """Mode, λ and τ: what was asked for, else what the run's last weighted pairs had, else its settings."""
    last = next((pair for pair in reversed(pairs) if pair.mode in MODES and pair.mode != "off"), None)
    held = settings(place)
    told = {name: held.get(f"rlvr.weight.{name}", held.get(f"weight.{name}", "")).strip('"') for name in ("mode", "lam", "tau")}
    mode = asked.mode or (last.mode if last else told["mode"])
    lam = asked.lam if asked.lam >= 0 else last.lam if last and last.lam is not None else _number(told["lam"], 2.0)
    tau = asked.tau if asked.tau >= 0 else last.tau if last and last.tau is not None else _number(told["tau"], 0.8)
    return next((one for one in MODES if one == mode), "soft"), lam, tau


def _number(text: str, other: float) -> float:
    try:
        return float(text)
    except ValueError:
        return other


def _effective(pairs: list[Kept]) -> float | None:
    """The share of these pairs that the run's own weights left in effect."""
    known = [pair.weight for pair in pairs if pair.weight is not None]
    squares = sum(weight * weight for weight in known)
    return sum(known) ** 2 / squares / len(known) if squares else None


def histograms(rounds: list[Row]) -> list[Html]:
    """The entropy of verdicts in some rounds, evenly spread over the run."""
    known = [row for row in rounds if isinstance(row.get("h_bins"), list) and row["h_bins"]]
    if not known:
        return []
    step = max(1, -(-len(known) // PANELS))
    picked = known[::step] + ([known[-1]] if (len(known) - 1) % step else [])
    panels = tuple(
        Bins(label=f"round {row.get('round')}", bins=tuple(k / len(row["h_bins"]) for k in range(len(row["h_bins"]) + 1)),
             counts=tuple(max(0, int(count)) for count in row["h_bins"]))
        for row in picked
    )  # fmt: skip
    return [charts.histogram(Histogram(title="Entropy H of the value model's verdict, by round", by=panels))]


def drawn(rounds: list[Row]) -> list[Html]:
    """The charts of entropy and weights over the rounds."""
    wanted = (("Mean entropy of verdicts", "0 to 1", "mean_h"), ("Share of pairs left in effect", "share", "effective_share"))
    made = []
    for title, axis, key in wanted:
        line = Series(name=title.lower(), points=points(rounds, "round", key))
        if line.points:
            made.append(charts.line_chart(Chart(title=title, x_label="round", y_label=axis, series=(line,))))
    return made


def weights(place: Place, pairs: list[Kept], weighed: Weighed, how: tuple[Mode, float, float]) -> Html:
    """Weight over entropy: a point for each pair, and the curve where entropy alone decides."""
    tones = {"A": "s0", "B": "s0", "tie": "s3"}
    step = max(1, -(-len(pairs) // DRAWN))
    dots = [
        Dot(
            pair.h, raw, f"pair {pair.at}, {pair.label}: H {fraction(pair.h)}, weight {fraction(raw)}",
            "s4" if pair.against > 0.5 else tones.get(pair.label, "s1"), url("/pair", run=place.name, at=pair.at),
        )
        for pair, raw in list(zip(pairs, weighed.raw, strict=True))[::step]
    ]  # fmt: skip
    return scatter("What a pair counts, before the mean is made 1", dots, ("entropy H", "weight"), curve(*how))


def moved(place: Place, pairs: list[Kept], weighed: Weighed) -> list[dict[str, Any]]:
    """The pairs whose weight would have changed most."""
    rows: list[dict[str, Any]] = [
        {
            "pair": pair, "was": 1.0 if pair.weight is None else pair.weight, "now": now,
            "href": url("/pair", run=place.name, at=pair.at),
        }
        for pair, now in zip(pairs, weighed.weights, strict=True)
    ]  # fmt: skip
    rows.sort(key=lambda row: -abs(row["now"] - row["was"]))
    return rows[:LISTED]
