"""Trajectory: every step with what it changed and saw, which tokens train, the verdict, and what the gate looked at."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from swefuse.evaluate.html.examples import diff
from swefuse.evaluate.html.markup import Html
from swefuse.library.store import Entry, Filter
from swefuse.records import to_json
from swefuse.web import shelf, tokens
from swefuse.web.site import Site, url
from swefuse.web.steps import final_diff, shown, totals

PAGE = 100  # steps of a page
TESTS = 200
LONGEST = 100_000  # characters of a diff
Text = Annotated[str, Query(max_length=300)]
Part = Literal["json", "observation", "raw", "thought", "diff", "test", "file", "instruction"]


def add_to(app: FastAPI, site: Site) -> None:
    """Add the page, and its texts as plain text."""

    @app.get("/trajectory")
    def trajectory(
        request: Request, id: Text, run: Text = "", start: Annotated[int, Query(ge=0)] = 0, model: Text = "",
    ) -> Response:  # fmt: skip
        place = site.places.get(run)
        entry = shelf.get(place, id)
        steps = shown(entry.task, entry.trajectory)
        edits, written = totals(steps)
        here = {"run": place.name, "id": id}
        values = {
            "here": "library", "place": place, "entry": entry, "edits": edits, "written": written, "count": len(steps),
            "steps": [(one, coloured(one.diff, f"step {one.number}: diff")) for one in steps[start : start + PAGE]],
            "final": coloured(final_diff(entry.task, entry.trajectory), "all changes"),
            "tests": tests(entry), "others": shelf.page(place, Filter(task_id=entry.task.id)).total - 1,
            "models": tokens.models(place), "model": model, "mask": tokens.mask(place, model, entry) if model else None,
            "whole": lambda part, **more: url("/raw", **here, part=part, **more), "start": start, "size": PAGE,
            "back": url("/trajectory", **here, start=max(0, start - PAGE)) if start else "",
            "next": url("/trajectory", **here, start=start + PAGE) if start + PAGE < len(steps) else "",
        }  # fmt: skip
        return site.page(request, "trajectory.html", values)

    @app.get("/raw")
    def raw(
        id: Text, part: Part, run: Text = "", step: Annotated[int, Query(ge=0)] = 0, name: Annotated[str, Query()] = "",
    ) -> Response:  # fmt: skip
        found = text_of(shelf.get(site.places.get(run), id), part, step, name)
        if found is None:
            raise HTTPException(404, f"this trajectory has no {part} there")
        # half characters become escapes, so that any text can be sent; the browser is told to take it for nothing but text
        headers = {"content-disposition": "inline", "content-security-policy": "sandbox; default-src 'none'"}
        return PlainTextResponse(found.encode("utf-8", "backslashreplace"), headers=headers)


def coloured(text: str, label: str) -> Html:
    """A diff for the page, cut where it is long; nothing for nothing."""
    return diff(text[:LONGEST], label) if text else Html()


def tests(entry: Entry) -> dict[str, Any]:
    """The tests of the verdict, those that did not pass first."""
    ordered = sorted(entry.verdict.tests.items(), key=lambda item: (item[1].outcome == "passed", item[0]))
    passed = sum(result.outcome == "passed" for _, result in ordered)
    return {"rows": ordered[:TESTS], "passed": passed, "count": len(ordered), "more": max(0, len(ordered) - TESTS)}


def text_of(entry: Entry, part: Part, step: int, name: str) -> str | None:
    """One text of an entry whole; None where there is none. Steps count from 1."""
    if part == "json":
        return to_json(entry.trajectory)
    if part == "instruction":
        return entry.task.instruction
    if part == "test":
        result = entry.verdict.tests.get(name)
        return result.detail if result else None
    if part == "file":
        return entry.trajectory.files.get(name, entry.task.files.get(name))
    if not step:
        return final_diff(entry.task, entry.trajectory) if part == "diff" else None
    if step > len(entry.trajectory.steps):
        return None
    if part == "diff":
        return shown(entry.task, entry.trajectory)[step - 1].diff
    one = entry.trajectory.steps[step - 1]
    return {"observation": one.observation, "raw": one.raw, "thought": one.thought}[part]
