"""``swefuse tasks prove`` and ``swefuse tasks stats``: what holds, what does not, and why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from swefuse.cli.common import JsonOption, OutOption, example, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import UserError


def add_to(app: typer.Typer) -> None:
    """Add both commands to the group ``tasks``."""
    app.command("prove", epilog=example("swefuse tasks prove runs/mined --out runs/proven --strength 50"))(prove)
    app.command("stats", epilog=example("swefuse tasks stats runs/mined runs/made"))(stats)


def prove(
    files: Annotated[list[Path], typer.Argument(metavar="TASKS...", help="Files tasks.jsonl, or folders that hold one.")],
    out: OutOption,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=100, help="Runs of each side that must agree.")] = 3,
    mutants: Annotated[
        int, typer.Option("--strength", metavar="N", min=0, help="Measure how strong the tests are, with at most N small bugs.")
    ] = 0,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> None:
    """Prove tasks of any source: their reference passes and their initial state does not, every time, and no answer lies about.

    What was proven is kept in the folder, so that a call which was ended goes on. 1 when a task is refused.
    """
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.proving import How, run
    from swefuse.tasks.store import load_tasks
    from swefuse.tasks.workers import init_worker
    from swefuse.verify.tests import Limits

    places = [path / "tasks.jsonl" if path.is_dir() else path for path in files]
    if (out / "tasks.jsonl").exists() and any(place.exists() and place.samefile(out / "tasks.jsonl") for place in places):
        raise UserError(f"--out {out}: its tasks.jsonl is also what is read; name another folder")
    tasks = [task for place in places for task in load_tasks(place)]
    out.mkdir(parents=True, exist_ok=True)
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO), None, Limits().pytest_cpu_s), chunk=2)
    with pool as executor, stage_progress("prove", quiet=as_json, rate="tasks") as progress:
        counts = run(tasks, out, How(repeat, mutants), executor, progress)
    if as_json:
        print_json(counts)
    else:
        say(f"{counts['proven']} of {counts['tasks']} tasks are proven, in {out / 'tasks.jsonl'}")
        say("\n".join(f"{count:7}  {reason}" for reason, count in counts["refused"].items()))
    if counts["refused"]:
        raise typer.Exit(1)


def stats(
    files: Annotated[list[Path], typer.Argument(metavar="TASKS...", help="Files tasks.jsonl, or folders that hold one.")],
    as_json: JsonOption = False,
) -> None:
    """Tell kinds, sources, sizes, durations and strength of tasks, and what was refused in their folders."""
    from swefuse.tasks.stats import gather
    from swefuse.tasks.stats import stats as counted

    found = counted(*gather(files))
    if as_json:
        print_json(found)
    else:
        _table(found)


def _table(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    say(f"{found['tasks']} tasks, {found['proven']} of them with evidence")
    names = list(found["kinds"])
    table = Table(title=None, show_header=True, box=None, pad_edge=False)
    for heading in ("source", *names, "all"):
        table.add_column(heading, justify="left" if heading == "source" else "right")
    for source, kinds in found["kinds_by_source"].items():
        table.add_row(source, *(str(kinds.get(name, "")) for name in names), str(sum(kinds.values())))
    Console(width=max(100, 24 + 12 * len(names))).print(table)
    for key, title in (("repositories", "repositories"), ("licences", "licences"), ("splits", "splits"), ("strength", "strength")):
        if found[key]:
            say(f"{title}: " + ", ".join(f"{name} {count}" for name, count in found[key].items()))
    for key, title in (
        ("fail_to_pass", "fail-to-pass tests"), ("pass_to_pass", "pass-to-pass tests"), ("files", "files"),
        ("cpu_s", "CPU seconds of a run"),
    ):  # fmt: skip
        if one := found[key]:
            say(f"{title}: {one['least']:g} to {one['most']:g}, median {one['median']:g}")
    say(f"cold: {found['cold']}; with flaky tests left out: {found['with_flaky_tests_left_out']}")
    if found["refused"]:
        say("refused:")
        say("\n".join(f"{count:7}  {reason}" for reason, count in found["refused"].items()))
