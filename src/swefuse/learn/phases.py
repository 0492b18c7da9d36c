"""What a round's time went into, with what ran at the same time, and a few lines that tell it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from swefuse.collect.agent import Verify
from swefuse.policy.base import Reply, Request
from swefuse.policy.local import LocalPolicy
from swefuse.records import PolicyIdentity, Verdict
from swefuse.verify.many import Candidate

Span = tuple[float, float]
NAMES = ("sample", "verify", "describe", "value", "update")


def length(spans: Sequence[Span]) -> float:
    """Seconds that lie in any of ``spans``; what lies in two counts once."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def shared(one: Sequence[Span], other: Sequence[Span]) -> float:
    """Seconds that lie in spans of both."""
    return length(one) + length(other) - length([*one, *other])


class Phases:
    """The spans of one round, which begins when this is made. Two threads may each measure phases of their own."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._spans: dict[str, list[Span]] = {name: [] for name in NAMES}
        self._begun = clock()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """What is done inside counts as ``name``."""
        start = self._clock()
        try:
            yield
        finally:
            self._spans[name].append((start, self._clock()))

    def verifier(self, verify: Verify) -> Verify:
        """``verify``, timed."""

        def timed(items: Sequence[Candidate]) -> list[Verdict]:
            with self("verify"):
                return list(verify(items))

        return timed

    def seconds(self) -> dict[str, float]:
        """Seconds of each phase and of the round so far. ``both``: of sampling and verification at once; ``overlap``: that as a
        share of the shorter of the two, 0 where either took none."""
        told = {name: length(spans) for name, spans in self._spans.items()}
        both = shared(self._spans["sample"], self._spans["verify"])
        shorter = min(told["sample"], told["verify"])
        return {**told, "both": both, "total": self._clock() - self._begun, "overlap": both / shorter if shorter > 0 else 0.0}


class TimedPolicy:
    """A policy of this process, timed as ``sample``."""

    def __init__(self, policy: LocalPolicy, phases: Phases) -> None:
        self._policy, self._phases = policy, phases

    @property
    def identity(self) -> PolicyIdentity:
        """That of the policy."""
        return self._policy.identity

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """See ``Policy.act``."""
        with self._phases("sample"):
            return self._policy.act(requests)

    def parts(self, requests: Sequence[Request]) -> Iterator[list[tuple[int, Reply]]]:
        """See ``LocalPolicy.parts``."""
        made = self._policy.parts(requests)
        while True:
            with self._phases("sample"):
                part = next(made, None)
            if part is None:
                return
            yield part


def spent(log: Path) -> str:
    """In words what the rounds of a metrics.jsonl took; empty where none tells."""
    rows = [json.loads(line).get("seconds") for line in log.read_text(encoding="utf-8").splitlines()]
    known = [row for row in rows if row]
    if not known:
        return ""
    total = {name: sum(row[name] for row in known) for name in (*NAMES, "both", "total")}
    parts = ", ".join(f"{name} {total[name]:.1f} s" for name in NAMES)
    return f"{len(known)} rounds took {total['total']:.1f} s: {parts}; sample and verify at once {total['both']:.1f} s"
