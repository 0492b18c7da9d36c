"""Tests that depend on the order: found, left out where that is possible, refused where it is not."""

from __future__ import annotations

import pytest
from small_task import RIGHT, make_task

from swefuse.errors import DataError
from swefuse.records import Evidence, Outcome, Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.verify import Candidate, init_worker, verify_many
from swefuse.verify.flaky import flakiness, without_flaky
from swefuse.verify.verifier import Verifier

# passes only before test_c has run
TESTS = (
    "from m import f\nSEEN = []\ndef test_a():\n    assert f(1) == 2\ndef test_b():\n    assert not SEEN\ndef test_c():\n"
    "    SEEN.append(f(0))\n"
)
A, B, C = (f"tests/test_n.py::test_{name}" for name in "abc")


def order_matters(decides: str, *others: str, files: dict[str, str] | None = None) -> Task:
    task = make_task([("(0,)", "0", None)], files={"tests/test_n.py": TESTS, **(files or {})})
    suites = (Suite(form="pytest", files=("tests/test_n.py",), fail_to_pass=(decides,), pass_to_pass=others),)
    evidence = Evidence(repeats=3, reference_passes=True, null_fails=True)
    changes = {"suites": suites, "reference": {**task.files, "m.py": RIGHT}, "evidence": evidence}
    return task.model_copy(update=changes)


def test_a_test_that_needs_an_order_is_found_and_left_out() -> None:
    init_worker()
    task, steady = order_matters(A, B, C), order_matters(A, C)
    found, none = flakiness([task, steady], InlineExecutor(), repeats=6)
    assert set(found.matrix) == {B} and set(found.matrix[B]) == {"passed", "failed"} and len(found.matrix[B]) == 6
    assert found.matrix[B][0] == "passed", "the first run is in the order of the files"
    assert found.rate == pytest.approx(1 / 3) and not found.problem
    kept = without_flaky(task, found)
    assert kept.suites[0].expected == (A, C) and kept.id == Task.make_id(task.kind, task.files, kept.suites) != task.id
    assert kept.evidence is not None and kept.evidence.flake_rate == pytest.approx(1 / 3)
    assert not none.matrix and without_flaky(steady, none) is steady


def test_a_task_whose_decisive_test_is_flaky_is_refused() -> None:
    init_worker()
    task = order_matters(B, A, C)
    (found,) = flakiness([task], InlineExecutor(), repeats=6)
    with pytest.raises(DataError, match=r"fail-to-pass tests are flaky: tests/test_n.py::test_b"):
        without_flaky(task, found)


def test_a_reference_that_fails_proves_nothing() -> None:
    init_worker()
    task = order_matters(A, C)
    wrong = task.model_copy(update={"reference": {**task.files, "m.py": "def f(x):\n    return 7\n"}})
    (found,) = flakiness([wrong], InlineExecutor(), repeats=2)
    assert found.problem.startswith("the reference is FAILED")
    with pytest.raises(DataError, match="the reference is FAILED"):
        without_flaky(wrong, found)
    with pytest.raises(DataError, match="nothing to repeat"):
        flakiness([task.model_copy(update={"reference": None})], InlineExecutor())


def test_a_verdict_holds_the_outcomes_of_every_run() -> None:
    task = order_matters(A, B, C)
    assert task.reference is not None
    with Verifier(cache=False, cold_share=0.0) as verifier:
        verdict = verifier.verify(task, task.reference, repeats=6)
    assert verdict.outcome is Outcome.FLAKY and B in verdict.reason and set(verdict.matrix) == {B}
    assert type(verdict).model_validate_json(verdict.model_dump_json()) == verdict


@pytest.mark.parametrize(("share", "outcome"), [(1.0, Outcome.FLAKY), (0.0, Outcome.PASSED)])
def test_what_passes_only_in_a_warm_worker_is_found_by_a_cold_run(share: float, outcome: Outcome) -> None:
    task = order_matters(A, files={"other.py": "import colorsys\n"})  # so that a warm worker has it loaded
    source = "import sys\ndef f(x):\n    return 2 * x if 'colorsys' in sys.modules else 0\n"
    with Verifier(cache=False, cold_share=share) as verifier:
        verdict = verifier.verify(task, {**task.files, "m.py": source})
        assert verdict.outcome is outcome and verdict.parts.get("cold", 0.0) == share
        assert share == 0 or "passed in a warm worker, FAILED in a new process" in verdict.reason
        honest = verifier.verify(task, {**task.files, "m.py": RIGHT})
        assert honest.outcome is Outcome.PASSED and honest.parts.get("cold", 0.0) == share


def test_a_task_that_a_warm_worker_cannot_judge_goes_cold_and_says_why() -> None:
    """The test wants a module not to be loaded that a warm worker has loaded for other tasks."""
    text = "import sys\nfrom m import f\ndef test_a():\n    assert 'colorsys' not in sys.modules and f(1) == 2\n"
    warm = order_matters(A, files={"other.py": "import colorsys\n"})
    task = order_matters(A, files={"tests/test_n.py": text})
    with InlineExecutor(init_worker, ("local",)) as executor:
        assert [verdict.outcome for verdict in verify_many([Candidate(warm, warm.reference or {})], executor)] == [Outcome.PASSED]
        steady, found = flakiness([warm, task], executor, repeats=2)
        assert not steady.problem and not steady.cold
        assert (found.problem, found.matrix) == ("", {})
        assert found.cold.startswith("in a warm worker the reference is FAILED: tests/test_n.py::test_a")
        kept = without_flaky(task, found)
        assert kept.evidence is not None and kept.evidence.cold == found.cold and kept.suites == task.suites
        (verdict,) = verify_many([Candidate(kept, kept.reference or {})], executor)
        assert verdict.outcome is Outcome.PASSED
        assert flakiness([kept], executor, repeats=2)[0].cold == "", "it is known already"


def test_a_reference_that_passes_only_in_a_warm_worker_is_refused() -> None:
    text = "import sys\nfrom m import f\ndef test_a():\n    assert 'colorsys' in sys.modules and f(1) == 2\n"
    task = order_matters(A, files={"tests/test_n.py": text, "other.py": "import colorsys\n"})
    init_worker()
    (found,) = flakiness([task], InlineExecutor(), repeats=2)
    with pytest.raises(DataError, match=r"passes in a warm worker and not in a new interpreter: tests/test_n.py::test_a"):
        without_flaky(task, found)


def test_ids_that_change_between_runs_are_left_out_by_name() -> None:
    text = "import os, pytest\nfrom m import f\ndef test_a():\n    assert f(1) == 2\n"
    text += "@pytest.mark.parametrize('x', [os.urandom(8).hex()])\ndef test_r(x): pass\n"
    random = "tests/test_n.py::test_r[0123456789abcdef]"
    task = order_matters(A, random, files={"tests/test_n.py": text})
    init_worker()
    (found,) = flakiness([task], InlineExecutor(), repeats=2)
    assert (found.problem, found.vanished, found.rate) == ("", (random,), 0.5)
    assert without_flaky(task, found).suites[0].expected == (A,)
    with pytest.raises(DataError, match=r"tests are flaky: tests/test_n.py::test_r"):
        without_flaky(task, found, policy="refuse")
