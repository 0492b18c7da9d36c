"""Splits of a library into parts, such as train and test, that never divide what belongs together.

The unit is a repository, or a family of functions: equal bodies, and bodies that are nearly equal once local names are numbered. A
unit that has a part keeps it: what is added later goes where its family is, or is drawn when the library is split again. What is
nearly equal to functions of two parts goes into neither.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from swefuse.code.duplicates import SIMILAR, shingles
from swefuse.code.functions import Source, body_statements, definition, normal_names, rename
from swefuse.errors import DataError, UserError
from swefuse.library.bodies import fetch, read
from swefuse.library.connection import Session
from swefuse.library.rows import UNITS
from swefuse.library.snapshots import check_name
from swefuse.records import Task


@dataclass(frozen=True)
class Rule:
    """How a library is split: the unit, ``repository`` or ``function``, and the share of each part; they add up to 1."""

    unit: str
    shares: Mapping[str, float]
    seed: int = 0

    def check(self) -> None:
        """Raises UserError where it cannot be followed."""
        if self.unit not in UNITS:
            raise UserError(f"--by {self.unit}: a library is split by one of: {', '.join(UNITS)}")
        for part, share in self.shares.items():
            check_name("part", part)
            if not 0 < share <= 1:
                raise UserError(f"the share of {part} is {share:g}; a share is above 0 and at most 1")
        if abs(sum(self.shares.values()) - 1) > 1e-9:
            raise UserError(f"the shares add up to {sum(self.shares.values()):g}, not to 1")

    def row(self) -> tuple[str, str, int]:
        """As it is stored."""
        return self.unit, json.dumps(dict(self.shares)), self.seed

    def draw(self, unit: str) -> str:
        """The part of a unit that nothing else decides about: the same for every library with this rule."""
        point = int(hashlib.sha256(f"{self.seed}|{unit}".encode()).hexdigest()[:13], 16) / 16**13
        for part, share in self.shares.items():
            point -= share
            if point < 0:
                return part
        return list(self.shares)[-1]


@dataclass(frozen=True, slots=True)
class Split:
    """What came of it. ``units`` and ``entries``: how many of each part there are; ``placed``: units that got theirs just now;
    ``apart``: units in no part, because they are too much like those of several."""

    units: dict[str, int]
    entries: dict[str, int]
    placed: int
    apart: int


def split(session: Session, rule: Rule, anew: bool = False) -> Split:
    """Give every unit of a library its part by a rule, all earlier ones staying where they are; ``anew`` forgets those.

    Raises UserError for a rule that cannot be followed, DataError where the library is split by another one and ``anew`` is not
    given, or a body is damaged.
    """
    rule.check()
    with session.reading() as db:
        before = {} if anew else _places(db)
        new = _placed(db, rule, before)
    with session.writing() as db:
        known = db.execute("SELECT unit, shares, seed FROM rule").fetchone()
        if known and known != rule.row() and not anew:
            raise DataError(
                f"it is split by {known[0]} into {known[1]} with seed {known[2]} already; "
                "name the same again, or forget that with --anew"
            )
        if not anew and _places(db) != before:  # another process was faster
            new = _placed(db, rule, _places(db))
        if anew:
            db.execute("DELETE FROM place")
        if known != rule.row():
            db.execute("DELETE FROM rule")
            db.execute("INSERT INTO rule VALUES (?, ?, ?)", rule.row())
        db.executemany("INSERT INTO place VALUES (?, ?)", new.items())
        column = UNITS[rule.unit]
        part = f"coalesce((SELECT place.part FROM place WHERE place.unit = entry.{column}), '')"  # noqa: S608 - constant
        db.execute(f"UPDATE entry SET part = {part} WHERE part != {part}")  # noqa: S608 - constant text
        return _told(db, rule, len(new))


def _told(db: sqlite3.Connection, rule: Rule, placed: int) -> Split:
    column = UNITS[rule.unit]
    query = f"SELECT part, count(DISTINCT {column}), sum(current) FROM entry GROUP BY part"  # noqa: S608 - constant text
    rows = {part: (units, entries) for part, units, entries in db.execute(query)}
    units = {part: rows.get(part, (0, 0))[0] for part in rule.shares}
    return Split(units, {part: rows.get(part, (0, 0))[1] for part in rule.shares}, placed, rows.get("", (0, 0))[0])


def _places(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT unit, part FROM place"))


def damaged(db: sqlite3.Connection) -> list[str]:
    """Is any entry in another part than its unit?"""
    rule = db.execute("SELECT unit FROM rule").fetchone()
    if rule is None:
        return []
    query = f"""SELECT count(*) FROM entry LEFT JOIN place ON place.unit = entry.{UNITS[rule[0]]}
        WHERE entry.part != coalesce(place.part, '')"""  # noqa: S608 - constant text
    (wrong,) = db.execute(query).fetchone()
    return [f"{wrong} entries are in another part than their {rule[0]}"] if wrong else []


def _placed(db: sqlite3.Connection, rule: Rule, before: Mapping[str, str]) -> dict[str, str]:
    """The parts of units that have none yet."""
    column = UNITS[rule.unit]
    found = db.execute(f"SELECT {column}, task_sha, min(seq) FROM entry GROUP BY {column}").fetchall()  # noqa: S608 - constant
    new = sorted(unit for unit, _, _ in found if unit not in before)
    if rule.unit == "repository" or not new:
        return {unit: rule.draw(unit) for unit in new}
    texts = {unit: code(read(Task, fetch(db, sha))) for unit, sha, _ in found}
    made: dict[str, str] = {}
    near = neighbours(texts)
    for family in _families(new, near):
        touched = {before[other] for unit in family for other in near[unit] if other in before}
        if len(touched) <= 1:
            part = next(iter(touched), None) or rule.draw(family[0])
            made.update(dict.fromkeys(family, part))
    return made


def _families(units: list[str], near: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Units that hang together, each family sorted."""
    left = set(units)
    for unit in units:
        if unit not in left:
            continue
        left.remove(unit)
        family, open_ = [unit], [unit]
        while open_:
            reached = near[open_.pop()] & left
            left -= reached
            family += reached
            open_ += reached
        yield sorted(family)


