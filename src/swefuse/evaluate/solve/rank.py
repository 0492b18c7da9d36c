"""Which of several candidates is kept, in which order the others come, and how sure that is.

Tests come first: what mends and breaks nothing is above what only a model likes. Among equals the value model decides, else the
probability that the policy gave. Confidence looks at the model's verdict alone, so that it says what the tests cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from statistics import fmean
from typing import Any

from swefuse.records import Outcome, Suite, Verdict

Probabilities = tuple[float, float, float]


class Level(IntEnum):
    """What the tests say of a candidate, the better the higher. Only PROVEN is offered without a warning."""

    UNJUDGED = 0
    BREAKS = 1
    NO_EFFECT = 2
    MIXED = 3
    MENDS = 4
    PROVEN = 5


WORDS: Mapping[Level, str] = {
    Level.UNJUDGED: "not judged",
    Level.BREAKS: "breaks tests",
    Level.NO_EFFECT: "no test changes",
    Level.MIXED: "mends more than it breaks",
    Level.MENDS: "mends some, breaks none",
    Level.PROVEN: "all tests pass",
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate before any test. ``files``: path -> text of what it changes; ``did``: that in words; ``chance`` in [0, 1]: what
    the model gives it; ``logprob`` of what it wrote, None where that is not known; ``origin``: how it came about, for a value
    model."""

    files: dict[str, str]
    did: str
    chance: float
    logprob: float | None = None
    origin: Any = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal and what became of it. ``mended``, ``broken``: tests that changed sides; ``value``: the value model's score."""

    proposal: Proposal
    level: Level
    mended: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    value: float | None = None
    verdict: Verdict | None = None


def judged(proposal: Proposal, verdict: Verdict | None, suite: Suite | None, value: float | None = None) -> Candidate:
    """The candidate of a verdict by the tests of a suite; without either it is UNJUDGED, as after a failure of the sandbox."""
    if verdict is None or suite is None or not verdict.outcome.graded:
        return Candidate(proposal, Level.UNJUDGED, value=value, verdict=verdict)
    passed = {id_ for id_, result in verdict.tests.items() if result.outcome == "passed"}
    mended = tuple(id_ for id_ in suite.fail_to_pass if id_ in passed)
    broken = tuple(id_ for id_ in suite.pass_to_pass if id_ not in passed)
    level = Level.BREAKS
    if verdict.outcome is Outcome.PASSED:
        level = Level.PROVEN if mended else Level.NO_EFFECT
    elif mended and not broken:
        level = Level.MENDS
    elif len(mended) > len(broken):
        level = Level.MIXED
    elif not broken and not mended and verdict.outcome is Outcome.FAILED:
        level = Level.NO_EFFECT
    return Candidate(proposal, level, mended, broken, value, verdict)


def order(candidates: Sequence[Candidate]) -> list[int]:
    """Positions, the best first; of equals the one that was proposed first."""

    def key(at: int) -> tuple[float, ...]:
        one = candidates[at]
        liked = one.proposal.chance if one.value is None else one.value
        return -one.level, len(one.broken) - len(one.mended), -liked, -one.proposal.chance, at

    return sorted(range(len(candidates)), key=key)


@dataclass(frozen=True, slots=True)
class Confidence:
    """``value`` in [0, 1], see ``confidence``; ``entropy``: the mean normalised entropy of the verdicts; both None without another
    candidate. ``preferred`` of ``others``: those to which the verdict prefers the chosen one."""

    value: float | None
    entropy: float | None
    preferred: int
    others: int


def confidence(verdicts: Sequence[Probabilities], entropies: Sequence[float]) -> Confidence:
    """How sure the model is of the chosen candidate: the mean, over the others, of ``1 - H(P)/ln 3`` where P prefers it, else 0.

    ``verdicts``: (chosen better, other better, tie) for each other candidate; ``entropies``: H(P)/ln 3 of each. A sure tie is no
    confidence: two candidates that are both wrong are as sure a tie as two that are both right.
    """
    if not verdicts:
        return Confidence(None, None, 0, 0)
    preferred = [p[0] > max(p[1], p[2]) for p in verdicts]
    value = fmean((1 - min(1.0, h)) * yes for h, yes in zip(entropies, preferred, strict=True))
    return Confidence(value, fmean(min(1.0, h) for h in entropies), sum(preferred), len(verdicts))
