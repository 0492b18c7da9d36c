"""``swefuse quickstart``: the whole path in one command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from swefuse.cli.common import ConfigOption, JsonOption, OutOption, SetOption, example, extras, option, prepare, print_json
from swefuse.cli.console import stage_progress

_EXAMPLES = (
    "swefuse quickstart --out runs/quickstart",
    "swefuse quickstart --out runs/smoke --budget smoke --seed 7",
    "swefuse quickstart --out runs/quickstart --resume",
)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("quickstart", epilog=example(*_EXAMPLES))(quickstart)


def quickstart(
    out: OutOption,
    budget: Annotated[
        Literal["full", "smoke"] | None, typer.Option(help="full: the real run; smoke: every stage, briefly.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same figures.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Repeat training with this many seeds.")] = None,
    base: Annotated[str | None, typer.Option(metavar="nano|smollm2|PATH", help="Model that is trained.")] = None,
    scratch: Annotated[bool, typer.Option("--from-scratch", help="nano with new weights instead of pretrained ones.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last finished step in the folder.")] = False,
    config: ConfigOption = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build and prove tasks, collect trajectories, train by SFT and RLVR, evaluate beside a control, and report."""
    with extras():
        from swefuse.recipes.config import QuickstartConfig
        from swefuse.recipes.quickstart import run
    given = {"budget": budget, "seed": seed, "seeds": seeds, "base": base, "scratch": scratch or None}
    named = [item for key, value in given.items() for item in option(key, value)]
    settings = prepare(QuickstartConfig, config, [*named, *(overrides or [])], out)
    folders = run(settings, out, resume, partial(stage_progress, quiet=as_json))
    if as_json:
        print_json(json.loads((out / ("seeds.json" if len(folders) > 1 else "report.json")).read_bytes()))
        return
    show_result(out, folders)
    for folder in folders:
        typer.echo(f"report: {folder / 'report.html'}")


def show_result(out: Path, folders: Sequence[Path]) -> None:
    """Print the tables of a run: of one seed, or of several side by side with ``seeds.json`` in ``out``."""
    from rich import print as show

    from swefuse.evaluate.report import load, seeds_terminal, terminal

    reports, data = zip(*map(load, folders), strict=True)
    if len(folders) == 1:
        show(terminal(reports[0]))
    else:
        several = json.loads((out / "seeds.json").read_bytes())
        show(seeds_terminal(reports, [part.pooled for part in data], several["together"]))
