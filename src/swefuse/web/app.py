"""The web app: its routes, and what becomes of an error."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from swefuse.errors import InfraError, UserError
from swefuse.web.guard import LOOPBACK, Guard
from swefuse.web.pages import compare, entropy, library, pairs, runs, tasks, trajectory, verifier
from swefuse.web.site import Site

PAGES = (runs, library, trajectory, pairs, entropy, tasks, verifier, compare)
_YEAR = "public, max-age=31536000, immutable"


def create_app(roots: Sequence[Path], hosts: Iterable[str] = LOOPBACK, token: str = "", addresses: bool = False) -> ASGIApp:
    """The app over the runs below ``roots``; see ``guard.Guard`` for the rest.

    Raises UserError for a root that is not there.
    """
    site = Site(roots)
    layers = [Middleware(GZipMiddleware, minimum_size=1000)]
    app = FastAPI(title="SWE-Fuse", openapi_url=None, docs_url=None, redoc_url=None, middleware=layers)
    _add_errors(app, site)

    @app.get("/static/{version}/{name}")
    def static(version: str, name: str) -> Response:
        """A file that pages load; its version is part of the address, so that it is asked for once."""
        if site.versions.get(name) != version:
            raise HTTPException(404, "there is no such file")
        kind, data = site.statics[name]
        return Response(data, media_type=kind, headers={"cache-control": _YEAR})

    for page in PAGES:
        page.add_to(app, site)
    return Guard(app, hosts, token, addresses)  # outside of everything, so that answers to errors have its headers too


def _add_errors(app: FastAPI, site: Site) -> None:
    def told(request: Request, code: int, message: str) -> Response:
        return site.page(request, "error.html", {"message": message}, code)

    @app.exception_handler(UserError)
    def user(request: Request, error: UserError) -> Response:
        return told(request, 404, str(error))

    @app.exception_handler(InfraError)
    def infra(request: Request, error: InfraError) -> Response:
        return told(request, 503, str(error))

    @app.exception_handler(HTTPException)
    def http(request: Request, error: HTTPException) -> Response:
        return told(request, error.status_code, str(error.detail))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return told(request, 422, f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}")

    @app.exception_handler(Exception)
    def ours(request: Request, error: Exception) -> Response:
        logging.getLogger("swefuse.web").error("%s", request.url.path, exc_info=error)
        return told(request, 500, f"this page failed ({type(error).__name__}); the terminal of 'swefuse serve' says more")
