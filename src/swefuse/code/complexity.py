"""How many ways lead through a function: cyclomatic complexity (McCabe, A Complexity Measure, IEEE TSE 1976, section II)."""

from __future__ import annotations

import ast

from swefuse.code.functions import walk

_ONE = (
    ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.comprehension,
)  # fmt: skip


def decisions(node: ast.AST) -> int:
    """Branches below a node: conditions, loops, handlers, assertions, cases, and each further operand of ``and`` and ``or``."""
    count = 0
    for child in walk(node):
        if isinstance(child, _ONE):
            count += 1 + (len(child.ifs) if isinstance(child, ast.comprehension) else 0)
        elif isinstance(child, ast.BoolOp):
            count += len(child.values) - 1
        elif isinstance(child, ast.match_case):
            count += not (isinstance(child.pattern, ast.MatchAs) and child.pattern.pattern is None and child.guard is None)
    return count


def complexity(node: ast.AST) -> int:
    """Cyclomatic complexity of one function, functions inside of it included: 1 + its decisions."""
    return 1 + decisions(node)
