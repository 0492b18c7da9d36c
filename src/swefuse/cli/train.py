"""``swefuse train``: the two stages of training."""

from __future__ import annotations

import json
from dataclasses import asdict
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
    group,
    prepare,
    print_json,
    say,
)
from swefuse.cli.console import stage_progress
from swefuse.errors import UserError

_SFT = "swefuse train sft --model runs/quickstart/models/base --library runs/quickstart/library.db --out runs/sft"
_RLVR = "swefuse train rlvr --model runs/sft/model --tasks runs/tasks --set objective=bt --out runs/rlvr"
_NANO = "swefuse train nano --out runs/nano"
_PLAN = "swefuse train plan --model llama-8b"

_OF_A_COURSE = {"steps", "lr", "warmup", "hold", "final_lr", "save_every", "recompute", "report"}  # what --find-lr has no use for

app = group("train", "Train a model: sft (on proven trajectories), then rlvr (on verified rewards).", _SFT, _RLVR)


@app.command("sft", epilog=example(_SFT, f"{_SFT} --config sft.toml --set steps=300"))
def sft(
    model: ModelOption,
    library: Annotated[Path, typer.Option("--library", metavar="LIB", help="Library whose accepted trajectories are learnt.")],
    out: OutOption,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="DIR", help="Tasks whose held-out part decides which state is kept."),
    ] = None,
    find_lr: Annotated[
        int | None,
        typer.Option("--find-lr", metavar="STEPS", help="Train nothing: try rising learning rates on a copy and suggest one."),
    ] = None,
    config: ConfigOption = None,
    overrides: SetOption = None,
) -> None:
    """Supervised fine-tuning on the accepted trajectories of a library; torchrun shares it among processes."""
    with extras():
        from swefuse.learn import finder, ranks
        from swefuse.learn.sft import SftSettings, run

    settings = prepare(SftSettings, config, overrides or [], out)
    idle = sorted({"check_tasks", "patience"} & settings.model_fields_set)
    if idle and check is None:
        raise UserError(f"{idle[0]!r} has no effect without --check DIR")
    idle = sorted(_OF_A_COURSE & settings.model_fields_set)
    if find_lr is not None and (check is not None or idle):
        raise UserError(f"{idle[0] if idle else '--check'!r} has no effect with --find-lr: leave it out")
    with stage_progress("sft", quiet=not ranks.first()) as progress:
        if find_lr is not None:
            typer.echo(f"lr={finder.run(settings, model, library, out, find_lr, progress):.3g}")
            return
        done = run(settings, model, library, out, progress, check)
    if ranks.first():
        if (long := json.loads((done / "manifest.json").read_bytes()).get("too_long")) is not None:
            say(f"{long['cut']} trajectories were cut behind a step to fit the model, {len(long['left_out'])} did not fit at all")
        typer.echo(done)


@app.command("rlvr", epilog=example(_RLVR))
def rlvr(
    model: ModelOption,
    tasks: TasksOption,
    out: OutOption,
    reference: Annotated[
        Path | None,
        typer.Option("--reference", metavar="DIR", help="Model that the policy is held against; default: its own start."),
    ] = None,
    library: Annotated[
        Path | None, typer.Option("--library", metavar="LIB", help="Library that what passed goes into, through the gate.")
    ] = None,
    config: ConfigOption = None,
    overrides: SetOption = None,
) -> None:
    """Reinforcement learning from verified rewards, weighted by the entropy of the value model."""
    with extras():
        from swefuse.learn.phases import spent
        from swefuse.learn.rlvr import run
        from swefuse.learn.settings import RlvrSettings

    settings = prepare(RlvrSettings, config, overrides or [], out)
    with stage_progress("rlvr") as progress:
        made = run(settings, model, tasks, out, progress, reference, library)
    typer.echo(spent(out / "metrics.jsonl"), err=True)
    typer.echo(made)


@app.command("nano", epilog=example(_NANO, f"{_NANO} --set sft.steps=20000"))
def nano(out: OutOption, config: ConfigOption = None, overrides: SetOption = None) -> None:
    """Pretrain the small model that the quickstart starts from; hours on two cores."""
    with extras():
        from swefuse.recipes.nano import NanoConfig, run

    settings = prepare(NanoConfig, config, overrides or [], out)
    typer.echo(run(settings, out, stage_progress) / "model")


@app.command("diagnose", epilog=example("swefuse train diagnose runs/quickstart"))
def diagnose(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a stage-2 run, or of a quickstart.")],
    as_json: JsonOption = False,
) -> None:
    """What passed a threshold in stage 2, what it means and what to try."""
    with extras():
        from swefuse.learn import suspects
        from swefuse.learn.monitor import diagnose as look
        from swefuse.learn.monitor import folder_of, lines

    found = look(run)
    doubted = suspects.load(folder_of(run))
    if as_json:
        print_json([{**one, "suspects": doubted} if one["event"] == "suspects" else one for one in found])
        return
    for line in [*lines(found), *suspects.lines(doubted)]:
        say(line)


@app.command("plan", epilog=example(_PLAN, f"{_PLAN} --set lora=16 --set length=32768"))
def plan(
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Folder, cached hub id, or a shape such as llama-8b.")],
    devices: Annotated[
        list[int] | None, typer.Option("--devices", min=1, help="Devices that share the work; may be repeated.")
    ] = None,
    config: ConfigOption = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """How much memory training takes on each device, before anything is bought."""
    with extras():
        from swefuse.learn.plan import PlanSettings, table
        from swefuse.learn.plan import plan as planned

    settings = prepare(PlanSettings, config, overrides or [])
    found = [planned(model, settings, count) for count in devices or [1, 8, 64]]
    if as_json:
        print_json([{**asdict(one), "total": one.total} for one in found])
        return
    for line in table(found):
        say(line)
