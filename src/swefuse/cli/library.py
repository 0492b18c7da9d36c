"""``swefuse library``: what was accepted and refused, and why."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swefuse.cli.common import JsonOption, example, group, print_json, say
from swefuse.errors import UserError

if TYPE_CHECKING:
    from swefuse.library.store import Entry, Stats


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


@app.command(
    "list",
    epilog=example("swefuse library list runs/quickstart/library.db", "swefuse library list runs/quickstart/library.db --refused"),
)
def list_entries(
    lib: LibraryArgument,
    accepted: Annotated[bool | None, typer.Option("--accepted/--refused", help="Only these.")] = None,
    refused_by: Annotated[str | None, typer.Option("--refused-by", metavar="CHECK", help="Only what this check refused.")] = None,
    operator: Annotated[str | None, typer.Option("--operator", help="Only tasks with this kind of bug.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List trajectories, one a line."""
    from swefuse.library.store import Filter, Library

    with Library(lib) as library:
        found = list(library.query(Filter(accepted=accepted, refused_by=refused_by, operator=operator)))
    if as_json:
        print_json([asdict(summary) for summary in found])
        return
    for row in found:
        decision = "accepted" if row.accepted else "refused: " + "; ".join(row.reasons)
        say(f"{row.trajectory_id}  {row.task_id}  {row.source:9} {row.operator:12} {row.model:12} {decision}")


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


@app.command("stats", epilog=example("swefuse library stats runs/quickstart/library.db --json"))
def stats(lib: LibraryArgument, as_json: JsonOption = False) -> None:
    """Count what was accepted and refused, by kind, source, split, bug and maker, and by reason."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        counts, fingerprint = library.stats(), library.fingerprint()
    if as_json:
        print_json({**asdict(counts), "fingerprint": fingerprint})
    else:
        say(f"{counts.accepted} accepted, {counts.refused} refused; fingerprint of the accepted ones {fingerprint[:16]}")
        say(tabulate(counts))


def tabulate(counts: Stats) -> str:
    """Counts as lines of text."""
    lines = []
    for name, values in counts.by.items():
        lines += [f"\n{name:24}accepted   refused"]
        lines += [f"  {value or '(none)':22}{accepted:8}  {refused:8}" for value, (accepted, refused) in values.items()]
    lines += ["\nrefused by", *(f"  {check:22}{'':8}  {count:8}" for check, count in counts.reasons.items())]
    return "\n".join(lines)


@app.command("verify", epilog=example("swefuse library verify runs/quickstart/library.db"))
def verify(lib: LibraryArgument, as_json: JsonOption = False) -> None:
    """Check that every stored body is what its hash says. Exits with 1 if something is damaged."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        problems = library.verify()
    if as_json:
        print_json({"ok": not problems, "problems": problems})
    else:
        say("\n".join(problems) or "the library is whole")
    if problems:
        raise typer.Exit(1)
