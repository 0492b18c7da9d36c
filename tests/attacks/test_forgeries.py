"""No fake passes, and those that forge reports in the process of the tests are called what they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forgeries import BLUNT, FORGERIES, IN_PROCESS, RIGHT, state, task

from swefuse.records import Outcome
from swefuse.verify import Verifier

TASK = task()


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(cache=False) as made:
        yield made


@pytest.mark.parametrize("name", BLUNT)
def test_a_fake_does_not_pass(verifier: Verifier, name: str) -> None:
    verdict = verifier.verify(TASK, state(TASK, BLUNT[name]), "pytest")
    assert verdict.outcome in (Outcome.FAILED, Outcome.TAMPERED)
    assert verdict.score < 1 and not (verdict.tests and all(result.outcome == "passed" for result in verdict.tests.values()))


@pytest.mark.parametrize("name", [name for name, changes in BLUNT.items() if set(changes) != {"m.py"}])
def test_what_is_planted_is_seen_before_anything_runs(verifier: Verifier, name: str) -> None:
    verdict = verifier.verify(TASK, state(TASK, {"m.py": RIGHT, **BLUNT[name]}), "pytest")
    assert (verdict.outcome, verdict.score, verdict.sandbox) == (Outcome.TAMPERED, 0.0, "")
    assert next(iter(BLUNT[name])) in verdict.reason


@pytest.mark.parametrize("name", IN_PROCESS)
def test_a_forger_in_the_process_of_the_tests_ends_as_tampered(verifier: Verifier, name: str) -> None:
    verdict = verifier.verify(TASK, state(TASK, IN_PROCESS[name]), "pytest")
    assert (verdict.outcome, verdict.score) == (Outcome.TAMPERED, 0.0), verdict
    assert "even if they expect other values" in verdict.reason
    bare = verifier.verify(TASK.model_copy(update={"reference": None}), state(TASK, IN_PROCESS[name]), "pytest")
    assert bare.outcome is Outcome.PASSED and "canaries" not in bare.parts, "the cheat works where there is no canary"


def test_the_next_honest_candidate_passes(verifier: Verifier) -> None:
    for name in FORGERIES:
        verifier.verify(TASK, state(TASK, FORGERIES[name]), "pytest")
    verdict = verifier.verify(TASK, state(TASK, {"m.py": RIGHT}), "pytest")
    assert (verdict.outcome, verdict.parts["canaries"]) == (Outcome.PASSED, 3.0)


@pytest.mark.parametrize("name", FORGERIES)
def test_no_fake_passes_in_the_calls_form_either(verifier: Verifier, name: str) -> None:
    assert verifier.verify(TASK, state(TASK, FORGERIES[name]), "calls").outcome is not Outcome.PASSED
