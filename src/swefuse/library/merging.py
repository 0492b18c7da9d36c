"""One library out of several. Merging again changes nothing."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, field
from typing import NamedTuple

from swefuse.library import bodies, snapshots
from swefuse.library.connection import Session
from swefuse.library.rows import Row, Writer, check

_BATCH = 200


@dataclass(slots=True)
class Merged:
    """What came in: new entries, those that were there already, and trajectories on which the two decided differently.

    ``snapshots``: name there -> name here; a name that was taken by something else gets the first signs of its content behind it.
    """

    added: int = 0
    known: int = 0
    disputed: int = 0
    snapshots: dict[str, str] = field(default_factory=dict)


class _Incoming(NamedTuple):
    seq: int
    row: Row


def merge(into: Session, other: Session) -> Merged:
    """Bring everything of ``other`` into ``into``: entries, superseded ones too, tags and snapshots.

    Where both hold a decision on one trajectory, the one of the newer gate counts; of the same gate, the one that came after the
    other, or else that of ``into``. All of them are kept. A library that is not split takes over how ``other`` is; one that is
    stays so, and new units get their part when it is split again. Stopped half-way, it can be repeated. Raises DataError at the
    first damaged entry.
    """
    told = Merged()
    places: dict[int, int] = {}  # number there -> number here
    _split(into, other)
    last = -1
    while batch := _batch(other, last):
        last = batch[-1].seq
        packed = _packed(other, batch)
        with into.writing() as db:
            db.executemany("INSERT OR IGNORE INTO body VALUES (?, ?)", packed)
            writer, here = Writer(db), set(places.values())
            for seq, row in batch:
                places[seq] = _bring(db, writer, row, here, told)
                here.add(places[seq])
    with other.reading() as db:
        tags = db.execute("SELECT name, trajectory_id FROM tag").fetchall()
        found = [(each, _members(db, each.name)) for each in snapshots.listed(db)]
    with into.writing() as db:
        db.executemany("INSERT OR IGNORE INTO tag VALUES (?, ?)", tags)
        for each, seqs in found:
            members = sorted(places[seq] for seq in seqs if seq in places)
            told.snapshots[each.name] = _snapshot(db, each, members)
    return told


def _batch(other: Session, last: int) -> list[_Incoming]:
    with other.reading() as db:
        seqs = db.execute("SELECT seq FROM entry WHERE seq > ? ORDER BY seq LIMIT ?", (last, _BATCH)).fetchall()
        return [_Incoming(seq, check(db, seq)) for (seq,) in seqs]


def _packed(other: Session, batch: list[_Incoming]) -> list[tuple[str, bytes]]:
    wanted = dict.fromkeys(sha for _, row in batch for sha in row.shas)
    with other.reading() as db:
        query = "SELECT sha, data FROM body WHERE sha = ?"
        return [(str(sha), bytes(data)) for each in wanted for sha, data in db.execute(query, (each,))]


def _bring(db: sqlite3.Connection, writer: Writer, row: Row, here: set[int], told: Merged) -> int:
    """Store an entry unless it is there, and return its number; ``here``: numbers of what came from there or was in both."""
    query = "SELECT seq, current, doc, gate_version, task_sha, trajectory_sha, ruling_sha FROM entry WHERE trajectory_id = ?"
    stored = db.execute(query, (row.trajectory_id,)).fetchall()
    for seq, *_, task, trajectory, ruling in stored:
        if bodies.Shas(task, trajectory, ruling) == row.shas:
            told.known += 1
            return int(seq)
    docs = [doc for _, _, doc, _, task, trajectory, _ in stored if (task, trajectory) == row.shas[:2]]
    current = next(((seq, version) for seq, now, _, version, *_ in stored if now), None)
    wins = True
    if current and current[0] not in here:
        told.disputed += 1
        wins = _number(row.gate_version) > _number(current[1])
    if current and wins:
        db.execute("UPDATE entry SET current = 0 WHERE seq = ?", current[:1])
    told.added += 1
    return writer.insert(row, int(wins), docs[0] if docs else None)


def _number(gate_version: str) -> int:
    found = re.match(r"\d+", gate_version)
    return int(found[0]) if found else -1


def _split(into: Session, other: Session) -> None:
    with other.reading() as db:
        rule = db.execute("SELECT unit, shares, seed FROM rule").fetchone()
        placed = db.execute("SELECT unit, part FROM place").fetchall()
    with into.writing() as db:
        if rule and not db.execute("SELECT 1 FROM rule").fetchone():
            db.execute("INSERT INTO rule VALUES (?, ?, ?)", rule)
            db.executemany("INSERT INTO place VALUES (?, ?)", placed)


def _members(db: sqlite3.Connection, name: str) -> list[int]:
    query = "SELECT seq FROM member WHERE snapshot = (SELECT id FROM snapshot WHERE name = ?)"
    return [seq for (seq,) in db.execute(query, (name,))]


def _snapshot(db: sqlite3.Connection, each: snapshots.Snapshot, members: list[int]) -> str:
    """Store a snapshot under its name, or another where that is taken by something else. Returns the name."""
    content = dict(db.execute("SELECT name, content FROM snapshot").fetchall())
    name = each.name
    if content.get(name, each.content) != each.content:
        name = f"{name[:55]}.{each.content[:8]}"
    if name not in content:
        snapshots.store(db, name, members, each.made)
    return name
