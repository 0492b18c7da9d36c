"""``swefuse library``: what was accepted and refused, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swefuse.cli.common import JsonOption, example, group, print_json, say
from swefuse.errors import UserError

if TYPE_CHECKING:
    from swefuse.library.store import Entry


def not_empty(lib: Path) -> Path:
    """The path of a library, which an empty file is not. Raises UserError."""
    if lib.is_file() and not lib.stat().st_size:
        raise UserError(f"{lib} is an empty file and no library: delete it, or name another path")
    return lib


LibraryArgument = Annotated[Path, typer.Argument(metavar="LIB", help="File of a library.", callback=not_empty)]

app = group(
    "library",
    "The library of trajectories: accepted and refused ones, with the reasons.",
    "swefuse library stats runs/quickstart/library.db",
)


@app.command("show", epilog=example("swefuse library show runs/quickstart/library.db 3f9c1e7a20b44d5c8e61"))
def show(lib: LibraryArgument, trajectory: Annotated[str, typer.Argument(metavar="ID")], as_json: JsonOption = False) -> None:
    """Show one trajectory step by step, with its verdict and the decision."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        entry = library.get(trajectory)
    if as_json:
        print_json({name: getattr(entry, name).model_dump(mode="json") for name in ("task", "trajectory", "verdict", "decision")})
    else:
        say(describe(entry))


def describe(entry: Entry) -> str:
    """A trajectory for people."""
    decision = "accepted" if entry.decision.accepted else "refused\n" + "\n".join(f"  {text}" for text in entry.decision.reasons)
    steps = [
        f"--- step {number}\n{step.raw.rstrip()}\n>>>\n{step.observation}" for number, step in enumerate(entry.trajectory.steps, 1)
    ]
    ending = [
        f"--- stopped by {entry.trajectory.stop_reason}",
        f"verdict {entry.verdict.outcome} {entry.verdict.reason}".rstrip(),
        decision,
    ]
    return "\n".join([f"task {entry.task.id}: {entry.task.instruction}", *steps, *ending])


@app.command("verify", epilog=example("swefuse library verify runs/quickstart/library.db"))
def verify(lib: LibraryArgument, as_json: JsonOption = False) -> None:
    """Check every body, the index and the full-text index against each other. Exits with 1 if something is damaged."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        problems = library.verify()
    if as_json:
        print_json({"ok": not problems, "problems": problems})
    else:
        say("\n".join(problems) or "the library is whole")
    if problems:
        raise typer.Exit(1)
