"""``swefuse tasks strength`` and ``swefuse tasks flaky``: how far the tests of tasks can be trusted."""

from __future__ import annotations

import os
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli import tasks
from swefuse.cli.common import JsonOption, example, output_file, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import DataError, UserError, nearest
from swefuse.records import Task

if TYPE_CHECKING:
    from swefuse.tasks.strengthen import Strengthened


class Flaky(StrEnum):
    """What becomes of a task with a flaky test."""

    LEAVE_OUT = "leave_out"
    REFUSE = "refuse"


FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A tasks.jsonl, or the folder that holds it.")]
FormOption = Annotated[str | None, typer.Option("--form", help="calls or pytest; calls where the task has both.")]
WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="Processes that verify.")]
CORES = os.cpu_count() or 1
_STRENGTH = ("swefuse tasks strength runs/tasks 3f9c", "swefuse tasks strength runs/tasks --add 8 --out stronger.jsonl")
_FLAKY = ("swefuse tasks flaky runs/tasks --repeat 5", "swefuse tasks flaky tasks.jsonl --form pytest --out steady.jsonl")


def add_to(app: typer.Typer) -> None:
    """Add both commands to the group ``tasks``."""
    app.command("strength", epilog=example(*_STRENGTH))(strength)
    app.command("flaky", epilog=example(*_FLAKY))(flaky)


def strength(
    file: FileArgument,
    task_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Id of a task, or its beginning; without it, of many.")
    ] = None,
    first: Annotated[
        int | None,
        typer.Option("--first", min=1, help="Without an id: so many tasks from the beginning; else 20, with --out all."),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Mutants of one task.")] = 100,
    seconds: Annotated[float | None, typer.Option("--seconds", min=0.1, help="Of one task: no more mutants after that.")] = None,
    add: Annotated[
        int,
        typer.Option("--add", min=0, help="Calls that may be added to a task's tests, to notice what slips through (calls form)."),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write all tasks here, those measured with their strength."),
    ] = None,
    form: FormOption = None,
    workers: WorkersOption = CORES,
    as_json: JsonOption = False,
) -> None:
    """Measure how many small bugs in the reference solution the tests notice, and list those that slip through.

    1 when the reference solution of a task does not pass, so that nothing can be said about its tests.
    """
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.store import save_tasks
    from swefuse.tasks.workers import init_worker
    from swefuse.verify.tests import Limits

    if add and out is None:
        raise UserError("--add has no effect without --out, the file for the tasks with more tests")
    if add and form not in (None, "calls"):
        raise UserError(f"--add {add} has no effect with --form {form}: only tests in the form calls can be added to")
    if task_id is not None and first is not None:
        raise UserError(f"--first {first} has no effect with the id of one task; leave one of them out")
    out = output_file(out, _file(file)) if out else None
    known = _load(file)
    wanted = first if first is not None else 20 if out is None else len(known)
    chosen = [tasks.find(known, task_id)] if task_id is not None else known[:wanted]
    _check_form(chosen, "calls" if add else form, "--add" if add else "--form")
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO), None, Limits().pytest_cpu_s))
    found: list[Strengthened | str] = []
    with pool as executor, stage_progress("strength", quiet=as_json) as progress:
        for one in executor.map(partial(_one, most=most, seconds=seconds, form=form, add=add), chosen):
            found.append(one)
            progress(len(found), len(chosen))
    if out is not None:
        new = {old.id: one.task for old, one in zip(chosen, found, strict=True) if not isinstance(one, str)}
        save_tasks(out, [new.get(task.id, task) for task in known])
    _show_strength(chosen, found, as_json, survivors=task_id is not None)
    if any(isinstance(one, str) for one in found):
        raise typer.Exit(1)


def _one(task: Task, most: int, seconds: float | None, form: str | None, add: int) -> Strengthened | str:
    """Runs in a worker process; the reason where nothing can be said."""
    from swefuse.scale import InlineExecutor
    from swefuse.tasks.strengthen import Strengthened, measured, strengthen
    from swefuse.verify.strength import strength as measure

    try:
        if add:
            return strengthen(task, add, most, seconds)
        found = measure(task, InlineExecutor(), most, seconds, form)
    except DataError as error:
        return str(error)
    return Strengthened(measured(task, found), (), found, found)


def _show_strength(chosen: list[Task], found: list[Strengthened | str], as_json: bool, survivors: bool) -> None:
    pairs = list(zip(chosen, found, strict=True))
    if as_json:
        print_json([_strength_row(*pair) for pair in pairs])
    else:
        for pair in pairs:
            say("\n".join(_strength_lines(*pair, survivors=survivors)))


