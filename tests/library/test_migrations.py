"""A file is at one schema or the next, never between."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from store_samples import varied, write_first_version

from swefuse.library import Filter, Library
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


def rows(library: Library) -> list[tuple[object, ...]]:
    return library._db().execute("SELECT * FROM entry ORDER BY seq").fetchall()


def test_a_library_of_the_first_version_opens_and_knows_what_a_new_one_knows(tmp_path: Path) -> None:
    again = varied("b", refused=True, repo="you/other")
    batch = [varied("a", repo="me/tool", strength=0.7, instruction="the timezone"), varied("b", repo="you/other"), again]
    write_first_version(tmp_path / "old.db", batch)
    with Library(tmp_path / "old.db") as old, Library(tmp_path / "new.db", create=True) as new:
        assert schema_version(old._db()) == len(MIGRATIONS)
        assert old.verify() == []
        for entry in batch:
            new.add_many([entry])
        for which in (Filter(), Filter(repo="me/tool"), Filter(query="timezone"), Filter(query="sign"), Filter(min_strength=0.5)):
            assert old.search(which) == new.search(which)
        assert old.stats() == new.stats() and old.fingerprint() == new.fingerprint()
        assert rows(old) == rows(new)
        assert old.add_many([again]) == 0 and old.add_many([varied("c")]) == 1


def test_a_damaged_entry_of_the_first_version_does_not_keep_the_others(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    write_first_version(path, [varied("a"), varied("b")])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE body SET data = zeroblob(9) WHERE sha = (SELECT trajectory_sha FROM entry WHERE trajectory_id = 'a')")
    with Library(path) as library:
        assert library.get("b") == varied("b") and library.count(Filter(query="repair")) == 1
        assert any("is damaged" in problem for problem in library.verify())
