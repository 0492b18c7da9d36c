"""Is a library whole, and what in it does nobody need? Each walks all of it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from swefuse.errors import DataError
from swefuse.library import bodies, snapshots, splitting
from swefuse.library.connection import Session
from swefuse.library.facts import WORDS, words
from swefuse.library.rows import check
from swefuse.records import Task, Trajectory

_MASK = 2**64 - 1
_NO_ENTRY = "sha NOT IN (SELECT task_sha FROM entry UNION SELECT trajectory_sha FROM entry UNION SELECT ruling_sha FROM entry)"


@dataclass(frozen=True, slots=True)
class Freed:
    """What was removed: entries, bodies, and bytes of the file."""

    entries: int
    bodies: int
    bytes: int


def verify(session: Session) -> list[str]:
    """Everything that is wrong with the file as it was at one moment; empty when it is whole.

    Reads every page, hashes every body again, compares each entry's columns and reasons with its records and the full-text index
    with the words of the trajectories, and looks whether splits and snapshots are what they were.
    """
    problems: list[str] = []
    try:
        with session.reading() as db:
            problems += [text for (text,) in db.execute("PRAGMA quick_check") if text != "ok"]
            for sha, data in db.execute("SELECT sha, data FROM body"):
                problems += _damage(partial(bodies.unpack, sha, data))
            docs: dict[int, int | None] = {}
            for seq, doc in db.execute("SELECT seq, doc FROM entry ORDER BY seq").fetchall():
                problems += _damage(partial(_check, db, seq, doc, docs))
            problems += _current(db)
            problems += _words(db, docs)
            problems += splitting.damaged(db)
            problems += snapshots.damaged(db)
    except DataError as error:
        problems.append(str(error))
    return list(dict.fromkeys(problems))


def _damage(look: Callable[[], object]) -> list[str]:
    try:
        look()
    except DataError as error:
        return [str(error)]
    return []


def _check(db: sqlite3.Connection, seq: int, doc: int, docs: dict[int, int | None]) -> None:
    """One entry; ``docs`` gets a sum over the words of its text, None where they cannot be known."""
    docs.setdefault(doc, None)
    row = check(db, seq)
    total = sum(hash((column, word)) for column, text in zip(WORDS, row.texts, strict=True) for word in text.split()) & _MASK
    if docs[doc] not in (None, total):
        raise DataError(f"entry {seq} ({row.trajectory_id}): its words are those of another trajectory")
    docs[doc] = total


def _current(db: sqlite3.Connection) -> Iterator[str]:
    for (name,) in db.execute("SELECT trajectory_id FROM entry GROUP BY 1 HAVING sum(current) != 1 ORDER BY 1"):
        yield f"trajectory {name} has no current entry"


def _words(db: sqlite3.Connection, docs: dict[int, int | None]) -> Iterator[str]:
    """Compare the full-text index with the sums of what it should hold."""
    held: Counter[int] = Counter(dict.fromkeys((doc for (doc,) in db.execute("SELECT id FROM words_docsize")), 0))
    db.execute("CREATE VIRTUAL TABLE temp.held USING fts5vocab('main', 'words', 'instance')")
    try:
        for term, doc, column in db.execute("SELECT term, doc, col FROM temp.held"):
            held[doc] += hash((column, term))
    finally:
        db.execute("DROP TABLE temp.held")
    for doc in sorted(docs.keys() | held.keys()):
        if doc not in held:
            yield f"the full-text index lacks the words of entry {doc}"
        elif doc not in docs:
            yield f"the full-text index holds words under {doc}, which is no entry's number"
        elif docs[doc] not in (None, held[doc] & _MASK):
            yield f"the full-text index holds other words under {doc} than the trajectory of that entry has"


def gc(session: Session, superseded: bool = False) -> Freed:
    """Remove bodies that nobody refers to and give the room back to the disk. Raises DataError where a body is damaged.

    With ``superseded`` entries that were judged again later go, too, unless a snapshot holds them.
    """
    before = _bytes(session.db())
    with session.writing() as db:
        entries = _forget(db) if superseded else 0
        removed = db.execute(f"DELETE FROM body WHERE {_NO_ENTRY}").rowcount  # noqa: S608 - constant text
    if entries or removed:
        session.db().execute("VACUUM")
    return Freed(entries, removed, before - _bytes(session.db()))


def _bytes(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA page_count").fetchone()[0]) * int(db.execute("PRAGMA page_size").fetchone()[0])


def _forget(db: sqlite3.Connection) -> int:
    """Remove superseded entries that no snapshot holds, with their reasons and, where no other entry has them, their words."""
    query = "SELECT seq, doc FROM entry WHERE NOT current AND seq NOT IN (SELECT seq FROM member)"
    old = db.execute(query).fetchall()
    texts = {doc: words(*_records(db, seq)) for seq, doc in old}
    db.executemany("DELETE FROM reason WHERE seq = ?", ((seq,) for seq, _ in old))
    db.executemany("DELETE FROM entry WHERE seq = ?", ((seq,) for seq, _ in old))
    delete = f"INSERT INTO words (words, rowid, {', '.join(WORDS)}) VALUES ('delete', ?, ?, ?, ?, ?)"  # noqa: S608 - constant text
    for doc, text in texts.items():
        if not db.execute("SELECT 1 FROM entry WHERE doc = ?", (doc,)).fetchone():
            db.execute(delete, (doc, *text))
    return len(old)


def _records(db: sqlite3.Connection, seq: int) -> tuple[Task, Trajectory]:
    entry = bodies.entry(db, seq)
    return entry.task, entry.trajectory
