"""Every kind: its worked example runs as it says, and what would cheat its own check does not."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from swefuse import records
from swefuse.errors import DataError
from swefuse.records import Call, Kind, Outcome, Provenance, Suite, Task, Verdict
from swefuse.verify import Verifier
from swefuse.verify.kinds import RULES
from swefuse.verify.kinds.testgen import respelled
from swefuse.verify.tests import Limits


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(cache=False, limits=Limits(pytest_cpu_s=2.0)) as made:
        yield made


def suite(entry: str, args: str, want: str, fails: bool) -> Suite:
    side = {"fail_to_pass" if fails else "pass_to_pass": ("c",)}
    return Suite(form="calls", entry=entry, calls=(Call(id="c", args=args, want=want),), **side)


@pytest.mark.parametrize("kind", list(Kind))
def test_the_worked_example_runs(kind: Kind, verifier: Verifier) -> None:
    def judge(task: Task, changes: Mapping[str, str]) -> Verdict:
        return verifier.verify(task, {**task.files, **changes})

    module = sys.modules[f"swefuse.verify.kinds.{kind}"]
    example = doctest.DocTestParser().get_doctest(
        module.__doc__ or "", {**vars(records), "judge": judge, "suite": suite}, kind, None, None
    )
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=told.append)
    assert (result.failed, result.attempted >= 2) == (0, True), "".join(told)


def test_every_kind_says_what_it_is_about() -> None:
    for kind in Kind:
        rules = RULES[kind]
        assert rules.kind is kind and all([rules.edits, rules.protected, rules.verified, rules.scored])
        assert not rules.alone or rules.check is not None


def make(kind: Kind, files: dict[str, str], editable: str, goal: dict[str, str], **more: Any) -> Task:
    return Task.make(
        kind, instruction="", files=files, editable=(editable,), goal=goal, provenance=Provenance(source="test"),
        **{"suites": (), **more},
    )  # fmt: skip


LIMIT = "def limit(x):\n    top = 9\n    if x > top:\n        return top\n    return x\n"


def _code(text: str) -> bytes:
    scope: dict[str, Any] = {}
    exec(text, scope)
    return scope["limit"].__code__.co_code  # type: ignore[no-any-return]


TESTS = "from m import limit\n\n\ndef test_limit():\n    assert [limit(n) for n in (0, 8, 9, 10, 11)] == [0, 8, 9, 9, 9]\n"


def limit_task(**more: Any) -> Task:
    goal = {"module": "m.py", "tests": "test_m.py"}
    return make(Kind.TESTGEN, {"m.py": LIMIT, "test_m.py": ""}, "test_m.py", goal, protected=("m.py",), **more)


@pytest.mark.parametrize(
    ("tests", "outcome"),
    [
        ("", Outcome.FAILED),
        ("def test_(", Outcome.UNPARSED),
        ("import os\nos._exit(0)\n", Outcome.FAILED),
        ("import os\n\n\ndef test_a():\n    os.write(3, b'{}\\n')\n", Outcome.TAMPERED),
        ("def test_a():\n    while True: pass\n", Outcome.TIMEOUT),
        ("import m\n\n\ndef test_a():\n    assert m.limit.__code__.co_code[:9] == " + repr(b"") + "\n", Outcome.TAMPERED),
        ("import inspect, m\n\n\ndef test_a():\n    assert 'top = 9' in inspect.getsource(m)\n", Outcome.TAMPERED),
        ("import m\n\n\ndef test_a():\n    assert m.limit.__code__.co_code == " + repr(_code(LIMIT)) + "\n", Outcome.TAMPERED),
        ("import m\n\n\ndef test_a():\n    assert 'top' in m.limit.__code__.co_varnames\n", Outcome.TAMPERED),
        ("import pytest\n\n\ndef test_a():\n    pytest.skip('no')\n", Outcome.FAILED),
        ("def test_a(pytestconfig):\n    assert not pytestconfig.option.maxfail\n", Outcome.TAMPERED),
        ("import resource\n\n\ndef test_a():\n    assert resource.getrlimit(0)[0] > 4\n", Outcome.TAMPERED),
        ("import m\n" + LIMIT.replace("limit", "copy") + "def test_a():\n    assert m.limit(3) == copy(3)\n", Outcome.TAMPERED),
        ("import m\nSOURCE = " + repr(LIMIT) + "\n\n\ndef test_a():\n    assert m.limit(3)\n", Outcome.TAMPERED),
        ("from pathlib import Path\n\n\ndef test_a():\n    assert 'top' in Path('m.py').read_text()\n", Outcome.TAMPERED),
    ],
)
def test_tests_that_test_nothing_earn_nothing(tests: str, outcome: Outcome, verifier: Verifier) -> None:
    task = limit_task()
    verdict = verifier.verify(task, {**task.files, "test_m.py": tests})
    assert verdict.outcome is outcome, verdict.reason
    assert verdict.score == 0


def test_only_bugs_that_the_reference_notices_count(verifier: Verifier) -> None:
    weak = TESTS.replace("(0, 8, 9, 10, 11)] == [0, 8, 9, 9, 9]", "(11,)] == [9]")
    counted = {}
    for name, tests in (("strong", TESTS), ("weak", weak)):
        task = limit_task(reference={"m.py": LIMIT, "test_m.py": tests})
        verdict = verifier.verify(task, task.reference or {})
        assert (verdict.outcome, verdict.score) == (Outcome.PASSED, 1.0)
        counted[name] = verdict.parts["mutants"]
        assert verdict.parts["killed"] == verdict.parts["mutants"]
    assert counted["weak"] < counted["strong"]
    strong = limit_task(reference={"m.py": LIMIT, "test_m.py": TESTS})
    verdict = verifier.verify(strong, {**strong.files, "test_m.py": weak})
    assert verdict.parts["killed"] == counted["weak"] < verdict.parts["mutants"]
    assert verdict.score == pytest.approx(counted["weak"] / counted["strong"])


def test_a_module_spelled_otherwise_does_the_same() -> None:
    text = '"""M."""\n\n\ndef f(a, *, b=1):\n    """D."""\n    total = a\n'
    text += '    for item in range(b):\n        total += item\n    return f"{total}"\n'
    scope: dict[str, Any] = {}
    exec(respelled(text), scope)
    assert scope["f"](3, b=4) == "9" and scope["f"].__doc__ == "D." and scope["__doc__"] == "M."
    assert "total_x" in respelled(text) and "b_x" not in respelled(text)
    assert "key" in respelled("def f(x):\n    def g(key):\n        return key\n    return g(key=x)\n").replace("key_x", "")


HALF = "def half(x):\n    if x % 2:\n        raise ValueError(x)\n    return x // 2\n"


def documented(doc: str) -> str:
    head, rest = HALF.split("\n", 1)
    return f"{head}\n    '''{doc}\n    '''\n{rest}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HALF.replace("x // 2", "x / 2"), "the code of m.py was changed, not only docstrings"),
        (documented("Return half of x, or ValueError."), "no example calls half and shows what comes"),
        (documented("Return half of x, or ValueError.\n\n    >>> 1 + 1\n    2"), "no example calls half and shows what comes"),
        (documented("Return x or ValueError.\n\n    >>> half(4)  # doctest: +SKIP\n    9"), "doctest directives are not accepted"),
        (documented("Return x or ValueError.\n\n    >>> half.__globals__\n    9"), "an example must not need half.__globals__"),
        (documented("Return x or ValueError.\n\n    >>> import os\n    >>> half(2)\n    1"), "an example must not need import os"),
        (documented("Half.\n\n    >>> half(4)\n    2"), "the docstring does not mention: parameter x, what is"),
        ("def half(x:\n", "m.py does not parse"),
    ],
)  # fmt: skip
def test_a_docstring_that_does_not_hold_is_told(text: str, reason: str, verifier: Verifier) -> None:
    task = make(Kind.DOCGEN, {"m.py": HALF}, "m.py", {"function": "m.py:half"})
    verdict = verifier.verify(task, {"m.py": text})
    assert verdict.outcome in (Outcome.FAILED, Outcome.UNPARSED)
    assert verdict.reason.startswith(reason)


def test_an_example_may_raise_and_build_on_others(verifier: Verifier) -> None:
    doc = (
        "Return half of x; ValueError if x is odd.\n\n    >>> n = 8\n    >>> half(n)\n    4\n    >>> half(3)\n"
        "    Traceback (most recent call last):\n    ValueError: 3"
    )
    task = make(Kind.DOCGEN, {"m.py": HALF}, "m.py", {"function": "m.py:half"})
    verdict = verifier.verify(task, {"m.py": documented(doc)})
    assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.PASSED, "", 1.0)
    assert list(verdict.tests) == ["half(n)", "half(3)"]


SIGN = "def sign(x):\n    if x > 0:\n        if x != 0:\n            return 1\n    return 0\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def sign(x, y=0):\n    return int(x > 0)\n", "sign takes other arguments than before"),
        ("sign = lambda x: int(x > 0)\n", "sign is no longer in m.py"),
        (
            "def sign(x):\n    return _a(x)\n\n\n"
            "def _a(x):\n    if x > 0:\n        if x != 0:\n            return 1 if x else 1\n    return 0\n",
            "sign is simpler, but the files together hold 1 more decisions; the reference saves 1",
        ),
        ("def sign(x):\n    return 1\n", "FAILED in the form pytest"),
    ],
)
def test_a_refactoring_that_hides_or_breaks_something_fails(text: str, reason: str, verifier: Verifier) -> None:
    tests = "from m import sign\n\n\ndef test_zero():\n    assert sign(0) == 0\n"
    suites = (
        suite("m.py:sign", "(5,)", "1", fails=False),
        Suite(form="pytest", files=("test_m.py",), pass_to_pass=("test_m.py::test_zero",)),
    )
    task = make(Kind.REFACTOR, {"m.py": SIGN, "test_m.py": tests}, "m.py", {"function": "m.py:sign"}, suites=suites)
    verdict = verifier.verify(task, {**task.files, "m.py": text})
    assert (verdict.outcome, verdict.score) == (Outcome.FAILED, 0)
    assert verdict.reason.startswith(reason)


def test_a_goal_that_lacks_something_is_named(verifier: Verifier) -> None:
    task = make(Kind.VULNFIX, {"m.py": "x = 1\n"}, "m.py", {"rule": "S1"}, suites=(suite("m.py:x", "()", "1", fails=True),))
    task = task.revised(files={"m.py": "def x():\n    return 1\n"})
    with pytest.raises(DataError, match=r"a vulnfix task needs 'rules' in its goal; has: \['rule'\]"):
        verifier.verify(task, {"m.py": "def x():\n    return 1 + 0\n"})


def test_a_hole_may_not_move_to_another_file(verifier: Verifier) -> None:
    one = suite("m.py:load", "('[1]',)", "[1]", fails=False)
    task = make(Kind.VULNFIX, {"m.py": "def load(text):\n    return eval(text)\n"}, "m.py", {"rules": "S307"}, suites=(one,))
    moved = {"m.py": "from helper import load\n", "helper.py": "def load(text):\n    return eval(text)  # noqa: S307\n"}
    assert verifier.verify(task, moved).reason == "S307 still fires in helper.py"


HONEST_TESTS = """
import unittest