def _strength_lines(old: Task, one: Strengthened | str, survivors: bool) -> list[str]:
    if isinstance(one, str):
        return [f"{old.id}  {one}"]
    after, before = one.after, one.before
    share = "no mutant" if after.share is None else f"{after.killed} of {after.judged} mutants killed ({after.share:.0%})"
    more = f"; {before.killed} before {len(one.added)} more calls, now task {one.task.id}" if one.added else ""
    rest = f", {after.listed - after.judged} more not tried" if after.listed > after.judged else ""
    lines = [f"{old.id}  {old.provenance.function:24} {share}{rest}{more}"]
    return lines + [f"  survived: {mutant}" for mutant in after.survivors if survivors]


def _strength_row(old: Task, one: Strengthened | str) -> dict[str, Any]:
    if isinstance(one, str):
        return {"task": old.id, "problem": one}
    found = one.after
    return {
        "task": old.id, "task_now": one.task.id,
        "share": found.share, "killed": found.killed, "judged": found.judged, "listed": found.listed,
        "ungraded": found.ungraded, "share_before": one.before.share, "added": [call.model_dump() for call in one.added],
        "survivors": [
            {"path": m.path, "function": m.function, **m.edit._asdict(), "kind": m.edit.kind.value} for m in found.survivors
        ],
    }  # fmt: skip


def flaky(
    file: FileArgument,
    repeat: Annotated[int, typer.Option("--repeat", min=2, max=1000, help="Runs of each reference solution, in other orders.")] = 5,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the tasks here, flaky tests left out, without those to be refused."),
    ] = None,
    policy: Annotated[
        Flaky, typer.Option("--policy", help="What becomes of a task with a flaky test that does not decide.")
    ] = Flaky.LEAVE_OUT,
    form: FormOption = None,
    workers: WorkersOption = CORES,
    as_json: JsonOption = False,
) -> None:
    """Repeat every reference solution and name the tests that do not always say the same. 1 when there are any."""
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.store import save_tasks
    from swefuse.verify import init_worker
    from swefuse.verify.flaky import flakiness, without_flaky

    out = output_file(out, _file(file)) if out else None
    known = _load(file)
    _check_form(known, form)
    with ProcessExecutor(workers, init_worker, (resolve(AUTO),)) as executor, stage_progress("flaky", quiet=as_json) as progress:
        found = flakiness(known, executor, repeat, form, progress)
    kept: list[Task] = []
    rows: list[dict[str, Any]] = []
    for task, one in zip(known, found, strict=True):
        refused, now = "", ""
        try:
            kept.append(without_flaky(task, one, form, policy.value))
            now = kept[-1].id
        except DataError as error:
            refused = str(error)
        if refused or one.matrix or one.vanished or one.cold:
            matrix = {id_: list(outcomes) for id_, outcomes in one.matrix.items()}
            row = {
                "task": task.id,
                "task_now": now,
                "runs": one.runs,
                "rate": one.rate,
                "matrix": matrix,
                "vanished": list(one.vanished),
            }
            rows.append({**row, "cold": one.cold, "refused": refused})
    if out is not None:
        save_tasks(out, kept)
    if as_json:
        print_json({"tasks": len(known), "kept": len(kept), "flaky": rows})
    else:
        _show(rows, len(known), len(kept))
    if rows:
        raise typer.Exit(1)


def _show(rows: list[dict[str, Any]], tasks_: int, kept: int) -> None:
    for row in rows:
        renamed = f", now task {row['task_now']}" if row["task_now"] not in ("", row["task"]) else ""
        unsteady = f"flaky tests left out{renamed}" if row["matrix"] or row["vanished"] else "steady in a new interpreter"
        say(f"{row['task']}  {'refused: ' + row['refused'] if row['refused'] else unsteady}")
        if row["cold"]:
            say(f"  runs cold: {row['cold']}")
        for id_ in row["vanished"]:
            say(f"  {id_}: in no run: its id is another in each, or there is no such test")
        for id_, outcomes in row["matrix"].items():
            say(f"  {id_}: {' '.join(outcomes)}")
    steady = tasks_ - len(rows)
    say(f"{tasks_} tasks, {steady} steady, {kept - steady} with flaky tests left out, {tasks_ - kept} refused")


def _file(path: Path) -> Path:
    return path / "tasks.jsonl" if path.is_dir() else path


def _load(file: Path) -> list[Task]:
    """The tasks of a file."""
    from swefuse.tasks.store import load_tasks

    known = load_tasks(_file(file))
    if not known:
        raise DataError(f"{file} holds no task")
    return known


def _check_form(chosen: list[Task], form: str | None, option: str = "--form") -> None:
    """Every task that is to be looked at has tests of that form."""
    without = [task for task in chosen if form is not None and task.suite(form) is None]
    if without and form is not None:
        forms = {suite.form for suite in without[0].suites}
        raise UserError(f"{option}: task {without[0].id} has no tests of the form {form}{nearest(form, forms)}")
