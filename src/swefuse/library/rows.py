"""Entries as rows of the index: what is stored of one, and how it becomes the current one of its trajectory."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from swefuse.errors import DataError
from swefuse.library import bodies
from swefuse.library.entries import Entry
from swefuse.library.facts import FACTS, facts, words
from swefuse.library.migrations import index

COLUMNS = (
    "trajectory_id", "task_id", "accepted", "gate_version", "kind", "source", "split", "operator", "collector", "model", "steps",
    "task_sha", "trajectory_sha", "ruling_sha", *FACTS,
)  # fmt: skip
UNITS = {"repository": "by_repository", "function": "by_function"}
_MARKS = ", ".join("?" * (len(COLUMNS) + 3))
_INSERT = f"INSERT INTO entry (current, doc, part, {', '.join(COLUMNS)}) VALUES ({_MARKS})"  # noqa: S608 - constant text


class Row(NamedTuple):
    """An entry without its bodies: the values of COLUMNS, the reasons, and the words of its trajectory."""

    values: tuple[Any, ...]
    shas: bodies.Shas
    reasons: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def trajectory_id(self) -> str:
        """Whose entry it is."""
        return str(self.values[0])

    @property
    def gate_version(self) -> str:
        """What judged it."""
        return str(self.values[COLUMNS.index("gate_version")])


def row(entry: Entry, into: dict[str, bytes]) -> Row:
    """The row of an entry; the bodies that it refers to are put into ``into``. Raises DataError for what JSON cannot hold."""
    task, trajectory, decision = entry.task, entry.trajectory, entry.decision
    written = bodies.written(entry)
    shas = bodies.Shas(*map(bodies.key, written))
    into.update(zip(shas, written, strict=True))
    origin = task.provenance
    about = (origin.source, task.split, origin.operator, trajectory.source, trajectory.policy.model, len(trajectory.steps))
    head = (trajectory.id, task.id, int(decision.accepted), decision.gate_version, task.kind.value, *about)
    return Row((*head, *shas, *facts(task, trajectory)), shas, decision.reasons, words(task, trajectory))


class Writer:
    """Puts rows into the index within one transaction, which must be open."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        rule = db.execute("SELECT unit FROM rule").fetchone()
        self._unit = COLUMNS.index(UNITS[rule[0]]) if rule else None

    def add(self, row: Row) -> int:
        """Make a row the current entry of its trajectory. 0 when it is already."""
        query = "SELECT seq, doc, task_sha, trajectory_sha, ruling_sha FROM entry WHERE trajectory_id = ? AND current"
        old = self._db.execute(query, (row.trajectory_id,)).fetchone()
        if old and old[2:] == row.shas:
            return 0
        if old:
            self._db.execute("UPDATE entry SET current = 0 WHERE seq = ?", old[:1])
        self.insert(row, 1, old[1] if old and old[2:4] == row.shas[:2] else None)
        return 1

    def insert(self, row: Row, current: int, doc: int | None) -> int:
        """Store a row, under the words of ``doc`` or under its own, and return its number."""
        (seq,) = self._db.execute("SELECT coalesce(max(seq), 0) + 1 FROM entry").fetchone()
        self._db.execute(_INSERT, (current, seq if doc is None else doc, self._part(row), *row.values))
        if doc is None:
            index(self._db, seq, row.texts)
        rows = [(seq, position, text.partition(": ")[0], text) for position, text in enumerate(row.reasons)]
        self._db.executemany("INSERT INTO reason VALUES (?, ?, ?, ?)", rows)
        return int(seq)

    def _part(self, row: Row) -> str:
        """In which part of a split library its unit is already."""
        if self._unit is None:
            return ""
        found = self._db.execute("SELECT part FROM place WHERE unit = ?", (row.values[self._unit],)).fetchone()
        return str(found[0]) if found else ""


def stored_row(db: sqlite3.Connection, seq: int) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The values of COLUMNS and the reasons as the index holds them."""
    text = f"SELECT {', '.join(COLUMNS)} FROM entry WHERE seq = ?"  # noqa: S608 - constant text
    return tuple(db.execute(text, (seq,)).fetchone()), reasons(db, seq)


def reasons(db: sqlite3.Connection, seq: int) -> tuple[str, ...]:
    """Why an entry was refused."""
    return tuple(text for (text,) in db.execute("SELECT text FROM reason WHERE seq = ? ORDER BY position", (seq,)))


def check(db: sqlite3.Connection, seq: int) -> Row:
    """The row of an entry, worked out anew. Raises DataError where bodies are damaged or the index holds something else."""
    again = row(bodies.entry(db, seq), {})
    values, why = stored_row(db, seq)
    if values != again.values or why != again.reasons:
        raise DataError(f"entry {seq} ({values[0]}): its columns or reasons are not those of its records")
    return again
