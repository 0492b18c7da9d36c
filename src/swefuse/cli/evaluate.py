"""``swefuse eval`` and ``swefuse report``: numbers, and the page that shows them."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

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
    say,
)
from swefuse.cli.console import stage_progress
from swefuse.errors import UserError


def add_to(app: typer.Typer) -> None:
    """Add both commands."""
    app.command("eval", epilog=example("swefuse eval --model runs/sft/model --tasks runs/tasks --out runs/eval"))(evaluate)
    app.command("compare", epilog=example("swefuse compare runs/eval-rlvr runs/eval-sft"))(compare)
    app.command("report", epilog=example("swefuse report runs/quickstart", "swefuse report runs/quickstart -o page.html"))(report)


def evaluate(
    model: ModelOption,
    tasks: TasksOption,
    out: OutOption,
    value: Annotated[
        Path | None, typer.Option("--value", metavar="FILE", help="Value model of stage 2, value.pt, which chooses among samples.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="DIR", help="Model that it was trained beside; default: --model.")
    ] = None,
    config: ConfigOption = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure pass@1, pass@k and best of N of a model on the held-out tasks."""
    with extras():
        from swefuse.evaluate.run import EvalConfig, run

    if reference is not None and value is None:
        raise UserError("--reference has no effect without --value FILE")
    settings = prepare(EvalConfig, config, overrides or [], out)
    with stage_progress("eval", quiet=as_json) as progress:
        folder = run(settings, model, tasks, out, progress, value, reference)
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    if as_json:
        print_json(found)
    else:
        for split, told in found.items():
            say("\n".join(tabulate(split, told)))
        typer.echo(folder)


def tabulate(split: str, told: dict[str, Any]) -> Iterator[str]:
    """The figures of one split for people; see ``evaluate.figures``."""
    yield f"{split}: {told['n']} tasks, {told['ungraded']} samples not graded"
    yield f"  pass@1 greedy {_share(told['greedy'])}" + "".join(f"  pass@{k} {_share(v)}" for k, v in told["pass_at"].items())
    for n, judges in told["best_of"].items():
        shown = [f"{name} {_share(value)}" for name, value in judges.items() if name != "headroom" and value is not None]
        yield f"  best of {n:>2}: " + "  ".join(shown)
    if told["tokens"]["a_solution"] is not None:
        yield f"  {told['tokens']['a_sample']:.0f} tokens a sample, {told['tokens']['a_solution']:.0f} for each that passes"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder of 'swefuse eval', or its results.jsonl.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one, of the same tasks.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws of the interval.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Say by how much A is better than B, how sure that is, and what difference so many tasks could show."""
    with extras():
        from swefuse.evaluate.comparison import compare as compared
        from swefuse.evaluate.run import load_results

    one, other = (load_results(place / "results.jsonl" if place.is_dir() else place) for place in (a, b))
    splits = sorted({row.split for row in one} & {row.split for row in other})
    found = {}
    for split in splits or [""]:
        left, right = ([row for row in side if row.split == split or not splits] for side in (one, other))
        found[split] = compared(left, right, seed)
    if as_json:
        print_json({split: {**result._asdict(), "verdict": result.verdict} for split, result in found.items()})
        return
    for split, result in found.items():
        mean, low, high = (100 * number for number in result.sampled)
        say(
            f"{split or 'all'}: A minus B {mean:+.1f} points of pass@1 [{low:+.1f}, {high:+.1f}]: {result.verdict}\n"
            f"  {result.tasks} tasks of {result.functions} functions show differences above {100 * result.detectable:.1f} points\n"
            f"  greedy: {result.only_a} solved by A alone, {result.only_b} by B alone, McNemar p = {result.p:.3f}"
            + (f"\n  {result.missing} tasks are in one of the two only, and left out" if result.missing else "")
        )


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
