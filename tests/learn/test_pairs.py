from __future__ import annotations

from swefuse.learn.pairs import label, make_pairs
from swefuse.records import Evidence, Kind, Outcome, Provenance, Task, Verdict

TASK = Task(
    id="t", kind=Kind.BUGFIX, instruction="", files={}, editable=(), suites=(), provenance=Provenance(source="test"),
    evidence=Evidence(repeats=3, reference_passes=True, null_fails=True, strength=0.75),
)  # fmt: skip


def verdict(outcome: Outcome, score: float = 0.0, repeats: int = 1) -> Verdict:
    return Verdict(outcome=outcome, form="calls", score=score, repeats=repeats)


def test_a_difference_of_delta_decides_nothing() -> None:
    assert [label(0.75, b, 0.25) for b in (0.25, 0.5, 1.0)] == ["A", "tie", "tie"]
    assert label(0.25, 0.75, 0.25) == "B"


def test_what_was_not_graded_is_in_no_pair() -> None:
    verdicts = [
        verdict(Outcome.PASSED, 1.0, repeats=3), verdict(Outcome.INFRA), verdict(Outcome.FAILED, 0.5),
        verdict(Outcome.FLAKY, 1.0), verdict(Outcome.TIMEOUT),
    ]  # fmt: skip
    found = make_pairs(TASK, verdicts)
    assert [(p.a, p.b, p.label, p.reliability) for p in found] == [(0, 2, "A", 1), (0, 4, "A", 1), (2, 4, "tie", 1)]
    assert [p.label for p in make_pairs(TASK, verdicts, "score")] == ["A", "A", "A"]
    assert make_pairs(TASK, [verdict(Outcome.INFRA), verdict(Outcome.PASSED), verdict(Outcome.FLAKY)]) == []


def test_a_pair_carries_how_far_the_verifier_can_be_trusted() -> None:
    verdicts = [verdict(Outcome.PASSED, 1.0, repeats=3), verdict(Outcome.FAILED, repeats=5)]
    (pair,) = make_pairs(TASK, verdicts)
    assert (pair.task_id, pair.reliability, pair.strength) == ("t", 3.0, 0.75)
    (unknown,) = make_pairs(TASK.model_copy(update={"evidence": None}), verdicts)
    assert unknown.strength is None
