"""Reading what runs write, also while they write it: a line that is cut, or bytes that are no text, never break a page."""

from __future__ import annotations

import json
import os
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]
MOST_BYTES = 256_000_000  # of a log; what is longer is read from its end


def rows(path: Path | None) -> list[Row]:
    """The rows of a log of JSON objects, or of a list of them, what is no such row left out; none where there is no file.

    Callers do not change them.
    """
    stamp = _stamp(path)
    return _rows(str(path), stamp) if stamp else []


def table(path: Path | None) -> Row:
    """A JSON or TOML file that holds one table; empty where there is none, or where it is damaged."""
    stamp = _stamp(path)
    return _table(str(path), stamp) if stamp else {}


def modified(path: Path) -> float:
    """When a file or folder was last written to, in seconds since 1970; 0 where it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _stamp(path: Path | None) -> tuple[int, ...]:
    try:
        found = os.stat(path) if path is not None else None
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino) if found else ()


@lru_cache(maxsize=64)
def _rows(name: str, stamp: tuple[int, ...]) -> list[Row]:
    with open(name, "rb") as file:
        file.seek(max(0, stamp[1] - MOST_BYTES))
        data = file.read(MOST_BYTES)
    if data.lstrip()[:1] == b"[" and isinstance(listed := _json(data), list):
        return [row for row in listed if isinstance(row, dict)]
    lines = data.split(b"\n")
    return [row for line in lines if line and isinstance(row := _json(line), dict)]


@lru_cache(maxsize=256)
def _table(name: str, stamp: tuple[int, ...]) -> Row:
    data = Path(name).read_bytes()
    if name.endswith(".toml"):
        try:
            return tomllib.loads(data.decode("utf-8", "replace"))
        except tomllib.TOMLDecodeError:
            return {}
    found = _json(data)
    return found if isinstance(found, dict) else {}


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def number(row: Row, *names: str) -> float | None:
    """The first of these values that is a number; None where none is."""
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


def flat(value: Row, prefix: str = "") -> dict[str, str]:
    """A table of tables as ``a.b`` -> text."""
    found: dict[str, str] = {}
    for name, one in value.items():
        found |= flat(one, f"{prefix}{name}.") if isinstance(one, dict) and one else {prefix + name: json.dumps(one, default=str)}
    return found
