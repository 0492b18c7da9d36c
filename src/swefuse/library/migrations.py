"""The library's tables, as an ordered list of steps. A step that was released is never changed: add another one.

``PRAGMA user_version`` holds how many steps a file has seen. The tables are for plain ``sqlite3`` too: everything that one asks
for is a column, and only whole records are packed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

APPLICATION_ID = 0x53574C42  # "SWLB", so that no other SQLite file is taken for a library
Migration = Callable[[sqlite3.Connection], None]


def m001_tables(db: sqlite3.Connection) -> None:
    """``entry``: a gated trajectory, the latest of each ``current``; ``reason``: why refused; ``body``: zstd of JSON by SHA-256."""
    db.execute("CREATE TABLE body (sha TEXT PRIMARY KEY, data BLOB NOT NULL)")
    db.execute(
        """CREATE TABLE entry (
            seq INTEGER PRIMARY KEY, trajectory_id TEXT NOT NULL, task_id TEXT NOT NULL, current INTEGER NOT NULL,
            accepted INTEGER NOT NULL, gate_version TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, split TEXT NOT NULL,
            operator TEXT NOT NULL, collector TEXT NOT NULL, model TEXT NOT NULL, steps INTEGER NOT NULL, task_sha TEXT NOT NULL,
            trajectory_sha TEXT NOT NULL, ruling_sha TEXT NOT NULL)"""
    )
    db.execute("CREATE UNIQUE INDEX entry_current ON entry (trajectory_id) WHERE current")
    db.execute("CREATE INDEX entry_task ON entry (task_id)")
    db.execute(
        """CREATE TABLE reason (
            seq INTEGER NOT NULL REFERENCES entry, position INTEGER NOT NULL, gate_check TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (seq, position)) WITHOUT ROWID"""
    )


MIGRATIONS: tuple[Migration, ...] = (m001_tables,)


def schema_version(db: sqlite3.Connection) -> int:
    """How many migrations the file has seen."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the file to the last of ``migrations`` in one transaction: all or nothing. ``db`` commits by itself outside of ours."""
    if schema_version(db) >= len(migrations):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for migration in migrations[schema_version(db) :]:  # asked again: another process may have been faster
            migration(db)
        db.execute(f"PRAGMA user_version = {len(migrations)}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
