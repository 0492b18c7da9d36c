"""Opening a library's SQLite file, and what its failures mean for people."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from swefuse.errors import DataError, InfraError
from swefuse.library.migrations import APPLICATION_ID, MIGRATIONS, migrate, schema_version

WAIT_S = 60
_WAL_PAGES = (
    4000  # 16 MB: each time the log is carried over, a writer waits for the disk, so that is done a quarter as often as usual
)
_PROBLEMS: dict[int, tuple[type[DataError] | type[InfraError], str]] = {
    sqlite3.SQLITE_FULL: (InfraError, "the disk is full; free space and run again (this batch was not stored, earlier ones are)"),
    sqlite3.SQLITE_IOERR: (InfraError, "the disk failed or is full (this batch was not stored, earlier ones are)"),
    sqlite3.SQLITE_BUSY: (InfraError, f"another process kept it locked for {WAIT_S} s (this batch was not stored)"),
    sqlite3.SQLITE_READONLY: (InfraError, "the file or its folder may not be written; give yourself the right or copy it"),
    sqlite3.SQLITE_CANTOPEN: (InfraError, "it cannot be opened; does its folder exist, and may you write there?"),
    sqlite3.SQLITE_NOTADB: (DataError, "this is no library; name another path, or move the file away"),
    sqlite3.SQLITE_CORRUPT: (DataError, "the file is damaged; restore a copy, or save what is left with 'sqlite3 FILE .recover'"),
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn failures of SQLite that people can do something about into DataError or InfraError with the remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        # the low byte is the primary code; errors of the module itself have none
        kind, remedy = _PROBLEMS.get(getattr(error, "sqlite_errorcode", -1) & 0xFF, (None, ""))
        if kind is None:
            raise
        raise kind(f"{path}: {remedy}: {error}") from error


def create(path: Path) -> None:
    """Make an empty library at ``path`` unless there is one. It appears whole: no process ever sees half of it.

    Raises DataError when the folder is missing. Creators take turns by a lock on the folder, which leaves no file behind.
    """
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {path.parent} to hold {path.name}; make it first")
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if path.exists():  # another process was faster, and its library is as good
            return
        new = path.with_name(f".{path.name}.new")
        for left in (new, *_beside(new), *_beside(path)):  # of one who was killed; SQLite would take an old -wal for the new file's
            left.unlink(missing_ok=True)
        with closing(_raw(new)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            migrate(db)
        new.replace(path)
    finally:
        os.close(folder)


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")]


def connect(path: Path) -> sqlite3.Connection:
    """Open the library at ``path`` and bring it to the present schema. Raises DataError when it is missing or something else."""
    if not path.exists():
        raise DataError(f"there is no library at {path}; check the path, or make one by collecting into it")
    if not path.is_file():
        raise DataError(f"{path} is no file, so it is no library; name the file inside it")
    db = _raw(path)
    try:
        with explained(path):
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise DataError(f"{path} is a database but no library; name another path, or move the file away")
            if (version := schema_version(db)) > len(MIGRATIONS):
                raise DataError(
                    f"{path} has schema {version}, newer than {len(MIGRATIONS)}; upgrade what reads it: pip install -U swe-fuse"
                )
            migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _raw(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint={_WAL_PAGES}")
    return db


class Session:
    """A library's file as each process sees it: a connection of its own, opened when it is first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connections: dict[int, sqlite3.Connection] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_connections": {}}

    def db(self) -> sqlite3.Connection:
        """This process's connection. One that came through a fork is kept and never touched: closing it could harm the parent's."""
        if os.getpid() not in self._connections:
            self._connections[os.getpid()] = connect(self.path)
        return self._connections[os.getpid()]

    def close(self) -> None:
        """Close this process's connection; the next use opens it again."""
        db = self._connections.pop(os.getpid(), None)
        if db is not None:
            db.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees one moment of the file."""
        with explained(self.path):
            db = self.db()
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that alone may write; all of it stays or nothing."""
        with explained(self.path):
            db = self.db()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # a full disk may have ended it already
                    db.execute("ROLLBACK")
                raise
