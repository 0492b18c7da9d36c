"""Best of N: which of several candidates of a task to keep when only one may be, by different judges, and how often that passes.

``random`` keeps any of them, ``oracle`` one that passes if there is one: between these lies what a judge can gain. ``majority``
keeps the final state that most candidates came to, ``logprob`` the one that the policy found likeliest, ``value`` the one that wins
most against the others by the value model. Of equals the first is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from swefuse.errors import DataError

MOST = 16


@dataclass(frozen=True, slots=True)
class Sample:
    """One sampled episode: whether it passed (None: not graded), its final state, the sum of the log-probs of what was written, the
    value model's score (None without one), and how many tokens were written."""

    passed: bool | None
    final: str
    logprob: float
    value: float | None
    tokens: int


def _oracle(group: Sequence[Sample]) -> list[float]:
    return [float(bool(one.passed)) for one in group]


def _majority(group: Sequence[Sample]) -> list[float]:
    votes = Counter(one.final for one in group)
    return [float(votes[one.final]) for one in group]


def _logprob(group: Sequence[Sample]) -> list[float]:
    return [one.logprob for one in group]


def _value(group: Sequence[Sample]) -> list[float] | None:
    return None if any(one.value is None for one in group) else [one.value or 0.0 for one in group]


JUDGES: dict[str, Callable[[Sequence[Sample]], list[float] | None]] = {
    "majority": _majority, "logprob": _logprob, "value": _value, "oracle": _oracle,
}  # fmt: skip


def best_of(samples: Sequence[Sample], n: int, judge: str) -> float | None:
    """Share in [0, 1] of the disjoint groups of ``n`` graded samples in which the one that ``judge`` keeps passed.

    ``random`` counts what any of them gives on average. None where no group is full, and for ``value`` without scores. Raises
    DataError unless ``1 <= n <= MOST``.
    """
    if not 1 <= n <= MOST:
        raise DataError(f"best of {n}: from 1 to {MOST} candidates can be compared")
    graded = [one for one in samples if one.passed is not None]
    groups = [graded[at : at + n] for at in range(0, len(graded) - n + 1, n)]
    if judge == "random":
        return fmean(fmean(_oracle(group)) for group in groups) if groups else None
    won = []
    for group in groups:
        scores = JUDGES[judge](group)
        if scores is None:
            return None
        won.append(bool(group[max(range(n), key=lambda at: (scores[at], -at))].passed))
    return fmean(won) if won else None


def headroom(random: float | None, judged: float | None, oracle: float | None) -> float | None:
    """The share of what the oracle gains over a random choice that a judge gains; negative where it is worse than chance.

    None where there is nothing to gain, or one of them is not known.
    """
    if random is None or judged is None or oracle is None or oracle <= random:
        return None
    return (judged - random) / (oracle - random)
