"""``swefuse serve`` and ``swefuse watch``: runs to look at, in a browser and in a terminal."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from swefuse.cli.common import JsonOption, example, extras, print_json
from swefuse.errors import UserError

TOKEN = "SWEFUSE_TOKEN"  # noqa: S105 - a name
_ANY = ("0.0.0.0", "::", "")  # noqa: S104 - recognised, not bound to


def add_to(app: typer.Typer) -> None:
    """Add both commands."""
    app.command("serve", epilog=example("swefuse serve runs", "swefuse serve runs --host 0.0.0.0 --allow-host lab.example"))(serve)
    app.command("watch", epilog=example("swefuse watch runs/quickstart", "swefuse watch runs/quickstart --once"))(watch)


def serve(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders of runs, folders that hold some, or libraries.")],
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; another one than this machine's own needs a token.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes one that is free.")] = 8765,
    token: Annotated[
        str | None, typer.Option("--token", envvar=TOKEN, help="What callers must know; by default made anew where one is needed.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="Further names under which to answer.")
    ] = None,
) -> None:
    """Look at runs, libraries, trajectories, pairs and tasks in a browser. Nothing is ever written."""
    with extras():
        import uvicorn

        from swefuse.web.app import create_app
        from swefuse.web.guard import LOOPBACK

    if token is not None and len(token) < 8:
        raise UserError("--token: give at least 8 characters, or leave it out to have one made")
    own = host in LOOPBACK
    key = token or ("" if own else secrets.token_urlsafe(24))
    names = [*LOOPBACK, *([] if host in _ANY else [host]), *([] if own else [socket.gethostname()]), *(allow_host or [])]
    app = create_app(paths, names, key, addresses=host in _ANY)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UserError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}; choose another --port or --host"
        ) from error
    shown = socket.gethostname() if host in _ANY else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/" + (f"?token={key}" if key else "")
    print(f"open {address}   (Ctrl+C ends it)", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="warning", server_header=False, access_log=False, lifespan="off")
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def watch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, finished or not.")],
    once: Annotated[bool, typer.Option("--once", help="Print the present state and end.")] = False,
    every: Annotated[float, typer.Option("--every", min=0.2, help="Seconds between two looks.")] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Watch a run in the terminal: stages, time left, lines of its figures and the last events. Ends when the run has finished."""
    from rich.console import Console
    from rich.live import Live

    from swefuse.web.places import Place, is_run
    from swefuse.web.progress import status
    from swefuse.web.watching import view

    if not run.is_dir() or not is_run(run):
        raise UserError(f"{run} is no folder of a run; name the --out of 'swefuse quickstart' or of a stage")
    library = run / "library.db"
    place = Place(os.path.basename(run.absolute()), run, library if library.is_file() else None)
    seen = status(place)
    if as_json:
        stages = [stage._asdict() for stage in seen.stages]
        print_json({**asdict(seen), "stages": stages, "finished": seen.finished, "said": seen.said})
        return
    console = Console()
    if once or seen.finished or not console.is_terminal:
        console.print(view(place.name, seen))
        return
    with Live(view(place.name, seen), console=console, auto_refresh=False) as live:
        while not seen.finished:
            time.sleep(every)
            seen = status(place)
            live.update(view(place.name, seen), refresh=True)
