"""Tasks on disk: one JSON object per line, read strictly."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from swefuse.errors import DataError, nearest
from swefuse.records import SCHEMA, Task
from swefuse.tasks import blobs
from swefuse.workspace import blob_ref

KEEP_S = 30.0
MOST_INLINE = 50_000  # characters of a task's files
_STATES, _BLOBS = ("files", "reference"), "blobs"


def save_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file that appears whole or not at all. Raises OSError, with nothing half-written, when it cannot.

    A link is followed; what is no plain file, such as a device, is not replaced by one.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is no plain file", str(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def save_tasks(path: Path, tasks: Iterable[Task]) -> None:
    """Write tasks, one per line. The files of those that are larger than MOST_INLINE go into a file beside, each once."""
    path = path.resolve()
    lines = []
    for task in tasks:
        if sum(map(len, task.files.values())) <= MOST_INLINE and _is_text(task):
            lines.append(task.model_dump_json())
            continue
        blobs.add(blobs.beside(path), [*task.files.values(), *(task.reference or {}).values()])
        lines.append(json.dumps({**task.model_dump(mode="json", exclude=set(_STATES)), **_named(task), _BLOBS: True}))
    save_lines(path, lines)


def logged(path: Path, appended: bool = False) -> list[dict[str, Any]]:
    """The rows of a log; none where there is no file. Raises DataError for a damaged one.

    ``appended``: it is written line by line, so that a last line which was being written when a call was ended is left out.
    """
    rows: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            if not appended:
                raise DataError(f"{path} is damaged ({error}); delete it to try everything again") from error
    return rows


class Keeper:
    """Writes tasks, and what became of every attempt, each half minute and at the end: whoever ends a call loses no more."""

    def __init__(self, tasks: Path, log: Path, made: Mapping[Any, Task], rows: Mapping[Any, Mapping[str, Any]]) -> None:
        self._tasks, self._log, self._made, self._rows = tasks, log, made, rows
        self._last = time.monotonic()

    def tick(self) -> None:
        """Write if it is time."""
        if time.monotonic() - self._last >= KEEP_S:
            self.write()

    def write(self) -> None:
        """Write now. A kill between the two files costs the attempts whose tasks are there already."""
        save_tasks(self._tasks, self._made.values())
        save_lines(self._log, map(json.dumps, self._rows.values()))
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.write()


def _is_text(task: Task) -> bool:
    """Whether all of its files can stand in JSON; what is no UTF-8 in a repository cannot."""
    try:
        for text in (*task.files.values(), *(task.reference or {}).values()):
            text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _named(task: Task) -> dict[str, dict[str, str] | None]:
    """The two states of a task with the hash of each content in its place."""
    states = {"files": task.files, "reference": task.reference}
    return {name: state and {path: blob_ref(text) for path, text in state.items()} for name, state in states.items()}


def load_tasks(path: Path) -> list[Task]:
    """Read tasks. Raises DataError naming file, line, field and remedy for whatever does not follow the schema."""
    try:
        lines = [line.decode("utf-8") for line in path.read_bytes().splitlines()]  # bytes: text may hold U+2028 and its like
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}; give the tasks.jsonl of a tasks folder") from error
    if lines and lines[0].strip() in ("{", "["):  # one task, or a list of them, laid out for people
        lines = _unfolded(path, "\n".join(lines))
    held: list[blobs.Blobs] = []
    found = []
    for number, line in enumerate(lines, 1):
        if f'"{_BLOBS}": true' in line[-40:]:
            held = held or [blobs.Blobs(blobs.beside(path.resolve()))]
            found.append(_filled(f"{path}:{number}", line, held[0]))
        elif line.strip():
            found.append(_checked(f"{path}:{number}", line))
    return found


def read_task(path: Path, line: str) -> Task:
    """The task of one line of the file ``path``, as ``load_tasks`` reads it. Raises DataError."""
    if f'"{_BLOBS}": true' in line[-40:]:
        return _filled(str(path), line, blobs.Blobs(blobs.beside(path.resolve())))
    return _checked(str(path), line)


def _filled(where: str, line: str, contents: blobs.Blobs) -> Task:
    """The task of a line whose states are named by their hashes."""
    try:
        row = json.loads(line)
        states = {name: row[name] and contents.files(where, row[name]) for name in _STATES}
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{where}: not a task: {error}") from error
    return _checked(where, {**{key: value for key, value in row.items() if key != _BLOBS}, **states})


def _unfolded(path: Path, text: str) -> list[str]:
    try:
        whole = json.loads(text)
    except ValueError as error:
        raise DataError(f"{path}: no JSON: {error}") from error
    return [json.dumps(one) for one in (whole if isinstance(whole, list) else [whole])]


def _checked(where: str, given: str | dict[str, Any]) -> Task:
    try:
        task = Task.model_validate_json(given) if isinstance(given, str) else Task.model_validate(given)
    except ValidationError as error:
        raise DataError(f"{where}: {_explain(error)}") from error
    if task.schema_version != SCHEMA:
        raise DataError(f"{where}: schema_version {task.schema_version}, this version reads {SCHEMA}; build the tasks again")
    if task.id != Task.make_id(task.kind, task.files, task.suites, task.goal):
        raise DataError(f"{where}: field 'id' does not match the content; the task was changed after it was made, build it again")
    return task


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] != "extra_forbidden":
        return f"field '{field}': {first['msg']}" if field else f"not a task: {first['msg']}"
    return f"unknown field '{field}'{nearest(str(first['loc'][-1]), _known(first['loc']))}"


def _known(location: tuple[int | str, ...]) -> list[str]:
    """Names of the fields beside an unknown one."""
    schema = Task.model_json_schema()
    here = schema
    for part in location[:-1]:
        here = here["properties"][part] if isinstance(part, str) else here["items"]
        here = next((choice for choice in here.get("anyOf", [here]) if choice.get("type") != "null"), here)
        if "$ref" in here:
            here = schema["$defs"][here["$ref"].rpartition("/")[2]]
    return sorted(here.get("properties", {}))
