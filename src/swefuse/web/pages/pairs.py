"""Pairs: two candidates of a task side by side, with the value model's verdict, its entropy, the label and the weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from swefuse.errors import DataError
from swefuse.evaluate.html.examples import diff
from swefuse.evaluate.html.markup import Html, el, percent, svg
from swefuse.web.places import Place
from swefuse.web.site import Site, url
from swefuse.web.verdicts import Kept, Side, kept

PAGE = 10
ORDERS = ("disagreement", "entropy", "weight", "round")


class Asked(BaseModel):
    """The query of this page; what is empty or 0 does not matter."""

    model_config = ConfigDict(frozen=True, str_max_length=200)

    run: str = ""
    order: Literal["disagreement", "entropy", "weight", "round"] = "disagreement"
    label: Literal["", "A", "B", "tie"] = ""
    round: Annotated[int, Field(ge=0)] = 0
    task: str = ""
    start: Annotated[int, Field(ge=0)] = 0

    def address(self, **changes: object) -> str:
        """This query with some of it changed."""
        here = {**self.model_dump(), "round": self.round or "", "start": "", "order": "" if self.order == ORDERS[0] else self.order}
        return url("/pairs", **{**here, **changes})


def add_to(app: FastAPI, site: Site) -> None:
    """Add the page, and one for a single pair."""

    @app.get("/pairs")
    def pairs(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        place = with_pairs(site, asked.run)
        every, older = kept(place)
        found = ordered([pair for pair in every if _wanted(pair, asked)], asked.order)
        shown = found[asked.start : asked.start + PAGE]
        values = {
            "here": "pairs", "place": place, "asked": asked, "older": older, "every": len(every), "count": len(found),
            "rounds": sorted({pair.round for pair in every}), "orders": ORDERS, "end": asked.start + len(shown),
            "pairs": [told(place, pair) for pair in shown], "doubted": sum(pair.against > 0.5 for pair in every),
            "back": asked.address(start=max(0, asked.start - PAGE) or "") if asked.start else "",
            "next": asked.address(start=asked.start + PAGE) if asked.start + PAGE < len(found) else "",
        }  # fmt: skip
        return site.page(request, "pairs.html", values)

    @app.get("/pair")
    def pair(request: Request, at: Annotated[int, Query(ge=0)], run: Annotated[str, Query(max_length=300)] = "") -> Response:
        place = site.places.get(run)
        every, older = kept(place)
        places = {one.at: number for number, one in enumerate(every)}
        if at not in places:
            raise DataError(f"{place.name} keeps no pair {at}")
        number = places[at]
        values = {
            "here": "pairs", "place": place, "older": older, "pair": told(place, every[number]),
            "back": url("/pair", run=place.name, at=every[number - 1].at) if number else "",
            "next": url("/pair", run=place.name, at=every[number + 1].at) if number + 1 < len(every) else "",
        }  # fmt: skip
        return site.page(request, "pair.html", values)


def with_pairs(site: Site, run: str) -> Place:
    """The run of that name; where none is named, the first that keeps pairs."""
    if run:
        return site.places.get(run)
    names = ("rlvr/pairs.jsonl", "pairs.jsonl", "rlvr/suspects.jsonl")
    return next((place for place in site.places.all().values() if place.file(*names)), None) or site.places.get("")


def _wanted(pair: Kept, asked: Asked) -> bool:
    return (
        (not asked.label or pair.label == asked.label)
        and (not asked.round or pair.round == asked.round)
        and (not asked.task or pair.task == asked.task)
    )


def ordered(pairs: Sequence[Kept], order: str) -> list[Kept]:
    """By what is asked for, largest first; the newest first among equals."""
    keys: dict[str, Callable[[Kept], float]] = {
        "disagreement": lambda pair: pair.against, "entropy": lambda pair: pair.h, "weight": lambda pair: pair.weight or 0.0,
        "round": lambda pair: pair.round,
    }  # fmt: skip
    return sorted(pairs, key=lambda pair: (-keys[order](pair), -pair.round, pair.at))


def told(place: Place, pair: Kept) -> dict[str, Any]:
    """A pair as the templates show it."""
    sides = [(name, side, _written(f"pair {pair.at}, {name}", side)) for name, side in (("A", pair.a), ("B", pair.b))]
    return {"is": pair, "sides": sides, "bar": verdict_bar(pair.p), "href": url("/pair", run=place.name, at=pair.at)}


def _written(label: str, side: Side) -> Html:
    text = side.diff or side.edit
    return diff(text[:20_000], label) if text else Html()


def verdict_bar(p: tuple[float, float, float]) -> Html:
    """A bar of three parts: A is better, tie, B is better."""
    parts, at = [], 0.0
    for share, cls, name in ((p[0], "pa", "A better"), (p[2], "pt", "tie"), (p[1], "pb", "B better")):
        tip = el("title", f"{name} {percent(share)} %")
        parts.append(el("rect", tip, x=f"{100 * at:.2f}%", y="3", width=f"{100 * share:.2f}%", height="12", cls=cls))
        at += share
    said = f"the value model: A better {percent(p[0])} %, tie {percent(p[2])} %, B better {percent(p[1])} %"
    return svg(*parts, cls="fluid", height="18", label=said)
