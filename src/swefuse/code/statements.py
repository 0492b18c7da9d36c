"""Texts of one-line statements that may have been dropped: updates of names that change, first values of names that have none."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from swefuse.code.functions import BUILTINS, walk
from swefuse.code.scope import DICT, FLAG, LIST, NUMBER, SET, TEXT, UNKNOWN
from swefuse.code.shape import Shape

_PLAIN_VALUES = (ast.Name, ast.Constant, ast.UnaryOp, ast.List, ast.Dict, ast.Call)
_CONTAINERS = (LIST, DICT, SET)


def is_small(statement: ast.stmt) -> bool:
    """Whether a statement has the form of one that ``updates``, ``progress`` or ``first_values`` writes."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "add")
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.value, ast.Name | ast.Constant)
    if not isinstance(statement, ast.Assign):
        return False
    plain = isinstance(statement.targets[0], ast.Name) and isinstance(statement.value, _PLAIN_VALUES)
    return plain or isinstance(statement.targets[0], ast.Subscript)


def progress(names: Sequence[str], loop: ast.While, shape: Shape) -> list[str]:
    """Updates that bring a ``while`` loop on: of the numbers in its test."""
    tested = {name.id for name in walk(loop.test) if isinstance(name, ast.Name)}
    counting = [name for name in names if name in tested and shape.guessed.get(name, UNKNOWN) == NUMBER]
    return [f"{name} {step}" for name in counting for step in ("+= 1", "-= 1", "//= 10", "//= 2", ">>= 1")]


def updates(names: Sequence[str], changing: Sequence[str], shape: Shape) -> list[str]:
    """Updates of the names in ``changing`` by those in ``names``, which are bound here."""
    types = shape.guessed
    found: list[str] = []
    for name in changing:
        kind = types.get(name, UNKNOWN)
        others = [other for other in names if other != name]
        plain = [other for other in others if types.get(other, UNKNOWN) not in _CONTAINERS]
        if kind == NUMBER:
            found += [f"{name} += 1", f"{name} -= 1"]
            found += [f"{name} {sign} {other}" for other in others if types.get(other, UNKNOWN) == NUMBER for sign in ("+=", "=")]
            found += [f"{name} += {other}" for other in others if types.get(other, UNKNOWN) == UNKNOWN]
        elif kind in (LIST, SET):
            method = "append" if kind == LIST else "add"
            found += [f"{name}.{method}({other})" for other in plain if other not in shape.parameters]
        elif kind == DICT:
            keys = [other for other in plain if other not in shape.parameters]
            found += [f"{name}[{key}] = {name}.get({key}, 0) + 1" for key in keys]
        elif kind == TEXT:
            found += [
                f"{name} {sign} {other}" for other in others if types.get(other, UNKNOWN) in (TEXT, UNKNOWN) for sign in ("+=", "=")
            ]
        elif kind == FLAG:
            found += [f"{name} = True", f"{name} = False"]
    return found


def updated_names(shape: Shape) -> set[str]:
    """Names that a statement of the function assigns or changes in place; loop targets and plain parameters are left out."""
    found: set[str] = set()
    for child in shape.visited:
        if isinstance(child, ast.Assign):
            stored = [name for target in child.targets for name in walk(target) if isinstance(name, ast.Name)]
            found.update(name.id for name in stored if isinstance(name.ctx, ast.Store))
        elif isinstance(child, ast.AugAssign | ast.AnnAssign) and isinstance(child.target, ast.Name):
            found.add(child.target.id)
    return found


_FIRST = {NUMBER: ("0", "1", "-1"), TEXT: ('""',), LIST: ("[]",), DICT: ("{}",), SET: ("set()",), FLAG: ("False", "True")}
_ANY_FIRST = ("0", "1", "-1", "[]", '""', "None")


def first_values(shape: Shape) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Names that may be used before they have a value: the line where each appears first, and the first values it may have had."""
    uses: dict[str, list[tuple[int, int]]] = {}
    stores: dict[str, list[tuple[int, int]]] = {}
    for node, plain in shape.occurrences:
        where = (node.lineno, shape.source.indent(node.lineno))
        (stores if plain else uses).setdefault(node.id, []).append(where)
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    for name, places in uses.items():
        if name in shape.outside or name in BUILTINS or name in shape.parameters:
            continue
        first_use = min(places)
        first_store = min(stores.get(name, [(10**9, 0)]))
        unsure = first_store[0] > first_use[0] or any(line > first_store[0] and indent < first_store[1] for line, indent in places)
        if unsure:
            found[name] = min(first_use[0], first_store[0]), _FIRST.get(shape.guessed.get(name, UNKNOWN), _ANY_FIRST)
    return found
