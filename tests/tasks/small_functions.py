"""A few functions to make tasks from."""

from __future__ import annotations

import ast

from swefuse.code.functions import body_hash, function
from swefuse.tasks.spec import FunctionSpec

CLIP = '''def clip(values: list[int], low: int, high: int) -> list[int]:
    """Move each value into the range."""
    if low > high:
        raise ValueError("empty range")
    kept = []
    for value in values:
        if value < low:
            value = low
        kept.append(min(value, high))
    return kept
'''
CLIP_ARGUMENTS = ("([1, 5, 9], 2, 6)", "([], 0, 1)", "([3], 5, 4)", "([-1, 0, 1], 0, 0)", "([7, 7], 6, 8)")
HELPED = '''import math


def double(x):
    return x * 2


def area(side, scale):
    """Area of a scaled square."""
    total = double(side) * scale
    if total < 0:
        return -1
    return math.floor(total)
'''
HELPED_CHECK = """
METADATA = {}


def check(candidate):
    assert candidate(2, 3) == double(6)
    assert candidate(1.5, 1) == math.floor(3.0)
    assert candidate(-1, 1) == -1, "negative"
    for side in range(4):
        assert candidate(side, 1) == 2 * side
    assert candidate(len, 0) if False else True
"""


def make_spec(text: str, name: str, arguments: tuple[str, ...] = (), tests: str = "") -> FunctionSpec:
    digest = body_hash(function(ast.parse(text), name))
    return FunctionSpec("real" if tests else "corpus", "test", name, text, digest, "Apache-2.0", arguments, tests, split="train")
