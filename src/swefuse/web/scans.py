"""Large files that are read a piece at a time: each request reads on for a moment, and the page says how far that is.

A task file of a hundred thousand tasks and a cache of a million verdicts are never held whole; what is kept of a task is a row of a
list, of a verdict a count.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import Counter
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from swefuse.records import Task
from swefuse.tasks.store import read_task

BUDGET_S = 0.12  # of one request
AGAIN_S = 20.0  # a cache that grows is counted anew no more often
_BATCH = 200
_REASON = 120


class TaskRow(NamedTuple):
    """What a list shows of a task, and where in the file its line stands."""

    id: str
    kind: str
    source: str
    split: str
    operator: str
    function: str
    repeats: int
    strength: float | None
    mutants: int
    flake: float
    offset: int
    length: int


class Tasks:
    """The tasks of a file in their order, as far as it has been read. Lines that are no task are counted in ``broken``."""

    def __init__(self, path: Path) -> None:
        self.path, self.rows, self.broken = path, list[TaskRow](), 0
        self._at, self._size, self._lock = 0, path.stat().st_size, Lock()
        self._places: dict[str, int] = {}

    @property
    def share(self) -> float:
        """How much of the file has been read, in [0, 1]."""
        return self._at / self._size if self._size else 1.0

    @property
    def whole(self) -> bool:
        """Whether all of it has been read."""
        return self._at >= self._size

    def advance(self, seconds: float = BUDGET_S) -> None:
        """Read on for so long. A line is never left half read."""
        until = time.monotonic() + seconds
        with self._lock, self.path.open("rb") as file:
            file.seek(self._at)
            while self._at < self._size and time.monotonic() < until:
                line = file.readline()
                if not line:
                    self._at = self._size
                    return
                self._take(line)
                self._at += len(line)

    def find(self, task: str) -> Task | None:
        """A task by its id, reading on until it is met; None where the file has none. Raises DataError for a damaged one."""
        while task not in self._places and not self.whole:
            self.advance(1.0)
        if task not in self._places:
            return None
        row = self.rows[self._places[task]]
        with self.path.open("rb") as file:
            file.seek(row.offset)
            return read_task(self.path, file.read(row.length).decode("utf-8", "replace"))

    def _take(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            made = _task_row(row, self._at, len(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.broken += bool(line.strip())
            return
        self._places.setdefault(made.id, len(self.rows))
        self.rows.append(made)


def _task_row(row: Any, offset: int, length: int) -> TaskRow:
    origin, proof = row["provenance"], row.get("evidence") or {}
    return TaskRow(
        str(row["id"]), str(row["kind"]), str(origin["source"]), str(row.get("split", "")), str(origin.get("operator", "")),
        str(origin.get("function", "")), int(proof.get("repeats", 0)), proof.get("strength"), int(proof.get("mutants", 0)),
        float(proof.get("flake_rate", 0.0)), offset, length,
    )  # fmt: skip


def tasks(path: Path) -> Tasks:
    """The tasks of a file as it is now, read on a little further."""
    found = os.stat(path)
    scan = _tasks(path, found.st_mtime_ns, found.st_size, found.st_ino)
    scan.advance()
    return scan


@lru_cache(maxsize=8)
def _tasks(path: Path, *stamp: int) -> Tasks:
    return Tasks(path)


class Verdicts:
    """Counts over a cache of verdicts: by outcome, by form, why candidates were tampering, and CPU seconds in all."""

    def __init__(self, path: Path) -> None:
        self.path, self.outcomes, self.forms, self.reasons = path, Counter[str](), Counter[str](), Counter[str]()
        self.cpu_s, self.whole, self.broken = 0.0, False, False
        self._after, self._lock, self.began = "", Lock(), time.monotonic()

    @property
    def count(self) -> int:
        """Verdicts that have been counted."""
        return self.outcomes.total()

    def advance(self, seconds: float = BUDGET_S) -> None:
        """Count on for so long; a file that is damaged or busy is left as it is."""
        until = time.monotonic() + seconds
        try:
            with self._lock, closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as db:
                while not self.whole and time.monotonic() < until:
                    self._take(db.execute(_PART, (self._after, _BATCH)).fetchall())
        except sqlite3.Error:
            self.broken, self.whole = True, True

    def _take(self, rows: list[tuple[str, Any, Any, Any, Any]]) -> None:
        for key, outcome, form, reason, cpu in rows:
            self._after = key
            self.outcomes[str(outcome)] += 1
            self.forms[str(form)] += 1
            self.cpu_s += cpu if isinstance(cpu, int | float) else 0.0
            if outcome in ("TAMPERED", "UNPARSED") and (len(self.reasons) < 2000 or reason in self.reasons):
                self.reasons[f"{outcome}: {str(reason).splitlines()[0][:_REASON] if reason else 'no reason'}"] += 1
        self.whole = len(rows) < _BATCH


_PART = """SELECT key, json_extract(body, '$.outcome'), json_extract(body, '$.form'), json_extract(body, '$.reason'),
    json_extract(body, '$.cpu_s') FROM verdict WHERE key > ? AND json_valid(body) ORDER BY key LIMIT ?"""
_COUNTS: dict[Path, tuple[tuple[int, int], Verdicts]] = {}
_COUNTING = Lock()


def verdicts(path: Path) -> Verdicts:
    """The counts of a cache, counted on a little further; anew where it was written to since they were whole."""
    found = os.stat(path)
    stamp = (found.st_mtime_ns, found.st_ino)
    with _COUNTING:
        known = _COUNTS.get(path)
        if known is None or (known[0] != stamp and known[1].whole and time.monotonic() - known[1].began > AGAIN_S):
            known = _COUNTS[path] = (stamp, Verdicts(path))
    known[1].advance()
    return known[1]
