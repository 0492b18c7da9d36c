"""Pages from templates. Every value in them is cleaned and escaped unless the drawings or the report's markup made it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from swefuse.evaluate.html.markup import clean, duration, figure, fraction, one_line, percent
from swefuse.library.store import Library
from swefuse.web.places import Place, Places
from swefuse.web.text import cut

MENU = (
    ("runs", "/", "Runs"),
    ("library", "/library", "Library"),
    ("pairs", "/pairs", "Pairs"),
    ("entropy", "/entropy", "Entropy"),
    ("tasks", "/tasks", "Tasks"),
    ("verifier", "/verifier", "Verifier"),
    ("compare", "/compare", "Compare"),
)


def url(path: str, **query: object) -> str:
    """An address of the app; what is None or empty is left out, lists are repeated. Same query, same address."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [(name, str(one)) for one in values if one not in (None, "")]
    safe = [(name, value.encode("utf-8", "replace").decode()) for name, value in pairs]
    return path + (f"?{urlencode(safe)}" if safe else "")


def _shown(value: Any) -> Any:
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def statics() -> dict[str, tuple[str, bytes]]:
    """Name -> (media type, content) of what pages load: the report's style and script, and the app's own."""
    report, own = files("swefuse.evaluate.html"), files("swefuse.web") / "static"
    kinds = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
    sources = {"page.css": report, "page.js": report, "app.css": own, "app.js": own, "icon.svg": own}
    return {name: (kinds[name.rpartition(".")[2]], (folder / name).read_bytes()) for name, folder in sources.items()}


class Site:
    """What all pages share: the places, the templates and the files that pages load."""

    def __init__(self, roots: Iterable[Path]) -> None:
        """Raises UserError for a root that is not there."""
        self.places = Places(list(roots))
        self.statics = statics()
        self.versions = {name: hashlib.sha256(data).hexdigest()[:12] for name, (_, data) in self.statics.items()}
        self._templates = Environment(
            loader=PackageLoader("swefuse.web"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_shown,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals |= {"url": url, "menu": MENU, "versions": self.versions, "cut": cut}
        self._templates.filters |= {
            "figure": figure, "percent": percent, "duration": duration, "fraction": fraction, "one_line": one_line,
        }  # fmt: skip

    def render(self, template: str, **values: Any) -> str:
        """A template as text, half characters replaced."""
        return self._templates.get_template(template).render(**values).encode("utf-8", "replace").decode()

    def page(self, request: Request, template: str, values: Mapping[str, Any], code: int = 200) -> Response:
        """A page, or only its live part where the query has ``part``. An unchanged one is answered with 304."""
        part = "part" in request.query_params
        query = [(name, value) for name, value in request.query_params.multi_items() if name != "part"]
        again = request.url.path + "?" + urlencode([*query, ("part", "1")])
        run = values.get("place")
        common = {
            "layout": "part.html" if part else "page.html", "again": again, "path": request.url.path,
            "run": run.name if isinstance(run, Place) else request.query_params.get("run", ""), "places": self.places.all(),
            "code": code, "here": "", "every": 0,
        }  # fmt: skip
        body = self.render(template, **{**common, **values})
        if code != 200:
            return HTMLResponse(body, code)
        tag = f'"{hashlib.sha256(body.encode()).hexdigest()[:24]}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        return HTMLResponse(body, headers={"etag": tag, "cache-control": "no-cache, private"})


def library(place: Place) -> Library | None:
    """A place's library, opened for one request; None where it has none. Raises what ``Library`` raises."""
    return Library(place.library) if place.library is not None else None
