"""What the agent sees, and what it must not see."""

from __future__ import annotations

import pytest
from function_task import function_task

from swefuse.collect.prompts import MAX_OBSERVATION, show_file, show_tests
from swefuse.records import Call, Kind, Outcome, Provenance, Suite, Task, TestResult, Verdict

CALLS = (
    Call(id="a", args="(1,)", want="'long answer'", visible=True),
    Call(id="b", args="('secret',)", want="'hidden'"),
    Call(id="c", args="(2,)", want="4", visible=True),
    Call(id="d", args="(-1,)", raises="ValueError", visible=True),
    Call(id="e", args="(3, 3, 3)", want="9", visible=True),
)


def task() -> Task:
    suites = (Suite(form="calls", entry="m.py:f", calls=CALLS, fail_to_pass=tuple(call.id for call in CALLS)),)
    return Task(id="x", kind=Kind.BUGFIX, instruction="", files={}, editable=(), suites=suites, provenance=Provenance(source="t"))


def test_failing_tests_come_first_shorter_ones_first_and_hidden_ones_not_at_all() -> None:
    results = {
        "a": TestResult(outcome="passed"),
        "b": TestResult(outcome="failed", detail="('secret',) gave 'wrong', expected 'hidden'"),
        "c": TestResult(outcome="failed", detail="(2,) gave 5, expected 4"),
        "d": TestResult(outcome="passed"),
        "e": TestResult(outcome="timeout"),
    }
    assert show_tests(task(), Verdict(outcome=Outcome.FAILED, form="calls", tests=results)) == "\n".join(
        [
            "FAIL f(2,) gave 5, expected 4",
            "FAIL f(3, 3, 3) timeout, expected 9",
            "PASS f(-1,) gave ValueError",
            "PASS f(1,) gave 'long answer'",
        ]
    )


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_hidden_results_change_nothing_that_is_shown(outcome: str) -> None:
    visible = {call.id: TestResult(outcome="passed") for call in CALLS if call.visible}
    hidden = {"b": TestResult.model_validate({"outcome": outcome, "detail": "('secret',) gave 1, expected 'hidden'"})}
    verdict = Verdict(outcome=Outcome.FAILED, form="calls", tests=visible)
    assert show_tests(task(), verdict.model_copy(update={"tests": visible | hidden})) == show_tests(task(), verdict)


def test_a_task_without_visible_tests_does_not_betray_its_outcome() -> None:
    blind = function_task(visible=0)
    assert len({show_tests(blind, Verdict(outcome=outcome, form="calls")) for outcome in (Outcome.PASSED, Outcome.FAILED)}) == 1


def test_tests_that_did_not_run_say_why() -> None:
    assert show_tests(task(), Verdict(outcome=Outcome.UNPARSED, form="calls", reason="line 3")) == "the tests did not run: line 3"
    assert show_tests(task(), Verdict(outcome=Outcome.INFRA, form="calls")) == "the tests did not run: INFRA"


def test_files_are_numbered_and_cut() -> None:
    assert show_file("a\n\nb\n") == "1>a\n2>\n3>b"
    assert show_file("a\r") == "1>a\r"
    assert show_file("") == "1>"
    long = show_file("x" * (MAX_OBSERVATION - 2))
    assert len(long) == MAX_OBSERVATION and "[cut]" not in long
    assert show_file("x" * (MAX_OBSERVATION - 1)) == "1>" + "x" * (MAX_OBSERVATION - 2) + "\n[cut]"
