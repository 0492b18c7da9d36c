"""Which tokens of a trajectory train one of a run's models; needs the extra ``train``, and the first look takes some seconds."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from swefuse.errors import DataError, missing_extra, nearest
from swefuse.library.store import Entry
from swefuse.web.places import Place

LONGEST = 60_000  # characters that are shown


class Marked(NamedTuple):
    """Stretches as (trained, text), how many of all tokens train, and what is wrong with the mask, if anything."""

    pieces: list[tuple[bool, str]]
    trained: int
    total: int
    broken: tuple[str, ...]


def models(place: Place) -> list[str]:
    """Names of a run's models that have a tokenizer."""
    folder = place.folder / "models"
    return sorted(one.name for one in folder.iterdir() if (one / "tokenizer.json").is_file()) if folder.is_dir() else []


def mask(place: Place, model: str, entry: Entry) -> Marked:
    """The mask of a trajectory for one of the run's own models; an address cannot name another path.

    Raises DataError for a model that the run does not have, and MissingExtraError without the extra ``train``.
    """
    known = models(place)
    if model not in known:
        raise DataError(f"{place.name} has no model {model!r}{nearest(model, known)}")
    try:
        from swefuse.learn.masks import inspect
    except ModuleNotFoundError as error:
        raise missing_extra(error.name or "torch", "train") from error
    codec = _codec(str(place.folder / "models" / model))
    found = inspect(codec, entry.task, entry.trajectory)
    pieces, room = [], LONGEST
    for piece in found.pieces(codec):
        pieces.append((piece.trained, piece.text[: max(0, room)]))
        room -= len(piece.text)
    return Marked(pieces, sum(found.trained), len(found.ids), found.broken)


@lru_cache(maxsize=4)
def _codec(folder: str) -> Any:
    from pathlib import Path

    from swefuse.learn.model import load_tokenizer
    from swefuse.learn.tokens import codec_for

    return codec_for(load_tokenizer(Path(folder)), "")
