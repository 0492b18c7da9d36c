"""``swefuse library gate`` and ``swefuse library add``: verify again, decide, and say why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swefuse.cli.common import ConfigOption, JsonOption, SetOption, example, prepare, print_json, say
from swefuse.cli.console import Progress, stage_progress
from swefuse.cli.library import LibraryArgument, not_empty
from swefuse.errors import DataError, UserError

if TYPE_CHECKING:
    from swefuse.library.context import Context
    from swefuse.library.settings import GateConfig
    from swefuse.library.store import Library
    from swefuse.records import Decision, Task, Trajectory, Verdict
    from swefuse.scale import Executor

_BATCH = 500
_SHOWN, _MESSAGES = 3, 20  # reasons of one check that are printed, and of all that JSON holds

WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="Processes that verify.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group of libraries."""
    lib = "swefuse library gate runs/quickstart/library.db"
    app.command("gate", epilog=example(lib, f"{lib} --only-old", f"{lib} --explain 3f9c1e7a20b44d5c8e61"))(gate)
    app.command(
        "add", epilog=example("swefuse library add runs/library.db runs/replayed", "swefuse library add mine.db runs/a runs/b")
    )(add)


def gate(
    lib: LibraryArgument,
    only_old: Annotated[
        bool, typer.Option("--only-old", help="Only entries that another version or other settings of the gate decided.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="ID", help="Show each check of one trajectory and what it saw; store nothing."),
    ] = None,
    config: ConfigOption = None,
    overrides: SetOption = None,
    workers: WorkersOption = 2,
    as_json: JsonOption = False,
) -> None:
    """Verify every trajectory again and decide anew, after the gate or the tests changed. Earlier decisions are kept."""
    from swefuse.library.exchange import again, judged
    from swefuse.library.gate import find_check
    from swefuse.library.settings import GateConfig
    from swefuse.library.store import Library
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import init_worker

    if only_old and explain is not None:
        raise UserError("--only-old and --explain exclude each other: a trajectory is explained whoever decided on it")
    settings = prepare(GateConfig, config, overrides or ())
    for name in settings.checks:
        find_check(name)
    with Library(lib) as library:
        if explain is not None:
            entry, context = library.get(explain), context_of(library, settings)
            with ProcessExecutor(1, init_worker, (resolve(AUTO),)) as executor:
                (new,) = judged([again(entry.task, entry.trajectory, entry.verdict, entry.decision)], executor, context)
            _explained(settings.checks, new.decision, entry.decision, as_json)
            return
        library.check_writable()
        context = context_of(library, settings, anew=not only_old)
        changes: Counter[str] = Counter()
        if chosen := _chosen(library, context, only_old):
            pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=8)
            with pool as executor, stage_progress("gate", quiet=as_json) as progress:
                changes.update(_decide_anew(library, chosen, executor, progress, context))
    if as_json:
        print_json(changes)
    else:
        nothing = "no entry is of another version" if only_old else "the library is empty"
        say("\n".join(f"{count:7}  {change}" for change, count in sorted(changes.items())) or nothing)


def add(
    lib: Annotated[
        Path, typer.Argument(metavar="LIB", help="File of a library; it is made where there is none.", callback=not_empty)
    ],
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders that 'swefuse collect' wrote.")],
    config: ConfigOption = None,
    overrides: SetOption = None,
    workers: WorkersOption = 2,
    as_json: JsonOption = False,
) -> None:
    """Verify collected trajectories again, decide on each, and keep it with the reasons. 1 when none is accepted."""
    from swefuse.library.exchange import again, judged
    from swefuse.library.gate import find_check
    from swefuse.library.settings import GateConfig
    from swefuse.library.store import Library
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import init_worker

    settings = prepare(GateConfig, config, overrides or ())
    for name in settings.checks:
        find_check(name)
    items = sorted((item for folder in folders for item in _collected(folder)), key=lambda item: item[1].id)
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=8)
    counts: Counter[str] = Counter(accepted=0, refused=0)
    messages: Counter[str] = Counter()
    with Library(lib, create=True) as library, pool as executor, stage_progress("add", quiet=as_json) as progress:
        library.check_writable()
        context = context_of(library, settings)
        for at in range(0, len(items), _BATCH):
            new = judged([again(*item) for item in items[at : at + _BATCH]], executor, context)
            library.add_many(new)
            context.held.stored()
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


def _collected(folder: Path) -> list[tuple[Task, Trajectory, Verdict | None]]:
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
    return [(tasks[one.task_id], one, one.verdict) for one in found]


def context_of(library: Library, settings: GateConfig, anew: bool = False) -> Context:
    """The context for a library: what it holds and accepted counts as said already, or nothing where all is decided ``anew``."""
    from swefuse.library.context import Context
    from swefuse.library.held import Held

    held = Held(lambda id_: library.get(id_).trajectory)
    if "repeats" in settings.checks and not anew:
        for entry in library.iter_accepted():
            held.add(entry.task, entry.trajectory)
            held.stored()
    return Context.prepared(settings, held)


def _chosen(library: Library, context: Context, only_old: bool) -> list[str]:
    """The ids of what is decided anew, in their order, which is that of near-duplicates."""
    from swefuse.library.gate import version_of

    present = version_of(context)
    return [row.trajectory_id for row in library.query() if not only_old or row.gate_version != present]


def _decide_anew(
    library: Library, chosen: Sequence[str], executor: Executor, progress: Progress, context: Context
) -> Iterator[str]:
    """One ``was -> is`` for each trajectory."""
    from swefuse.library.exchange import again, judged

    words = {True: "accepted", False: "refused"}
    for at in range(0, len(chosen), _BATCH):
        batch = [library.get(name) for name in chosen[at : at + _BATCH]]
        new = judged([again(entry.task, entry.trajectory, entry.verdict, entry.decision) for entry in batch], executor, context)
        library.add_many(new)
        context.held.stored()
        progress(min(at + _BATCH, len(chosen)), len(chosen))
        yield from (f"{words[a.decision.accepted]} -> {words[b.decision.accepted]}" for a, b in zip(batch, new, strict=True))


def _explained(names: Sequence[str], new: Decision, old: Decision, as_json: bool) -> None:
    """Each check in order: whether it passed, what it saw, and why it refused."""
    refused: dict[str, str] = {}
    for reason in new.reasons:
        name, _, text = reason.partition(": ")
        refused.setdefault(name, text)
    if as_json:
        rows = [{"check": name, "passed": name not in refused, "saw": new.seen.get(name, ""), "reason": refused.get(name, "")}
                for name in names]  # fmt: skip
        print_json({"accepted": new.accepted, "gate_version": new.gate_version, "stored": old.model_dump(), "checks": rows})
        return
    for name in names:
        say(f"{'refused' if name in refused else 'passed ':8} {name:14} saw {new.seen.get(name, 'nothing that it tells')}")
        if name in refused:
            say(f"{'':24}because {refused[name]}")
    say(f"{'accepted' if new.accepted else 'refused'} by gate {new.gate_version}")
    say(f"stored: {'accepted' if old.accepted else 'refused'} by gate {old.gate_version or 'unknown'}")
