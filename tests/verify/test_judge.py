"""Judging records: what counts, what is forged, and when two values are the same."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.errors import DataError
from swefuse.records import Call, Outcome
from swefuse.sandbox.base import Limit, Output
from swefuse.sandbox.values import encode, literal
from swefuse.verify.judge import compare, judge_calls, judge_pytest, wanted

CALLS = (Call(id="a", args="(1,)", want="[1]"), Call(id="b", args="(2,)", raises="KeyError"))
A, B, END = {"id": "a", "value": [1]}, {"id": "b", "error": ["KeyError", "LookupError", "Exception"]}, {"end": 2}


def output(*records: Any, tail: str = "", limit: Limit = "") -> Output:
    return Output("".join(json.dumps(record) + "\n" for record in records) + tail, limit)


@pytest.mark.parametrize(
    ("given_output", "outcome", "tests"),
    [
        (output(A, B, END), Outcome.PASSED, "passed passed"),
        (output(A, {"id": "b", "value": [1]}, END), Outcome.FAILED, "passed failed"),
        (output(A, B), Outcome.FAILED, "passed passed"),  # no end: the process did not live to say that it was through
        (output(A, B, tail='{"end": 2}'), Outcome.FAILED, "passed passed"),
        (output(A, END), Outcome.FAILED, "passed missing"),
        (output(A, tail='{"id": "b", "err'), Outcome.FAILED, "passed missing"),
        (output(A, limit="cpu"), Outcome.TIMEOUT, "passed timeout"),
        (output(A, B, limit="wall"), Outcome.TIMEOUT, "passed passed"),
        (output(A, limit="output"), Outcome.FAILED, "passed missing"),
        (output({"load": True, "error": ["ImportError"]}), Outcome.FAILED, "error error"),
        (output({"unparsed": "m.py", "message": "x"}), Outcome.UNPARSED, "error error"),
        (output(), Outcome.FAILED, "missing missing"),
        (output(A, A, B, END), Outcome.TAMPERED, "missing missing"),
        (output(B, A, END), Outcome.TAMPERED, "missing missing"),
        (output(A, B, END, END), Outcome.TAMPERED, "missing missing"),
        (output(A, B, END, {"id": "a", "value": [1]}), Outcome.TAMPERED, "missing missing"),
        (output(A, {"id": "c", "value": 1}, END), Outcome.TAMPERED, "missing missing"),
        (output(A, {"load": True}, END), Outcome.TAMPERED, "missing missing"),
        (output({"load": True}, A, B, END), Outcome.TAMPERED, "missing missing"),
        (output(A, [1], END), Outcome.TAMPERED, "missing missing"),
        (output(A, tail="{x\n"), Outcome.TAMPERED, "missing missing"),
        (output(A, tail="[" * 9999 + "\n"), Outcome.TAMPERED, "missing missing"),
        (output(A, tail="9" * 9999 + "\n"), Outcome.TAMPERED, "missing missing"),
        (output({"id": "a", "value": "x" * 70000}), Outcome.TAMPERED, "missing missing"),
    ],
)
def test_calls(given_output: Output, outcome: Outcome, tests: str) -> None:
    found = judge_calls(CALLS, given_output)
    assert (found.outcome, " ".join(result.outcome for result in found.tests.values())) == (outcome, tests)


def phases(id_: str, call: str = "passed", nonce: str = "n") -> list[dict[str, str]]:
    return [
        {"nonce": nonce, "id": id_, "when": when, "outcome": call if when == "call" else "passed"}
        for when in ("setup", "call", "teardown")
    ]


FIN = {"nonce": "n", "end": 0}


@pytest.mark.parametrize(
    ("records", "outcome", "tests"),
    [
        ([*phases("a"), *phases("b"), FIN], Outcome.PASSED, "passed passed"),
        ([*phases("a"), *phases("b"), *phases("other", "failed"), {"nonce": "n", "end": 1}], Outcome.PASSED, "passed passed"),
        ([*phases("a"), *phases("b", "failed"), FIN], Outcome.FAILED, "passed failed"),
        ([*phases("a"), *phases("b", "xfail"), FIN], Outcome.FAILED, "passed skipped"),
        ([*phases("a"), *phases("b")], Outcome.FAILED, "passed passed"),
        ([*phases("a"), *phases("b"), {"nonce": "n", "end": 2}], Outcome.FAILED, "passed passed"),
        ([*phases("a"), *phases("b")[:2], FIN], Outcome.FAILED, "passed missing"),  # no tear-down
        ([*phases("a"), *phases("b")[1:], FIN], Outcome.FAILED, "passed missing"),  # no set-up
        ([*phases("a"), *phases("b"), *phases("b"), FIN], Outcome.TAMPERED, "missing missing"),
        ([*phases("a"), *phases("b"), FIN, *phases("c")], Outcome.TAMPERED, "missing missing"),
        ([*phases("a"), *phases("b", nonce="m"), FIN], Outcome.TAMPERED, "missing missing"),
        ([*phases("a"), {"unparsed": "m.py"}, FIN], Outcome.TAMPERED, "missing missing"),
    ],
)
def test_pytest(records: list[dict[str, Any]], outcome: Outcome, tests: str) -> None:
    found = judge_pytest(("a", "b"), output(*records), "n")
    assert (found.outcome, " ".join(result.outcome for result in found.tests.values())) == (outcome, tests)


def test_nothing_expected_is_never_passed() -> None:
    assert judge_calls((), output({"end": 0})).outcome is Outcome.FAILED
    assert judge_pytest((), output(FIN), "n").outcome is Outcome.FAILED


def same(want: str, got: Any) -> bool:
    return (
        compare(Call(id="x", args="()", want=want), json.loads(json.dumps({"id": "x", "value": encode(got)}))).outcome == "passed"
    )


@pytest.mark.parametrize(
    ("want", "got", "equal"),
    [
        ("1", 1.0, True),
        ("1", True, True),
        ("0.3", 0.1 + 0.2, True),
        ("0.3", 0.3001, False),
        ("[0.3]", [0.1 + 0.2], True),
        ("{'a': (0.3,)}", {"a": (0.1 + 0.2,)}, True),
        ("0", 1e-10, True),
        ("0.0", 1e-10, True),
        ("(1,)", [1], False),
        ("[1]", (1,), False),
        ("'a'", b"a", False),
        ("{1, 2}", {2, 1}, True),
        ("{1, 2}", frozenset({1, 2}), True),
        ("{1: 2, 3: 4}", {3: 4, 1: 2}, True),
        ("{1: 2}", {1: 2, 3: 4}, False),
        ("{1: 2}", {1.0: 2}, True),
        ("{}", set(), False),
        ("None", False, False),
        ("1e999", float("inf"), True),
        ("-1e999", float("inf"), False),
        ("1.0", float("nan"), False),
        ("0.5", "0.5", False),
        ("1.5", 10**400, False),
        ("[1, 2]", [1], False),
        ("''", [], False),
        ("b'x'", bytearray(b"x"), True),
    ],
)
def test_comparison(want: str, got: Any, equal: bool) -> None:
    assert same(want, got) is equal


EXACT = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2) | st.binary(max_size=1),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=2).map(tuple)
        | st.dictionaries(st.integers(0, 2) | st.text("ab", max_size=1), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(EXACT, EXACT)
def test_without_floats_it_is_pythons_own_comparison(want: Any, got: Any) -> None:
    assert same(literal(encode(want)), got) is (want == got)
    assert same(literal(encode(want)), ast.literal_eval(repr(want)))


@pytest.mark.parametrize(
    ("raises", "names", "passed"),
    [
        ("KeyError", ["KeyError", "LookupError"], True),
        ("LookupError", ["KeyError", "LookupError"], True),
        ("KeyError", ["ValueError"], False),
        ("KeyError", ["m.KeyError"], False),
        ("Odd", ["m.Odd", "Exception"], True),
        ("m.Odd", ["m.Odd"], True),
        ("Odd", [3, None], False),
        ("Odd", "Odd", False),
    ],
)
def test_exceptions_are_told_apart_by_name(raises: str, names: Any, passed: bool) -> None:
    result = compare(Call(id="x", args="()", raises=raises), {"id": "x", "error": names})
    assert (result.outcome == "passed") is passed


def test_raising_is_no_value_and_a_value_is_no_raising() -> None:
    assert (
        compare(CALLS[0], {"id": "a", "error": ["KeyError"], "message": "'k'"}).detail
        == "(1,) gave raised KeyError: 'k', expected [1]"
    )
    assert compare(CALLS[1], {"id": "b", "value": None}).detail == "(2,) gave None, expected to raise KeyError"
    assert compare(CALLS[0], {"id": "a", "odd": "<class 'm.L'>"}).outcome == "failed"
    assert compare(CALLS[0], {"id": "a", "value": {"t": 3}}).outcome == "failed"
    assert compare(CALLS[0], {"id": "a"}).outcome == "failed"


@pytest.mark.parametrize("text", ["f(1)", "[", "1j", "{[]}", "(" * 300])
def test_a_task_without_literals_is_an_error_of_the_data(text: str) -> None:
    with pytest.raises(DataError, match="no Python literal"):
        wanted(text)
