"""From a filter to SQL: which entries match, and in which order."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, fields
from typing import Any

from swefuse.errors import DataError
from swefuse.library.entries import Filter
from swefuse.library.facts import terms

MANY = 10_000  # matches of a search beyond which relevance, which must look at each, gives way to age
_EQUAL = ("accepted", "kind", "source", "operator", "collector", "task_id", "repo")
_CLAUSES = {
    **{name: f"{name} = :{name}" for name in _EQUAL},
    "min_strength": "strength >= :min_strength",
    "min_steps": "steps >= :min_steps",
    "max_steps": "steps <= :max_steps",
    "refused_by": "EXISTS (SELECT 1 FROM reason WHERE reason.seq = entry.seq AND gate_check = :refused_by)",
    "tag": "EXISTS (SELECT 1 FROM tag WHERE tag.trajectory_id = entry.trajectory_id AND tag.name = :tag)",
}
_QUERY = "doc IN (SELECT rowid FROM words WHERE words MATCH :match)"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which entries a library speaks of: the current ones, or those of a snapshot. ``where`` is SQL, ``snapshot`` its number."""

    where: str = "current = 1"
    snapshot: int | None = None


def scope(db: sqlite3.Connection, snapshot: str | None) -> Scope:
    """The scope of a snapshot's name. Raises DataError, naming those that there are, where there is none of that name."""
    if snapshot is None:
        return Scope()
    names = dict(db.execute("SELECT name, id FROM snapshot").fetchall())
    if snapshot not in names:
        raise DataError(f"there is no snapshot {snapshot!r}; snapshots: {', '.join(sorted(names)) or 'none'}")
    number = int(names[snapshot])
    return Scope(f"seq IN (SELECT seq FROM member WHERE snapshot = {number})", number)  # noqa: S608 - a number


def split_column(db: sqlite3.Connection) -> str:
    """The column that tells the split of an entry: the library's own once it is split, else the task's."""
    return "part" if db.execute("SELECT 1 FROM rule").fetchone() else "split"


def match(query: str) -> str:
    """A search of people as one of FTS5: each word as it stands, all of them wanted. Raises DataError where there is no word.

    Nothing has a meaning of its own but the ``*`` behind a word. Example: ``time* "UTC" AND`` -> ``"time" * "utc" "and"``.
    """
    found: list[str] = []
    for part in re.split(r"(\w+\*?)", query):
        words = [f'"{word}"' for word in terms(part)]
        found += [*words[:-1], f"{words[-1]} *" if part.endswith("*") else words[-1]] if words else []
    if not found:
        raise DataError(f"the search {query!r} holds no word; give some letters or digits")
    return " ".join(found)


def where(db: sqlite3.Connection, which: Filter, among: Scope, searched: bool = False) -> tuple[str, dict[str, Any]]:
    """A condition on ``entry`` with its parameters. ``searched``: ``words`` is joined, and ``:match`` put to it, elsewhere."""
    values = {each.name: getattr(which, each.name) for each in fields(which) if getattr(which, each.name) is not None}
    held = among.where if which.query is None else f"+{among.where}"  # + keeps SQLite from walking an index where words lead
    clauses = [held, *(_CLAUSES[name] for name in values if name in _CLAUSES)]
    if which.split is not None:
        clauses.append(f"{split_column(db)} = :split")
    if which.query is not None:
        values["match"] = match(which.query)
        clauses += [] if searched else [_QUERY]
    return " AND ".join(clauses), values


def found(
    db: sqlite3.Connection, which: Filter, among: Scope, limit: int | None, offset: int, many: int = MANY
) -> list[int]:  # fmt: skip
    """Numbers of the entries that match, the newest first; with a query the most relevant, unless more than ``many`` match it."""
    condition, values = where(db, which, among, searched=True)
    source, order = "entry", "seq DESC"
    if which.query is not None:
        count = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        ranked = db.execute(count, (values["match"], many + 1)).fetchone()[0] <= many
        source, order = "words CROSS JOIN entry ON doc = words.rowid", f"{'rank' if ranked else 'words.rowid DESC'}, seq DESC"
        condition = f"words MATCH :match AND {condition}"
    page = {"limit": -1 if limit is None else limit, "offset": offset}
    text = f"SELECT seq FROM {source} WHERE {condition} ORDER BY {order} LIMIT :limit OFFSET :offset"  # noqa: S608 - constant text
    return [seq for (seq,) in db.execute(text, {**values, **page})]
