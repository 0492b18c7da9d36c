"""Tasks: where each comes from, its proof, how strong and how steady its tests are, and the bugs that slip through them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from swefuse.errors import DataError
from swefuse.evaluate.html.examples import diff, source
from swefuse.library.store import Filter
from swefuse.records import Suite, Task
from swefuse.web import shelf
from swefuse.web.files import Row, rows, table
from swefuse.web.places import Place
from swefuse.web.scans import TaskRow, Tasks, tasks
from swefuse.web.site import Site, url
from swefuse.web.steps import diff_of

PAGE = 50
FILES = 12
TESTS = 100
LONGEST = 30_000
FILE = ("tasks/tasks.jsonl", "tasks.jsonl")


class Asked(BaseModel):
    """The query of this page; what is empty does not matter. ``weak``: only tasks whose tests let a bug through."""

    model_config = ConfigDict(frozen=True, str_max_length=200)

    run: str = ""
    q: str = ""
    kind: str = ""
    source: str = ""
    split: str = ""
    operator: str = ""
    weak: str = ""
    start: Annotated[int, Field(ge=0)] = 0

    def address(self, **changes: object) -> str:
        """This query with some of it changed."""
        return url("/tasks", **{**self.model_dump(), "start": "", **changes})

    def wants(self, row: TaskRow) -> bool:
        """Whether a task matches."""
        words = self.q.lower()
        return (
            (not self.kind or row.kind == self.kind)
            and (not self.source or row.source == self.source)
            and (not self.split or row.split == self.split)
            and (not self.operator or row.operator == self.operator)
            and (not self.weak or (row.strength is not None and row.strength < 1))
            and (not words or words in row.id or words in row.function.lower())
        )


def add_to(app: FastAPI, site: Site) -> None:
    """Add the list and the page of one task."""

    @app.get("/tasks")
    def listed(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        place = _with_tasks(site, asked.run)
        path = place.file(*FILE)
        scan = tasks(path) if path else None
        found = [row for row in scan.rows if asked.wants(row)] if scan else []
        shown = found[asked.start : asked.start + PAGE]
        values = {
            "here": "tasks", "place": place, "asked": asked, "scan": scan, "tasks": shown, "count": len(found),
            "choices": _choices(scan), "end": asked.start + len(shown), "every": 1 if scan and not scan.whole else 0,
            "refused": _refused(place), "measured": sum(row.strength is not None for row in found),
            "back": asked.address(start=max(0, asked.start - PAGE) or "") if asked.start else "",
            "next": asked.address(start=asked.start + PAGE) if asked.start + PAGE < len(found) else "",
        }  # fmt: skip
        return site.page(request, "tasks.html", values)

    @app.get("/task")
    def one(
        request: Request, id: Annotated[str, Query(max_length=200)], run: Annotated[str, Query(max_length=300)] = ""
    ) -> Response:
        place = site.places.get(run)
        task = find(place, id)
        known = shelf.page(place, Filter(task_id=id)) if place.library else None
        changed = diff_of(dict(task.files), {**task.files, **task.reference}) if task.reference else ""
        values = {
            "here": "tasks", "place": place, "task": task, "reference": diff(changed[:LONGEST], "reference") if changed else "",
            "files": [(path, source(text[:LONGEST], path), len(text)) for path, text in sorted(task.files.items())[:FILES]],
            "more": max(0, len(task.files) - FILES), "tests": [_tests(suite) for suite in task.suites],
            "survivors": survivors(place, id), "known": known,
        }  # fmt: skip
        return site.page(request, "task.html", values)


def _with_tasks(site: Site, run: str) -> Place:
    if run:
        return site.places.get(run)
    return next((place for place in site.places.all().values() if place.file(*FILE)), None) or site.places.get("")


def find(place: Place, task: str) -> Task:
    """A task of a run: of its file of tasks, else of its library. Raises DataError where neither holds it."""
    path = place.file(*FILE)
    found = tasks(path).find(task) if path else None
    if found is None and place.library:
        rows = shelf.page(place, Filter(task_id=task)).rows
        found = shelf.get(place, rows[0].trajectory_id).task if rows else None
    if found is None:
        raise DataError(f"{place.name} holds no task {task!r}")
    return found


def _choices(scan: Tasks | None) -> dict[str, list[str]]:
    """The values of each facet among the tasks that have been read."""
    seen = scan.rows if scan else []
    names = ("kind", "source", "split", "operator")
    return {name: sorted({value for row in seen if (value := getattr(row, name))}) for name in names}


def _refused(place: Place) -> list[tuple[str, int]]:
    """Why tasks were refused, and attempts given up, the most frequent first."""
    summary = table(place.file("tasks/summary.json", "summary.json"))
    found: dict[str, int] = {}
    for part in ("tasks_refused", "functions_refused", "attempts_dropped"):
        held = summary.get(part)
        found |= {name: count for name, count in held.items() if isinstance(count, int)} if isinstance(held, dict) else {}
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))


def survivors(place: Place, task: str) -> list[dict[str, str]]:
    """The small bugs that a task's tests let through, where 'swefuse tasks strength --json' was kept beside the tasks."""
    path = place.file("tasks/strength.json", "strength.json", "tasks/strength.jsonl", "strength.jsonl")
    of = [row for row in rows(path) if task in (row.get("task"), row.get("task_now"))]
    found = of[-1].get("survivors") if of else []
    kept: list[Row] = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return [{name: str(row.get(name, "")) for name in ("path", "line", "kind", "old", "new")} for row in kept]


def _tests(suite: Suite) -> dict[str, Any]:
    """The tests of a suite: calls with what they must give, or ids."""
    turned = set(suite.fail_to_pass)
    calls = [
        (call.id, call.args, call.want if call.want is not None else f"raises {call.raises}", call.visible) for call in suite.calls
    ]
    ids = [(id_, "", "", False) for id_ in suite.expected] if not calls else []
    rows_ = [(*row, row[0] in turned) for row in (calls or ids)[:TESTS]]
    return {"form": suite.form, "entry": suite.entry or ", ".join(suite.files), "rows": rows_, "count": len(calls or ids)}
