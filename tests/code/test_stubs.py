"""What stays of a function whose body is to be written."""

from __future__ import annotations

import ast

import pytest

from swefuse.code.stubs import MISSING, without_body
from swefuse.errors import DataError


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("def f(x):\n    return x\n\n\ny = 1\n", f"def f(x):\n    {MISSING}\n\n\ny = 1\n"),
        ('def f(x):\n    """Doc."""\n    a = x\n    return a\n', f'def f(x):\n    """Doc."""\n    {MISSING}\n'),
        ("def f(x): return x\ny = 1\n", f"def f(x): {MISSING}\ny = 1\n"),
        ("def f(x):\n    @g\n    def h():\n        pass\n    return h\n", f"def f(x):\n    {MISSING}\n"),
        ('def f(x):\n    """Doc."""\n', f"def f(x):\n    {MISSING}\n"),
    ],
)
def test_head_and_docstring_stay(text: str, left: str) -> None:
    assert without_body(text, "f") == left
    ast.parse(left)


def test_a_function_that_is_not_there_is_told() -> None:
    with pytest.raises(DataError, match="there is no top-level function g"):
        without_body("def f():\n    pass\n", "g")
