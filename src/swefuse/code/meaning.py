"""When two statements count as the same: written differently, of one meaning for all that function tests look at."""

from __future__ import annotations

import ast
import textwrap


def meaning(text: str) -> str:
    """A form of a text of statements that is equal for two of one meaning: the same up to messages of errors and ways to test.

    ``len(x) == 0``, ``x == ""`` and ``not x`` count as one, and so do ``n < 1`` and ``n <= 0``: that is true of integers and of
    containers only, so whoever relies on it runs the tests.
    """
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:  # an ``elif``, or a part of one
        return text
    return ast.dump(_Normalise().visit(tree))


class _Normalise(ast.NodeTransformer):
    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc, None)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.In):
            return ast.Compare(inner.left, [ast.NotIn()], inner.comparators)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) != 1:
            return node
        left, sign, right = node.left, node.ops[0], node.comparators[0]
        value = right.value if isinstance(right, ast.Constant) else None
        if isinstance(sign, ast.Lt | ast.Gt) and isinstance(value, int) and not isinstance(value, bool):
            sign, value = (ast.LtE(), value - 1) if isinstance(sign, ast.Lt) else (ast.GtE(), value + 1)
            right = ast.Constant(value)
        measured = isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "len"
        if measured and isinstance(left, ast.Call) and value == 0 and isinstance(sign, ast.Eq | ast.LtE):
            return ast.UnaryOp(ast.Not(), left.args[0])
        empty = value == "" or (isinstance(right, ast.List) and not right.elts)
        if isinstance(sign, ast.Eq) and empty:
            return ast.UnaryOp(ast.Not(), left)
        return ast.Compare(left, [sign], [right])
