"""``swefuse solve``: the trained agent at work on somebody's own repository."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import JsonOption, example, extras, output_file, plain, prepare, print_json, say
from swefuse.errors import UserError

if TYPE_CHECKING:
    from swefuse.evaluate.solve.propose import Proposer
    from swefuse.evaluate.solve.work import Solution

_ISSUE = "swefuse solve . --model runs/quickstart/models/rlvr --issue 'half(7) gives 4' --tests 'pytest -q tests/test_half.py'"
_VALUE = (
    "swefuse solve . --model runs/quickstart/models/rlvr --value runs/quickstart/rlvr/value.pt "
    "--reference runs/quickstart/models/sft -n 8 --apply"
)
_REMOTE = "swefuse solve . --endpoint http://127.0.0.1:8000/v1 --endpoint model=big --issue issue.md --json"
_NO_MODEL = (
    "solve needs a trained model: --model DIR, such as runs/quickstart/models/rlvr, which 'swefuse quickstart --out "
    "runs/quickstart' trains, or --endpoint URL --endpoint model=NAME for a model that writes"
)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("solve", epilog=example(_ISSUE, _VALUE, _REMOTE))(solve)


def solve(
    repo: Annotated[Path, typer.Argument(metavar="REPO", help="Folder of a working copy, with git or without.")],
    issue: Annotated[str, typer.Option("--issue", metavar="TEXT|FILE", help="What is wrong: the words, or a file of them.")] = "",
    tests: Annotated[str, typer.Option("--tests", metavar="COMMAND", help="Such as 'pytest -q tests/test_x.py'; else all.")] = "",
    model: Annotated[Path | None, typer.Option("--model", metavar="DIR", help="Folder of a trained model.")] = None,
    endpoint: Annotated[
        list[str] | None, typer.Option("--endpoint", metavar="URL|KEY=VALUE", help="Address of a model that writes, its settings.")
    ] = None,
    value: Annotated[Path | None, typer.Option("--value", metavar="FILE", help="Value model of stage 2, value.pt.")] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="DIR", help="Model that it was trained beside; default: --model.")
    ] = None,
    candidates: Annotated[int, typer.Option("-n", "--candidates", min=1, max=16, help="Candidates that are verified.")] = 4,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the diff here too.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Write the chosen candidate into the working copy.")] = False,
    unproven: Annotated[bool, typer.Option("--unproven", help="With --apply: also one that no test has proven.")] = False,
    hide_tests: Annotated[bool, typer.Option("--hide-tests", help="Tell the model nothing of the tests; they judge.")] = False,
    no_tests: Annotated[bool, typer.Option("--no-tests", help="Run no tests. Nothing is proven then.")] = False,
    environment: Annotated[
        str, typer.Option("--environment", metavar="NAME", help="To run tests in; auto: with what the project needs, installed.")
    ] = "",
    steps: Annotated[int, typer.Option("--steps", min=1, help="Most steps of a model that writes.")] = 30,
    limit: Annotated[float, typer.Option("--limit", min=1, help="CPU seconds for one run of the tests.")] = 120.0,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that run tests.")] = 2,
    sandbox: Annotated[str, typer.Option("--sandbox", metavar="NAME", help="Where tests run.")] = "auto",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws of a model that writes.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Repair a repository: candidates from a model, judged by the tests in copies of it, the best shown as a diff.

    The working copy is only written to with --apply. Exits with 0 when a candidate passes all tests, some of which failed before,
    with 1 when none does: then the best is shown, and said to be unproven.
    """
    from swefuse.evaluate.solve.work import Ask
    from swefuse.evaluate.solve.work import solve as work
    from swefuse.sandbox.choose import resolve

    _check(tests, no_tests, hide_tests, apply, unproven, value, reference)
    place = output_file(output, repo) if output is not None else None
    text = _issue(issue)
    with _proposer(model, endpoint or [], value, reference, steps) as who:
        ask = Ask(
            repo, text, tests, candidates, not no_tests, hide_tests, environment, workers, limit, resolve(sandbox), seed
        )  # fmt: skip
        found = work(ask, who, lambda text: None if as_json else typer.echo(f"solve: {text}", err=True))
    applied = _apply(found, unproven) if apply else []
    if place is not None:
        place.write_bytes(found.patch(found.best) if found.best else b"")
    if as_json:
        print_json({**found.row(), "applied": applied})
    else:
        _tell(found, applied)
    if not found.proven:
        raise typer.Exit(1)


def _check(
    tests: str, no_tests: bool, hide_tests: bool, apply: bool, unproven: bool, value: Path | None, reference: Path | None
) -> None:
    """Raises UserError for what would have no effect."""
    if no_tests and (tests or hide_tests):
        raise UserError(f"--no-tests runs none, so {'--tests' if tests else '--hide-tests'} has no effect: leave one of them out")
    if unproven and not apply:
        raise UserError("--unproven has no effect without --apply")
    if reference is not None and value is None:
        raise UserError("--reference has no effect without --value FILE")


