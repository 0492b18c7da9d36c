"""The library: every gated trajectory, accepted or refused, in one SQLite file that many processes may write at once.

Rows hold what one asks for; bodies (task, trajectory, verdict with decision) are zstd-compressed JSON under the SHA-256 of the
JSON, so equal tasks are stored once and damage is noticed on reading. A batch is one transaction: after ``kill -9`` all of it is
there or nothing (after a power cut the last batches may be missing, never parts). Nothing is deleted: when a trajectory is gated
again, its new entry becomes the current one and the old one stays.

The file sits on a local disk, with ``-wal`` and ``-shm`` files beside it while it is open; network file systems do not keep the
promises that SQLite needs.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from swefuse.errors import DataError
from swefuse.library.connection import connect, explained
from swefuse.library.connection import create as create_file
from swefuse.records import SCHEMA, Decision, Record, Task, Trajectory, Verdict, from_json, to_json

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

R = TypeVar("R", bound=Record)
_COLUMNS = (
    "trajectory_id", "task_id", "accepted", "gate_version", "kind", "source", "split", "operator", "collector", "model", "steps",
    "task_sha", "trajectory_sha", "ruling_sha",
)  # fmt: skip
_GROUPS = ("kind", "source", "split", "operator", "collector")
_MATCH = """current AND (:accepted IS NULL OR accepted = :accepted) AND (:kind IS NULL OR kind = :kind)
    AND (:source IS NULL OR source = :source) AND (:split IS NULL OR split = :split)
    AND (:operator IS NULL OR operator = :operator) AND (:collector IS NULL OR collector = :collector)
    AND (:task_id IS NULL OR task_id = :task_id)
    AND (:refused_by IS NULL OR EXISTS (SELECT 1 FROM reason WHERE reason.seq = entry.seq AND gate_check = :refused_by))"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One trajectory with its task, the verdict that the gate was given, and what the gate decided."""

    task: Task
    trajectory: Trajectory
    verdict: Verdict
    decision: Decision


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries: all that is set must match. ``source`` is the task's, ``collector`` the trajectory's."""

    accepted: bool | None = None
    kind: str | None = None
    source: str | None = None
    split: str | None = None
    operator: str | None = None
    collector: str | None = None
    task_id: str | None = None
    refused_by: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What the index knows of one current entry, without unpacking it."""

    trajectory_id: str
    task_id: str
    accepted: bool
    gate_version: str
    kind: str
    source: str
    split: str
    operator: str
    collector: str
    model: str
    steps: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of current entries. ``by`` maps kind, source, split, operator and collector to value -> (accepted, refused).

    ``reasons`` maps a check to how many entries it refused; one entry may count under several. ``superseded`` counts entries
    that were gated again later, ``bytes`` all packed bodies.
    """

    accepted: int
    refused: int
    by: dict[str, dict[str, tuple[int, int]]]
    reasons: dict[str, int]
    superseded: int
    bytes: int


class _Ruling(Record):
    verdict: Verdict
    decision: Decision


class Library:
    """A library on disk. One object serves one thread; it pickles and survives a fork by opening its own connection there."""

    def __init__(self, path: Path, create: bool = False) -> None:
        """Open ``path``; with ``create`` make it if it is not there.

        Raises DataError when there is none, when the file is something else or comes from a newer version; InfraError when it
        cannot be opened.
        """
        self.path = path
        self._connections: dict[int, sqlite3.Connection] = {}
        with explained(path):
            if create and not path.exists():
                create_file(path)
            self._db()

    def close(self) -> None:
        """Close this process's connection; the next use opens it again."""
        db = self._connections.pop(os.getpid(), None)
        if db is not None:
            db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_connections": {}}

    def add_many(self, entries: Iterable[Entry]) -> int:
        """Store a batch in one transaction and return how many were new: an entry equal to its trajectory's current one is not.

        Raises InfraError when the disk is full or another writer does not let go, DataError for text that is not Unicode: nothing
        of the batch is then stored.
        """
        bodies: dict[str, bytes] = {}
        rows = [_row(entry, bodies) for entry in entries]
        packed = [(sha, zstd.compress(body)) for sha, body in bodies.items()]
        with explained(self.path), self._writing() as db:
            db.executemany("INSERT OR IGNORE INTO body VALUES (?, ?)", packed)
            return sum(_insert(db, row, reasons) for row, reasons in rows)

    def get(self, trajectory_id: str) -> Entry:
        """The current entry of a trajectory. Raises DataError when there is none or its bodies are damaged."""
        with explained(self.path):
            query = "SELECT seq FROM entry WHERE trajectory_id = ? AND current"
            found = self._db().execute(query, (trajectory_id,)).fetchone()
            if found is None:
                raise DataError(f"{self.path} holds no trajectory {trajectory_id!r}; 'swefuse library list' shows what there is")
            return self._entry(found[0])

    def count(self, which: Filter = Filter()) -> int:
        """How many current entries match."""
        with explained(self.path):
            query = f"SELECT count(*) FROM entry WHERE {_MATCH}"  # noqa: S608 - constant text
            return int(self._db().execute(query, asdict(which)).fetchone()[0])

    def query(self, which: Filter = Filter()) -> Iterator[Summary]:
        """Current entries that match, ordered by trajectory id."""
        with explained(self.path):
            query = f"SELECT seq, {', '.join(_COLUMNS[:11])} FROM entry WHERE {_MATCH} ORDER BY trajectory_id"  # noqa: S608 - constant
            for seq, *row in self._db().execute(query, asdict(which)).fetchall():
                row[2] = bool(row[2])
                yield Summary(*[*row, self._reasons(seq)])

    def iter_accepted(self) -> Iterator[Entry]:
        """Accepted current entries ordered by trajectory id, so that neither the order nor the number of writers shows.

        What is added meanwhile is left out. Raises DataError at the first damaged body.
        """
        with explained(self.path):
            query = "SELECT seq FROM entry WHERE current AND accepted ORDER BY trajectory_id"
            for (seq,) in self._db().execute(query).fetchall():
                yield self._entry(seq)

    def fingerprint(self) -> str:
        """SHA-256 over the ids of all accepted trajectories, for manifests: equal when the same ones would be trained on."""
        digest = hashlib.sha256()
        with explained(self.path):
            for (id_,) in self._db().execute("SELECT trajectory_id FROM entry WHERE current AND accepted ORDER BY trajectory_id"):
                digest.update(f"{id_}\n".encode())
        return digest.hexdigest()

    def stats(self) -> Stats:
        """Counts for people and reports, all from one moment."""
        with explained(self.path), self._reading() as db:
            groups = ", ".join(_GROUPS)
            query = f"SELECT accepted, count(*), {groups} FROM entry WHERE current GROUP BY accepted, {groups}"  # noqa: S608 - constant
            rows = db.execute(query).fetchall()
            reasons = (
                "SELECT gate_check, count(DISTINCT seq) FROM reason JOIN entry USING (seq) WHERE current GROUP BY 1 ORDER BY 1"
            )
            (superseded,) = db.execute("SELECT count(*) FROM entry WHERE NOT current").fetchone()
            (size,) = db.execute("SELECT coalesce(sum(length(data)), 0) FROM body").fetchone()
            by_check = dict(db.execute(reasons).fetchall())
        totals: Counter[tuple[str, str, int]] = Counter()
        for accepted, number, *values in rows:
            for name, value in zip(_GROUPS, values, strict=True):
                totals[name, value, accepted] += number
        by: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in _GROUPS}
        for name, value, _ in sorted(totals):
            by[name][value] = (totals[name, value, 1], totals[name, value, 0])
        accepted, refused = (sum(row[1] for row in rows if row[0] == flag) for flag in (1, 0))
        return Stats(accepted, refused, by, by_check, superseded, size)

    def verify(self) -> list[str]:
        """Everything that is wrong with the file; empty when it is whole.

        Reads every page, hashes every body again and compares each entry's columns and reasons with its records.
        """
        problems: list[str] = []
        try:
            with explained(self.path):
                db = self._db()
                problems += [text for (text,) in db.execute("PRAGMA quick_check") if text != "ok"]
                for sha, data in db.execute("SELECT sha, data FROM body"):
                    problems += _damage(partial(_unpack, sha, data))
                for (seq,) in db.execute("SELECT seq FROM entry ORDER BY seq").fetchall():
                    problems += _damage(partial(self._check, seq))
        except DataError as error:
            problems.append(str(error))
        return list(dict.fromkeys(problems))

    def _check(self, seq: int) -> None:
        query = f"SELECT {', '.join(_COLUMNS)} FROM entry WHERE seq = ?"  # noqa: S608 - constant
        stored = self._db().execute(query, (seq,)).fetchone()
        row, reasons = _row(self._entry(seq), {})
        if stored != row or self._reasons(seq) != reasons:
            raise DataError(f"entry {seq} ({stored[0]}): its columns or reasons are not those of its records")

    def _entry(self, seq: int) -> Entry:
        shas = self._db().execute("SELECT task_sha, trajectory_sha, ruling_sha FROM entry WHERE seq = ?", (seq,)).fetchone()
        task, trajectory, ruling = map(self._body, shas)
        packed = _record(_Ruling, ruling)
        return Entry(_record(Task, task), _record(Trajectory, trajectory), packed.verdict, packed.decision)

    def _body(self, sha: str) -> bytes:
        found = self._db().execute("SELECT data FROM body WHERE sha = ?", (sha,)).fetchone()
        if found is None:
            raise DataError(f"body {sha} is missing; restore a copy of {self.path}")
        return _unpack(sha, found[0])

    def _reasons(self, seq: int) -> tuple[str, ...]:
        return tuple(row[0] for row in self._db().execute("SELECT text FROM reason WHERE seq = ? ORDER BY position", (seq,)))

    def _db(self) -> sqlite3.Connection:
        """This process's connection. One that came through a fork is kept and never touched: closing it could harm the parent's."""
        if os.getpid() not in self._connections:
            self._connections[os.getpid()] = connect(self.path)
        return self._connections[os.getpid()]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        db = self._db()
        db.execute("BEGIN")
        try:
            yield db
        finally:
            db.execute("COMMIT")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        db = self._db()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a full disk may have ended it already
                db.execute("ROLLBACK")
            raise


