"""The library's tables, as an ordered list of steps. A step that was released is never changed: add another one.

``PRAGMA user_version`` holds how many steps a file has seen. The tables are for plain ``sqlite3`` too: everything that one asks
for is a column, and only whole records are packed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from swefuse.errors import DataError
from swefuse.library.bodies import fetch, read
from swefuse.library.facts import FACTS, WORDS, facts, words
from swefuse.records import Task, Trajectory

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


def m002_facts_and_words(db: sqlite3.Connection) -> None:
    """Columns for questions that m001 could not answer, and ``words``, a full-text index without the texts.

    ``entry.doc`` is the row in ``words``: the entries of one text, which was judged several times, share it.
    """
    for column in ("repo", "by_repository", "by_function", "shape", "part"):
        db.execute(f"ALTER TABLE entry ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE entry ADD COLUMN strength REAL")
    for column in ("characters", "doc"):
        db.execute(f"ALTER TABLE entry ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")
    # the words of a column are put in once each, folded by us: positions say nothing, and bm25 is about which columns hold a word
    db.execute(f"CREATE VIRTUAL TABLE words USING fts5({', '.join(WORDS)}, content='', tokenize='ascii')")
    db.execute("INSERT INTO words (words, rank) VALUES ('rank', 'bm25(5.0, 1.0, 3.0, 2.0)')")
    _fill(db)
    db.execute("CREATE INDEX entry_doc ON entry (doc)")
    # one index that answers for most columns, so that a question need not walk the whole rows
    fields = "accepted, kind, source, split, operator, collector, part, repo, strength, steps, characters, trajectory_id"
    db.execute(f"CREATE INDEX entry_fields ON entry (current, {fields})")
    db.execute("ALTER TABLE body ADD COLUMN size INTEGER AS (length(data)) VIRTUAL")
    db.execute("CREATE INDEX body_size ON body (size)")


def _fill(db: sqlite3.Connection) -> None:
    """Facts and words of the entries that m001 stored. A damaged one stays without them: ``verify`` is there to tell it."""
    docs: dict[tuple[str, str], int] = {}
    update = f"UPDATE entry SET doc = ?, {', '.join(f'{name} = ?' for name in FACTS)} WHERE seq = ?"  # noqa: S608 - constant text
    for seq, *shas in db.execute("SELECT seq, task_sha, trajectory_sha FROM entry ORDER BY seq").fetchall():
        doc = docs.setdefault((shas[0], shas[1]), seq)
        try:
            task, trajectory = read(Task, fetch(db, shas[0])), read(Trajectory, fetch(db, shas[1]))
        except DataError:
            continue
        db.execute(update, (doc, *facts(task, trajectory), seq))
        if doc == seq:
            index(db, doc, words(task, trajectory))


def index(db: sqlite3.Connection, doc: int, texts: tuple[str, ...]) -> None:
    """Put the words of a trajectory into the full-text index."""
    db.execute(f"INSERT INTO words (rowid, {', '.join(WORDS)}) VALUES (?, ?, ?, ?, ?)", (doc, *texts))  # noqa: S608 - constant text


def m003_tags(db: sqlite3.Connection) -> None:
    """``tag``: names that people give to trajectories; they stay when one is judged again."""
    db.execute(
        "CREATE TABLE tag (name TEXT NOT NULL, trajectory_id TEXT NOT NULL, PRIMARY KEY (name, trajectory_id)) WITHOUT ROWID"
    )
    db.execute("CREATE INDEX tag_trajectory ON tag (trajectory_id)")


def m004_splits(db: sqlite3.Connection) -> None:
    """``rule``: how the library is split, one row or none; ``place``: in which part each unit is; ``entry.part`` repeats it."""
    db.execute("CREATE TABLE rule (unit TEXT NOT NULL, shares TEXT NOT NULL, seed INTEGER NOT NULL)")
    db.execute("CREATE TABLE place (unit TEXT PRIMARY KEY, part TEXT NOT NULL) WITHOUT ROWID")


def m005_snapshots(db: sqlite3.Connection) -> None:
    """``snapshot``: a name for a set of entries, which ``member`` lists by ``seq``; nothing of it is ever changed."""
    db.execute(
        """CREATE TABLE snapshot (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, made TEXT NOT NULL, entries INTEGER NOT NULL,
            accepted INTEGER NOT NULL, fingerprint TEXT NOT NULL, content TEXT NOT NULL)"""
    )
    db.execute("CREATE TABLE member (snapshot INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (snapshot, seq)) WITHOUT ROWID")
    for table in ("snapshot", "member"):
        for change in ("UPDATE", "DELETE"):
            db.execute(
                f"CREATE TRIGGER {table}_{change.lower()} BEFORE {change} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'a snapshot is never changed'); END"
            )


MIGRATIONS: tuple[Migration, ...] = (m001_tables, m002_facts_and_words, m003_tags, m004_splits, m005_snapshots)


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