def neighbours(texts: Mapping[str, str], similar: float = SIMILAR) -> dict[str, set[str]]:
    """For each key the others whose texts are alike: an exact Jaccard similarity of shingles of at least ``similar``, in (0, 1].

    Two such sets share one of their rarest members, namely one of the first ``n - ceil(similar * n) + 1`` (Chaudhuri, Ganti and
    Kaushik, A Primitive Operator for Similarity Joins, 2006), so few pairs are compared.
    """
    sets = {key: frozenset(shingles(text)) for key, text in texts.items()}
    often = Counter(one for members in sets.values() for one in members)
    holders: dict[str, list[str]] = defaultdict(list)
    near: dict[str, set[str]] = {key: set() for key in texts}
    for key, members in sets.items():
        rarest = sorted(members, key=lambda one: (often[one], one))
        first = rarest[: len(rarest) - _ceil(similar * len(rarest)) + 1]
        for other in {other for one in first for other in holders[one]}:
            if _alike(members, sets[other], similar):
                near[key].add(other)
                near[other].add(key)
        for one in first:
            holders[one].append(key)
    return near


def _ceil(value: float) -> int:
    return -int(-(value - 1e-9) // 1)


def _alike(one: frozenset[str], other: frozenset[str], similar: float) -> bool:
    common = len(one & other)
    return common >= similar * (len(one) + len(other) - common) - 1e-9


def code(task: Task) -> str:
    """The function that a task is about, as it should be, locals numbered and layout left out; else the lines that are to change.

    A task with neither is its instruction.
    """
    files = task.reference or task.files
    name = task.provenance.function.rpartition(":")[2]
    for path in (path for path in task.editable if name and path.endswith(".py") and path in files):
        try:
            return _normal(files[path], name)
        except (DataError, SyntaxError, ValueError, RecursionError):
            continue
    changed = (task.reference or {}).items() - task.files.items()
    lines = [line for path, text in sorted(changed) for line in _without(text, task.files.get(path, ""))]
    return "\n".join(lines) or task.instruction


def _normal(text: str, name: str) -> str:
    source = Source(text)
    node = definition(source.tree, name)
    if not isinstance(node, ast.FunctionDef):
        return ast.unparse(node)
    renamed = definition(ast.parse(rename(source, node, normal_names(node))), name)
    return "\n".join(map(ast.unparse, body_statements(renamed))) if isinstance(renamed, ast.FunctionDef) else ast.unparse(node)


def _without(text: str, before: str) -> Iterable[str]:
    known = set(before.split("\n"))
    return (line for line in text.split("\n") if line not in known)
