"""``swefuse tasks``: build tasks and look at them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from swefuse.cli.common import ConfigOption, JsonOption, OutOption, SetOption, example, extras, group, prepare, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import UserError, nearest
from swefuse.records import Kind, Task

_DATASETS = "humanevalfix, mbpp, humaneval, cruxeval, apps, quixbugs, classeval"

MINED = ("bugfix", "refactor", "testgen")
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
    "mine",
    epilog=example(
        "swefuse tasks mine ~/src/click --out runs/mined --since 2020-01-01", "swefuse tasks mine a.git b.git --out runs/mined"
    ),
)
def mine(
    repositories: Annotated[list[Path], typer.Argument(metavar="REPO...", help="Work trees or bare repositories.")],
    out: OutOption,
    since: Annotated[str, typer.Option("--since", metavar="DATE", help="Only commits after it.")] = "",
    most: Annotated[int | None, typer.Option("--most", min=1, help="Commits to try in each repository, the newest first.")] = None,
    licences: Annotated[
        list[str] | None, typer.Option("--allow-licence", metavar="NAME", help="Such as MIT or BSD; may be given again. Else all.")
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option(
            "--environment",
            metavar="NAME",
            help="Tried where tests cannot be run; may be given again. Else auto: what they need as it was then, installed on "
            "demand; none: only what is installed.",
        ),
    ] = None,
    all_tests: Annotated[bool, typer.Option("--all-tests", help="Run all test files, not only those changed.")] = False,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="bugfix (else), refactor or testgen; may be given again."),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> None:
    """Make tasks of the repairs in a git history: those whose tests fail without the repair and pass with it.

    What was tried is kept in the folder, so that a call which was ended goes on, and one with more repositories adds to it. 1 when
    there is no task.
    """
    from swefuse.sandbox import environments
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.mine import AUTO as OF_ITS_TIME
    from swefuse.tasks.mine import Selection, run
    from swefuse.tasks.workers import init_worker

    out.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in environment or [OF_ITS_TIME] if name != "none"]
    for name in wanted:
        environments.folder("" if name == OF_ITS_TIME else name)
    kinds = tuple(dict.fromkeys(kind or ["bugfix"]))
    for one in kinds:
        if one not in MINED:
            raise UserError(f"--kind {one}: a history gives no such tasks{nearest(one, MINED)}")
    settings = Selection(since, most, tuple(licences or ()), tuple(wanted), all_tests, tuple(map(Kind, kinds)))
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),))
    with pool as executor, stage_progress("mine", quiet=as_json, rate="commits") as progress:
        summary = run(repositories, out, settings, executor, progress)
    if as_json:
        print_json(summary)
    else:
        say(f"{summary['tasks']} tasks of {summary['tried']} commits tried, in {out / 'tasks.jsonl'}")
        say("\n".join(f"{count:7}  {reason}" for reason, count in summary["refused"].items()))
    if not summary["tasks"]:
        raise typer.Exit(1)


@app.command(
    "dataset",
    epilog=example(
        "swefuse tasks dataset mbpp sanitized-mbpp.json --out runs/mbpp",
        "swefuse tasks dataset quixbugs ~/src/QuixBugs --out runs/quix",
    ),
)
def dataset(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"One of: {_DATASETS}.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The dataset as it is published: a file, or a folder.")],
    out: OutOption,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=100, help="Runs of each side that must agree.")] = 2,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> None:
    """Make tasks of a published dataset: of rows whose reference passes and whose initial state does not. 1 when there is none."""
    from collections import Counter

    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.datasets import load, prove_tests
    from swefuse.tasks.store import save_tasks
    from swefuse.verify import init_worker

    found = load(name, file)
    out.mkdir(parents=True, exist_ok=True)
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=4)
    with pool as executor, stage_progress("prove", quiet=as_json, rate="tasks") as progress:
        proof = prove_tests(found, executor, repeat, progress)
    save_tasks(out / "tasks.jsonl", proof.tasks)
    refused, rows = Counter(proof.reasons), len(proof.tasks) + len(proof.refused)
    if as_json:
        which = [{"task": one.task.provenance.topic, "reason": one.reason} for one in proof.refused]
        print_json({"tasks": len(proof.tasks), "rows": rows, "refused": dict(refused), "which": which})
    else:
        say(f"{len(proof.tasks)} of {rows} rows are proven tasks, in {out / 'tasks.jsonl'}")
    for reason, count in refused.most_common() if not as_json else ():
        say(f"{count:7}  {reason}: {', '.join(one.task.provenance.topic for one in proof.refused if one.reason == reason)}"[:200])
    if not proof.tasks:
        raise typer.Exit(1)


@app.command(
    "environment", epilog=example("swefuse tasks environment pytest==7.4.4", "swefuse tasks environment --python 3.8 pytest==5.4.3")
)
def environment(
    packages: Annotated[list[str] | None, typer.Argument(metavar="NAME==VERSION...", help="Without any: list those there.")] = None,
    python: Annotated[
        str | None, typer.Option(metavar="3.N", help="For another Python of this machine: pyenv's, uv's, or python3.N on PATH.")
    ] = None,
) -> None:
    """Install packages that tests of older commits need, apart from the program's own; tell the name for 'tasks mine'."""
    from swefuse.sandbox import environments, pythons

    other = pythons.named(python) if python else None
    if packages:
        say(environments.make(packages, other))
        return
    say("\n".join(environments.known()) or f"none in {environments.home()}")
    say(f"other Pythons: {', '.join(one.version for one in pythons.found().values()) or 'none'}")


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
            place = source.function or (f"{source.repo}@{source.commit[:10]}" if source.commit else source.topic)
            say(f"{task.id}  {task.kind:9} {task.split:11} {source.operator:12} {source.source}:{place}")
    else:
        say(describe(tasks[0]))


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
    goal = [f"goal {key}: {value}" for key, value in task.goal.items()]
    files = [f"--- {path}\n{text}" for path, text in task.files.items()]
    return "\n".join([*about, "", task.instruction, "", *tests, *goal, "", *files])
