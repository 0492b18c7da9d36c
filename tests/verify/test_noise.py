"""A verifier whose errors are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from swefuse.records import Kind, Outcome, Provenance, Task, TestResult, Verdict
from swefuse.verify.many import Candidate
from swefuse.verify.noise import KINDS, Noise, NoiseKind, NoisyVerify

TASK = Task(
    id="t", kind=Kind.BUGFIX, instruction="", files={"m.py": "xxxx"}, editable=("m.py",), suites=(),
    provenance=Provenance(source="t"),
)  # fmt: skip


def told(items: Sequence[Candidate]) -> Iterator[Verdict]:
    """What ends in ``y`` passes; one of four tests fails otherwise, another one each time."""
    for item in items:
        text = item.files["m.py"]
        good = text.endswith("y")
        tests = {str(n): TestResult(outcome="passed" if good or n != len(text) % 4 else "failed") for n in range(4)}
        yield Verdict(outcome=Outcome.PASSED if good else Outcome.FAILED, form="calls", tests=tests, score=float(good))


def candidates(good: bool, count: int = 400, size: int = 0) -> list[Candidate]:
    return [Candidate(TASK, {"m.py": f"{number:0{size or 5 + number % 4}d}{'y' if good else 'n'}"}) for number in range(count)]


def recorded(noise: Noise, items: Sequence[Candidate]) -> list[bool]:
    return [verdict.outcome is Outcome.PASSED for verdict in NoisyVerify(told, noise)(items)]


@pytest.mark.parametrize(
    ("kind", "rate", "good", "share"),
    [
        ("clean", 0.0, True, 1.0), ("clean", 0.0, False, 0.0), ("false_pass", 0.2, True, 1.0), ("false_pass", 0.2, False, 0.2),
        ("false_fail", 0.3, True, 0.7), ("false_fail", 0.3, False, 0.0), ("weak_tests", 1.0, False, 1.0),
        ("lenient", 1.0, False, 0.0), ("flaky", 0.5, False, 0.5), ("flaky", 0.1, False, 0.028),
    ],
)  # fmt: skip
def test_shares_of_errors(kind: NoiseKind, rate: float, good: bool, share: float) -> None:
    found = recorded(Noise(kind, rate, 3), candidates(good))
    assert sum(found) / len(found) == pytest.approx(share, abs=0.06)


def test_weak_tests_lack_the_same_tests_for_all_candidates_of_a_task() -> None:
    wrong = [Candidate(TASK, {"m.py": "n" * (4 + number)}) for number in range(40)]
    found = recorded(Noise("weak_tests", 0.5, 2), wrong)
    by_test = {number: {found[at] for at in range(40) if (4 + at) % 4 == number} for number in range(4)}
    assert all(len(said) == 1 for said in by_test.values()) and len(set(found)) == 2


def test_the_lenient_pass_what_makes_the_code_shorter() -> None:
    short = [Candidate(TASK, {"m.py": f"{number}n"}) for number in range(100)]
    assert sum(recorded(Noise("lenient", 0.5), short)) == pytest.approx(50, abs=15)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_stays_unless_the_tests_are_flaky(kind: NoiseKind) -> None:
    noise = Noise(kind, 0.0 if kind == "clean" else 0.4, 5)
    items = candidates(good=kind == "false_fail", size=2)
    once = NoisyVerify(told, noise)
    first, again = [[v.outcome for v in once(items)] for _ in range(2)]
    assert (first == again) == (kind != "flaky")
    assert [v.outcome for v in NoisyVerify(told, noise)(items[::-1])][::-1] == first, "order changes nothing"


def test_the_truth_and_the_agreement_stand_beside_it_and_are_counted() -> None:
    made = NoisyVerify(told, Noise("false_pass", 0.5))
    found = list(made([*candidates(good=False), *candidates(good=True)]))
    assert [verdict.parts["truth"] for verdict in found] == [0.0] * 400 + [1.0] * 400
    assert made.seen == 800 and made.wrong == sum(v.outcome is Outcome.PASSED for v in found[:400])
    flaky = {round(v.parts["agreement"], 3) for v in NoisyVerify(told, Noise("flaky", 0.3))(candidates(good=False))}
    assert flaky == {0.667, 1.0}


def test_the_initial_state_and_what_was_not_graded_are_told_as_they_are() -> None:
    made = NoisyVerify(told, Noise("false_pass", 1.0))
    (verdict,) = made([Candidate(TASK, dict(TASK.files))])
    assert verdict.outcome is Outcome.FAILED and made.seen == 0
    lost = NoisyVerify(lambda items: [Verdict(outcome=Outcome.INFRA, form="calls") for _ in items], Noise("false_pass", 1.0))
    assert [v.outcome for v in lost(candidates(good=False, count=1))] == [Outcome.INFRA] and lost.seen == 0


def test_rates_that_cannot_be_are_refused() -> None:
    for kind, rate in (("clean", 0.1), ("false_pass", 0.0), ("flaky", 1.5), ("loud", 0.5)):
        with pytest.raises(ValueError, match=r"rate|none of"):
            Noise(kind, rate)  # type: ignore[arg-type]
