"""``swefuse eval`` and ``swefuse report``: numbers, and the page that shows them."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Annotated

import typer

from swefuse.cli.common import (
    ConfigOption,
    JsonOption,
    ModelOption,
    OutOption,
    SetOption,
    TasksOption,
    example,
    extras,
    prepare,
    print_json,
)
from swefuse.cli.console import stage_progress
from swefuse.errors import UserError


def add_to(app: typer.Typer) -> None:
    """Add both commands."""
    app.command("eval", epilog=example("swefuse eval --model runs/sft/model --tasks runs/tasks --out runs/eval"))(evaluate)
    app.command("report", epilog=example("swefuse report runs/quickstart", "swefuse report runs/quickstart -o page.html"))(report)


def evaluate(
    model: ModelOption,
    tasks: TasksOption,
    out: OutOption,
    config: ConfigOption = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure pass@1, pass@k and best-of-n of a model on the held-out tasks."""
    with extras():
        from swefuse.evaluate.run import EvalConfig, run

    settings = prepare(EvalConfig, config, overrides or [], out)
    with stage_progress("eval", quiet=as_json) as progress:
        folder = run(settings, model, tasks, out, progress)
    if as_json:
        print_json(json.loads((folder / "results.json").read_text(encoding="utf-8")))
    else:
        typer.echo(folder)


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the page here, not into RUN.")
    ] = None,
) -> None:
    """Write the HTML report of a run: one file that opens without a network. Of several seeds, the page of each and their table."""
    from swefuse.cli.quickstart import show_result
    from swefuse.evaluate.report import render

    if (run / "seeds.json").is_file():
        if output is not None:
            raise UserError(f"{run} holds several seeds, each with its own page; leave -o out, or give one of its seed folders")
        folders = sorted(run.glob("seed-*/"), key=lambda folder: int(folder.name.removeprefix("seed-")))
        for folder in folders:
            render(folder)
        show_result(run, folders)
        for folder in folders:
            typer.echo(folder / "report.html")
        return
    try:
        typer.echo(render(run, output))
    except OSError as error:
        if output is None or error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise UserError(f"-o {output}: cannot be written: {error.strerror}; choose another file") from error
