"""``swefuse tasks derive``: tasks of further kinds from a repository."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from swefuse.cli.common import JsonOption, OutOption, example
from swefuse.cli.console import stage_progress
from swefuse.cli.mutate import surveying, tell

_DERIVE = ("swefuse tasks derive ~/src/humanize --out runs/derived", "swefuse tasks derive a.git b.git --out runs/qa --kind qa")


class DerivedKind(StrEnum):
    """The kinds that a repository gives."""

    COMPLETE = "complete"
    TESTGEN = "testgen"
    DOCGEN = "docgen"
    QA = "qa"


def add_to(app: typer.Typer) -> None:
    """Add the command to the group ``tasks``."""
    app.command("derive", epilog=example(*_DERIVE))(derive)


def derive(
    repositories: Annotated[list[Path], typer.Argument(metavar="REPO...", help="Work trees or bare repositories.")],
    out: OutOption,
    kinds: Annotated[list[DerivedKind] | None, typer.Option("--kind", help="Kind of tasks; may be given again. Else all.")] = None,
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="Tasks of each kind to make of each repository.")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same tasks.")] = 0,
    revision: Annotated[str, typer.Option("--revision", metavar="REV", help="The state that they are made of.")] = "HEAD",
    environment: Annotated[str, typer.Option("--environment", metavar="NAME", help="The one to run the tests in.")] = "",
    licences: Annotated[
        list[str] | None, typer.Option("--allow-licence", metavar="NAME", help="Such as MIT or BSD; may be given again. Else all.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> None:
    """Take bodies, docstrings and tests out of a repository that has tests, and ask questions about it, as proven tasks.

    What was tried is kept in the folder, so that a call which was ended goes on where it was. 1 when there is no task.
    """
    from swefuse.records import Kind
    from swefuse.sandbox import environments
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.derive import PYTEST_CPU_S, Wanted, run, survey_all
    from swefuse.tasks.workers import init_worker

    environments.folder(environment)
    out.mkdir(parents=True, exist_ok=True)
    chosen = tuple(Kind(kind.value) for kind in dict.fromkeys(kinds or DerivedKind))
    wanted = Wanted(tasks, chosen, seed, environment, tuple(licences or ()), revision)
    with ProcessExecutor(workers, init_worker, (resolve(AUTO), None, PYTEST_CPU_S)) as executor:
        with surveying(as_json) as progress:
            projects = survey_all(repositories, out, wanted, executor, progress)
        with stage_progress("derive", quiet=as_json, rate="tasks") as progress:
            summary = run(projects, out, wanted, executor, progress)
    tell(summary, out, as_json)
