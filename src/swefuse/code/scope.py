"""Coarse types of a function's local names, guessed from annotations and assignments. ``?`` means unknown and fits everything.

Only used to leave out edits that no engineer would try (a list where a count stands); nothing depends on a guess being right.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from swefuse.code.functions import walk

NUMBER, TEXT, LIST, DICT, SET, TUPLE, FLAG, UNKNOWN = "number", "text", "list", "dict", "set", "tuple", "flag", "?"

_HEADS = {
    "int": NUMBER, "float": NUMBER, "complex": NUMBER, "str": TEXT, "bool": FLAG, "list": LIST, "List": LIST, "Sequence": LIST,
    "dict": DICT, "Dict": DICT, "set": SET, "Set": SET, "tuple": TUPLE, "Tuple": TUPLE,
}  # fmt: skip
_CALLS = {
    "len": NUMBER, "sum": NUMBER, "int": NUMBER, "float": NUMBER, "abs": NUMBER, "ord": NUMBER, "round": NUMBER, "pow": NUMBER,
    "str": TEXT, "chr": TEXT, "bin": TEXT, "hex": TEXT, "sorted": LIST, "list": LIST, "dict": DICT, "set": SET, "tuple": TUPLE,
    "bool": FLAG, "any": FLAG, "all": FLAG,
}  # fmt: skip
_METHODS = {
    "join": TEXT, "lower": TEXT, "upper": TEXT, "strip": TEXT, "replace": TEXT, "title": TEXT, "lstrip": TEXT, "rstrip": TEXT,
    "split": LIST, "splitlines": LIST, "count": NUMBER, "find": NUMBER, "index": NUMBER,
    "isdigit": FLAG, "isalpha": FLAG, "startswith": FLAG, "endswith": FLAG,
}  # fmt: skip


_DISPLAYS: dict[type[ast.expr], str] = {
    ast.List: LIST, ast.ListComp: LIST, ast.Dict: DICT, ast.DictComp: DICT, ast.Set: SET, ast.SetComp: SET, ast.Tuple: TUPLE,
    ast.JoinedStr: TEXT, ast.Compare: FLAG,
}  # fmt: skip


def of_annotation(node: ast.expr | None) -> str:
    """Coarse type of an annotation; ``X | None`` and ``Optional[X]`` count as X, other unions and unknown heads give ``?``."""
    if isinstance(node, ast.Name):
        return _HEADS.get(node.id, UNKNOWN)
    if isinstance(node, ast.Subscript):
        return of_annotation(node.slice if may_be_none(node) else node.value)
    return of_annotation(node.left) if isinstance(node, ast.BinOp) and may_be_none(node) else UNKNOWN


def may_be_none(node: ast.expr | None) -> bool:
    """Whether an annotation is ``X | None`` or ``Optional[X]``."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.right, ast.Constant) and node.right.value is None
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Optional"


def _element(node: ast.expr | None) -> str:
    """Coarse type of an annotated container's element."""
    if isinstance(node, ast.Subscript):
        head = of_annotation(node)
        inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        return of_annotation(inner) if head in (LIST, SET, DICT) else UNKNOWN
    return TEXT if of_annotation(node) == TEXT else UNKNOWN


def of_expression(node: ast.expr, types: dict[str, str]) -> str:
    """Coarse type of an expression, given those of names."""
    if isinstance(node, ast.Constant):
        value = node.value
        return (
            FLAG
            if isinstance(value, bool)
            else NUMBER
            if isinstance(value, int | float)
            else TEXT
            if isinstance(value, str)
            else UNKNOWN
        )
    if isinstance(node, ast.Name):
        return types.get(node.id, UNKNOWN)
    if type(node) in _DISPLAYS:
        return _DISPLAYS[type(node)]
    if isinstance(node, ast.BinOp):
        left = of_expression(node.left, types)
        return left if left != UNKNOWN else of_expression(node.right, types)
    if isinstance(node, ast.UnaryOp):
        return FLAG if isinstance(node.op, ast.Not) else NUMBER
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _CALLS.get(node.func.id, UNKNOWN)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _METHODS.get(node.func.attr, UNKNOWN)
    return UNKNOWN


def _bind(target: ast.expr, kind: str, types: dict[str, str]) -> None:
    if isinstance(target, ast.Name):
        if types.get(target.id, UNKNOWN) == UNKNOWN:
            types[target.id] = kind
    elif isinstance(target, ast.Tuple):
        for part in target.elts:
            _bind(part, UNKNOWN, types)


