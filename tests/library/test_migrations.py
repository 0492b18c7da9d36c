"""A file is at one schema or the next, never between."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from swefuse.library.migrations import MIGRATIONS, migrate, schema_version


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        yield opened


def m002_ok(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE entry ADD COLUMN note TEXT")


def m003_fails_late(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE extra (x)")
    db.execute("INSERT INTO nowhere VALUES (1)")


def test_steps_are_taken_once_and_in_order(db: sqlite3.Connection) -> None:
    migrate(db)
    assert schema_version(db) == len(MIGRATIONS)
    migrate(db)
    migrate(db, (*MIGRATIONS, m002_ok))
    migrate(db, (*MIGRATIONS, m002_ok))
    assert schema_version(db) == len(MIGRATIONS) + 1


def test_a_step_that_fails_takes_all_new_ones_back(db: sqlite3.Connection) -> None:
    migrate(db)
    before = db.execute("SELECT sql FROM sqlite_master ORDER BY 1").fetchall()
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(db, (*MIGRATIONS, m002_ok, m003_fails_late))
    assert db.execute("SELECT sql FROM sqlite_master ORDER BY 1").fetchall() == before
    assert schema_version(db) == len(MIGRATIONS)
