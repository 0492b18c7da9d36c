"""What the sandbox says about a function."""

from __future__ import annotations

import pytest

from swefuse.errors import DataError
from swefuse.records import Call
from swefuse.sandbox import Sandbox
from swefuse.tasks.observe import Observed, is_slow, observe, results

ODD = """
import statistics


def odd(x):
    if x == 1:
        return {"b": (1, 2.5), "a": {3, 1}}
    if x == 2:
        raise KeyError("no")
    if x == 3:
        while True:
            pass
    if x == 4:
        return object()
    if x == 5:
        return float("nan")
    if x == 6:
        return "z" * 500
    if x == 7:
        return statistics.mean([])
    return float("inf")
"""


def test_each_way_that_a_call_can_end(box: Sandbox) -> None:
    found = observe(box, {"m.py": ODD}, "m.py:odd", [f"({x},)" for x in range(1, 9)])
    assert found == [
        Observed(want="{'b': (1, 2.5), 'a': {1, 3}}"),
        Observed(raises="KeyError"),
        Observed(trouble="the call hangs"),
        Observed(trouble="the answer has no literal"),
        Observed(trouble="the answer has no literal"),
        Observed(trouble="the answer is too long"),
        Observed(trouble="an error of no builtin class"),
        Observed(want="1e999"),
    ]


def test_a_module_that_does_not_load(box: Sandbox) -> None:
    with pytest.raises(DataError, match="does not load"):
        observe(box, {"m.py": "import nothing_like_this"}, "m.py:f", ["()"])


def test_results_are_those_of_the_judge(box: Sandbox) -> None:
    calls = [Call(id="a", args="(2,)", raises="KeyError"), Call(id="b", args="(3,)", want="1"), Call(id="c", args="(1,)", want="1")]
    found = results(box, {"m.py": ODD}, "m.py:odd", calls)
    assert {id_: result.outcome for id_, result in found.items()} == {"a": "passed", "b": "timeout", "c": "missing"}


def test_what_is_slow_is_counted_in_lines_and_not_in_seconds(box: Sandbox) -> None:
    files = {
        "m.py": "def f(x):\n    for _ in range(x):\n        pass\n    return x\n",
        "n.py": "def g(x):\n    while x:\n        pass\n",
    }
    calls = [Call(id="a", args="(0,)", want="0"), Call(id="b", args="(3,)", want="3")]
    lines = 2 + (4 + 3 + 1)  # the line of the loop is run once more than its body
    assert not is_slow(box, files, "m.py:f", calls, lines)
    assert is_slow(box, files, "m.py:f", calls, lines - 1)
    assert is_slow(box, files, "n.py:g", [Call(id="a", args="(1,)", want="1")], 1 << 40), "what never ends"
