"""Generated calls notice bugs that slipped through, and the task that has them proves itself anew."""

from __future__ import annotations

import pytest

from swefuse.errors import DataError
from swefuse.records import Call, Kind, Outcome, Provenance, Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.strengthen import strengthen
from swefuse.tasks.workers import init_worker
from swefuse.verify import Candidate, verify_many
from swefuse.verify.strength import strength

RIGHT = "def f(x):\n    if x < 10:\n        return x\n    return 10\n"
BROKEN = RIGHT.replace("return 10", "return 0")


def weak_task(reference: str = RIGHT) -> Task:
    """Nobody asks what happens near 10."""
    calls = (Call(id="low", args="(3,)", want="3", visible=True), Call(id="high", args="(20,)", want="10"))
    suites = (Suite(form="calls", entry="m.py:f", calls=calls, fail_to_pass=("high",), pass_to_pass=("low",)),)
    files = {"m.py": BROKEN}
    return Task(
        id=Task.make_id(Kind.BUGFIX, files, suites), kind=Kind.BUGFIX, instruction="", files=files, editable=("m.py",),
        suites=suites, reference={"m.py": reference}, provenance=Provenance(source="test", function="f"),
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _worker() -> None:
    init_worker()


def test_a_surviving_bug_is_noticed_afterwards() -> None:
    task = weak_task()
    found = strengthen(task)
    assert found.before.survivors and found.before.share is not None and found.after.share is not None
    assert found.after.share > found.before.share and 1 <= len(found.added) <= 8
    suite = found.task.suite("calls")
    assert suite is not None and suite.calls[:2] == task.suites[0].calls and not any(call.visible for call in found.added)
    assert found.task.id == Task.make_id(task.kind, task.files, found.task.suites) != task.id
    assert found.task.evidence is not None and found.task.evidence.strength == found.after.share
    again = strength(found.task, InlineExecutor(), form="calls")
    assert {mutant.files["m.py"] for mutant in again.survivors} == {mutant.files["m.py"] for mutant in found.after.survivors}
    survivor = next(mutant for mutant in found.before.survivors if mutant not in found.after.survivors)
    before, after = verify_many([Candidate(one, survivor.files) for one in (task, found.task)], InlineExecutor())
    assert (before.outcome, after.outcome) == (Outcome.PASSED, Outcome.FAILED)


def test_new_calls_decide_where_the_initial_state_fails_them() -> None:
    found = strengthen(weak_task())
    suite = found.task.suite("calls")
    assert suite is not None and suite.expected == (*suite.fail_to_pass, *suite.pass_to_pass)
    for call in found.added:
        assert (call.id in suite.fail_to_pass) == (eval(call.args)[0] >= 10), call


def test_the_same_seed_adds_the_same_calls_and_most_bounds_them() -> None:
    task = weak_task()
    assert strengthen(task).added == strengthen(task).added
    assert len(strengthen(task, most=1).added) == 1
    nothing = strengthen(task, most=0)
    assert nothing.added == () and nothing.task.suites == task.suites and nothing.after == nothing.before


def test_a_name_that_is_taken_is_not_given_again() -> None:
    """Two calls of one name would be judged as one, and a bug behind the first would pass."""
    task = weak_task()
    (taken,) = (call.id for call in strengthen(task, most=1).added)
    suite = task.suites[0]
    named = (suite.calls[0].model_copy(update={"id": taken}), suite.calls[1])
    suites = (suite.model_copy(update={"calls": named, "pass_to_pass": (taken,)}),)
    (added,) = strengthen(task.model_copy(update={"suites": suites}), most=1).added
    assert added.id != taken


def test_what_cannot_be_strengthened_says_why() -> None:
    task = weak_task()
    with pytest.raises(DataError, match="no tests as calls or no reference"):
        strengthen(task.model_copy(update={"reference": None}))
    with pytest.raises(DataError, match="the reference solution is FAILED"):
        strengthen(weak_task(BROKEN))
