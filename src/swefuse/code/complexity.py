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
        else:
            count += _hidden(child)
    return count


def _hidden(node: ast.AST) -> int:
    """Branches written as something else: chained comparisons, ``any`` and ``all`` of a few things, a table of two, a lambda that
    compares, arithmetic with comparisons. McCabe does not count them; who may be rewarded for fewer branches must not hide one so.
    """
    if isinstance(node, ast.Compare):
        return len(node.ops) - 1
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("any", "all") and node.args:
        given = node.args[0]
        return max(0, len(given.elts) - 1) if isinstance(given, ast.List | ast.Tuple | ast.Set) else 0
    if isinstance(node, ast.Subscript):
        keys = node.value.keys if isinstance(node.value, ast.Dict) else []
        truth = any(isinstance(key, ast.Constant) and isinstance(key.value, bool) for key in keys)
        return int(truth or any(map(_decides, walk(node.slice))))
    if isinstance(node, ast.Lambda):
        return int(any(map(_decides, walk(node.body))))
    return int(isinstance(node, ast.BinOp) and (_decides(node.left) or _decides(node.right)))


def _decides(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def complexity(node: ast.AST) -> int:
    """Cyclomatic complexity of one function, functions inside of it included: 1 + its decisions."""
    return 1 + decisions(node)
