"""Every kind of task can enter a library: a replay of a made task is accepted by its own kind of verdict, and says what is true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from swefuse.collect.agent import Judge
from swefuse.collect.replay import replays
from swefuse.library.claims import says_green
from swefuse.library.gate import gate, passed
from swefuse.records import Kind, Outcome, Task, TestResult, Trajectory
from swefuse.tasks.catalogue import Order, fill
from swefuse.tasks.realise import realise
from swefuse.verify import Verifier
from swefuse.verify.kinds import RULES

TEMPLATES = {
    Kind.BUGFIX: "bugfix_page_count",
    Kind.VULNFIX: "vulnfix_weak_hash",
    Kind.COMPLETE: "complete_record_groups",
    Kind.TESTGEN: "testgen_due_days",
    Kind.DOCGEN: "docgen_row_tools",
    Kind.REFACTOR: "refactor_status_table",
    Kind.OPTIMIZE: "optimize_row_lookup",
    Kind.QA: "qa_callers",
}


@pytest.fixture(scope="module")
def judge() -> Iterator[Verifier]:
    with Verifier() as made:
        yield made


@cache
def task_of(kind: Kind) -> Task:
    made = realise(fill(Order(TEMPLATES[kind], "", 1)), 1)
    assert made.task is not None, made.reason
    return made.task


def told(kind: Kind, judge: Verifier, count: int = 3) -> tuple[Task, list[Trajectory]]:
    task = task_of(kind)
    made, problem = replays(task, Judge(lambda items: [judge.verify(item.task, item.files) for item in items]), count)
    assert problem == ""
    return task, made


def actions(trajectory: Trajectory) -> list[str]:
    return [f"{one.action.name} {one.action.path}".strip() for one in trajectory.steps if one.action]


@pytest.mark.parametrize("kind", Kind)
def test_what_is_told_of_a_made_task_is_accepted_and_nothing_undone_is(kind: Kind, judge: Verifier) -> None:
    task, made = told(kind, judge)
    assert len(made) > 1
    for trajectory in made:
        verdict = judge.verify(task, {**task.files, **trajectory.files}, fresh=True)
        assert (verdict.outcome, passed(task, trajectory, verdict)) == (Outcome.PASSED, None)
        (decision,) = gate([(task, trajectory, verdict)])
        assert decision.reasons == ()
    assert passed(task, made[0], judge.verify(task, task.files)) == "the verdict is FAILED"


@pytest.mark.parametrize("kind", [kind for kind, rules in RULES.items() if rules.check])
def test_a_verdict_that_did_not_ask_the_check_of_its_kind_is_none(kind: Kind, judge: Verifier) -> None:
    task, (trajectory, *_) = told(kind, judge)
    verdict = judge.verify(task, {**task.files, **trajectory.files})
    unasked = verdict.model_copy(update={"parts": {}})
    assert passed(task, trajectory, unasked) == f"the verdict does not say what the check of the kind {kind} found"
    id_ = next(iter(verdict.tests))
    failed = verdict.model_copy(update={"tests": {**verdict.tests, id_: TestResult(outcome="failed")}})
    assert passed(task, trajectory, failed) == f"1 of {len(verdict.tests)} expected tests did not pass, first {id_}"


def test_an_answer_is_written_after_a_look_at_the_code_and_claims_no_tests(judge: Verifier) -> None:
    task, made = told(Kind.QA, judge)
    code = {f"view {path}" for path in task.files if path != "answer.py"}
    for trajectory in made:
        done = actions(trajectory)
        assert code <= set(done[: done.index("edit answer.py")]) and "test" not in done
        assert not any(says_green(step.thought) for step in trajectory.steps)


def test_tests_are_written_after_a_look_at_the_module(judge: Verifier) -> None:
    task, made = told(Kind.TESTGEN, judge)
    for trajectory in made:
        done = actions(trajectory)
        assert f"view {task.goal['module']}" in done[: done.index(f"edit {task.goal['tests']}")]


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        (Kind.REFACTOR, "The shown tests still pass."),
        (Kind.OPTIMIZE, "The shown tests still pass."),
        (Kind.DOCGEN, "The examples hold now."),
        (Kind.TESTGEN, "The tests pass now."),
        (Kind.BUGFIX, "The tests pass now."),
        (Kind.QA, ""),
    ],
)
def test_the_end_says_what_was_seen_and_only_a_repair_has_a_cause(kind: Kind, end: str, judge: Verifier) -> None:
    for trajectory in told(kind, judge)[1]:
        assert trajectory.steps[-1].thought == end
        said = "\n".join(step.thought for step in trajectory.steps)
        assert kind is Kind.BUGFIX or "The cause is" not in said
        first = next(step for step in trajectory.steps if step.action and step.action.name == "edit")
        assert first.thought
