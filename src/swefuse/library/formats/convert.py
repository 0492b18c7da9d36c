"""From files of one format to files of another, with what was found out and what was lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swefuse.errors import DataError, UserError
from swefuse.library.formats import detect, format_named, tables
from swefuse.library.formats.base import Format, words
from swefuse.library.formats.files import line, read_values, write_file
from swefuse.library.formats.messages import IMAGE
from swefuse.library.formats.transcript import Transcript

_TASKS = ("FAIL_TO_PASS", "PASS_TO_PASS")
_UNFIT = re.compile(r"[^\w.@+-]+")
ROWS = (".jsonl", ".json", ".parquet")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What files hold: the transcripts, each with its place, the format with what spoke for it, and what was read otherwise."""

    format: Format
    evidence: str
    transcripts: tuple[Transcript, ...]
    places: tuple[str, ...]
    notes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Saved:
    """What was written: the files, how many transcripts, how many of them exactly as they were read, and what they do not hold."""

    files: tuple[Path, ...]
    written: int
    exact: int
    lost: dict[str, int] = field(default_factory=dict)


def load(path: Path, name: str = "") -> Loaded:
    """The transcripts of a file or folder, of the format ``name`` or of the one that is found out.

    Raises UserError for what cannot be read or an unknown format, DataError naming file and line for what does not follow it.
    """
    given = format_named(name) if name else None
    if not path.exists():
        raise UserError(f"{path}: there is no such file or folder")
    notes: Counter[str] = Counter()
    values = read_values(path, notes)
    first = values[0][1]
    if given is None and isinstance(first, dict) and {*_TASKS} & first.keys() and "messages" not in first:
        raise DataError(f"{values[0][0]}: this is a task and no trajectory; 'swefuse tasks import' reads those")
    found, evidence = (given, "named") if given else detect(values)
    transcripts = tuple(found.read(value, where) for where, value in values)
    images = sum(turn.text.count(IMAGE) for one in transcripts for turn in one.turns) if _has_images(values) else 0
    if images:
        notes[f"images and other parts without text, shown as {IMAGE}"] += images
    return Loaded(found, evidence, transcripts, tuple(where for where, _ in values), dict(notes))


def _has_images(values: Sequence[tuple[str, Any]]) -> bool:
    """Whether any value holds a part of a message that is no text."""
    pending: list[Any] = [value for _, value in values]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            if str(one.get("type", "text")).startswith(("image", "audio", "input_", "video", "file")):
                return True
            pending += one.values()
        elif isinstance(one, list):
            pending += one
    return False


def save(out: Path, to: Format, transcripts: Sequence[Transcript], loaded: Format | None = None) -> Saved:
    """Write transcripts: as JSON lines, a JSON list (``.json``), a table (``.parquet``, or a folder that ``datasets`` loads), and
    formats with one trajectory a file as that file, or as one each in a folder.

    Raises DataError where one would say nothing in that format, UserError where ``out`` cannot hold it; then nothing is written.
    """
    lost: Counter[str] = Counter()
    values = []
    for one in transcripts:
        value, gone = to.write(one)
        values.append(value)
        lost.update(gone)
    exact = len(transcripts) if loaded is to and not lost else 0
    if to.whole:
        files = _wholes(out, to, transcripts, values)
    elif out.suffix in (".parquet", "") or out.is_dir():
        file = out if out.suffix == ".parquet" else out / "data" / "train-00000-of-00001.parquet"
        _empty(out, file)
        for name in tables.write_table(file, values):
            lost[f"the type of the column {name}, which holds JSON as text"] += len(values)
        files, exact = (file,), 0
    elif out.suffix == ".json":
        keyed = to.name == "predictions"
        if keyed and len({value["instance_id"] for value in values}) < len(values):
            raise UserError(f"{out}: a .json of predictions has one for each task, and some have more; name a .jsonl")
        whole: Any = {value["instance_id"]: value for value in values} if keyed else values
        write_file(out, [line(whole), "\n"])
        files = (out,)
    else:
        write_file(out, (f"{line(value)}\n" for value in values))
        files = (out,)
    return Saved(files, len(values), exact, words(lost))


def _wholes(out: Path, to: Format, transcripts: Sequence[Transcript], values: Sequence[Any]) -> tuple[Path, ...]:
    if out.suffix and not out.is_dir():
        if len(values) > 1:
            raise UserError(f"{out}: a file of {to.name} holds one trajectory, and there are {len(values)}; name a folder")
        write_file(out, [line(values[0]), "\n"])
        return (out,)
    names: dict[str, int] = {}
    files = []
    for number, one in enumerate(transcripts, 1):
        name = _UNFIT.sub("_", one.instance or one.id)[:120].strip(".") or f"trajectory-{number}"
        names[name] = names.get(name, 0) + 1
        files.append(out / f"{name}{f'-{names[name]}' if names[name] > 1 else ''}{to.suffix}")
    for file, value in zip(files, values, strict=True):
        write_file(file, [line(value), "\n"])
    return tuple(files)


def _empty(out: Path, file: Path) -> None:
    """Nothing else may lie in a folder that is to be a dataset, since whoever loads it takes all there is."""
    others = [one for one in out.rglob("*") if one.is_file() and one != file] if out.is_dir() else []
    if others:
        raise UserError(f"{out}: the folder holds {others[0].name}; a dataset gets a folder of its own")
