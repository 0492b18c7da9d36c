"""``swefuse collect``: make trajectories."""

from __future__ import annotations

import typer

from swefuse.cli.common import ConfigOption, OutOption, SetOption, TasksOption, example, extras, group, prepare
from swefuse.cli.console import stage_progress

app = group("collect", "Make trajectories for tasks.", "swefuse collect replay --tasks runs/tasks --out runs/trajectories")


@app.command("replay", epilog=example("swefuse collect replay --tasks runs/tasks --out runs/trajectories"))
def replay(
    tasks: TasksOption,
    out: OutOption,
    config: ConfigOption = None,
    overrides: SetOption = None,
) -> None:
    """Work every train task with its reference, step by step, every observation the real one."""
    with extras():
        from swefuse.collect.stage import CollectConfig, run

    settings = prepare(CollectConfig, config, overrides or [], out)
    with stage_progress("collect") as progress:
        typer.echo(run(settings, tasks, out, progress))
