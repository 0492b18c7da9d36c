"""Pairs of one task's candidates, labelled by the verifier's scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from swefuse.records import Outcome, Pair, Task, Verdict


def label(score_a: float, score_b: float, delta: float) -> str:
    """``A``, ``B`` or ``tie``: a difference of at most ``delta`` decides nothing (algorithm.md section 2)."""
    if score_a - score_b > delta:
        return "A"
    return "B" if score_b - score_a > delta else "tie"


def reward(verdict: Verdict, kind: str) -> float:
    """What a graded candidate earns: ``score`` as verified, or with ``passed`` 1 for PASSED and 0 otherwise."""
    return float(verdict.outcome is Outcome.PASSED) if kind == "passed" else verdict.score


def make_pairs(task: Task, verdicts: Sequence[Verdict], kind: str = "passed", delta: float = 0.05) -> list[Pair]:
    """Every pair of graded candidates of a task. What was not graded (FLAKY, INFRA) is in no pair: it neither wins nor loses."""
    graded = [number for number, verdict in enumerate(verdicts) if verdict.outcome.graded]
    strength = task.evidence.strength if task.evidence else None
    found = []
    for a, b in combinations(graded, 2):
        winner = label(reward(verdicts[a], kind), reward(verdicts[b], kind), delta)
        agreed = min(verdicts[a].repeats, verdicts[b].repeats)
        row = {"task_id": task.id, "a": a, "b": b, "label": winner, "reliability": agreed, "strength": strength}
        found.append(Pair.model_validate(row))
    return found
