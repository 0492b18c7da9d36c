"""Verdicts with known errors, for experiments: what a bad verifier would have recorded, and the truth beside it.

Errors hang on the seed and on what was verified, so that a wrong candidate which once passes always passes, as with weak tests;
``flaky`` alone draws anew at each verification. Every graded verdict gets two parts: ``truth``, 1 or 0, and ``agreement``, the
share of repeats that said what is recorded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from swefuse.records import Outcome, Verdict
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

NoiseKind = Literal["clean", "false_pass", "false_fail", "flaky", "weak_tests", "lenient"]
KINDS: tuple[NoiseKind, ...] = ("clean", "false_pass", "false_fail", "flaky", "weak_tests", "lenient")
REPEATS = 3  # of a flaky verification; most of them decide


@dataclass(frozen=True, slots=True)
class Noise:
    """What goes wrong in a verifier, at which rate.

    ``false_pass``, ``false_fail``: so many failing (passing) candidates are recorded as the other. ``flaky``: each of three runs is
    wrong at this rate. ``weak_tests``: so many of a task's tests are missing. ``lenient``: of wrong candidates that make the code
    shorter so many pass, an error that has a direction and so can be learnt.
    """

    kind: NoiseKind = "clean"
    rate: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"noise {self.kind!r} is none of {', '.join(KINDS)}")
        if not 0 <= self.rate <= 1 or (self.kind == "clean") != (self.rate == 0):
            raise ValueError(f"the rate of {self.kind} must lie in (0, 1], and is 0 for clean alone; it is {self.rate}")

    @property
    def name(self) -> str:
        """For tables: the kind and its rate."""
        return "clean" if self.kind == "clean" else f"{self.kind} {self.rate:.0%}"


@dataclass(slots=True)
class NoisyVerify:
    """``verify`` as an agent takes it, with errors on every changed state. ``seen`` and ``wrong`` count graded ones."""

    verify: Callable[[Sequence[Candidate]], Iterable[Verdict]]
    noise: Noise
    seen: int = 0
    wrong: int = 0
    _times: dict[tuple[str, str], int] = field(default_factory=dict)

    def __call__(self, items: Sequence[Candidate]) -> Iterator[Verdict]:
        """Verdicts in the order of the items; the initial state of a task is told as it is."""
        for item, verdict in zip(items, self.verify(items), strict=True):
            if not verdict.outcome.graded:
                yield verdict
            elif dict(item.files) == dict(item.task.files):
                yield _with(verdict, verdict.outcome is Outcome.PASSED, 1.0)
            else:
                yield self._recorded(item, verdict)

    def _recorded(self, item: Candidate, verdict: Verdict) -> Verdict:
        true = verdict.outcome is Outcome.PASSED
        said, agreement = self._say(item, verdict, true)
        self.seen += 1
        self.wrong += said != true
        changed = _with(verdict, true, agreement)
        if said == true:
            return changed
        outcome = Outcome.PASSED if said else Outcome.FAILED
        return changed.model_copy(update={"outcome": outcome, "score": float(said), "reason": "" if said else "recorded as failed"})

    def _say(self, item: Candidate, verdict: Verdict, true: bool) -> tuple[bool, float]:
        """Whether it is recorded as passed, and the agreement of the runs behind that."""
        noise, state = self.noise, (item.task.id, ref(dict(item.files)))
        hit = _draw(noise.seed, *state) < noise.rate
        if noise.kind == "false_pass":
            return true or hit, 1.0
        if noise.kind == "false_fail":
            return true and not hit, 1.0
        if noise.kind == "weak_tests":
            kept = [test for test in verdict.tests if _draw(noise.seed, item.task.id, test) >= noise.rate]
            return all(verdict.tests[test].outcome == "passed" for test in kept), 1.0
        if noise.kind == "lenient":
            return true or (hit and _size(item.files) < _size(item.task.files)), 1.0
        if noise.kind == "flaky":
            time = self._times[state] = self._times.get(state, 0) + 1
            runs = [true != (_draw(noise.seed, *state, time, run) < noise.rate) for run in range(REPEATS)]
            said = sum(runs) * 2 > REPEATS
            return said, runs.count(said) / REPEATS
        return true, 1.0


def _with(verdict: Verdict, true: bool, agreement: float) -> Verdict:
    return verdict.model_copy(update={"parts": {**verdict.parts, "truth": float(true), "agreement": agreement}})


def _size(files: Mapping[str, str]) -> int:
    return sum(map(len, files.values()))


def _draw(*what: object) -> float:
    """A number in [0, 1) that hangs on ``what`` alone."""
    return int(hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12], 16) / 16**12
