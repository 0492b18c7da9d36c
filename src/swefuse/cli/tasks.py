"""``swefuse tasks``: build tasks and look at them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import ConfigOption, JsonOption, OutOption, SetOption, example, extras, group, prepare, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import UserError, nearest
from swefuse.records import Task

if TYPE_CHECKING:
    from swefuse.verify.strength import Strength

app = group("tasks", "Build tasks that have proven themselves, and look at them.", "swefuse tasks build --out runs/tasks")


@app.command("build", epilog=example("swefuse tasks build --out runs/tasks --set train_tasks=500 --set seed=7"))
def build(out: OutOption, config: ConfigOption = None, overrides: SetOption = None) -> None:
    """Inject bugs into functions and keep the tasks that prove themselves in the sandbox."""
    with extras():
        from swefuse.tasks.build import TasksConfig, run

    settings = prepare(TasksConfig, config, overrides or [], out)
    with stage_progress("tasks") as progress:
        typer.echo(run(settings, out, progress))


@app.command(
    "show", epilog=example("swefuse tasks show runs/tasks/tasks.jsonl", "swefuse tasks show runs/tasks/tasks.jsonl 3f9c --json")
)
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A tasks.jsonl, or the folder that holds it.")],
    task_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Id of a task, or its beginning.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the tasks of a file, or show one of them."""
    from swefuse.tasks.store import load_tasks

    tasks = load_tasks(file / "tasks.jsonl" if file.is_dir() else file)
    if task_id is not None:
        tasks = [find(tasks, task_id)]
    if as_json:
        print_json([task.model_dump(mode="json") for task in tasks])
    elif task_id is None:
        for task in tasks:
            source = task.provenance
            say(f"{task.id}  {task.kind:9} {task.split:11} {source.operator:12} {source.source}:{source.function}")
    else:
        say(describe(tasks[0]))


@app.command(
    "strength",
    epilog=example("swefuse tasks strength runs/tasks 3f9c", "swefuse tasks strength runs/tasks --first 20 --most 60 --json"),
)
def strength(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A tasks.jsonl, or the folder that holds it.")],
    task_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Id of a task, or its beginning; without it, of many.")
    ] = None,
    first: Annotated[int, typer.Option("--first", min=1, help="Without an id: this many tasks from the beginning.")] = 20,
    most: Annotated[int, typer.Option("--most", min=1, help="Mutants of one task.")] = 100,
    seconds: Annotated[float | None, typer.Option("--seconds", min=0.1, help="Of one task: no more mutants after that.")] = None,
    form: Annotated[str | None, typer.Option("--form", help="calls or pytest; calls where the task has both.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that verify.")] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> None:
    """Measure how many small bugs in the reference solution the tests notice, and list those that slip through."""
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.store import load_tasks
    from swefuse.verify import init_worker
    from swefuse.verify.strength import strength as measure

    tasks = load_tasks(file / "tasks.jsonl" if file.is_dir() else file)
    chosen = [find(tasks, task_id)] if task_id is not None else tasks[:first]
    if form is not None and any(task.suite(form) is None for task in chosen):
        forms = sorted(set.intersection(*({suite.form for suite in task.suites} for task in chosen)))
        raise UserError(f"--form {form}: not every task has such tests{nearest(form, forms)}")
    found = []
    with ProcessExecutor(workers, init_worker, ("local",)) as executor, stage_progress("strength", quiet=as_json) as progress:
        for number, task in enumerate(chosen, 1):
            found.append(measure(task, executor, most, seconds, form))
            progress(number, len(chosen))
    if as_json:
        print_json([_strength_row(task, one) for task, one in zip(chosen, found, strict=True)])
        return
    for task, one in zip(chosen, found, strict=True):
        share = "no mutant" if one.share is None else f"{one.killed} of {one.judged} mutants killed ({one.share:.0%})"
        say(f"{task.id}  {task.provenance.function:24} {share}, {one.listed} in all")
        for mutant in one.survivors if task_id is not None else ():
            say(f"  survived: {mutant}")


def _strength_row(task: Task, found: Strength) -> dict[str, Any]:
    return {
        "task": task.id, "share": found.share, "killed": found.killed, "judged": found.judged, "listed": found.listed,
        "ungraded": found.ungraded,
        "survivors": [
            {"path": m.path, "function": m.function, **m.edit._asdict(), "kind": m.edit.kind.value} for m in found.survivors
        ],
    }  # fmt: skip


def find(tasks: list[Task], start: str) -> Task:
    """The one task whose id starts so. Raises UserError if there is none or more than one."""
    found = [task for task in tasks if task.id.startswith(start)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{len(found)} tasks have an id that starts with {start!r}; give more of it")
    raise UserError(f"no task has an id that starts with {start!r}" + nearest(start, [task.id for task in tasks][:20]))


def describe(task: Task) -> str:
    """A task for people: what is asked, what is known about it, its files and what decides."""
    about = [f"task     {task.id}", f"kind     {task.kind}", f"split    {task.split}", f"source   {task.provenance.source}"]
    tests = [
        f"{suite.form}: {len(suite.fail_to_pass)} tests must turn from fail to pass, {len(suite.pass_to_pass)} must go on passing"
        for suite in task.suites
    ]
    files = [f"--- {path}\n{text}" for path, text in task.files.items()]
    return "\n".join([*about, "", task.instruction, "", *tests, "", *files])
