"""``swefuse tasks mutate``: tasks from bugs that are put into a repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer

from swefuse.cli.common import JsonOption, OutOption, example, print_json, say
from swefuse.cli.console import Progress, stage_progress

_MUTATE = ("swefuse tasks mutate ~/src/humanize --out runs/mutated", "swefuse tasks mutate a.git b.git --out runs/two --bugs 2")


def add_to(app: typer.Typer) -> None:
    """Add the command to the group ``tasks``."""
    app.command("mutate", epilog=example(*_MUTATE))(mutate)


def mutate(
    repositories: Annotated[list[Path], typer.Argument(metavar="REPO...", help="Work trees or bare repositories.")],
    out: OutOption,
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="Tasks to make of each repository.")] = 100,
    bugs: Annotated[int, typer.Option("--bugs", min=1, max=3, help="Bugs in each task, each in another function.")] = 1,
    per_function: Annotated[int, typer.Option("--per-function", min=1, help="Most tasks of one function.")] = 2,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same tasks.")] = 0,
    revision: Annotated[str, typer.Option("--revision", metavar="REV", help="The state that the bugs are put into.")] = "HEAD",
    environment: Annotated[str, typer.Option("--environment", metavar="NAME", help="The one to run the tests in.")] = "",
    licences: Annotated[
        list[str] | None, typer.Option("--allow-licence", metavar="NAME", help="Such as MIT or BSD; may be given again. Else all.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> None:
    """Put bugs into functions that the tests of a repository reach, and make tasks of those that the tests notice.

    What was tried is kept in the folder, so that a call which was ended goes on where it was. 1 when there is no task.
    """
    from swefuse.sandbox import environments
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.mutate import Wanted, run, survey_all
    from swefuse.tasks.workers import init_worker

    environments.folder(environment)
    out.mkdir(parents=True, exist_ok=True)
    wanted = Wanted(tasks, bugs, per_function, seed, environment, tuple(licences or ()), revision)
    with ProcessExecutor(workers, init_worker, (resolve(AUTO),)) as executor:
        with surveying(as_json) as progress:
            projects = survey_all(repositories, out, wanted, executor, progress)
        with stage_progress("mutate", quiet=as_json, rate="tasks") as progress:
            summary = run(projects, out, wanted, executor, progress)
    tell(summary, out, as_json)


def surveying(quiet: bool) -> AbstractContextManager[Progress]:
    """Progress of looking at a repository's test files."""
    return stage_progress("survey", quiet=quiet, rate="test files")


def tell(summary: Mapping[str, Any], out: Path, as_json: bool) -> None:
    """Say what was made and refused; leaves with 1 when there is no task."""
    if as_json:
        print_json(summary)
    else:
        say(f"{summary['tasks']} tasks of {summary['tried']} tried, in {out / 'tasks.jsonl'}")
        for kind, found in summary.get("kinds", {}).items():
            say(f"{found['tasks']:7}  {kind}, of {found['tried']} tried")
        for reason, count in summary["refused"].items():
            say(f"{count:7}  {reason}")
    if not summary["tasks"]:
        raise typer.Exit(1)
