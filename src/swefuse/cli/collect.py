"""``swefuse collect``: make trajectories."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import (
    ConfigOption,
    JsonOption,
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
from swefuse.errors import InfraError, SandboxError, UserError, nearest

if TYPE_CHECKING:
    from swefuse.policy.base import Policy

_REPLAY = "swefuse collect --tasks runs/mined --method replay --out runs/replayed"
_MODEL = "swefuse collect --tasks runs/tasks --method search --policy runs/sft/model --set guide=choices --out runs/found"
_TEACHER = (
    "swefuse collect --tasks runs/mined --method sample --policy http://127.0.0.1:8000/v1 --endpoint model=big --out runs/big"
)
app = group("collect", "Make many different trajectories that pass, and tell what each took.", _REPLAY, _MODEL, _TEACHER)


@app.callback(invoke_without_command=True)
def collect(
    context: typer.Context,
    tasks: Annotated[Path | None, typer.Option("--tasks", metavar="DIR", help="Folder or file of tasks.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for trajectories; a second call goes on.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="replay, sample (tests are shown first), search (roll-back) or free.")
    ] = "replay",
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="WHO", help="Folder of a model, address of an endpoint, or random, rule, reference."),
    ] = None,
    endpoint: Annotated[
        list[str] | None, typer.Option("--endpoint", metavar="KEY=VALUE", help="Setting of an endpoint, such as model=NAME.")
    ] = None,
    config: ConfigOption = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Collect with one of four methods. Killed or ended early, the same call goes on; the settings are in docs/settings.md."""
    if context.invoked_subcommand is not None:
        return
    from swefuse.collect.gather import METHODS, GatherConfig, check, run
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import init_worker

    if tasks is None or out is None:
        raise UserError(f"collect needs {'--tasks DIR' if tasks is None else '--out DIR'}")
    if method not in METHODS:
        raise UserError(f"there is no method {method!r}{nearest(method, METHODS)}")
    settings = prepare(GatherConfig, config, overrides or [], out)
    check(settings, method)
    box = _box(settings.sandbox)
    with (
        _kept(out),
        _opened(policy, method, settings, endpoint or [], out) as who,
        ProcessExecutor(settings.workers, init_worker, (box,)) as executor,
        stage_progress("collect", quiet=as_json, rate="tasks" if method in ("replay", "search") else "attempts") as progress,
    ):
        summary = run(settings, method, (tasks, out), who, executor, progress)
    if as_json:
        print_json(summary)
    else:
        _tell(summary, out)
    if not summary["accepted"]:
        raise typer.Exit(1)


def _box(name: str) -> str:
    """The sandbox to open. Raises SandboxError for a named one that does not start here: else every attempt would say so."""
    from swefuse.sandbox.choose import AUTO, resolve, trial

    if name != AUTO and (problem := trial(name, ())):
        raise SandboxError(f"the sandbox {name!r} does not work here: {problem}; 'swefuse doctor' tells which do")
    return resolve(name)


@contextlib.contextmanager
def _kept(out: Path) -> Iterator[None]:
    """Tells that a call which was ended, by the user or by the machine, can be gone on with."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, InfraError):
        typer.echo(f"ended early: what is done is kept in {out}, and the same command goes on from there", err=True)
        raise


def _tell(summary: dict[str, Any], out: Path) -> None:
    accepted = summary["accepted"]
    say(f"{accepted} trajectories pass, of {summary['tried']} {summary['unit']} ({100 * summary['yield']:.1f} %), in {out}")
    if accepted:
        say("they pass their tests; whether they are sound in other ways too is decided by 'swefuse library add'")
    say(f"for {summary['tasks_with_one']} of {summary['tasks']} tasks, {summary['distinct_per_task']:.2f} programs each")
    for reason, count in summary["left_out"].items():
        say(f"{count} tasks were left out: {reason}")
    if summary["hidden"]:
        say(f"{summary['hidden']} tasks hid their instruction")
    part, word = (max(1, accepted), "each took" if accepted else "it took")
    took = f"{summary['tokens'] / part:.0f} tokens, {summary['policy_s'] / part:.2f} s of the policy"
    say(
        f"{word} {took}, {summary['verifications'] / part:.1f} verifications; {summary['wall_s']:.1f} s in all"
        + (f", cost {summary['cost']:.4f} in all" if summary["cost"] else "")
    )
    if summary["open"]:
        say(f"{summary['open']} attempts had no answer or no sandbox and do not count: the same command tries them again")
    for name in ("refused", "undone"):
        for reason, count in summary[name].items():
            say(f"{count:7}  {'taken back: ' if name == 'undone' else ''}{reason}")


@contextlib.contextmanager
def _opened(name: str | None, method: str, settings: Any, endpoint: list[str], out: Path) -> Iterator[Policy | None]:
    """The policy of a name. Raises UserError for one that there is not, or that cannot do what is asked of it."""
    from swefuse.policy.scripted import PICKERS, ScriptedPolicy

    if method == "replay":
        if name not in (None, "reference") or endpoint:
            raise UserError("replay plays the reference solution and asks no policy: leave --policy and --endpoint out")
        yield None
    elif name is None:
        raise UserError(f"--method {method} needs --policy: a model's folder, an endpoint's address, or {', '.join(PICKERS)}")
    elif endpoint and "://" not in name:
        raise UserError("--endpoint is for a policy that is an address, such as --policy http://127.0.0.1:8000/v1")
    elif name in PICKERS:
        yield ScriptedPolicy(name)
    elif "://" in name:
        from swefuse.policy.endpoint import EndpointPolicy, EndpointSettings

        own = prepare(EndpointSettings, None, [f"base={name}", *endpoint], option="--endpoint")
        if problem := own.cannot(settings.guide):  # before there is a file of its
            raise UserError(problem)
        with EndpointPolicy(own, out / "replies.jsonl") as asked:
            yield asked
    else:
        if not Path(name).is_dir():
            raise UserError(f"there is no folder {name!r}, and no policy of that name{nearest(name, PICKERS)}")
        yield _local(Path(name), settings)


def _local(folder: Path, settings: Any) -> Policy:
    if settings.cost:
        raise UserError("'cost' has no effect with a model in this process, which costs nothing: leave it out")
    with extras():
        from swefuse.learn.model import load
        from swefuse.learn.tokens import codec_for, trained_in
        from swefuse.policy.local import LocalPolicy
    model, tokenizer = load(folder)
    codec = codec_for(tokenizer, settings.dialect)
    if trained := trained_in(tokenizer, codec):
        raise UserError(f"{folder} was trained in the dialect {trained!r}: --set dialect={trained}")
    return LocalPolicy(model, codec, folder.name, settings.temperature or 1.0)


@app.command("replay", epilog=example("swefuse collect replay --tasks runs/tasks --out runs/trajectories"))
def replay(
    tasks: TasksOption,
    out: OutOption,
    config: ConfigOption = None,
    overrides: SetOption = None,
) -> None:
    """Work every train task of small functions with its reference, one way each: what the quickstart learns from."""
    with extras():
        from swefuse.collect.stage import CollectConfig, run

    settings = prepare(CollectConfig, config, overrides or [], out)
    _box(settings.sandbox)
    with stage_progress("collect") as progress:
        typer.echo(run(settings, tasks, out, progress))
