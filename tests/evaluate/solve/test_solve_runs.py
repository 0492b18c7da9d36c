"""Tests of a working copy in the real sandbox: what fails, what passes, what is unsteady, and where failing ones come by."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swefuse.errors import UserError
from swefuse.evaluate.solve import watch
from swefuse.evaluate.solve.runs import Bench, Wanted, files_of, observe, read_command
from swefuse.sandbox import open_sandbox

SOURCE = """class Box:
    def __init__(self, items):
        self.items = items

    def first(self):
        return pick(self.items, 1)


def pick(items, at):
    return items[at]


def idle():
    return 0
"""
TESTS = """import pytest
from pkg.box import Box, pick


def test_first():
    assert Box([7, 8]).first() == 7


def test_raises():
    Box([]).first()


def test_pick():
    assert pick([7], 0) == 7


@pytest.mark.skip
def test_skipped():
    pass


@pytest.mark.slow
def test_slow():
    assert pick([7, 9], 1) == 9
"""
STATE = {"pkg/__init__.py": "", "pkg/box.py": SOURCE, "tests/test_box.py": TESTS}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with open_sandbox("local") as sandbox:
        yield Bench(sandbox, cpu_s=10.0)


def test_failing_and_passing_tests_and_the_functions_on_their_way(bench: Bench) -> None:
    found = observe(bench, STATE, Wanted())
    box = "tests/test_box.py::"
    assert found.files == ("tests/test_box.py",)
    assert found.failing == (f"{box}test_first", f"{box}test_raises") and found.passing == (f"{box}test_pick", f"{box}test_slow")
    assert not found.unsteady and not found.lost and not found.broken
    assert found.details[f"{box}test_raises"] == "IndexError: list index out of range"
    assert "assert 8 == 7" in found.details[f"{box}test_first"]
    assert found.frames[f"{box}test_raises"] == (("tests/test_box.py", 10), ("pkg/box.py", 6), ("pkg/box.py", 10))
    assert found.frames[f"{box}test_first"] == (("tests/test_box.py", 6),), "an assertion fails in the test itself"
    assert found.watched and found.reached["pkg/box.py", 5] == (2, 0) and found.reached["pkg/box.py", 9] == (2, 2)
    assert ("pkg/box.py", 13) not in found.reached


def test_targets_and_markers_restrict_what_counts(bench: Bench) -> None:
    one = observe(bench, STATE, read_command("pytest -q tests/test_box.py::test_raises"), look=False)
    assert one.failing == ("tests/test_box.py::test_raises",) and not one.passing and not one.frames
    quick = observe(bench, STATE, read_command("python -m pytest tests -m 'not slow'"), look=False)
    assert quick.passing == ("tests/test_box.py::test_pick",)


def test_without_a_failing_test_nothing_is_run_twice(bench: Bench) -> None:
    mended = {
        **STATE,
        "pkg/box.py": SOURCE.replace("items, 1", "items, 0").replace("return items[at]", "return items[at] if items else 0"),
    }
    found = observe(bench, mended, Wanted())
    assert not found.failing and len(found.passing) == 4 and not found.watched


def test_a_test_that_says_now_this_and_now_that_counts_for_nothing(bench: Bench) -> None:
    lazy = "import sys\n\n\ndef test_watched():\n    assert sys.gettrace() is not None\n\n\ndef test_wrong():\n    assert 0\n"
    found = observe(bench, {"test_lazy.py": lazy}, Wanted())
    assert found.failing == ("test_lazy.py::test_wrong",) and found.unsteady == ("test_lazy.py::test_watched",)


def test_what_cannot_be_collected_is_told_with_the_remedy(bench: Bench) -> None:
    with pytest.raises(UserError, match=r"No module named 'nothing_such'.*--environment auto"):
        observe(bench, {"test_a.py": "import nothing_such\n"}, Wanted())
    beside = observe(bench, {"test_a.py": "import nothing_such\n", "test_b.py": "def test_b():\n    pass\n"}, Wanted())
    assert beside.passing == ("test_b.py::test_b",) and beside.broken.startswith("test_a.py: ")


def test_tests_that_take_too_long_are_stopped(bench: Bench) -> None:
    loop = {"test_a.py": "def test_a():\n    while True:\n        pass\n"}
    with pytest.raises(UserError, match="--limit"):
        observe(Bench(bench.sandbox, cpu_s=0.5), loop, Wanted())


def test_only_pytest_and_only_options_that_are_not_lost() -> None:
    assert read_command("pytest") == Wanted()
    assert read_command("pytest -q -x --tb=short ./a/test_b.py::T::t -mslow") == Wanted(("a/test_b.py::T::t",), "slow")
    for text, word in {
        "tox -e py": "'tox'",
        "make test": "'make'",
        "pytest -k foo": "-k",
        "pytest --lf": "--lf",
        "'": "closing",
    }.items():
        with pytest.raises(UserError, match=word):
            read_command(text)


def test_targets_are_found_or_named() -> None:
    files = dict.fromkeys(("a/test_a.py", "a/b/test_b.py", "test_c.py", "m.py"), "")
    assert files_of(Wanted(), files) == ("a/b/test_b.py", "a/test_a.py", "test_c.py")
    assert files_of(Wanted(("a", "test_c.py::t")), files) == ("a/b/test_b.py", "a/test_a.py", "test_c.py")
    with pytest.raises(UserError, match=r"did you mean 'test_c\.py'"):
        files_of(Wanted(("test_d.py",)), files)
    with pytest.raises(UserError, match="--no-tests"):
        files_of(Wanted(), {"m.py": ""})


def test_forged_output_is_a_hint_and_no_more() -> None:
    assert watch.read('x\nswefuse-watched {\nswefuse-watched []\nswefuse-watched {"reached": [[1]]}\n') == ({}, {})
