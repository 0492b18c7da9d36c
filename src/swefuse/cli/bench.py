"""``swefuse bench``: experiments that answer a question of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from swefuse.cli.common import (
    ConfigOption,
    JsonOption,
    OutOption,
    SetOption,
    example,
    extras,
    group,
    option,
    prepare,
    print_json,
    say,
)
from swefuse.cli.console import stage_progress

_ENTROPY = "swefuse bench entropy --run runs/quickstart --out runs/entropy"
app = group("bench", "Experiments that answer a question of their own.", _ENTROPY)


@app.callback()
def main() -> None:
    """Experiments that answer a question of their own."""


@app.command("entropy", epilog=example(_ENTROPY, f'{_ENTROPY} --set modes=["off","recorded"] --set seeds=1'))
def entropy(
    run: Annotated[Path, typer.Option("--run", metavar="DIR", help="Folder of a finished quickstart.")],
    out: OutOption,
    budget: Annotated[
        Literal["small", "full"] | None, typer.Option(help="small: about an hour on two cores; full: every noise and objective.")
    ] = None,
    config: ConfigOption = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Does weighting pairs by the entropy of the verdict help, by how much, and when does it not?

    Stage 2 under known errors of the verifier, one arm for each way of weighing; a call that was stopped goes on with the rest.
    """
    with extras():
        from swefuse.recipes import entropy_report as report
        from swefuse.recipes.entropy import EntropyConfig
        from swefuse.recipes.entropy import run as run_arms

    settings = prepare(EntropyConfig, config, [*option("budget", budget), *(overrides or [])], out)
    with stage_progress("arms", quiet=as_json) as progress:
        run_arms(settings, run, out, progress)
    command = " ".join(["swefuse", *sys.argv[1:]])
    summary = report.write(settings, run, out, command)
    if as_json:
        print_json(summary)
        return
    for sentence in report.sentences(summary):
        say(sentence.replace("`", ""))
    say(f"all figures: {out / 'entropy.md'}")
