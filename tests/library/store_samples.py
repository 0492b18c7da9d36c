"""Entries that differ in what a library is asked for, and a file as the first version wrote it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from library_samples import entries

from swefuse.library import Entry
from swefuse.library.bodies import key, pack, written
from swefuse.library.migrations import APPLICATION_ID, MIGRATIONS, migrate
from swefuse.records import Evidence, Provenance, Task

BODY = """def {name}(values, low):
    \"\"\"Text {name}.\"\"\"
    total = 0
    for one in values:
        if one > low + {number}:
            total = total + one * {number}
        elif one == {number}:
            continue
    print({name!r}, {number}, total, [each for each in values if each % {number}])
    return total
"""


def varied(name: str, refused: bool = False, **fields: Any) -> Entry:
    """An entry; ``fields`` are those of its task's provenance, of the task (``kind``, ``instruction``, …), or its ``strength``."""
    (made,) = entries([name], refused=[name] if refused else [])
    origin = {one: fields.pop(one) for one in list(fields) if one in Provenance.model_fields}
    if (strength := fields.pop("strength", None)) is not None:
        fields["evidence"] = Evidence(repeats=2, reference_passes=True, null_fails=True, strength=strength)
    task = made.task.model_copy(update={"provenance": Provenance(**{"source": "corpus", **origin}), **fields})
    return Entry(task, made.trajectory, made.verdict, made.decision)


def about(name: str, text: str, function: str, body_hash: str, **origin: str) -> Entry:
    """An entry whose task is about a function of this text."""
    files = {"m.py": text}
    return varied(
        name,
        files=files,
        reference=files,
        editable=("m.py",),
        id=f"task-{body_hash}",
        function=function,
        body_hash=body_hash,
        **origin,
    )


def different(number: int) -> Entry:
    """An entry about a function that is like no other."""
    words = [f"w{number}x{at}" for at in range(30)]
    text = f"def f{number}(a):\n    return a(" + ", ".join(f"{word!r}" for word in words) + ")\n"
    return about(f"t{number:04}", text, f"f{number}", f"hash{number}")


def like(number: int, variant: int) -> Entry:
    """One of several entries about nearly the same function."""
    text = BODY.format(name=f"g{number}", number=number) + f"    # {variant}\n"
    text = text.replace("return total\n", f"return total or {variant}\n")
    return about(f"n{number:02}-{variant}", text, f"g{number}", f"near{number}-{variant}")


def task_of(entry: Entry, **fields: Any) -> Task:
    """The task with other fields."""
    return entry.task.model_copy(update=fields)


def write_first_version(path: Path, batch: list[Entry]) -> None:
    """A file as version 1 of the schema left it; a trajectory that comes again supersedes itself."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(db, MIGRATIONS[:1])
        for seq, entry in enumerate(batch, 1):
            task, way = entry.task, entry.trajectory
            bodies = {key(body): pack(body) for body in written(entry)}
            db.executemany("INSERT OR IGNORE INTO body VALUES (?, ?)", bodies.items())
            db.execute("UPDATE entry SET current = 0 WHERE trajectory_id = ?", (way.id,))
            row = (
                seq, way.id, task.id, 1, int(entry.decision.accepted), entry.decision.gate_version, task.kind.value,
                task.provenance.source, task.split, task.provenance.operator, way.source, way.policy.model, len(way.steps),
                *map(key, written(entry)),
            )  # fmt: skip
            db.execute(f"INSERT INTO entry VALUES ({', '.join('?' * len(row))})", row)
            for position, text in enumerate(entry.decision.reasons):
                db.execute("INSERT INTO reason VALUES (?, ?, ?, ?)", (seq, position, text.partition(": ")[0], text))
