"""Decisions counted by hand."""

from __future__ import annotations

import ast

import pytest

from swefuse.code.complexity import complexity, decisions


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("pass", 0),
        ("if x:\n  pass", 1),
        ("if x:\n  pass\nelif y:\n  pass\nelse:\n  pass", 2),
        ("return 1 if x else 2", 1),
        ("return x and y or z", 2),
        ("return x and y and z", 2),
        ("for a in x:\n  while a:\n    pass", 2),
        ("try:\n  pass\nexcept ValueError:\n  pass\nexcept OSError:\n  pass\nfinally:\n  pass", 2),
        ("return [a for a in x if a if b]", 3),
        ("assert x", 1),
        ("match x:\n  case 1:\n    pass\n  case _:\n    pass", 1),
        ("match x:\n  case 1:\n    pass\n  case y if y:\n    pass", 2),
        ("def g():\n  if x:\n    pass", 1),
    ],
)
def test_each_branch_counts_once(body: str, count: int) -> None:
    node = ast.parse("def f(x, y, z):\n" + "\n".join(f"  {line}" for line in body.split("\n"))).body[0]
    assert decisions(node) == count
    assert complexity(node) == count + 1
