"""What tests say comes first, then the value model, then the policy; and how sure a verdict is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.evaluate.solve.rank import WORDS, Candidate, Level, Proposal, confidence, judged, order
from swefuse.learn.entropy import normalised_entropy, verdict_probabilities
from swefuse.records import Outcome, Suite, TestResult, Verdict

SUITE = Suite(form="pytest", files=("test_m.py",), fail_to_pass=("f1", "f2"), pass_to_pass=("p1", "p2"))


def proposal(chance: float = 0.5) -> Proposal:
    return Proposal({"m.py": str(chance)}, "m.py:1", chance)


def verdict(passing: str, outcome: Outcome | None = None) -> Verdict:
    tests = {id_: TestResult(outcome="passed" if id_ in passing.split() else "failed") for id_ in SUITE.expected}
    return Verdict(outcome=outcome or (Outcome.PASSED if len(passing.split()) == 4 else Outcome.FAILED), form="pytest", tests=tests)


@pytest.mark.parametrize(
    ("passing", "level"),
    [
        ("f1 f2 p1 p2", Level.PROVEN), ("f1 p1 p2", Level.MENDS), ("f1 f2 p1", Level.MIXED), ("p1 p2", Level.NO_EFFECT),
        ("f1 p1", Level.BREAKS), ("p1", Level.BREAKS), ("", Level.BREAKS),
    ],
)  # fmt: skip
def test_levels(passing: str, level: Level) -> None:
    found = judged(proposal(), verdict(passing), SUITE)
    assert found.level is level and set(WORDS) == set(Level)
    assert found.mended == tuple(id_ for id_ in ("f1", "f2") if id_ in passing)
    assert found.broken == tuple(id_ for id_ in ("p1", "p2") if id_ not in passing)


def test_without_a_failing_test_nothing_is_proven() -> None:
    only = SUITE.model_copy(update={"fail_to_pass": ()})
    assert judged(proposal(), verdict("f1 f2 p1 p2"), only).level is Level.NO_EFFECT


def test_what_could_not_be_judged_or_was_refused() -> None:
    for outcome in (Outcome.INFRA, Outcome.FLAKY):
        assert judged(proposal(), verdict("f1 f2 p1 p2", outcome), SUITE).level is Level.UNJUDGED
    assert judged(proposal(), None, SUITE).level is Level.UNJUDGED and judged(proposal(), None, None).level is Level.UNJUDGED
    refused = Verdict(outcome=Outcome.TAMPERED, form="pytest")
    assert judged(proposal(), refused, SUITE).level is Level.BREAKS


def test_the_order() -> None:
    some = [
        judged(proposal(0.9), verdict("p1 p2"), SUITE), judged(proposal(0.1), verdict("f1 f2 p1 p2"), SUITE),
        judged(proposal(0.3), verdict("f1 f2 p1 p2"), SUITE), judged(proposal(0.8), verdict("f1 p1 p2"), SUITE),
    ]  # fmt: skip
    assert order(some) == [2, 1, 3, 0]
    valued = [judged(one.proposal, one.verdict, SUITE, value) for one, value in zip(some, (0.1, 0.9, 0.2, 0.3), strict=True)]
    assert order(valued) == [1, 2, 3, 0], "the value model decides among equals, and among those alone"
    assert order([Candidate(proposal(), Level.MENDS)] * 3) == [0, 1, 2]


def test_confidence_by_hand() -> None:
    sure, tie, against = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.1, 0.9, 0.0)
    verdicts = [sure, tie, against, (1 / 3, 1 / 3, 1 / 3)]
    entropies = [normalised_entropy(p) for p in verdicts]
    found = confidence(verdicts, entropies)
    assert found.value == pytest.approx(1 / 4) and (found.preferred, found.others) == (1, 4)
    assert found.entropy == pytest.approx((0 + 0 - (0.1 * math.log(0.1) + 0.9 * math.log(0.9)) / math.log(3) + 1) / 4)
    alone = confidence([], [])
    assert alone.value is None and alone.entropy is None


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=15))
def test_confidence_lies_between_0_and_1(chances: list[tuple[float, float]]) -> None:
    verdicts = [verdict_probabilities(a, b) for a, b in chances]
    found = confidence(verdicts, [normalised_entropy(p) for p in verdicts])
    assert found.value is not None and 0 <= found.value <= 1 and found.entropy is not None and 0 <= found.entropy <= 1
