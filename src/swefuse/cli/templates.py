"""``swefuse tasks make`` and ``swefuse tasks template``: tasks out of templates."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import JsonOption, OutOption, example, group, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import UserError, nearest
from swefuse.records import Kind

if TYPE_CHECKING:
    from swefuse.tasks.catalogue import Harvest

FromOption = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="PATH", help="Further templates: a file, or a folder of them; may be repeated."),
]
WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")]
CORES = os.cpu_count() or 1
_SAID = ("edits", "protected", "verified", "scored")

template = group("template", "Write templates, and see which there are.", "swefuse tasks template new mine.py")


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group ``tasks``."""
    app.command("make", epilog=example("swefuse tasks make --out runs/made --tasks 1000", *_MORE))(make)
    app.command("kinds", epilog=example("swefuse tasks kinds"))(kinds)
    app.add_typer(template)


_MORE = ("swefuse tasks make --out runs/mine --from mine.py --kind bugfix",)


def make(
    out: OutOption,
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="How many; fewer when the templates give no more.")] = 1000,
    kind: Annotated[list[str] | None, typer.Option("--kind", metavar="KIND", help="Only of this kind; may be repeated.")] = None,
    chosen: Annotated[
        list[str] | None, typer.Option("--template", metavar="NAME", help="Only of this template; may be repeated.")
    ] = None,
    own: FromOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Another one gives other tasks.")] = 0,
    workers: WorkersOption = CORES,
    as_json: JsonOption = False,
) -> None:
    """Make proven tasks of templates, of all eight kinds, none nearly the same as another.

    What was tried is kept in the folder, so that a call which was ended goes on, and one for more tasks adds to it. 1 when there is
    no task.
    """
    import json

    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks import catalogue
    from swefuse.tasks.store import save_lines, save_tasks
    from swefuse.tasks.workers import init_worker

    wanted = catalogue.templates(chosen or (), own or (), [_kind(one) for one in kind or ()])
    out.mkdir(parents=True, exist_ok=True)
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=4)
    with pool as executor, stage_progress("make", quiet=as_json, rate="tasks") as progress:
        harvest = catalogue.make(wanted, tasks, executor, seed, progress, out / "drawn.jsonl")
    save_tasks(out / "tasks.jsonl", harvest.tasks)
    summary = _summary(harvest, tasks)
    save_lines(out / "summary.json", [json.dumps(summary, indent=2)])
    if as_json:
        print_json(summary)
    else:
        _tell(harvest, summary, out)
    if not harvest.tasks:
        raise typer.Exit(1)


def _tell(harvest: Harvest, summary: dict[str, Any], out: Path) -> None:
    tasks = summary["asked"]
    say(f"{len(harvest.tasks)} tasks, in {out / 'tasks.jsonl'}; {summary['structures']} differ in more than names and values")
    say("\n".join(f"{count:7}  {name}" for name, count in summary["kinds"].items()))
    if len(harvest.tasks) < tasks:
        say(f"{tasks - len(harvest.tasks)} fewer than asked for: the templates give no more that differ; add some with --from")
    for name, reasons in harvest.refused.items():
        reason, count = reasons.most_common(1)[0]
        say(f"{reasons.total():7}  draws of {name} refused, {count} of them: {reason}")


def _summary(harvest: Harvest, asked: int) -> dict[str, Any]:
    from swefuse.tasks.catalogue import structures

    return {
        "tasks": len(harvest.tasks),
        "asked": asked,
        "kinds": dict(Counter(task.kind.value for task in harvest.tasks).most_common()),
        "domains": dict(Counter(task.provenance.parameters["domain"] for task in harvest.tasks).most_common()),
        "templates": dict(Counter(task.provenance.operator for task in harvest.tasks).most_common()),
        "structures": structures(harvest.tasks),
        "near_duplicates_left_out": harvest.repeated.total(),
        "used_up": harvest.used_up,
        "refused": {name: dict(reasons.most_common()) for name, reasons in harvest.refused.items()},
    }


