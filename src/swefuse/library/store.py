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
import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from swefuse.errors import DataError
from swefuse.library import bodies, counts, merging, snapshots, splitting, upkeep
from swefuse.library.connection import Session, explained
from swefuse.library.connection import create as create_file
from swefuse.library.entries import EVERYTHING, Entry, Filter, Spread, Stats, Summary
from swefuse.library.rows import Row, Writer, reasons, row
from swefuse.library.selection import Scope, found, scope, split_column, where

__all__ = ["Entry", "Filter", "Library", "Spread", "Stats", "Summary"]


class Library:
    """A library on disk. One object serves one thread; it pickles and survives a fork by opening its own connection there.

    ``Library(Path("library.db@NAME"))`` is the snapshot NAME of ``library.db``: every reading method then speaks of that alone, and
    nothing can be written.
    """

    def __init__(self, path: Path, create: bool = False) -> None:
        """Open ``path``; with ``create`` make it if it is not there.

        Raises DataError when there is none, when the file is something else or comes from a newer version, or when there is no such
        snapshot; InfraError when it cannot be opened.
        """
        self._given = path
        self.path, self.snapshot_name = snapshots.named(path)
        self._session = Session(self.path)
        with explained(self.path):
            if create and not self.path.exists():
                create_file(self.path)
            self._scope()

    def close(self) -> None:
        """Close this process's connection; the next use opens it again."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def add_many(self, entries: Iterable[Entry]) -> int:
        """Store a batch in one transaction and return how many were new: an entry equal to its trajectory's current one is not.

        Raises InfraError when the disk is full or another writer does not let go, DataError for text that is not Unicode and for a
        snapshot: nothing of the batch is then stored.
        """
        self.check_writable()
        texts: dict[str, bytes] = {}
        try:
            rows: list[Row] = [row(entry, texts) for entry in entries]
            packed = [(sha, bodies.pack(body)) for sha, body in texts.items()]
            with self._session.writing() as db:
                db.executemany("INSERT OR IGNORE INTO body VALUES (?, ?)", packed)
                writer = Writer(db)
                return sum(map(writer.add, rows))
        except UnicodeEncodeError as error:
            raise DataError(f"{self.path}: {str(error.object)[:60]!r} is not Unicode and cannot be stored") from error

    def get(self, trajectory_id: str) -> Entry:
        """The entry of a trajectory. Raises DataError when there is none or its bodies are damaged."""
        with explained(self.path):
            text = f"SELECT seq FROM entry WHERE trajectory_id = ? AND {self._scope().where}"  # noqa: S608 - constant text
            known = self._db().execute(text, (trajectory_id,)).fetchone()
            if known is None:
                raise DataError(f"{self.path} holds no trajectory {trajectory_id!r}; 'swefuse library list' shows what there is")
            return bodies.entry(self._db(), known[0])

    def count(self, which: Filter = EVERYTHING) -> int:
        """How many entries match."""
        with explained(self.path):
            condition, values = where(self._db(), which, self._scope())
            query = f"SELECT count(*) FROM entry WHERE {condition}"  # noqa: S608 - constant text
            return int(self._db().execute(query, values).fetchone()[0])

    def query(self, which: Filter = EVERYTHING) -> Iterator[Summary]:
        """Entries that match, ordered by trajectory id."""
        with explained(self.path):
            yield from map(self._summary, self._seqs(which))

    def search(self, which: Filter = EVERYTHING, limit: int | None = None, offset: int = 0) -> list[Summary]:
        """Entries that match: those to which ``which.query`` applies best come first, without a query the newest."""
        with explained(self.path):
            return [self._summary(seq) for seq in found(self._db(), which, self._scope(), limit, offset)]

    def iter_accepted(self, which: Filter = EVERYTHING) -> Iterator[Entry]:
        """Accepted entries that match, ordered by trajectory id, so that neither the order nor the number of writers shows.

        What is added meanwhile is left out. Raises DataError at the first damaged body.
        """
        with explained(self.path):
            for seq in self._seqs(which, "accepted = 1"):
                yield bodies.entry(self._db(), seq)

    def fingerprint(self) -> str:
        """SHA-256 over the ids of all accepted trajectories, for manifests: equal when the same ones would be trained on."""
        digest = hashlib.sha256()
        with explained(self.path):
            query = f"SELECT trajectory_id FROM entry WHERE {self._scope().where} AND accepted = 1 ORDER BY trajectory_id"  # noqa: S608
            for (id_,) in self._db().execute(query):
                digest.update(f"{id_}\n".encode())
        return digest.hexdigest()

    def stats(self) -> Stats:
        """Counts for people and reports, all from one moment."""
        with self._session.reading() as db:
            return counts.stats(db, self._scope())

    def tag(self, name: str, which: Filter = EVERYTHING, remove: bool = False) -> int:
        """Give a tag to every trajectory that matches, or take it away. Returns how many changed. Raises DataError for a bad name.

        A tag belongs to the trajectory: it stays when that is judged again.
        """
        self.check_writable()
        snapshots.check_name("tag", name)
        with self._session.writing() as db:
            condition, values = where(db, which, Scope())
            ids = f"SELECT trajectory_id FROM entry WHERE {condition}"  # noqa: S608 - constant text
            text = f"INSERT OR IGNORE INTO tag (name, trajectory_id) SELECT :name, trajectory_id FROM ({ids})"  # noqa: S608
            if remove:
                text = f"DELETE FROM tag WHERE name = :name AND trajectory_id IN ({ids})"  # noqa: S608 - constant text
            return db.execute(text, {**values, "name": name}).rowcount

    def split(self, unit: str, shares: dict[str, float], seed: int = 0, anew: bool = False) -> splitting.Split:
        """Put every unit into a part of the library; see ``splitting.split``."""
        self.check_writable()
        return splitting.split(self._session, splitting.Rule(unit, shares, seed), anew)

    def snapshot(self, name: str, which: Filter = EVERYTHING) -> snapshots.Snapshot:
        """Give a name to the current entries that match, for good. Raises DataError for a bad name or one that is taken."""
        self.check_writable()
        with self._session.writing() as db:
            condition, values = where(db, which, Scope())
            return snapshots.take(db, name, condition, values)

    def snapshots(self) -> list[snapshots.Snapshot]:
        """All snapshots, the oldest first."""
        with explained(self.path):
            return snapshots.listed(self._db())

    def merge(self, other: Library) -> merging.Merged:
        """Bring in everything that another library holds; see ``merging.merge``."""
        self.check_writable()
        return merging.merge(self._session, other._session)

    def verify(self) -> list[str]:
        """Everything that is wrong with the file; empty when it is whole. See ``upkeep.verify``."""
        return upkeep.verify(self._session)

    def gc(self, superseded: bool = False) -> upkeep.Freed:
        """Remove what nobody refers to; see ``upkeep.gc``."""
        self.check_writable()
        return upkeep.gc(self._session, superseded)

    def check_writable(self) -> None:
        """Raises DataError for a snapshot. Every method that writes asks by itself; here for who has much to do before."""
        if self.snapshot_name is not None:
            snapshots.refuse_writing(self._given)

    def _scope(self) -> Scope:
        return scope(self._db(), self.snapshot_name)

    def _seqs(self, which: Filter, also: str = "1") -> array[int]:
        """Numbers of the entries that match, in 8 bytes each."""
        condition, values = where(self._db(), which, self._scope())
        query = f"SELECT seq FROM entry WHERE {condition} AND {also} ORDER BY trajectory_id"  # noqa: S608 - constant text
        return array("q", (seq for (seq,) in self._db().execute(query, values)))

    def _summary(self, seq: int) -> Summary:
        split = split_column(self._db())
        text = f"""SELECT trajectory_id, task_id, accepted, gate_version, kind, source, {split}, operator, collector, model, steps,
            repo, strength FROM entry WHERE seq = ?"""  # noqa: S608 - constant text
        *head, repo, strength = self._db().execute(text, (seq,)).fetchone()
        head[2] = bool(head[2])
        tags = self._db().execute("SELECT name FROM tag WHERE trajectory_id = ? ORDER BY name", head[:1])
        return Summary(*[*head, reasons(self._db(), seq), repo, strength, tuple(name for (name,) in tags)])

    def _db(self) -> sqlite3.Connection:
        return self._session.db()
