"""Counts of a library, for people and reports."""

from __future__ import annotations

import sqlite3
from collections import Counter

from swefuse.library.entries import Spread, Stats
from swefuse.library.selection import Scope, split_column

_DIFFERENT = {
    "tasks": "count(DISTINCT task_id)",
    "functions": "count(DISTINCT by_function)",
    "repositories": "count(DISTINCT nullif(repo, ''))",
    "edits": "count(DISTINCT nullif(shape, ''))",
}


def stats(db: sqlite3.Connection, among: Scope) -> Stats:
    """Counts of the entries of a scope. ``db`` must be in one transaction."""
    columns = {"kind": "kind", "source": "source", "split": split_column(db), "operator": "operator", "collector": "collector"}
    groups = ", ".join(columns.values())
    query = f"SELECT accepted, count(*), {groups} FROM entry WHERE {among.where} GROUP BY accepted, {groups}"  # noqa: S608 - constant
    rows = db.execute(query).fetchall()
    totals: Counter[tuple[str, str, int]] = Counter()
    for accepted, number, *values in rows:
        for name, value in zip(columns, values, strict=True):
            totals[name, value, accepted] += number
    by: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in columns}
    for name, value, _ in sorted(totals):
        by[name][value] = (totals[name, value, 1], totals[name, value, 0])
    accepted, refused = (sum(row[1] for row in rows if row[0] == flag) for flag in (1, 0))
    reasons = f"""SELECT gate_check, count(DISTINCT seq) FROM reason
        WHERE seq IN (SELECT seq FROM entry WHERE {among.where}) GROUP BY 1 ORDER BY 1"""  # noqa: S608 - constant
    different = f"SELECT {', '.join(_DIFFERENT.values())} FROM entry WHERE {among.where} AND accepted = 1"  # noqa: S608 - constant
    tags = f"""SELECT name, count(*) FROM tag
        WHERE trajectory_id IN (SELECT trajectory_id FROM entry WHERE {among.where}) GROUP BY 1 ORDER BY 1"""  # noqa: S608 - constant
    return Stats(
        accepted, refused, by, dict(db.execute(reasons).fetchall()),
        db.execute("SELECT count(*) FROM entry WHERE current = 0").fetchone()[0],
        db.execute("SELECT coalesce(sum(size), 0) FROM body WHERE size >= 0").fetchone()[0],
        _spread(db, "steps", among), _spread(db, "characters", among),
        dict(zip(_DIFFERENT, db.execute(different).fetchone(), strict=True)), dict(db.execute(tags).fetchall()),
    )  # fmt: skip


def _spread(db: sqlite3.Connection, column: str, among: Scope) -> Spread:
    """How a column lies among accepted entries; the middle of an even number is the lesser of the two."""
    query = f"SELECT {column}, count(*) FROM entry WHERE {among.where} AND accepted = 1 GROUP BY 1 ORDER BY 1"  # noqa: S608 - constant
    rows = db.execute(query).fetchall()
    total = sum(number for _, number in rows)
    if not total:
        return Spread()
    mean = sum(value * number for value, number in rows) / total
    return Spread(rows[0][0], _at(rows, (total + 1) // 2), _at(rows, -(-total * 9 // 10)), rows[-1][0], mean)


def _at(rows: list[tuple[int, int]], rank: int) -> int:
    """The value of that rank, counted from 1, among values with how often each occurs."""
    seen = 0
    for value, number in rows:
        seen += number
        if seen >= rank:
            return value
    return rows[-1][0]
