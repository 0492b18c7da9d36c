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
        ("import m\n\n\ndef test_a():\n    assert m.limit.__code__.co_code[:9] == " + repr(b"") + "\n", Outcome.FAILED),
        ("import inspect, m\n\n\ndef test_a():\n    assert 'top = 9' in inspect.getsource(m)\n", Outcome.TAMPERED),
        ("import m\n\n\ndef test_a():\n    assert m.limit.__code__.co_code == " + repr(_code(LIMIT)) + "\n", Outcome.TAMPERED),
        ("import m\n\n\ndef test_a():\n    assert 'top' in m.limit.__code__.co_varnames\n", Outcome.TAMPERED),
        ("import pytest\n\n\ndef test_a():\n    pytest.skip('no')\n", Outcome.FAILED),
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
            "sign is simpler, but the files hold 1 more decisions than before",
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
