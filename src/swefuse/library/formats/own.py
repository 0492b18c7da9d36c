"""Our own exact form: a transcript as it is, with the library's records where it came from there. Nothing is lost."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Sign
from swefuse.library.formats.transcript import ALL, SCHEMA, Transcript

KEY = "swefuse_transcript"


def _take(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or value.get(KEY) != SCHEMA:
        raise DataError(f"{where}: a row of swefuse has {KEY!r}: {SCHEMA}; is it from another version?")
    fields = {name: one for name, one in value.items() if name != KEY}
    try:
        return Transcript.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _make(transcript: Transcript) -> dict[str, Any]:
    plain = transcript.model_dump(mode="python", exclude_defaults=True)
    return {KEY: SCHEMA, **json.loads(json.dumps(plain))}  # tuples to lists; half characters survive this way alone


def _detect(value: Any) -> Sign | None:
    return Sign(3, f"the field {KEY}") if isinstance(value, dict) and KEY in value else None


SWEFUSE = Format("swefuse", "our own exact form", ALL, _take, _make, _detect, needs=(), exact=True)
