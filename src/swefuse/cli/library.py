"""``swefuse library``: what was accepted and refused, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swefuse.cli.common import JsonOption, example, group, print_json, say
from swefuse.cli.console import Progress, stage_progress
from swefuse.errors import DataError, UserError

if TYPE_CHECKING:
    from swefuse.library.store import Entry, Library
    from swefuse.records import Task, Trajectory
    from swefuse.scale import Executor

_BATCH = 500
_SHOWN, _MESSAGES = 3, 20  # reasons of one check that are printed, and of all that JSON holds


def _not_empty(lib: Path) -> Path:
    if lib.is_file() and not lib.stat().st_size:
        raise UserError(f"{lib} is an empty file and no library: delete it, or name another path")
    return lib


LibraryArgument = Annotated[Path, typer.Argument(metavar="LIB", help="File of a library.", callback=_not_empty)]
WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="Processes that verify.")]

app = group(
    "library",
    "The library of trajectories: accepted and refused ones, with the reasons.",
    "swefuse library stats runs/quickstart/library.db",
)


@app.command("gate", epilog=example("swefuse library gate runs/quickstart/library.db"))
def gate(lib: LibraryArgument, workers: WorkersOption = 2, as_json: JsonOption = False) -> None:
    """Verify every trajectory again and decide anew, after the gate or the tests changed. Earlier decisions are kept."""
    from swefuse.library.store import Library
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import init_worker

    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=8)
    with Library(lib) as library, pool as executor, stage_progress("gate", quiet=as_json) as progress:
        library.check_writable()
        changes = Counter(_decide_anew(library, executor, progress))
    if as_json:
        print_json(changes)
    else:
        say("\n".join(f"{count:7}  {change}" for change, count in sorted(changes.items())) or "the library is empty")


@app.command(
    "add", epilog=example("swefuse library add runs/library.db runs/replayed", "swefuse library add mine.db runs/a runs/b")
)
def add(
    lib: Annotated[
        Path, typer.Argument(metavar="LIB", help="File of a library; it is made where there is none.", callback=_not_empty)
    ],
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders that 'swefuse collect' wrote.")],
    workers: WorkersOption = 2,
    as_json: JsonOption = False,
) -> None:
    """Verify collected trajectories again, decide on each, and keep it with the reasons. 1 when none is accepted."""
    from swefuse.library.store import Library
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import init_worker

    items = [item for folder in folders for item in _collected(folder)]
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=8)
    counts: Counter[str] = Counter(accepted=0, refused=0)
    messages: Counter[str] = Counter()
    with Library(lib, create=True) as library, pool as executor, stage_progress("add", quiet=as_json) as progress:
        library.check_writable()
        for at in range(0, len(items), _BATCH):
            new = _decided(items[at : at + _BATCH], executor)
            library.add_many(new)
            counts.update("accepted" if entry.decision.accepted else "refused" for entry in new)
            reasons = [reason for entry in new for reason in entry.decision.reasons]
            counts.update(reason.partition(":")[0] for reason in reasons)
            messages.update(reasons)
            progress(min(at + _BATCH, len(items)), len(items))
    if as_json:
        print_json({**counts, "messages": dict(messages.most_common(_MESSAGES))})
    else:
        say("\n".join(_told(counts, messages)))
    if not counts["accepted"]:
        raise typer.Exit(1)


def _told(counts: Counter[str], messages: Counter[str]) -> Iterator[str]:
    """How many were accepted and refused, and by which check, with what each said most often."""
    for name, count in counts.items():
        check = name not in ("accepted", "refused")
        yield f"{count:7}  {f'refused by {name}' if check else name}"
        said = [(reason, times) for reason, times in messages.most_common() if check and reason.startswith(f"{name}:")]
        yield from (f"{'':9}{times:7}  {reason.partition(': ')[2]}" for reason, times in said[:_SHOWN])
        if len(said) > _SHOWN:
            yield f"{'':18}and {len(said) - _SHOWN} other reasons: 'swefuse library list LIB --refused-by {name}'"


def _collected(folder: Path) -> list[tuple[Task, Trajectory, str | None]]:
    """The trajectories of a folder with their tasks. Raises UserError where it is none, DataError for one without its task."""
    from swefuse.collect.stage import load_trajectories
    from swefuse.tasks.store import load_tasks

    for name in ("tasks.jsonl", "trajectories.jsonl"):
        if not (folder / name).is_file():
            raise UserError(f"{folder} holds no {name}: give a folder that 'swefuse collect' wrote")
    tasks = {task.id: task for task in load_tasks(folder / "tasks.jsonl")}
    found = load_trajectories(folder / "trajectories.jsonl")
    if lacking := [one.id for one in found if one.task_id not in tasks]:
        raise DataError(f"{folder}/trajectories.jsonl: trajectory {lacking[0]} is of a task that tasks.jsonl does not hold")
    return [(tasks[one.task_id], one, one.verdict.form if one.verdict else None) for one in found]


def _decided(items: Sequence[tuple[Task, Trajectory, str | None]], executor: Executor) -> list[Entry]:
    """Entries of trajectories that are verified now, each in the given form of its task's tests."""
    from swefuse.library.gate import gate
    from swefuse.library.store import Entry
    from swefuse.verify import Candidate, verify_many

    states = [Candidate(task, {**task.files, **one.files}, form, fresh=True) for task, one, form in items]
    verdicts = list(verify_many(states, executor))
    judged = [(task, one, verdict) for (task, one, _), verdict in zip(items, verdicts, strict=True)]
    return [Entry(*item, decision) for item, decision in zip(judged, gate(judged), strict=True)]


def _decide_anew(library: Library, executor: Executor, progress: Progress) -> Iterator[str]:
    """One ``was -> is`` for each trajectory."""
    ids = iter([summary.trajectory_id for summary in library.query()])
    done, total = 0, library.count()
    words = {True: "accepted", False: "refused"}
    while batch := [library.get(name) for name in islice(ids, _BATCH)]:
        new = _decided([(entry.task, entry.trajectory, entry.verdict.form) for entry in batch], executor)
        library.add_many(new)
        done += len(batch)
        progress(done, total)
        yield from (f"{words[a.decision.accepted]} -> {words[b.decision.accepted]}" for a, b in zip(batch, new, strict=True))


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
