"""``swefuse library mask``: which tokens of a trajectory train a model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swefuse.cli.common import JsonOption, example, extras, plain, print_json, say
from swefuse.cli.library import LibraryArgument

if TYPE_CHECKING:
    from swefuse.learn.masks import Mask, Piece

_EXAMPLE = "swefuse library mask runs/quickstart/library.db 3f9c1e7a20b44d5c8e61 --model runs/quickstart/models/sft"
_OPEN, _CLOSE = "⟦", "⟧"  # around trained text where there are no colours


def add_to(app: typer.Typer) -> None:
    """Add the command to the group of libraries."""
    app.command("mask", epilog=example(_EXAMPLE))(mask)


def mask(
    lib: LibraryArgument,
    trajectory: Annotated[str, typer.Argument(metavar="ID", help="Trajectory; 'library list' shows them.")],
    model: Annotated[
        Path, typer.Option("--model", metavar="DIR", help="Model folder, GGUF file or hub id whose tokens are meant.")
    ],
    dialect: Annotated[str, typer.Option("--dialect", help="compact or tools; by default what the model was trained in.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show which tokens of a trajectory train a model, and check the laws of that mask. Exits with 1 when one does not hold."""
    with extras():
        from swefuse.learn.masks import inspect
        from swefuse.learn.model import load_tokenizer
        from swefuse.learn.tokens import codec_for
    from swefuse.library.store import Library

    with Library(lib) as library:
        entry = library.get(trajectory)
    codec = codec_for(load_tokenizer(model), dialect)
    found = inspect(codec, entry.task, entry.trajectory)
    pieces = found.pieces(codec)
    if as_json:
        print_json(
            {**asdict(found), "steps": [step._asdict() for step in found.steps], "pieces": [one._asdict() for one in pieces]}
        )
    else:
        typer.echo("".join(_marked(piece, sys.stdout.isatty()) for piece in pieces))
        for line in told(found):
            say(line)
    if found.broken:
        raise typer.Exit(1)


def told(found: Mask) -> Iterator[str]:
    """The mask in figures: the counts of each step, and the laws."""
    yield f"\n{'step':>4}  {'action':8} {'kept':5} {'written':>8} {'trained':>8}"
    for number, step in enumerate(found.steps, 1):
        yield f"{number:4}  {step.action or '-':8} {'yes' if step.keep else 'no':5} {step.written:8} {step.trained:8}"
    total = sum(found.trained)
    yield f"{total} of {len(found.ids)} tokens are trained ({total / len(found.ids):.0%})"
    yield from (f"note: {hint}" for hint in found.hints)
    yield from (f"BROKEN: {law}" for law in found.broken)
    if not found.broken:
        yield "laws hold: mask and steps, prompts begin the row, ids as written, one start, padding, packing"


def _marked(piece: Piece, coloured: bool) -> str:
    text = plain(piece.text)
    if not piece.trained:
        return text
    return typer.style(text, fg=typer.colors.GREEN, reverse=True) if coloured else f"{_OPEN}{text}{_CLOSE}"
