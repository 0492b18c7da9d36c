"""Library: what was accepted and refused, and why; found by words and filters, counted, and laid out by how changes differ."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from swefuse.evaluate.html.markup import Html
from swefuse.evaluate.sketches import Dot, scatter
from swefuse.library.store import Filter, Stats
from swefuse.web import shelf
from swefuse.web.diversity import change, plane
from swefuse.web.places import Place
from swefuse.web.site import Site, url

FACETS = ("kind", "source", "split", "operator", "collector")
MOST_VALUES = 12  # of a facet that are shown as links; the form has all
TONES = 4
LONGEST = 300


class Asked(BaseModel):
    """The query of this page: a run or a snapshot of it, words, filters, and a first row; what is empty does not matter."""

    model_config = ConfigDict(frozen=True, str_max_length=LONGEST)

    run: str = ""
    q: str = ""
    state: Literal["", "accepted", "refused"] = ""
    kind: str = ""
    source: str = ""
    split: str = ""
    operator: str = ""
    collector: str = ""
    task: str = ""
    refused_by: str = ""
    repo: str = ""
    tag: str = ""
    snapshot: str = ""
    start: Annotated[int, Field(ge=0, le=10**9)] = 0

    @property
    def filter(self) -> Filter:
        """As the library takes it."""
        accepted = None if not self.state else self.state == "accepted"
        names = (*FACETS, "refused_by", "repo", "tag")
        given = {name: getattr(self, name) or None for name in names}
        return Filter(accepted=accepted, task_id=self.task or None, query=self.q.strip() or None, **given)

    def address(self, path: str = "/library", **changes: object) -> str:
        """The address of this query with some of it changed; without a word on it, from the first page on."""
        return url(path, **{**self.model_dump(), "start": "", **changes})


def add_to(app: FastAPI, site: Site) -> None:
    """Add the page and its map."""

    @app.get("/library")
    def library(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        place = _with_library(site, asked.run)
        counts, part = shelf.stats(place, asked.snapshot), shelf.page(place, asked.filter, asked.start, asked.snapshot)
        end = asked.start + len(part.rows)
        values = {
            "here": "library", "place": place, "asked": asked, "part": part, "stats": counts, "facets": facets(counts, asked),
            "reasons": sorted(counts.reasons.items(), key=lambda item: (-item[1], item[0])), "end": end,
            "snapshots": shelf.snapshots(place), "named": shelf.named(place, asked.q) if asked.q and not part.total else "",
            "next": asked.address(start=end) if end < part.total else "",
            "back": asked.address(start=max(0, asked.start - shelf.PAGE) or "") if asked.start else "",
        }  # fmt: skip
        return site.page(request, "library.html", values)

    @app.get("/library/map")
    def diversity(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        place = _with_library(site, asked.run)
        drawing, count, tones = drawn(place, shelf.changed(place), asked)
        values = {"here": "library", "place": place, "asked": asked, "drawing": drawing, "count": count, "tones": tones}
        return site.page(request, "map.html", values)


def _with_library(site: Site, run: str) -> Place:
    """The run of that name; where none is named, the first that has a library."""
    if run:
        return site.places.get(run)
    return next((place for place in site.places.all().values() if place.library), None) or site.places.get("")


def facets(counts: Stats, asked: Asked) -> list[dict[str, Any]]:
    """Of each facet with more than one value: the values with their numbers, the most frequent first, and where each leads."""
    found = []
    for name in FACETS:
        values = counts.by.get(name, {})
        chosen = getattr(asked, name)
        ordered = sorted(values, key=lambda value: (-sum(values[value]), value))
        links = [
            {"value": value or "none", "count": sum(values[value]), "on": value == chosen,
             "href": asked.address(**{name: "" if value == chosen else value})}
            for value in ordered[:MOST_VALUES]
        ]  # fmt: skip
        found.append({"name": name, "values": sorted(value for value in values if value), "chosen": chosen, "links": links})
    return found


@lru_cache(maxsize=16)
def drawn(place: Place, changed: float, asked: Asked) -> tuple[Html, int, list[tuple[str, str, int]]]:
    """The map of a sample, how many it shows, and what its colours mean: (name, class, count)."""
    entries = shelf.sample(place, asked.filter, asked.snapshot)
    places = plane([change(entry.task, entry.trajectory) for entry in entries])
    names = [entry.task.provenance.operator or entry.task.kind.value for entry in entries]
    common = [name for name, _ in Counter(names).most_common(TONES)]
    tone = {name: f"s{number}" for number, name in enumerate(common)}
    dots = [
        Dot(
            x, y, f"{name}: {entry.task.provenance.function or entry.task.id}", tone.get(name, "s4"),
            url("/trajectory", run=place.name, id=entry.trajectory.id),
        )
        for (x, y), name, entry in zip(places, names, entries, strict=True)
    ]  # fmt: skip
    told = [(name, tone[name], names.count(name)) for name in common]
    others = sum(name not in tone for name in names)
    return scatter("Changes by their words", dots, ("", "")), len(dots), [*told, *([("others", "s4", others)] if others else [])]
