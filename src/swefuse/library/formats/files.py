"""Files of trajectories: their values with the place of each, and back.

A file is JSON lines, one JSON value (an object, a list of rows, a list of messages, or an object that maps ids to predictions), or
a table, see ``tables``. A folder is all such files in it. Lines end at line feeds alone: other characters that end lines elsewhere,
such as U+2028, belong to the text.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from swefuse.errors import DataError, UserError
from swefuse.library.formats import tables

Value = tuple[str, Any]  # file and line, and the value that stands there
NO_NUMBER = "numbers that JSON does not have (NaN, Infinity), read as null"
SUFFIXES = (".jsonl", ".json", ".traj", ".gz", ".parquet")


def read_values(path: Path, notes: Counter[str]) -> list[Value]:
    """The values of a file or of all files in a folder. What had to be read as something else is counted in ``notes``.

    Raises UserError for what cannot be read, DataError naming file and line for what is no such file, and where there is nothing.
    """
    if tables.is_table(path):
        found = [(f"{path}:{number}", row) for number, row in enumerate(tables.read_table(path), 1)]
    elif path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file() and one.name.endswith(SUFFIXES))
        if not files:
            raise UserError(f"{path}: the folder holds no file that ends with {', '.join(SUFFIXES)}")
        found = [value for file in files for value in read_values(file, notes)]
    else:
        found = list(_values(path, _text(path), notes))
    if not found:
        raise DataError(f"{path}:1: the file holds nothing")
    return found


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: the line is not UTF-8: {error.reason} (byte 0x{data[error.start]:02x})") from error


def _values(path: Path, text: str, notes: Counter[str]) -> Iterator[Value]:
    loads = _Reader(notes)
    lines = text.split("\n")
    full = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not full:
        return
    if len(full) > 1 and _alone(full[0][1]):
        for number, line in full:
            yield f"{path}:{number}", loads(line, f"{path}:{number}")
        return
    whole = loads(text, f"{path}", full[0][0])
    where = f"{path}:{full[0][0]}"
    if isinstance(whole, list) and not (whole and all(isinstance(one, dict) and "role" in one for one in whole)):
        yield from ((f"{path}, entry {number}", one) for number, one in enumerate(whole, 1))
    elif _keyed(whole):
        yield from ((f"{path}, {key}", {"instance_id": key, **one}) for key, one in whole.items())
    else:
        yield where, whole


def _alone(line: str) -> bool:
    """Whether a line is a value by itself, and so the first of many."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return line.lstrip().startswith("{") and line.rstrip().endswith("}")  # a broken line of many, and to be told as one
    return isinstance(found, dict | list)


def _keyed(whole: Any) -> bool:
    """An object that maps the names of tasks to predictions."""
    return isinstance(whole, dict) and bool(whole) and all(isinstance(one, dict) and "model_patch" in one for one in whole.values())


class _Reader:
    """JSON that keeps what other languages' readers keep; what they do not have is null, and counted."""

    def __init__(self, notes: Counter[str]) -> None:
        self._notes = notes
        self._decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=self._constant, parse_float=self._number)

    def _constant(self, name: str) -> None:
        self._notes[NO_NUMBER] += 1

    def _number(self, text: str) -> float | None:
        found = float(text)
        if found - found != 0:
            self._constant(text)
            return None
        return found

    def __call__(self, text: str, where: str, first: int = 0) -> Any:
        try:
            return self._decoder.decode(text)
        except json.JSONDecodeError as error:
            place = f"{where}:{error.lineno}" if first else where
            raise DataError(f"{place}: no JSON: {error.msg} at column {error.colno}") from error
        except (ValueError, RecursionError) as error:
            place = f"{where}:{first}" if first else where
            raise DataError(f"{place}: no JSON that can be read: {str(error) or type(error).__name__}") from error


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the field {twice!r} stands there twice")
    return found


def line(value: Any) -> str:
    """A value as one line of JSON in ASCII: no reader finds a line end in it, and half characters survive."""
    return json.dumps(value, allow_nan=False)


def write_file(path: Path, text: Iterable[str]) -> None:
    """Write a file; it appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="ascii", newline="") as file:
            file.writelines(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
