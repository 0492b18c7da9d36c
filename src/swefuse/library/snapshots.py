"""Snapshots: a name for a set of entries, so that a model's manifest can say what it saw, and anyone can read that again."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swefuse.errors import DataError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``made``: UTC. ``fingerprint``: as ``Library.fingerprint``; ``content``: SHA-256 over all that its entries hold."""

    name: str
    made: str
    entries: int
    accepted: int
    fingerprint: str
    content: str


def named(path: Path) -> tuple[Path, str | None]:
    """The file and the name in ``library.db@NAME``; without an ``@``, or where a file has that very name, the path alone.

    Example: ``named(Path("runs/l.db@v3"))`` -> ``(Path("runs/l.db"), "v3")``.
    """
    file, sign, name = path.name.rpartition("@")
    if sign and file and not path.exists() and path.with_name(file).is_file():
        return path.with_name(file), name
    return path, None


def refuse_writing(path: Path) -> None:
    """Raises DataError where the path is that of a snapshot: what would be written has no place there."""
    file, name = named(path)
    if name is not None:
        raise DataError(f"{path} is a snapshot, which never changes; name the library itself: {file}")


def check_name(what: str, name: str) -> None:
    """Raises DataError for a name that could not be told from the rest of a command line."""
    if not _NAME.fullmatch(name):
        raise DataError(
            f"{name!r} is no name for a {what}: at most 64 letters, digits, '.', '_' and '-', the first a letter or digit"
        )


def take(db: sqlite3.Connection, name: str, condition: str, values: Mapping[str, Any]) -> Snapshot:
    """Make a snapshot of the entries that the condition names. Raises DataError for a bad name or one that is taken."""
    check_name("snapshot", name)
    if db.execute("SELECT 1 FROM snapshot WHERE name = ?", (name,)).fetchone():
        raise DataError(f"there is a snapshot {name!r} already, and a snapshot never changes; choose another name")
    seqs = [seq for (seq,) in db.execute(f"SELECT seq FROM entry WHERE {condition} ORDER BY seq", values)]  # noqa: S608 - constant
    return store(db, name, seqs)


def store(db: sqlite3.Connection, name: str, seqs: list[int], made: str = "") -> Snapshot:
    """Write a snapshot down; by default it was made now."""
    number = db.execute("SELECT coalesce(max(id), 0) + 1 FROM snapshot").fetchone()[0]
    db.executemany("INSERT INTO member VALUES (?, ?)", ((number, seq) for seq in seqs))
    accepted, fingerprint, content = _digests(db, number)
    made = made or datetime.now(UTC).isoformat(timespec="seconds")
    known = Snapshot(name, made, len(seqs), accepted, fingerprint, content)
    row = (number, known.name, known.made, known.entries, known.accepted, known.fingerprint, known.content)
    db.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return known


def _digests(db: sqlite3.Connection, number: int) -> tuple[int, str, str]:
    """How many entries of a snapshot are accepted, the hash over their ids, and the one over everything."""
    accepted, ids, everything = 0, hashlib.sha256(), hashlib.sha256()
    query = """SELECT accepted, trajectory_id, task_sha, trajectory_sha, ruling_sha FROM entry
        WHERE seq IN (SELECT seq FROM member WHERE snapshot = ?) ORDER BY trajectory_id"""
    for flag, *row in db.execute(query, (number,)):
        everything.update(("\t".join(row) + "\n").encode())
        if flag:
            accepted += 1
            ids.update(f"{row[0]}\n".encode())
    return accepted, ids.hexdigest(), everything.hexdigest()


def listed(db: sqlite3.Connection) -> list[Snapshot]:
    """All snapshots, the oldest first."""
    return [
        Snapshot(*row) for row in db.execute("SELECT name, made, entries, accepted, fingerprint, content FROM snapshot ORDER BY id")
    ]


def damaged(db: sqlite3.Connection) -> list[str]:
    """Snapshots whose entries are not those that they were taken of."""
    found = []
    for number, each in zip([id_ for (id_,) in db.execute("SELECT id FROM snapshot ORDER BY id")], listed(db), strict=True):
        entries = db.execute("SELECT count(*) FROM member JOIN entry USING (seq) WHERE snapshot = ?", (number,)).fetchone()[0]
        if (entries, *_digests(db, number)) != (each.entries, each.accepted, each.fingerprint, each.content):
            found.append(f"snapshot {each.name}: its entries are not those that it was taken of")
    return found
