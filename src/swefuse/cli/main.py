"""``swefuse``: the command groups, and what becomes of an error.

Exit codes: 0 done · 1 ran, but what was asked for does not hold · 2 the caller can fix it · 3 our fault or the machine's ·
130 interrupted.
"""

from __future__ import annotations

import errno
import io
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from swefuse import __version__
from swefuse.cli import (
    bench,
    collect,
    crash,
    derive,
    doctor,
    evaluate,
    exchange,
    formats,
    gate,
    keeping,
    library,
    masks,
    mutate,
    policy,
    proof,
    quality,
    quickstart,
    selecting,
    solve,
    tasks,
    templates,
    train,
    verify,
    web,
)
from swefuse.cli.common import example, plain
from swefuse.errors import InfraError, SandboxError, SweFuseError, UserError

_FULL = (errno.ENOSPC, errno.EDQUOT)

app = typer.Typer(
    help="Train software-engineering agents from proven trajectories and entropy-weighted verified rewards.",
    epilog=example("swefuse doctor", "swefuse quickstart --out runs/quickstart"),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
doctor.add_to(app)
quickstart.add_to(app)
quality.add_to(tasks.app)
mutate.add_to(tasks.app)
derive.add_to(tasks.app)
formats.add_to(tasks.app)
templates.add_to(tasks.app)
proof.add_to(tasks.app)
app.add_typer(tasks.app)
app.add_typer(collect.app)
app.add_typer(policy.app)
gate.add_to(library.app)
selecting.add_to(library.app)
keeping.add_to(library.app)
masks.add_to(library.app)
exchange.add_to(library.app)
app.add_typer(library.app)
app.add_typer(train.app)
app.add_typer(bench.app)
evaluate.add_to(app)
solve.add_to(app)
verify.add_to(app)
web.add_to(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True)] = False) -> None:
    pass


def run() -> NoReturn:
    """Entry point of the ``swefuse`` program."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # text from a model may hold what no encoding can
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that what was started is ended in order
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str], program: typer.Typer = app) -> int:
    """Run one command and return its exit code. Errors end as a line on stderr, those that are not the user's with a bundle."""
    try:
        program(args=list(arguments), prog_name="swefuse")
    except SystemExit as leaving:
        if leaving.code == 130:
            again = "; the same command with --resume goes on from its last finished step"
            _say(f"interrupted{again if _has_resume(program, arguments) else ''}")
        return leaving.code if isinstance(leaving.code, int) else 0
    except UserError as error:
        _say(f"error: {' '.join(str(error).split())}")
        return 2
    except Exception as error:  # noqa: BLE001 - whatever it is, the user gets a line and a bundle
        return _fault(error, arguments)
    return 0


def _has_resume(program: typer.Typer, arguments: Sequence[str]) -> bool:
    command: Any = typer.main.get_command(program)
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    return any("--resume" in parameter.opts for parameter in command.params)


def _fault(error: Exception, arguments: Sequence[str]) -> int:
    if isinstance(error, OSError) and error.errno in _FULL:
        where = f" for {error.filename}" if error.filename else ""
        _say(f"error: no space is left on the disk{where}; free some and run the command again (with --resume where it has it)")
        return 3
    kind = "" if isinstance(error, SweFuseError) else f"{type(error).__name__}: "
    _say(f"error: {kind}{crash.scrub(str(error))}")
    # the message says what the machine or a server lacks, and a traceback no more
    if isinstance(error, SandboxError) or (isinstance(error, InfraError) and isinstance(error.__cause__, ConnectionError)):
        return 3
    bundle = crash.write_bundle(error, arguments)
    if bundle:
        _say(f"This is not your fault. What is needed to look into it lies in {bundle}; attach it to a report.")
    else:
        _say("This is not your fault, and no place was found to write the details to.")
    return 3


def _say(line: str) -> None:
    print(plain(line), file=sys.stderr)