def _kind(text: str) -> Kind:
    try:
        return Kind(text)
    except ValueError:
        raise UserError(f"--kind {text}: there is no such kind{nearest(text, [one.value for one in Kind])}") from None


def kinds(as_json: JsonOption = False) -> None:
    """Say of each kind of task what may be edited, how it is verified and how it is scored."""
    from swefuse.verify.kinds import RULES

    if as_json:
        print_json([{**{key: getattr(one, key) for key in ("kind", *_SAID)}, "goal": dict(one.goal)} for one in RULES.values()])
        return
    for one in RULES.values():
        say(one.kind.value)
        for key in _SAID:
            say(f"  {key:9}  {getattr(one, key)}")
        for name, text in one.goal.items():
            say(f"  goal       {name}: {text}")


@template.command("list", epilog=example("swefuse tasks template list"))
def list_(own: FromOption = None, as_json: JsonOption = False) -> None:
    """List the templates with their kinds and domains."""
    from swefuse.tasks import catalogue

    found = {name: catalogue.load(name, where) for name, where in catalogue.templates((), own or ()).items()}
    if as_json:
        print_json([{"template": name, "kind": one.kind.value, "domain": one.domain} for name, one in found.items()])
        return
    for name, one in sorted(found.items(), key=lambda item: (item[1].kind, item[1].domain)):
        say(f"{one.kind.value:9} {one.domain:14} {name}")


@template.command("new", epilog=example("swefuse tasks template new mine.py"))
def new(file: Annotated[Path, typer.Argument(metavar="FILE", help="A Python file that does not exist yet.")]) -> None:
    """Write a template that works, with comments on everything in it."""
    from swefuse.tasks.template_help import NEW

    if file.suffix != ".py" or not file.stem.isidentifier():
        raise UserError(f"{file}: name a file such as off_by_one.py; its name becomes that of the template")
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(NEW)
    except FileExistsError:
        raise UserError(f"{file} exists; name another file, or remove it") from None
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
    say(f"{file} written; change it, then: swefuse tasks template check {file}")


@template.command("check", epilog=example("swefuse tasks template check mine.py --draws 50"))
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files of templates, or names of those that come along.")],
    draws: Annotated[int, typer.Option("--draws", min=1, help="Tasks of each that are drawn and proven.")] = 20,
    seed: Annotated[int, typer.Option("--seed", help="Another one gives other draws.")] = 0,
    workers: WorkersOption = CORES,
    as_json: JsonOption = False,
) -> None:
    """Prove draws of a template, show one, and say how many different ones it gives. 1 when a draw cannot be proven."""
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.tasks import catalogue
    from swefuse.tasks.workers import init_worker

    places = {Path(one).stem if one.endswith(".py") else one: one if one.endswith(".py") else "" for one in files}
    for name, where in places.items():
        catalogue.load(name, where)
    rows: list[dict[str, Any]] = []
    pool = ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=1)
    with pool as executor, stage_progress("check", quiet=as_json) as progress:
        for name, where in places.items():
            harvest = catalogue.make({name: where}, draws, executor, seed, progress)
            refused = dict(harvest.refused.get(name, Counter()).most_common())
            rows.append(
                {"template": name, "proven": len(harvest.tasks), "refused": refused,
                 "different_of_400": catalogue.capacity(name, where, seed),
                 "example": harvest.tasks[0].model_dump(mode="json") if harvest.tasks else None}
            )  # fmt: skip
    if as_json:
        print_json(rows)
    else:
        _show(rows)
    if any(row["refused"] or row["proven"] < draws for row in rows):
        raise typer.Exit(1)


def _show(rows: list[dict[str, Any]]) -> None:
    from swefuse.cli.tasks import describe
    from swefuse.records import Task

    for row in rows:
        if row["example"]:
            say(describe(Task.model_validate(row["example"])) + "\n")
        say(
            f"{row['template']}: {row['proven']} draws proven; of 400 draws {row['different_of_400']} differ enough from each other"
        )
        for reason, count in row["refused"].items():
            say(f"{count:7}  refused: {reason}")
