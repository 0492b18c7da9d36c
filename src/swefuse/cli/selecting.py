"""``swefuse library list``, ``tag``, ``snapshot`` and ``snapshots``: which trajectories are meant, and names for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import JsonOption, example, print_json, say
from swefuse.cli.library import LibraryArgument

if TYPE_CHECKING:
    from swefuse.library.store import Filter

_LIB = "runs/quickstart/library.db"
_SEARCH = "swefuse library list mine.db --kind bugfix --source commits --min-strength 0.8 --query timezone"


def _text(option: str, name: str, words: str) -> Any:
    return Annotated[str | None, typer.Option(option, metavar=name, help=words)]


_OPTIONS: dict[str, Any] = {  # fields of Filter
    "accepted": Annotated[bool | None, typer.Option("--accepted/--refused", help="Only these.")],
    "refused_by": _text("--refused-by", "CHECK", "Only what this check refused."),
    "kind": _text("--kind", "KIND", "Only tasks of this kind."),
    "source": _text("--source", "SOURCE", "Only tasks from this source."),
    "collector": _text("--collector", "NAME", "Only trajectories that this way of collecting made."),
    "repo": _text("--repo", "REPO", "Only tasks from this repository."),
    "operator": _text("--operator", "NAME", "Only tasks with this kind of bug."),
    "task_id": _text("--task", "ID", "Only trajectories of this task."),
    "split": _text("--split", "PART", "Only this part, of the library if it is split, else of its tasks."),
    "tag": _text("--tag", "NAME", "Only trajectories with this tag."),
    "min_strength": Annotated[
        float | None, typer.Option("--min-strength", min=0, max=1, help="Only tasks whose tests are at least so strong.")
    ],
    "min_steps": Annotated[int | None, typer.Option("--min-steps", min=0, help="Only trajectories with at least so many steps.")],
    "max_steps": Annotated[int | None, typer.Option("--max-steps", min=0, help="Only trajectories with at most so many steps.")],
    "query": _text("--query", "WORDS", "Only where all these words occur in instruction, thoughts, paths or patch."),
}


def filtered(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a filter; it gets them as ``which``."""

    @wraps(command)
    def run(**given: Any) -> None:
        from swefuse.library.store import Filter

        which = Filter(**{name: given.pop(name) for name in _OPTIONS})
        command(which=which, **given)

    own = inspect.signature(command, eval_str=True, locals={"Filter": object}).parameters
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_OPTIONS[name]) for name in _OPTIONS
    ]
    kept = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, each in own.items() if name != "which"]
    needed = [each for each in kept if each.default is inspect.Parameter.empty]
    parameters = [*needed, *options, *(each for each in kept if each not in needed)]
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group of libraries."""
    app.command("list", epilog=example(f"swefuse library list {_LIB}", _SEARCH))(list_entries)
    app.command(
        "tag", epilog=example("swefuse library tag mine.db hard --min-steps 20", "swefuse library tag mine.db hard --remove")
    )(tag)
    app.command("snapshot", epilog=example("swefuse library snapshot mine.db v1 --accepted --split train"))(snapshot)
    app.command("snapshots", epilog=example("swefuse library snapshots mine.db"))(snapshots)


@filtered
def list_entries(
    lib: LibraryArgument,
    which: Filter,
    snapshot: Annotated[str | None, typer.Option("--snapshot", metavar="NAME", help="Only what this snapshot holds.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 100,
    offset: Annotated[int, typer.Option("--offset", min=0, help="How many to leave out before.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """List trajectories, one a line: with --query those that it fits best first, else the newest."""
    from swefuse.library.store import Library

    with Library(lib if snapshot is None else lib.with_name(f"{lib.name}@{snapshot}")) as library:
        found = library.search(which, limit, offset)
        total = library.count(which) if len(found) == limit else offset + len(found)
    if as_json:
        print_json([asdict(summary) for summary in found])
    for row in () if as_json else found:
        decision = "accepted" if row.accepted else "refused: " + "; ".join(row.reasons)
        tags = "".join(f" #{name}" for name in row.tags)
        say(f"{row.trajectory_id}  {row.task_id}  {row.source:9} {row.operator:12} {row.model:12} {decision}{tags}")
    if total > offset + len(found):
        typer.echo(f"{offset + 1} to {offset + len(found)} of {total}; --offset {offset + limit} shows the next", err=True)


@filtered
def tag(
    lib: LibraryArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tag.")],
    which: Filter,
    remove: Annotated[bool, typer.Option("--remove", help="Take the tag away.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Give a tag to every trajectory that the options choose, or take it away. It stays when a trajectory is judged again."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        changed = library.tag(name, which, remove)
        total = library.stats().tags.get(name, 0)
    if as_json:
        print_json({"changed": changed, "tagged": total})
    else:
        say(f"{changed} trajectories {'lost' if remove else 'got'} the tag {name}; {total} have it")


@filtered
def snapshot(
    lib: LibraryArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the snapshot; LIB@NAME stands for it.")],
    which: Filter,
    as_json: JsonOption = False,
) -> None:
    """Give a name to the trajectories that the options choose, as they are judged now. A snapshot never changes."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        made = library.snapshot(name, which)
    if as_json:
        print_json(asdict(made))
    else:
        counts = f"{made.entries} trajectories, {made.accepted} of them accepted"
        say(f"{library.path}@{made.name}: {counts}; fingerprint {made.fingerprint[:16]}")


def snapshots(lib: LibraryArgument, as_json: JsonOption = False) -> None:
    """List the snapshots of a library, the oldest first."""
    from swefuse.library.store import Library

    with Library(lib) as library:
        found = library.snapshots()
    if as_json:
        print_json([asdict(each) for each in found])
        return
    for each in found:
        say(f"{each.name:16} {each.made}  {each.entries:8} entries {each.accepted:8} accepted  {each.fingerprint[:16]}")