def _row(entry: Entry, bodies: dict[str, bytes]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The values of ``_COLUMNS`` and the reasons; what they refer to is put into ``bodies``."""
    task, trajectory, decision = entry.task, entry.trajectory, entry.decision
    shas = []
    for record in (task, trajectory, _Ruling(verdict=entry.verdict, decision=decision)):
        try:
            body = to_json(record).encode()
        except (PydanticSerializationError, TypeError, ValueError) as error:
            raise DataError(f"trajectory {trajectory.id} of task {task.id} cannot be stored: {error}") from error
        shas.append(hashlib.sha256(body).hexdigest())
        bodies[shas[-1]] = body
    origin = task.provenance
    about = (origin.source, task.split, origin.operator, trajectory.source, trajectory.policy.model, len(trajectory.steps))
    row = (trajectory.id, task.id, int(decision.accepted), decision.gate_version, task.kind.value, *about, *shas)
    return row, decision.reasons


def _insert(db: sqlite3.Connection, row: tuple[Any, ...], reasons: tuple[str, ...]) -> int:
    """Make a row the current entry of its trajectory. 0 when it is already."""
    query = "SELECT task_sha, trajectory_sha, ruling_sha FROM entry WHERE trajectory_id = ? AND current"
    if db.execute(query, row[:1]).fetchone() == row[-3:]:
        return 0
    db.execute("UPDATE entry SET current = 0 WHERE trajectory_id = ? AND current", row[:1])
    marks = ", ".join("?" * len(_COLUMNS))
    insert = f"INSERT INTO entry (current, {', '.join(_COLUMNS)}) VALUES (1, {marks})"  # noqa: S608 - constant text
    seq = db.execute(insert, row).lastrowid
    rows = [(seq, position, text.partition(": ")[0], text) for position, text in enumerate(reasons)]
    db.executemany("INSERT INTO reason VALUES (?, ?, ?, ?)", rows)
    return 1


def _unpack(sha: str, data: bytes) -> bytes:
    try:
        body = zstd.decompress(data)
    except zstd.ZstdError as error:
        raise DataError(f"body {sha} is damaged ({error}); restore a copy of the library") from error
    if hashlib.sha256(body).hexdigest() != sha:
        raise DataError(f"body {sha} is damaged (its hash differs); restore a copy of the library")
    return body


def _record(kind: type[R], body: bytes) -> R:
    try:
        record = from_json(kind, body)
    except ValidationError as error:
        raise DataError(
            f"a stored {kind.__name__} does not follow its schema; was it written by another version? {error}"
        ) from error
    if isinstance(record, Task | Trajectory) and record.schema_version != SCHEMA:
        raise DataError(f"a stored {kind.__name__} has schema {record.schema_version}, this version reads {SCHEMA}")
    return record


def _damage(look: Callable[[], object]) -> list[str]:
    try:
        look()
    except DataError as error:
        return [str(error)]
    return []
