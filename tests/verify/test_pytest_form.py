"""The ``pytest`` form: what a candidate may try there, and what counts as passed."""

from __future__ import annotations

import pytest
from small_task import RIGHT, WRONG, make_task

from swefuse.records import Outcome, Suite, Task
from swefuse.verify import Verifier
from swefuse.verify.judge import collection_error
from swefuse.verify.tests import How, Limits, run_suite


def test_right_and_wrong_candidates(verifier: Verifier, task: Task) -> None:
    right = verifier.verify(task, {**task.files, "m.py": RIGHT}, form="pytest")
    assert (right.outcome, right.score) == (Outcome.PASSED, 1.0)
    unchanged = verifier.verify(task, task.files, form="pytest")
    assert (unchanged.outcome, unchanged.score, unchanged.parts["pass_rate"]) == (Outcome.FAILED, 0.0, 0.75)
    assert "9 == 6" in unchanged.tests["tests/test_m.py::test_t3"].detail
    broken = verifier.verify(task, {**task.files, "m.py": "def f(:\n"}, form="pytest")
    assert (broken.outcome, broken.score) == (Outcome.UNPARSED, 0.0)
    raising = verifier.verify(task, {**task.files, "m.py": "import nowhere\n"}, form="pytest")
    assert {result.outcome for result in raising.tests.values()} == {"missing"}
    assert "nowhere" in raising.reason


ODD_TESTS = """
import pytest
from m import f

@pytest.fixture
def bad_setup():
    raise OSError
@pytest.fixture
def bad_teardown():
    yield
    raise OSError

def test_setup(bad_setup): pass
def test_teardown(bad_teardown): pass
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.parametrize("x", ["a b", "é"])
def test_param(x): pass
def test_other(): assert False
"""


def test_only_passed_counts_and_only_expected_tests_do() -> None:
    want = {
        "setup": "error",
        "teardown": "error",
        "skip": "skipped",
        "xfail": "skipped",
        "xpass": "skipped",
        "param[a b]": "passed",
        "param[\\xe9]": "passed",
        "gone": "missing",
    }
    base = make_task([("(0,)", "0", None)])
    suite = Suite(form="pytest", files=("test_odd.py",), pass_to_pass=tuple(f"test_odd.py::test_{name}" for name in want))
    task = base.model_copy(update={"suites": (suite,), "files": {**base.files, "test_odd.py": ODD_TESTS}})
    with Verifier() as verifier:
        verdict = verifier.verify(task, {**task.files, "m.py": RIGHT})
    assert {id_.removeprefix("test_odd.py::test_"): result.outcome for id_, result in verdict.tests.items()} == want
    assert verdict.outcome is Outcome.FAILED


def test_one_file_that_cannot_be_collected_does_not_stop_the_others(verifier: Verifier) -> None:
    task = make_task([("(0,)", "0", None)], files={"tests/test_n.py": "import n\ndef test_n(): pass\n"})
    suite = Suite(
        form="pytest",
        files=("tests/test_n.py", "tests/test_m.py"),
        pass_to_pass=("tests/test_n.py::test_n", "tests/test_m.py::test_t0"),
    )
    verdict = verifier.verify(task.model_copy(update={"suites": (suite,)}), {**task.files, "m.py": RIGHT})
    assert [result.outcome for result in verdict.tests.values()] == ["missing", "passed"]
    assert verdict.reason == "cannot collect tests/test_n.py: ModuleNotFoundError: No module named 'n'"


@pytest.mark.parametrize(
    ("detail", "told"),
    [
        ("a.py:1: in <module>\n    import n\nE   ImportError: no n", "ImportError: no n"),
        ("ut off\nE     File 'a.py', line 1\nE       def f(:\nE   SyntaxError: invalid syntax", "SyntaxError: invalid syntax"),
        ("x = m.third\nAttributeError: module 'm' has no 'third'\n", "AttributeError: module 'm' has no 'third'"),
        ("pkg.errors.Odd: first\nand more", "pkg.errors.Odd: first"),
        ("Failed to collect", "Failed to collect"),
        ("", ""),
    ],
)
def test_of_a_traceback_at_collection_what_was_raised_is_told(detail: str, told: str) -> None:
    assert collection_error({"detail": detail}) == told


