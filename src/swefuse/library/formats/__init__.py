"""Trajectories in the formats of other projects, one file a format, and the neutral form between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swefuse.errors import DataError, UserError, nearest
from swefuse.library.formats.atif import ATIF
from swefuse.library.formats.base import Format
from swefuse.library.formats.mini import MINI
from swefuse.library.formats.openai import OPENAI, OPENAI_PREFERENCE
from swefuse.library.formats.openhands import OPENHANDS
from swefuse.library.formats.own import SWEFUSE
from swefuse.library.formats.predictions import PREDICTIONS, VERL
from swefuse.library.formats.r2e import R2E, SWEMASTER
from swefuse.library.formats.sharegpt import LLAMAFACTORY, SHAREGPT
from swefuse.library.formats.sweagent import SWEAGENT
from swefuse.library.formats.swesmith import SWESMITH_TICKS, SWESMITH_TOOL, SWESMITH_XML
from swefuse.library.formats.trl import TRL, TRL_IDS, TRL_PREFERENCE, TRL_PROMPT

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        SWEFUSE, SWEAGENT, MINI, SWESMITH_XML, SWESMITH_TOOL, SWESMITH_TICKS, R2E, SWEMASTER, OPENHANDS, ATIF, OPENAI,
        OPENAI_PREFERENCE, TRL, TRL_PROMPT, TRL_PREFERENCE, TRL_IDS, VERL, SHAREGPT, LLAMAFACTORY, PREDICTIONS,
    )
}  # fmt: skip
_LOOKED_AT = 200  # values of a file that say what it is


def format_named(name: str) -> Format:
    """A format by its name. Raises UserError where there is none."""
    if name not in FORMATS:
        raise UserError(f"there is no format {name!r}{nearest(name, FORMATS)}")
    return FORMATS[name]


def detect(values: Sequence[tuple[str, Any]]) -> tuple[Format, str]:
    """The format of the values of a file, each with its place, and what speaks for it.

    Raises DataError where nothing does, or two formats alike, naming the choices.
    """
    seen = values[:_LOOKED_AT]
    signs = {name: [one.detect(value) for _, value in seen] for name, one in FORMATS.items()}
    fitting = {name: [sign for sign in found if sign] for name, found in signs.items() if seen and all(found)}
    if not fitting:
        where = seen[0][0] if seen else "the file"
        fields = list(seen[0][1])[:8] if seen and isinstance(seen[0][1], dict) else []
        some = sorted({name for name, found in signs.items() if any(found)})
        near = f"; some of its values look like {' or '.join(some)}" if some else f"; its fields are {', '.join(fields) or 'none'}"
        raise DataError(f"{where}: no format is known by this{near}. Name it with --from; formats: {', '.join(FORMATS)}")
    weight = {name: sum(sign.strength for sign in found) for name, found in fitting.items()}
    best = [name for name in weight if weight[name] == max(weight.values())]
    if len(best) > 1:
        told = "; ".join(f"{name}: {fitting[name][0].evidence}" for name in best)
        raise DataError(f"{seen[0][0]}: it may be {' or '.join(best)} ({told}). Name it with --from")
    return FORMATS[best[0]], max(fitting[best[0]], key=lambda sign: sign.strength).evidence
