"""Tests that expect something else: what they become, and which cheats they catch."""

from __future__ import annotations

import ast

import pytest
from small_task import RIGHT

from swefuse.records import Outcome, Suite, Task
from swefuse.verify import Verifier
from swefuse.verify.canary import other, perturbed

PLAIN = [True, 0, -3, 2.5, float("inf"), "", "x", b"y", [], [1], (), {}, {1: 2}, set(), frozenset({1}), None, object(), 3j]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_other_is_another_value_of_the_same_type(value: object) -> None:
    assert value == float("inf") or other(value) != value
    assert value is None or type(value) in (object, complex) or type(other(value)) is type(value)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("assert f(1) == 2", "assert f(1) == 1019"),
        ("assert 2 == f(1)", "assert 1019 == f(1)"),
        ("assert f(1) == -2", "assert f(1) == 1015"),
        ("assert f(1) is True", "assert f(1) is False"),
        ("assert f(1) == [1, 'a']", "assert f(1) == [1, 'a', 1017]"),
        ("assert f(1) == g(2)", "assert f(1) == _swefuse_other(g(2))"),
        ("assert f(1) == LIMIT", "assert f(1) == _swefuse_other(LIMIT)"),
        ("assert 'a' in f(1)", "assert 'a~' in f(1)"),
        ("assert f(1)", "assert not f(1)"),
        ("assert not f(1)", "assert not (not f(1))"),
        ("assert f(1) < 3", "assert not f(1) < 3"),
        ("assert f(1) == 2 and f(2) == 3", "assert f(1) == 1019 and f(2) == 3"),
        ("self.assertEqual(f(1), 2)", "self.assertEqual(f(1), 1019)"),
        ("self.assertTrue(f(1), 'why')", "self.assertFalse(f(1), 'why')"),
        ("with pytest.raises(ValueError):\n    f(1)", "with pytest.raises(ValueError):\n    f(1)"),
    ],
)
def test_every_assertion_expects_something_else(line: str, wanted: str) -> None:
    module = ast.parse(perturbed(f'"""Doc."""\nfrom __future__ import annotations\n{line}\n'))
    assert ast.get_docstring(module) == "Doc."
    assert ast.dump(ast.Module(module.body[3:], [])) == ast.dump(ast.parse(wanted))
    assert isinstance(module.body[1], ast.ImportFrom) and isinstance(module.body[2], ast.FunctionDef)


def test_parameters_and_loop_variables_are_changed_where_a_candidate_would_look() -> None:
    text = "def test(x, want):\n    for a, b in ROWS:\n        assert f(a) == b\n    assert f(x) == want\n"
    wanted = (
        "def test(x, want):\n    want = _swefuse_other(want)\n    for a, b in ROWS:\n        b = _swefuse_other(b)\n"
        "        assert f(a) == b\n    assert f(x) == want\n"
    )
    assert ast.dump(ast.parse(perturbed(text)).body[1]) == ast.dump(ast.parse(wanted).body[0])


TABLE = (
    "import pytest\nfrom m import f\n\n\n@pytest.mark.parametrize(('x', 'want'), [(0, 0), (1, 2), (3, 6)])\n"
    "def test_f(x, want):\n    assert f(x) == want\n\n\ndef test_raises():\n    with pytest.raises(ValueError):\n        f(-1)\n"
)


@pytest.fixture(scope="module")
def table(task: Task) -> Task:
    names = ("test_f[0-0]", "test_f[1-2]", "test_f[3-6]", "test_raises")
    ids = tuple(f"tests/test_m.py::{name}" for name in names)
    suites = (Suite(form="pytest", files=("tests/test_m.py",), fail_to_pass=ids[2:3], pass_to_pass=(*ids[:2], ids[3])),)
    files = {**task.files, "tests/test_m.py": TABLE}
    return task.model_copy(update={"files": files, "suites": suites, "reference": {**files, "m.py": RIGHT}})


def test_an_honest_candidate_is_no_cheat(verifier: Verifier, table: Task) -> None:
    for source in (RIGHT, "def f(x):\n    assert x >= 0 or exec('raise ValueError')\n    return x + x\n"):
        verdict = verifier.verify(table, {**table.files, "m.py": source})
        assert (verdict.outcome, verdict.parts["canaries"]) == (Outcome.PASSED, 3.0), verdict.reason
