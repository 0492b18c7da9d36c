"""Rows of outside formats: read strictly, kept exactly as they were read, and written back so.

A file holds one JSON object a line, a JSON list of them, or one object, and may be gzipped; or it is a Parquet file, which needs
pyarrow. What a format does not name is kept and counted. Lists of test ids may be lists, or texts that hold one in JSON; the row
remembers which by keeping its own text.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from typing import Any, NoReturn

from swefuse.errors import DataError, UserError, missing_extra, nearest

_BREAK = re.compile(r"\s*[\r\n]\s*")  # a text in JSON holds no line break
_SPACE = re.compile(r"[ \t\r\n]*")
LISTS = ("FAIL_TO_PASS", "PASS_TO_PASS", "FAIL_TO_FAIL", "PASS_TO_FAIL")
TEXT, NUMBER, LIST, OBJECT, IDS = (str,), (int, float), (list,), (dict,), (str, list)
_NAMES = {str: "text", int: "a whole number", float: "a number", list: "a list", dict: "an object"}
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an outside format and what of it makes a task.

    ``text``: the row as it stood in its file, on one line; ``raw``: the same as values. ``where``: file and line. ``inverted``:
    ``patch`` brings the bug in, instead of repairing it. ``setup``: what the format says about making the environment.
    ``only_image``: nothing but the image holds the state that the row is about.
    """

    format: str
    where: str
    text: str
    raw: Fields
    instance: str
    repo: str
    base_commit: str
    patch: str
    test_patch: str = ""
    problem: str = ""
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    created: str = ""
    image: str = ""
    setup: Fields = field(default_factory=dict)
    language: str = ""
    licence: str = ""
    inverted: bool = False
    only_image: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """An outside format: the fields that a row must have and those that it may have, each with its types, and how a Row is made.

    A field that need not be there may also be null.
    """

    name: str
    required: Mapping[str, tuple[type, ...]]
    optional: Mapping[str, tuple[type, ...]]
    make: Callable[[str, str, Fields], Row]

    def row(self, where: str, text: str, raw: Any) -> Row:
        """The row of values that were read. Raises DataError naming the place and the field."""
        if not isinstance(raw, dict):
            raise DataError(f"{where}: a row of {self.name} is an object, not {_kind(raw)}")
        for name in self.required.keys() - raw.keys():
            raise DataError(f"{where}: a row of {self.name} needs the field {name!r}{_other(name, raw)}")
        for name, types in (*self.required.items(), *self.optional.items()):
            value = raw.get(name)
            fits = isinstance(value, types) and not isinstance(value, bool)
            if name in raw and not fits and (value is not None or name in self.required):
                raise DataError(f"{where}: field {name!r} must be {' or '.join(map(_named, types))}, not {_kind(value)}")
        try:
            return self.make(where, text, raw)
        except ValueError as error:
            raise DataError(str(error) if isinstance(error, DataError) else f"{where}: {error}") from error

    def unknown(self, rows: Iterable[Row]) -> Counter[str]:
        """Fields that the format does not name, with the number of rows that have them."""
        named = self.required.keys() | self.optional.keys()
        return Counter(name for row in rows for name in row.raw if name not in named)


def ids(where: str, raw: Fields, name: str) -> tuple[str, ...]:
    """A list of test ids, which may be a text that holds one. Raises DataError for anything else."""
    value = raw.get(name)
    if isinstance(value, str):
        value = loads(where, value, f"field {name!r}") if value.strip() else []
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise DataError(f"{where}: field {name!r} must hold a list of test ids")
    return tuple(value)


def text(raw: Fields, *names: str) -> str:
    """The first of the fields that is there and not null, as text."""
    return next((str(raw[name]) for name in names if raw.get(name) is not None), "")


def read_rows(layout: Layout, path: Path) -> list[Row]:
    """The rows of a file. Raises UserError when it cannot be read, DataError with file and line for what is no row."""
    found = [layout.row(f"{path}:{number}", line, raw) for number, line, raw in _objects(path)]
    if not found:
        raise DataError(f"{path} holds no row")
    return found


def loads(where: str, given: str, what: str = "the line") -> Any:
    """Values of JSON that mean the same to every reader. Raises DataError for what is none."""
    return _decoded(where, given, 0, what)[0]


def dumps(raw: Fields) -> str:
    """A row as one line of JSON in ASCII, in which half a character survives."""
    return json.dumps(raw, allow_nan=False)


def _objects(path: Path) -> Iterator[tuple[int, str, Any]]:
    """Line, text on one line and value of each row of a file."""
    if path.suffix == ".parquet":
        yield from _parquet(path)
        return
    try:
        data = path.read_bytes()
        content = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    lines = content.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    start = lines[first].strip()
    if start.startswith("["):
        yield from _listed(path, content)
    elif start.startswith("{") and not _whole(start):  # one object over many lines
        yield first + 1, _BREAK.sub(" ", content.strip()), loads(f"{path}:{first + 1}", content.strip(), "the object")
    else:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line.strip(), loads(f"{path}:{number}", line.strip())


def _parquet(path: Path) -> Iterator[tuple[int, str, Any]]:
    """Rows of a Parquet file, by their numbers; times become texts."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise missing_extra("pyarrow", "train") from error
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
        raise UserError(f"{path}: cannot be read: {error}") from error
    for number, raw in enumerate(table.to_pylist(), 1):
        try:
            given = json.dumps(raw, default=_plainly, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}:{number}: a value that has no text: {error}") from error
        yield number, given, json.loads(given)


def _plainly(value: object) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def _listed(path: Path, content: str) -> Iterator[tuple[int, str, Any]]:
    at = _SPACE.match(content, content.index("[") + 1).end()  # type: ignore[union-attr] # it may match nothing
    while content[at : at + 1] != "]":
        number = content.count("\n", 0, at) + 1
        value, end = _decoded(f"{path}:{number}", content, at, "the entry", whole=False)
        yield number, _BREAK.sub(" ", content[at:end]), value
        at = _SPACE.match(content, end).end()  # type: ignore[union-attr]
        if content[at : at + 1] not in (",", "]"):
            raise DataError(f"{path}:{content.count(chr(10), 0, at) + 1}: no JSON: a comma or the end of the list was expected")
        at = _SPACE.match(content, at + (content[at] == ",")).end()  # type: ignore[union-attr]
    if content[at + 1 :].strip():
        raise DataError(f"{path}:{content.count(chr(10), 0, at) + 1}: something stands behind the list")


def _whole(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _decoded(where: str, given: str, at: int, what: str, whole: bool = True) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(given, at)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: {what} is no JSON: {error}") from error
    if whole and given[end:].strip():
        raise DataError(f"{where}: {what} is no JSON: something stands behind it")
    return value, end


def _once(pairs: Sequence[tuple[str, Any]]) -> Fields:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the field {twice!r} stands there twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)


def _named(type_: type) -> str:
    return _NAMES[type_]


def _kind(value: Any) -> str:
    return "null" if value is None else f"{_NAMES.get(type(value), 'true or false')} ({json.dumps(value)[:60]})"


def _other(name: str, raw: Fields) -> str:
    hint = nearest(name, raw)
    return hint if hint.startswith("; did") else ""
