"""``swefuse tasks import`` and ``swefuse tasks export``: tasks in the formats of other projects."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import JsonOption, OutOption, example, output_file, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import DataError, UserError, nearest

if TYPE_CHECKING:
    from swefuse.tasks.formats.bring import Choices, Order

_IMPORT = (
    "swefuse tasks import swebench rows.jsonl --repos clones --out runs/swebench",
    "swefuse tasks import harbor tasks --out runs/harbor",
)
_EXPORT = (
    "swefuse tasks export swebench runs/mined --repos clones --repo pallets/click --out rows.jsonl",
    "swefuse tasks export harbor runs/mined --out harbor",
)
FormatArgument = Annotated[
    str, typer.Argument(metavar="FORMAT", help="swebench, swesmith, swegym, swerebench, r2e (import only) or harbor.")
]
ReposOption = Annotated[
    Path | None,
    typer.Option("--repos", metavar="DIR", help="Folder of clones: owner__name, owner+name/repo, owner/name or name, bare or not."),
]


def add_to(app: typer.Typer) -> None:
    """Add both commands to the group ``tasks``."""
    app.command("import", epilog=example(*_IMPORT))(import_)
    app.command("export", epilog=example(*_EXPORT))(export)


def import_(
    name: FormatArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines or a JSON list, maybe gzipped; for harbor a folder.")],
    out: OutOption,
    repos: ReposOption = None,
    licences: Annotated[
        list[str] | None, typer.Option("--allow-licence", metavar="NAME", help="Such as MIT or BSD; may be given again. Else all.")
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option("--environment", metavar="NAME", help="Tried where tests cannot be run; may be given again."),
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=100, help="Runs of each side that must agree.")] = 2,
    pull: Annotated[
        bool, typer.Option("--pull", help="Fetch images that rows name and that are not here; they take gigabytes each.")
    ] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> None:
    """Make tasks of the rows of another project: those that hold when they are run. Nothing is written when a row cannot be read.

    Refused rows are in refused.jsonl, each with its reason. A second call tries those again, and keeps the tasks.
    """
    from swefuse.sandbox import environments
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks.formats.bring import CPU_S, Choices, run
    from swefuse.tasks.workers import init_worker

    if repos is not None and not repos.is_dir():
        raise UserError(f"--repos {repos}: there is no such folder")
    for one in environment or ():
        environments.folder(one)
    orders, unknown = _orders(name, file, Choices(repos, tuple(licences or ()), tuple(environment or ()), repeat, pull))
    out.mkdir(parents=True, exist_ok=True)
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO), None, CPU_S))
    with pool as executor, stage_progress("import", quiet=as_json, rate="rows") as progress:
        summary = run(orders, out, executor, progress)
    if as_json:
        print_json({**summary, "unknown_fields": dict(unknown)})
        return
    if unknown:
        say(f"kept, though {name} names no such field: " + ", ".join(f"{key} ({count})" for key, count in unknown.most_common()))
    say(f"{summary['tasks']} of {summary['rows']} rows are proven tasks, in {out / 'tasks.jsonl'}")
    for reason, count in summary["refused"].items():
        say(f"{count:7}  {reason}")


def _orders(name: str, file: Path, choices: Choices) -> tuple[list[Order], Counter[str]]:
    """What is to be tried, and the fields that the format does not name."""
    from swefuse.tasks.formats import FORMATS, HARBOR, LAYOUTS
    from swefuse.tasks.formats.bring import Order
    from swefuse.tasks.formats.harbor import read_folders, tried, unknown_keys
    from swefuse.tasks.formats.rows import read_rows

    if name not in FORMATS:
        raise UserError(f"there is no format {name!r}{nearest(name, FORMATS)}")
    if name == HARBOR:
        folders = read_folders(file)
        return [Order(row, choices, found) for row, found in map(tried, folders)], unknown_keys(folders)
    rows = read_rows(LAYOUTS[name], file)
    return [Order(row, choices) for row in rows], LAYOUTS[name].unknown(rows)


def export(
    name: FormatArgument,
    file: Annotated[Path, typer.Argument(metavar="TASKS", help="A tasks.jsonl, or the folder that holds it.")],
    out: Annotated[Path, typer.Option("--out", metavar="PATH", help="File for the rows; for harbor the folder for the tasks.")],
    repos: ReposOption = None,
    repo: Annotated[
        list[str] | None,
        typer.Option("--repo", metavar="[OLD=]NAME", help="What rows call the repository, such as pallets/click."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write tasks for another project. A task that was imported from a row of that format becomes that row again, exactly.

    1 when not every task could be written; the reasons are told.
    """
    from swefuse.tasks.formats import FORMATS, HARBOR
    from swefuse.tasks.store import load_tasks

    choices = [one for one in FORMATS if one != "r2e"]
    if name not in choices:
        raise UserError(f"there is no format {name!r} to export{nearest(name, choices)}")
    source = file / "tasks.jsonl" if file.is_dir() else file
    if name != HARBOR:
        out = output_file(out, source)
    elif repo or repos:
        raise UserError("--repo and --repos have no effect with harbor")
    tasks = load_tasks(source)
    if not tasks:
        raise DataError(f"{file} holds no task")
    summary: dict[str, Any] = {"tasks": len(tasks)}
    if name == HARBOR:
        from swefuse.tasks.formats import harbor_export

        out.mkdir(parents=True, exist_ok=True)
        written, refused = harbor_export.export(tasks, out)
        summary |= {"written": len(written)}
    else:
        from swefuse.tasks.formats import rows_export
        from swefuse.tasks.store import save_lines

        made = rows_export.export(name, tasks, repos, dict(map(_renamed, repo or ())))
        save_lines(out, made.lines)
        refused = made.refused
        summary |= {"written": len(made.lines), "exact": made.exact, "without_commit": made.without_commit}
    reasons = Counter(reason for _, reason in refused).most_common()
    which = [{"task": task.id, "reason": reason} for task, reason in refused]
    _tell({**summary, "refused": dict(reasons), "which": which}, out, as_json)
    if refused:
        raise typer.Exit(1)


def _renamed(given: str) -> tuple[str, str]:
    old, _, new = given.rpartition("=")
    if not new:
        raise UserError(f"--repo {given}: give a name, or OLD=NAME")
    return old, new


def _tell(summary: dict[str, Any], out: Path, as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    exact = f", {summary['exact']} of them exactly as they were read" if summary.get("exact") else ""
    say(f"{summary['written']} of {summary['tasks']} tasks written to {out}{exact}")
    if summary.get("without_commit"):
        say(f"{summary['without_commit']} rows name no commit: their tasks come from no repository")
    for reason, count in summary["refused"].items():
        say(f"{count:7}  {reason}")
