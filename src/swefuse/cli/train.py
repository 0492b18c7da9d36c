"""``swefuse train``: the two stages of training."""

from __future__ import annotations

import typer

from swefuse.cli.common import ConfigOption, OutOption, SetOption, example, extras, group, prepare
from swefuse.cli.console import stage_progress

app = group(
    "train",
    "Train a model: sft (on proven trajectories), then rlvr (on verified rewards).",
    "swefuse train sft --config sft.toml --out runs/sft",
)


@app.command("sft", epilog=example("swefuse train sft --config sft.toml --set seed=7 --out runs/sft"))
def sft(out: OutOption, config: ConfigOption = None, overrides: SetOption = None) -> None:
    """Supervised fine-tuning on the accepted trajectories of a library."""
    with extras():
        from swefuse.learn.sft import SftConfig, run

    settings = prepare(SftConfig, config, overrides or [], out)
    with stage_progress("sft") as progress:
        typer.echo(run(settings, out, progress))


@app.command("rlvr", epilog=example("swefuse train rlvr --config rlvr.toml --set objective=group --out runs/rlvr"))
def rlvr(out: OutOption, config: ConfigOption = None, overrides: SetOption = None) -> None:
    """Reinforcement learning from verified rewards, weighted by the entropy of the value model."""
    with extras():
        from swefuse.learn.rlvr import RlvrConfig, run

    settings = prepare(RlvrConfig, config, overrides or [], out)
    with stage_progress("rlvr") as progress:
        typer.echo(run(settings, out, progress))