def test_a_package_under_src_is_importable_and_files_are_on_disk(verifier: Verifier) -> None:
    files = {
        "src/p/__init__.py": "",
        "src/p/a.py": "from p.b import g\n\ndef f():\n    return g() + len(open('data.txt').read())\n",
        "src/p/b.py": "def g():\n    return 1\n",
        "data.txt": "xx",
        "test_p.py": "from p.a import f\ndef test_f(): assert f() == 3\n",
    }
    suite = Suite(form="pytest", files=("test_p.py",), pass_to_pass=("test_p.py::test_f",))
    task = make_task([("(0,)", "0", None)]).model_copy(update={"files": files, "suites": (suite,)})
    assert verifier.verify(task, {**files, "src/p/b.py": "def g():\n    return  1\n"}).outcome is Outcome.PASSED


def repaired(task: Task) -> Task:
    """The task with a reference solution."""
    return task.model_copy(update={"reference": {**task.files, "m.py": RIGHT}})


def test_a_wrong_candidate_costs_the_fail_to_pass_tests_alone(verifier: Verifier, task: Task) -> None:
    task = repaired(task)
    suite = task.suite("pytest")
    assert suite is not None and len(suite.fail_to_pass) == 1 and len(suite.pass_to_pass) == 3
    wrong = {**task.files, "m.py": WRONG + "# other\n"}
    fast = verifier.verify(task, wrong, "pytest", fail_fast=True)
    whole = verifier.verify(task, wrong, "pytest")
    assert fast.outcome is whole.outcome is Outcome.FAILED
    assert [result.detail for id_, result in fast.tests.items() if id_ in suite.pass_to_pass] == [
        "not run: an earlier test failed"
    ] * 3
    assert fast.parts == {"pass_rate": 0.0, "not_run": 3.0} and "not_run" not in whole.parts and whole.parts["pass_rate"] == 0.75
    right = verifier.verify(task, {**task.files, "m.py": RIGHT + "# other\n"}, "pytest", fail_fast=True)
    assert right.outcome is Outcome.PASSED and set(right.tests) == set(suite.expected) and "not_run" not in right.parts


def test_a_fast_verdict_is_never_taken_for_a_whole_one(task: Task) -> None:
    task = repaired(task)
    wrong = {**task.files, "m.py": WRONG + "# other\n"}
    with Verifier(cache=True) as own:
        fast = own.verify(task, wrong, "pytest", fail_fast=True)
        assert own.verify(task, wrong, "pytest", fail_fast=True) is fast
        whole = own.verify(task, wrong, "pytest")
        assert whole.parts["pass_rate"] == 0.75
        assert own.verify(task, wrong, "pytest", fail_fast=True) is whole, "the whole one says more and is known"


def test_tests_that_need_others_before_them_are_judged_whole(verifier: Verifier) -> None:
    test = "from m import f\nSEEN = []\ndef test_a():\n    SEEN.append(1)\ndef test_b():\n    assert SEEN and f(1) == 2\n"
    task = make_task([("(0,)", "0", None)], files={"tests/test_n.py": test})
    suite = Suite(
        form="pytest", files=("tests/test_n.py",), fail_to_pass=("tests/test_n.py::test_b",),
        pass_to_pass=("tests/test_n.py::test_a",),
    )  # fmt: skip
    task = task.model_copy(update={"suites": (suite,), "reference": {**task.files, "m.py": RIGHT}})
    verdict = verifier.verify(task, {**task.files, "m.py": RIGHT + "# other\n"}, "pytest", fail_fast=True)
    assert verdict.outcome is Outcome.PASSED


def test_one_session_ends_at_its_first_failure(verifier: Verifier) -> None:
    text = "from m import f\n" + "".join(f"def test_{n}():\n    assert f({n}) == 99\n" for n in range(4))
    task = make_task([("(0,)", "0", None)], files={"tests/test_n.py": text})
    ids = tuple(f"tests/test_n.py::test_{n}" for n in range(4))
    suite = Suite(form="pytest", files=("tests/test_n.py",), fail_to_pass=ids)
    for extra in ({}, {"tests/conftest.py": ""}):  # a configuration made ahead, and one made for this tree
        here = task.model_copy(update={"files": {**task.files, **extra}, "suites": (suite,)})
        judgement, _ = run_suite(verifier.sandbox, here, suite, here.files, ("m.py",), Limits(), How("to_first_failure"))
        assert [judgement.tests[id_].outcome for id_ in ids] == ["failed", "missing", "missing", "missing"]
