"""Where the value model is sure that the verifier is wrong: candidates that are verified anew at the end, and tasks to look at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swefuse.collect.agent import Verify
from swefuse.errors import DataError
from swefuse.learn.update import Round
from swefuse.records import Pair, Task, Trajectory
from swefuse.tasks.store import save_lines
from swefuse.verify.many import Candidate

FILE = "suspects.jsonl"
MOST = 100  # that a run keeps, the surest first
REPEATS = 3


def doubted(seen: Round, number: int, least: float) -> list[dict[str, Any]]:
    """The pairs of round ``number``, counted from 1, whose loser the value model holds for the better with ``least`` or more."""
    flat = seen.data.flat
    return [
        {
            "round": number, "task": pair.task_id, "label": pair.label, "p": list(pair.p),
            "a": _told(flat[pair.a]), "b": _told(flat[pair.b]),
        }
        for pair in seen.pairs
        if against(pair) >= least
    ]  # fmt: skip


def against(pair: Pair) -> float:
    """The probability that the value model gives to the side that lost; 0 for a tie."""
    return {"A": pair.p[1], "B": pair.p[0]}.get(pair.label, 0.0)


def _told(one: Trajectory) -> dict[str, Any]:
    edit = next((step.raw for step in one.steps if step.trace is not None), "")
    return {"edit": edit, "files": dict(one.files), "outcome": one.verdict.outcome.value if one.verdict else ""}


def surest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most ``MOST`` of them, of each two candidates once, the surest first."""
    ordered = sorted(rows, key=lambda row: -max(row["p"][:2]))
    once = {json.dumps([row["task"], *sorted([row["a"]["edit"], row["b"]["edit"]])]): row for row in reversed(ordered)}
    return sorted(once.values(), key=lambda row: (-max(row["p"][:2]), row["round"], row["task"]))[:MOST]


def verified_again(rows: Sequence[dict[str, Any]], tasks: Sequence[Task], verify: Verify) -> list[dict[str, Any]]:
    """Rows with the outcomes of a fresh verification of both candidates, several times each; ``changed`` where one is another."""
    known = {task.id: task for task in tasks}
    items = [
        Candidate(known[row["task"]], {**known[row["task"]].files, **row[side]["files"]}, repeats=REPEATS, fresh=True)
        for row in rows
        for side in "ab"
    ]
    again = [verdict.outcome.value for verdict in verify(items)] if items else []
    found = []
    for number, row in enumerate(rows):
        now = again[2 * number : 2 * number + 2]
        found.append({**row, "again": now, "changed": now != [row["a"]["outcome"], row["b"]["outcome"]]})
    return found


def save(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """One JSON object a line; the file appears whole or not at all."""
    save_lines(path, map(json.dumps, rows))


def load(folder: Path) -> list[dict[str, Any]]:
    """What ``save`` wrote in a folder of stage 2; empty where there is none. Raises DataError for a damaged file."""
    path = folder / FILE
    if not path.exists():
        return []
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise DataError(f"{path} is damaged: {error}") from error


def lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """For a terminal: task by task, and what a fresh verification made of it."""
    told = []
    for row in rows:
        sides = [f"{row[side]['edit']!r} {row[side]['outcome']}, now {now}" for side, now in zip("ab", row["again"], strict=True)]
        verdict = "flaky" if row["changed"] else "perhaps a bad test"
        told += [f"suspect: task {row['task']} ({verdict}; the value model gives {max(row['p'][:2]):.2f} to the loser)"]
        told += [f"    {side}" for side in sides]
    return told