import pytest
from m import limit


@pytest.fixture
def low():
    return 0


@pytest.mark.parametrize(("given", "want"), [(8, 8), (9, 9), (10, 9), (11, 9)])
def test_edges(given, want, low):
    assert (limit(given), limit(low)) == (want, 0)


@pytest.mark.skip(reason="another day")
def test_later():
    assert False


@pytest.mark.xfail(reason="known")
def test_known():
    assert limit(3) == 4


class TestParts(unittest.TestCase):
    def test_many(self):
        for given in (-3, 0, 5):
            with self.subTest(given=given):
                self.assertEqual(limit(given), given)
"""


def test_tests_as_people_write_them_are_taken(verifier: Verifier) -> None:
    task = limit_task(reference={"m.py": LIMIT, "test_m.py": TESTS})
    verdict = verifier.verify(task, {**task.files, "test_m.py": HONEST_TESTS})
    assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.PASSED, "", 1.0)
    broken = HONEST_TESTS.replace("(-3, 0, 5)", "(-3, 0, 50)")
    verdict = verifier.verify(task, {**task.files, "test_m.py": broken})
    assert verdict.reason == "fails on the right code: test_m.py::TestParts::test_many"


LONG_SIGN = "def sign(x, kind):\n" + "".join(f"    if kind == {n}:\n        return {n} * x\n" for n in range(6)) + "    return 0\n"
SHORT_SIGN = "def sign(x, kind):\n    return {n: n for n in range(6)}.get(kind, 0) * x\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "def sign(x, kind):\n    return _sign(x, kind)\n\n\n" + LONG_SIGN.replace("sign", "_sign"),
            "sign is simpler, but no decision",
        ),
        ("def sign(x, kind):\n    s = {}\n    exec(" + repr(LONG_SIGN) + ", s)\n    return s['sign'](x, kind)\n", "it uses exec"),
        (
            "def sign(x, kind):\n    return " + "[" * 5 + "0" + "".join(f", {n} * x][kind == {n}]" for n in range(1, 6)) + "\n",
            "sign is simpler, but",
        ),
        (SHORT_SIGN, ""),
        (SHORT_SIGN.replace("(x, kind)", "(x: int, kind: int) -> int"), ""),
    ],
)
def test_branches_may_go_and_not_hide(text: str, reason: str, verifier: Verifier) -> None:
    one = suite("m.py:sign", "(5, 3)", "15", fails=False)
    task = make(
        Kind.REFACTOR, {"m.py": LONG_SIGN}, "m.py", {"function": "m.py:sign"}, suites=(one,), reference={"m.py": SHORT_SIGN}
    )
    verdict = verifier.verify(task, {"m.py": text})
    assert verdict.reason.startswith(reason) and (verdict.outcome is Outcome.PASSED) == (not reason), verdict.reason


SLOW = "def total(n):\n    found = 0\n    for i in range(n + 1):\n        found += i\n    return found\n"
WORKS = SLOW.replace("total", "_slow")


@pytest.mark.parametrize(
    "text",
    [
        "import sys\n" + WORKS + "def total(n):\n    sys.settrace(None)\n    return _slow(n)\n",
        "import sys\n" + WORKS + "def total(n):\n    old = sys.gettrace()\n    sys.settrace(None)\n    found = _slow(n)\n"
        "    sys.settrace(old)\n    return found\n",
        "from concurrent.futures import ThreadPoolExecutor\n" + WORKS
        + "def total(n):\n    return ThreadPoolExecutor(1).submit(_slow, n).result()\n",
        "def total(n):\n    found = 0\n    for i in range(n + 1): found += i\n    return found\n",
        "S = " + repr(SLOW) + "\ndef total(n):\n    s = {}\n    exec(S, s)\n    return s['total'](n)\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["calls", "pytest"])
def test_lines_may_go_and_not_hide(text: str, form: str, verifier: Verifier) -> None:
    tests = "from m import total\n\n\ndef test_total():\n    assert total(99) == 4950\n"
    suites = (
        suite("m.py:total", "(99,)", "4950", fails=False),
        Suite(form="pytest", files=("test_m.py",), pass_to_pass=("test_m.py::test_total",)),
    )
    quick = "def total(n):\n    return n * (n + 1) // 2\n"
    files = {"m.py": SLOW, "test_m.py": tests}
    task = make(Kind.OPTIMIZE, files, "m.py", {}, suites=suites, reference={**files, "m.py": quick})
    verdict = verifier.verify(task, {**files, "m.py": text}, form)
    assert (verdict.outcome, verdict.parts.get("share", 0.0) < 0.5 or "uses" in verdict.reason) == (Outcome.FAILED, True), (
        verdict.reason
    )
    assert verifier.verify(task, {**files, "m.py": quick}, form).outcome is Outcome.PASSED


@pytest.mark.parametrize("head", ["def answer(_=print(5))", "def answer() -> print(5)", "def answer(x=1)"])
def test_no_code_hides_in_the_head_of_an_answer(head: str, verifier: Verifier) -> None:
    one = suite("answer.py:answer", "()", "6", fails=True)
    files = {"m.py": "x = 6\n", "answer.py": "def answer():\n    return None\n"}
    task = make(Kind.QA, files, "answer.py", {}, suites=(one,), protected=("m.py",))
    verdict = verifier.verify(task, {**files, "answer.py": f"{head}:\n    return 6\n"})
    assert verdict.outcome is Outcome.FAILED and "without parameters" in verdict.reason
    good = '"""My answer."""\n\n\ndef answer():\n    """Six."""\n    return 6\n'
    assert verifier.verify(task, {**files, "answer.py": good}).outcome is Outcome.PASSED
