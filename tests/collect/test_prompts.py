"""What the agent sees, and what it must not see."""

from __future__ import annotations

import pytest

from function_task import function_task
from swefuse.collect.prompts import MAX_OBSERVATION, cut, enclosing, role, show_file, show_tests
from swefuse.errors import PatchError
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
    assert len(long) == MAX_OBSERVATION and "left out" not in long
    assert "[... 1 characters left out ...]" in show_file("x" * (MAX_OBSERVATION - 1))


def test_a_part_of_a_file_is_shown_around_a_line() -> None:
    text = "".join(f"row {number}\n" for number in range(1, 201))
    shown = show_file(text, 100).split("\n")
    assert shown[0] == "[... 59 lines left out ...]" and shown[1] == "60>row 60" and shown[-2] == "140>row 140"
    assert shown[-1] == "[... 60 lines left out ...]" and show_file(text, 1).startswith("1>row 1\n")
    assert show_file(text, 200).endswith("200>row 200") and len(show_file(text, 100, 300)) <= 300
    with pytest.raises(PatchError, match="line 201 does not exist: the file has 200 lines"):
        show_file(text, 201)


def test_long_texts_keep_their_beginning_and_their_end_and_say_what_is_left_out() -> None:
    rows = [f"row {number}" for number in range(100)]
    shown = cut("\n".join(rows), 90).split("\n")
    assert shown == [*rows[:10], "[... 86 lines left out ...]", *rows[-4:]]
    assert cut("short", 5) == "short" and cut("0123456789", 4) == "01[... 6 characters left out ...]89"
    assert cut("a" * 50 + "\nend", 30) == "[... 1 lines left out ...]\nend"


def test_tests_in_files_are_counted_and_listed() -> None:
    results = {f"t.py::p{n}": TestResult(outcome="passed") for n in range(7)}
    results["t.py::f"] = TestResult(outcome="failed", detail="assert 1 == 2\n and more")
    work = task().model_copy(update={"suites": ()})
    shown = show_tests(work, Verdict(outcome=Outcome.FAILED, form="pytest", tests=results)).split("\n")
    assert shown[:2] == ["1 of 8 tests fail", "FAIL t.py::f: assert 1 == 2"] and shown[-1] == "and 2 more pass"
    passing = {id_: result for id_, result in results.items() if result.outcome == "passed"}
    assert show_tests(work, Verdict(outcome=Outcome.PASSED, form="pytest", tests=passing)).startswith(
        "all 7 tests pass\nPASS t.py::p0"
    )
    tampered = Verdict(outcome=Outcome.TAMPERED, form="pytest", tests=passing, reason="it forged")
    assert show_tests(work, tampered).endswith("yet the check says TAMPERED: it forged")
    assert (
        show_tests(work, Verdict(outcome=Outcome.FAILED, form="docgen", reason="no examples"))
        == "the check says FAILED: no examples"
    )


def test_a_file_that_cannot_be_collected_is_told_for_each_of_its_tests() -> None:
    absent = TestResult(outcome="missing", detail="no result: the run came to its end without this test")
    results = {"a.py::T::t[1]": absent, "a.py::u": absent, "ab.py::t": absent, "b.py::t": TestResult(outcome="passed")}
    reason = "cannot collect a.py: ImportError: no 'x'; cannot collect c.py: NameError: y"
    work, shown = (
        task().model_copy(update={"suites": ()}),
        Verdict(outcome=Outcome.FAILED, form="pytest", tests=results, reason=reason),
    )
    assert show_tests(work, shown).split("\n") == [
        "3 of 4 tests fail",
        "FAIL a.py::T::t[1]: cannot collect a.py: ImportError: no 'x'",
        "FAIL a.py::u: cannot collect a.py: ImportError: no 'x'",
        "FAIL ab.py::t: no result: the run came to its end without this test",
        "PASS b.py::t",
    ]
    died = shown.model_copy(update={"reason": "pytest ended with status 2"})
    assert show_tests(work, died).split("\n")[:2] == ["3 of 4 tests fail", "pytest ended with status 2"]
    ran = {"b.py::t": TestResult(outcome="failed", detail="assert 0")}
    idle = shown.model_copy(update={"tests": ran, "reason": "nothing was changed"})
    assert show_tests(work, idle) == "1 of 1 tests fail\nFAIL b.py::t: assert 0"


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("m.py", 0), ("docs/conf.py", 0), ("changes.py", 0), ("setup.cfg", 1), ("requirements.txt", 1), ("history.json", 1),
        ("newsfeed.js", 1),
        ("README", 2), ("doc/a.txt", 2), ("a/b.rst", 2), ("CHANGELOG", 2), ("Change_Log.txt", 2), ("HISTORY.md", 2),
    ],
)  # fmt: skip
def test_source_is_told_from_documentation(place: str, kind: int) -> None:
    assert role(place) == kind


def test_the_way_to_a_line_is_what_is_defined_around_it() -> None:
    text = "import a\n\n\nclass C:\n    x = 1\n\n    def f(self):\n        return 1\n"
    assert [enclosing(text, line) for line in (1, 5, 8)] == ["", "class C", "def f"]
    assert enclosing("def f(:", 1) == ""
