"""Canaries: the same tests with other expected values. A candidate that passes those as well does not compute, it cheats.

No sandbox can keep code under test from forging what a runner in its own process reports: it may patch the runner, answer with
objects that equal everything, read the expected value from its caller or write the records itself. All of that also works on a
test that nobody can pass honestly, and so gives itself away.
"""

from __future__ import annotations

import ast
from typing import Any

_HELPER = "_swefuse_other"
_SHIFT = 1017
_DEFINITION = f"""
def {_HELPER}(v):
    t = type(v)
    if t is bool: return not v
    if t is int: return v + {_SHIFT}
    if t is float: return v + {_SHIFT}.5
    if t is str: return v + "~"
    if t is bytes: return v + b"~"
    if t is list: return v + [{_SHIFT}]
    if t is tuple: return v + ({_SHIFT},)
    if t in (set, frozenset): return v | {{{_SHIFT}}}
    if t is dict: return {{**v, {_SHIFT}: {_SHIFT}}}
    return {_SHIFT} if v is None else object()
"""
_EXACT = (ast.Eq, ast.Is, ast.In)
_EQUALS = frozenset(
    f"assert{name}"
    for name in (
        "Equal", "Equals", "Is", "AlmostEqual", "SequenceEqual", "ListEqual", "TupleEqual", "DictEqual", "SetEqual", "CountEqual",
        "MultiLineEqual",
    )
)  # fmt: skip
_OPPOSITE = {
    "assertTrue": "assertFalse", "assertIn": "assertNotIn", "assertIsNone": "assertIsNotNone", "assertGreater": "assertLessEqual",
}  # fmt: skip
_OPPOSITE |= {value: key for key, value in _OPPOSITE.items()}


def other(value: Any) -> Any:
    """A value of the same type that is not equal to ``value``; an object that equals nothing where the type is not a plain one."""
    scope: dict[str, Any] = {}
    exec(_DEFINITION, scope)  # noqa: S102 - our own text: the tests get the very same
    return scope[_HELPER](value)


def perturbed(text: str) -> str:
    """A test file in which every assertion expects something else. Raises SyntaxError for one that does not parse.

    Where the expected value is a parameter or a loop variable, the variable itself gets another value, since a candidate may look
    it up in its caller. What cannot be changed this way is negated; blocks such as ``pytest.raises`` stay as they are.
    """
    tree = _Perturb().visit(ast.parse(text))
    head = 0  # behind the docstring and imports from __future__, which must come first
    for number, node in enumerate(tree.body):
        first_text = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if first_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            head = number + 1
    tree.body[head:head] = ast.parse(_DEFINITION).body
    return ast.unparse(ast.fix_missing_locations(tree))


class _Perturb(ast.NodeTransformer):
    """``scopes``: for each function or loop that we are in, the names it binds and those of them to be given another value."""

    def __init__(self) -> None:
        self.scopes: list[tuple[set[str], set[str]]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function whose parameters may hold expected values."""
        arguments = node.args
        names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        return self._scope(node, names)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over cases."""
        return self._scope(node, {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)})

    def _scope(self, node: ast.FunctionDef | ast.For, names: set[str]) -> ast.AST:
        changed: set[str] = set()
        self.scopes.append((names, changed))
        self.generic_visit(node)
        self.scopes.pop()
        node.body[:0] = [ast.parse(f"{name} = {_HELPER}({name})").body[0] for name in sorted(changed)]
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """``assert f(x) == 3`` expects 1020; what is no comparison for equality is negated."""
        node.test = self._condition(node.test)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The assertions of ``unittest``."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in _EQUALS and len(node.args) >= 2:
                node.args[0], node.args[1] = self._sides(node.args[0], node.args[1])
            else:
                node.func.attr = _OPPOSITE.get(node.func.attr, node.func.attr)
        return node

    def _condition(self, test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            test.values[0] = self._condition(test.values[0])
            return test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], _EXACT):
            test.left, test.comparators[0] = self._sides(test.left, test.comparators[0], isinstance(test.ops[0], ast.In))
            return test
        return ast.UnaryOp(ast.Not(), test)

    def _sides(self, left: ast.expr, right: ast.expr, member: bool = False) -> tuple[ast.expr, ast.expr]:
        """Both sides, one of them changed: the one without a call, by default the right one. ``member``: right is a container."""
        if member or (_calls(right) and not _calls(left)):
            return self._other(left), right
        return left, self._other(right)

    def _other(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name):
            for names, changed in reversed(self.scopes):
                if node.id in names:
                    changed.add(node.id)
                    return node
        try:
            return ast.parse(repr(other(ast.literal_eval(node))), mode="eval").body
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return ast.Call(ast.Name(_HELPER, ast.Load()), [node], [])


def _calls(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call | ast.Await) for part in ast.walk(node))
