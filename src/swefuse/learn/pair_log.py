"""A few pairs of every round with what the value model said of them, for people to look at: ``pairs.jsonl`` of a stage-2 folder."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator, Sequence
from typing import Any

from swefuse.learn.settings import RlvrSettings
from swefuse.learn.suspects import against
from swefuse.learn.update import Round
from swefuse.records import Pair, Task, Trajectory

FILE = "pairs.jsonl"
MOST = 4000  # of a whole run, however many rounds it has
OF_ROUND = 32
LENGTH = 2000  # characters of a text


def rows(seen: Round, number: int, settings: RlvrSettings) -> Iterator[dict[str, Any]]:
    """Rows for some pairs of round ``number``, counted from 0: those that the value model judged otherwise than the verifier, the
    surest first, make at most half of them; the others are drawn by chance, the same ones for the same seed.

    A row holds the verdict ``p`` with its entropy ``h``, both chances ``q``, the label, the weight and how it was made (``mode``,
    ``lam``, ``tau`` and the ``noise`` that was fitted), and of each side what was written, as a diff, and its outcome.
    """
    how, flat = seen.how, seen.data.flat
    tasks = {task.id: task for task in seen.data.tasks}
    shared = {"mode": how.mode, "lam": how.lam, "tau": how.tau, "noise": [how.false_pass, how.false_fail]}
    if not seen.weighted:
        shared["mode"] = "off"
    for pair in chosen(seen.pairs, number, settings):
        told = pair.model_dump(mode="json", include={"label", "p", "h", "q", "weight", "expected", "reliability", "strength"})
        task = tasks[pair.task_id]
        sides = {"a": _told(task, flat[pair.a]), "b": _told(task, flat[pair.b])}
        yield {"round": number + 1, "task": pair.task_id, **told, **shared, **sides}


def chosen(pairs: Sequence[Pair], number: int, settings: RlvrSettings) -> list[Pair]:
    """The pairs of a round that are kept, at least two of them where there are as many."""
    count = max(2, min(OF_ROUND, MOST // settings.rounds))
    doubted = sorted((pair for pair in pairs if against(pair) > 0.5), key=lambda pair: -against(pair))[: count // 2]
    taken = {(pair.a, pair.b) for pair in doubted}
    others = [pair for pair in pairs if (pair.a, pair.b) not in taken]
    drawn = random.Random(f"pairs-{settings.seed}-{number}").sample(others, min(len(others), count - len(doubted)))
    return [*doubted, *drawn]


def _told(task: Task, one: Trajectory) -> dict[str, Any]:
    edit = next((step.raw for step in one.steps if step.trace is not None), "")
    return {"edit": _cut(edit), "diff": _cut(_diff(task, one)), "outcome": one.verdict.outcome.value if one.verdict else ""}


def _diff(task: Task, one: Trajectory) -> str:
    found: list[str] = []
    for path, text in sorted(one.files.items()):
        before = task.files.get(path, "")
        found += difflib.unified_diff(before.splitlines(True), text.splitlines(True), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in found)


def _cut(text: str) -> str:
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}…"
