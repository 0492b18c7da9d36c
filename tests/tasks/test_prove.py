"""Proof, and the agreement of the two forms."""

from __future__ import annotations

import pytest

from swefuse.code.operators import Bug
from swefuse.records import Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.inject import Order, inject
from swefuse.tasks.prove import agreement, prove
from swefuse.tasks.spec import FunctionSpec


@pytest.fixture(scope="module")
def task(clip: FunctionSpec) -> Task:
    [(_, made)] = inject(Order(clip, ((Bug.COMPARISON, 0, 1),), seed=0)).tasks
    return made


def test_a_sound_task_gets_its_evidence(task: Task) -> None:
    steps: list[int] = []
    proof = prove([task], InlineExecutor(), repeats=2, done=lambda: steps.append(1))
    [proven] = proof.tasks
    suite = task.suite("calls")
    assert suite is not None
    assert proven.evidence is not None
    assert (proven.evidence.repeats, proven.evidence.reference_passes, proven.evidence.null_fails) == (2, True, True)
    assert set(proven.evidence.failing_ids) == set(suite.fail_to_pass)
    assert (proof.refused, len(steps)) == ([], 1)


def test_unsound_tasks_are_refused_with_the_reason(task: Task) -> None:
    calls, pytest_suite = task.suites
    moved = calls.model_copy(update={"fail_to_pass": calls.expected[:1], "pass_to_pass": calls.expected[1:]})
    hashed = task.files["solution.py"].replace(
        "    return ", "    import time\n    if time.time_ns() % 2: return None\n    return "
    )
    bad = [
        task.model_copy(update={"reference": task.files}),
        task.model_copy(update={"files": task.reference}),
        task.model_copy(update={"suites": (moved, pytest_suite)}),
        task.model_copy(update={"reference": {**task.files, "solution.py": hashed}}),
    ]
    proof = prove(bad, InlineExecutor(), repeats=4)
    assert proof.tasks == []
    assert [refusal.reason for refusal in proof.refused] == [
        "the reference does not pass",
        "the broken version passes",
        "the broken version fails other tests than the task says",
        "the reference does not always give the same results",
    ]
    assert sum(proof.reasons.values()) == 4


def test_agreement_of_the_forms_is_measured(task: Task) -> None:
    found = agreement([task], InlineExecutor(), sample=5, seed=0)
    assert (dict(found.counts), found.disagreements) == ({"corpus": 3}, [])


def test_a_disagreement_is_found(task: Task) -> None:
    tests = task.files["test_solution.py"].replace("== want", "!= want")
    files = {**task.files, "test_solution.py": tests}
    reference = {**(task.reference or {}), "test_solution.py": tests}
    other = task.model_copy(update={"files": files, "reference": reference})
    states = {state for _, state, _ in agreement([other], InlineExecutor(), sample=1, seed=0).disagreements}
    assert {"reference", "broken"} <= states


def test_suites_stay_records(task: Task) -> None:
    assert all(isinstance(suite, Suite) for suite in Task.model_validate_json(task.model_dump_json()).suites)