def _bind_loop(target: ast.expr, iterable: ast.expr, types: dict[str, str], elements: dict[str, str]) -> None:
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name):
        name = iterable.func.id
        inner = iterable.args[0] if iterable.args else None
        if name == "range":
            return _bind(target, NUMBER, types)
        if name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2 and inner is not None:
            _bind(target.elts[0], NUMBER, types)
            return _bind_loop(target.elts[1], inner, types, elements)
        if name in ("sorted", "reversed", "list", "set") and inner is not None:
            return _bind_loop(target, inner, types, elements)
    if isinstance(iterable, ast.Name):
        kind = elements.get(iterable.id, TEXT if types.get(iterable.id) == TEXT else UNKNOWN)
        return _bind(target, kind, types)
    _bind(target, UNKNOWN, types)


_BINDING = (ast.Assign, ast.AnnAssign, ast.For, ast.comprehension)


def coarse_types(node: ast.FunctionDef, nodes: Sequence[ast.AST] | None = None) -> dict[str, str]:
    """Coarse type of every parameter and assigned name of a function, and of ``return`` (a key no local can have).

    ``nodes``: those of ``walk(node)``, for callers that have them already.
    """
    types: dict[str, str] = {"return": of_annotation(node.returns)}
    elements: dict[str, str] = {}
    for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
        types[arg.arg] = of_annotation(arg.annotation)
        elements[arg.arg] = _element(arg.annotation)
    binding = [n for n in (walk(node) if nodes is None else nodes) if isinstance(n, _BINDING)]
    for child in sorted(binding, key=lambda n: n.target.lineno if isinstance(n, ast.comprehension) else n.lineno):
        if isinstance(child, ast.Assign):
            for target in child.targets:
                if (
                    isinstance(target, ast.Tuple)
                    and isinstance(child.value, ast.Tuple)
                    and len(target.elts) == len(child.value.elts)
                ):
                    for part, value in zip(target.elts, child.value.elts, strict=True):
                        _bind(part, of_expression(value, types), types)
                else:
                    _bind(target, of_expression(child.value, types), types)
        elif isinstance(child, ast.AnnAssign):
            _bind(child.target, of_annotation(child.annotation), types)
        else:
            _bind_loop(child.target, child.iter, types, elements)
    return types


def fits(left: str, right: str) -> bool:
    """Whether a value of one coarse type may stand where the other stands."""
    return left == right or UNKNOWN in (left, right)


_USED_METHODS = {
    "append": LIST, "extend": LIST, "insert": LIST, "sort": LIST, "reverse": LIST, "add": SET, "discard": SET,
    "get": DICT, "items": DICT, "keys": DICT, "values": DICT, "setdefault": DICT,
    "split": TEXT, "strip": TEXT, "lower": TEXT, "upper": TEXT, "replace": TEXT, "startswith": TEXT, "endswith": TEXT,
    "isdigit": TEXT, "isalpha": TEXT, "isupper": TEXT, "islower": TEXT, "swapcase": TEXT,
}  # fmt: skip
_TAKES_LISTS = frozenset({"len", "sorted", "sum", "any", "all", "enumerate", "reversed", "zip"})
_COUNTING = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow)


def of_uses(nodes: list[ast.AST], types: dict[str, str]) -> dict[str, str]:
    """``types`` with guesses for unknown names from what is done with them; the first use that says something counts."""
    found = dict(types)

    def guess(node: ast.AST, kind: str) -> None:
        if isinstance(node, ast.Name) and found.get(node.id, UNKNOWN) == UNKNOWN:
            found[node.id] = kind

    for node in nodes + nodes:  # what is said late helps to understand what was said early
        if isinstance(node, ast.Attribute):
            guess(node.value, _USED_METHODS.get(node.attr, UNKNOWN))
        elif isinstance(node, ast.AugAssign):
            guess(node.target, of_expression(node.value, found) if isinstance(node.op, ast.Add) else NUMBER)
        elif isinstance(node, ast.BinOp | ast.Compare):
            right = node.comparators[0] if isinstance(node, ast.Compare) else node.right
            if of_expression(right, found) == NUMBER and (isinstance(node, ast.Compare) or isinstance(node.op, _COUNTING)):
                guess(node.left, NUMBER)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id == "range":
                guess(node.args[-1], NUMBER)
            elif node.func.id in _TAKES_LISTS:
                guess(node.args[0], LIST)
        elif isinstance(node, (ast.For, ast.comprehension)):
            guess(node.iter, LIST)
    return found


def of_returns(values: set[ast.expr | None], types: dict[str, str]) -> str:
    """Coarse type of what a function returns, when all returns whose type is known agree."""
    kinds = {of_expression(value, types) for value in values if value is not None} - {UNKNOWN}
    return kinds.pop() if len(kinds) == 1 else UNKNOWN
