"""Values survive the way out, and only values of exact builtin types go out."""

from __future__ import annotations

import ast
import json
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.sandbox.values import UnrepresentableError, decode, encode, literal

KEYS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    KEYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.sets(KEYS, max_size=3)
    ),
    max_leaves=12,
)


def typed(value: Any) -> Any:
    """The value with its types made part of it, because ``1 == True == 1.0``."""
    if isinstance(value, list | tuple):
        return type(value), [typed(item) for item in value]
    if isinstance(value, dict):
        return dict, [(typed(key), typed(item)) for key, item in value.items()]
    if isinstance(value, set):
        return set, sorted(repr(item) for item in value)
    return type(value), repr(value)


@given(VALUES)
def test_a_value_survives_json(value: Any) -> None:
    assert typed(decode(json.loads(json.dumps(encode(value))))) == typed(value)


@given(VALUES)
def test_a_literal_gives_the_value_back(value: Any) -> None:
    assert typed(ast.literal_eval(literal(encode(value)))) == typed(value)


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Rows(list[int]):
    pass


@pytest.mark.parametrize(
    "value", [Liar(3), Rows(), [Liar(3)], {"a": Rows()}, {Liar(1)}, object(), 1j, range(3), ..., (x for x in "a")]
)
def test_anything_else_does_not_go_out(value: object) -> None:
    with pytest.raises(UnrepresentableError):
        encode(value)


def test_the_dicts_of_collections_are_dicts() -> None:
    for made in (Counter("aab"), OrderedDict(a=2, b=1), defaultdict(int, a=2, b=1)):
        assert encode(made) == encode({"a": 2, "b": 1})


def test_depth_is_bounded() -> None:
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(UnrepresentableError, match="deeply"):
        encode(deep)


@pytest.mark.parametrize("tree", [{"x": []}, {"t": [], "s": []}, {}, {"b": "zz"}, {"t": 3}, {"d": [[1]]}, {"s": [[]]}, {"b": 3}])
def test_a_forged_tree_is_refused(tree: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        decode(tree)