def _issue(given: str) -> str:
    """The text of an issue; a name of a file stands for what is in it."""
    if not given or "\n" in given or len(given) > 300:
        return given
    path = Path(given)
    try:
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"--issue {given}: cannot be read: {error.strerror}") from error
    if path.suffix in (".md", ".txt", ".rst") and " " not in given:
        raise UserError(f"--issue {given}: there is no such file")
    return given


@contextlib.contextmanager
def _proposer(
    model: Path | None, endpoint: list[str], value: Path | None, reference: Path | None, steps: int
) -> Iterator[Proposer]:
    """Who makes the candidates. Raises UserError where that is nobody, or cannot do it."""
    if (model is None) == (not endpoint):
        raise UserError(_NO_MODEL if model is None else "--model and --endpoint are two models: leave one out")
    if model is not None:
        with extras():
            yield _local(model, value, reference, steps)
        return
    if value is not None:
        raise UserError("--value reads what a model chose from a list, and one behind an endpoint writes: leave it out")
    from swefuse.policy.endpoint import EndpointPolicy, EndpointSettings

    addresses = [one for one in endpoint if "=" not in one.partition("://")[0]]
    if len(addresses) != 1:
        raise UserError(f"--endpoint needs one address, such as http://127.0.0.1:8000/v1, and got {len(addresses)}")
    rest = [one for one in endpoint if one not in addresses]
    own = prepare(EndpointSettings, None, [f"base={addresses[0]}", *rest], option="--endpoint")
    if problem := own.cannot("none"):
        raise UserError(problem)
    with EndpointPolicy(own) as asked:
        yield _writer(asked, "tools", steps)


def _local(model: Path, value: Path | None, reference: Path | None, steps: int) -> Proposer:
    from swefuse.evaluate.solve.propose import Chooser
    from swefuse.learn.assess import Assessor
    from swefuse.learn.model import load, steady
    from swefuse.learn.settings import RlvrSettings
    from swefuse.learn.tokens import codec_for, is_nano
    from swefuse.policy.local import LocalPolicy

    if not model.exists():
        raise UserError(f"--model {model}: there is no such folder; {_NO_MODEL}")
    steady(0, max(1, len(os.sched_getaffinity(0)) // 2))
    loaded, tokenizer = load(model)
    codec = codec_for(tokenizer)
    policy = LocalPolicy(loaded, codec, str(model))
    if is_nano(tokenizer):
        return Chooser(policy, Assessor.load(value, reference or model, RlvrSettings()) if value else None)
    if value is not None:
        raise UserError(f"--value reads what a model chose from a list, and {model} writes: leave it out")
    return _writer(policy, codec.dialect, steps)


def _writer(policy: Any, dialect: str, steps: int) -> Proposer:
    from swefuse.collect.dialects import DIALECTS
    from swefuse.collect.episode import How, Limits
    from swefuse.collect.plan import shown_first
    from swefuse.evaluate.solve.propose import Writer

    return Writer(policy, How(DIALECTS[dialect], Limits(steps=steps), None, shown_first))


def _apply(found: Solution, unproven: bool) -> list[str]:
    """Write the chosen candidate. Raises UserError for one that nothing proves, unless that is wished."""
    from swefuse.evaluate.solve.copy import write

    if found.best is None:
        return []
    if not found.proven and not unproven:
        typer.echo("nothing was written: no test proves the chosen candidate; --apply --unproven writes it all the same", err=True)
        return []
    return write(found.snapshot, found.after(found.best))


def _tell(found: Solution, applied: list[str]) -> None:
    from swefuse.evaluate.solve.rank import WORDS

    if found.best is not None:
        typer.echo("".join(f"{plain(row)}\n" for row in found.patch(found.best).decode("utf-8", "replace").splitlines()), nl=False)
    say("\nwhat was run:")
    for line in found.ran or ("no tests",):
        say(f"  {line}")
    if found.candidates:
        say(f"\n{'':>2}  {'tests':26} {'mended':>6} {'broken':>6} {'chance':>8} {'value':>6}  edit")
    for number, one in enumerate(found.candidates, 1):
        value = "-" if one.value is None else f"{one.value:.3f}"
        counts = f"{len(one.mended):6} {len(one.broken):6}"
        say(f"{number:2}  {WORDS[one.level]:26} {counts} {one.proposal.chance:8.4f} {value:>6}  {one.proposal.did}")
    say("")
    for line in found.says:
        say(line)
    if found.snapshot.skipped:
        path, why = next(iter(found.snapshot.skipped.items()))
        say(f"{len(found.snapshot.skipped)} files were left out, such as {path}: {why}")
    spent = ", ".join(f"{name} {seconds:.1f}" for name, seconds in found.seconds.items() if name != "total")
    say(f"{found.seconds['total']:.1f} s: {spent}")
    say(f"written: {', '.join(applied)}" if applied else "the working copy was not touched")
