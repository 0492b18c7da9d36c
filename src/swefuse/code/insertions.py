"""Statements that an edit may insert: guards at the start of a block, and small updates between statements.

The same templates say which statements may be dropped as a bug: only those that a template brings back, so that the bug stays within
reach. A ``raise`` is brought back without its message, since tests look at the class of an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from swefuse.code.scope import DICT, FLAG, LIST, NUMBER, SET, TEXT, TUPLE, UNKNOWN, coarse_types

_EXITS = {
    NUMBER: ("0", "-1"),
    TEXT: ('""',),
    LIST: ("[]",),
    DICT: ("{}",),
    SET: ("set()",),
    FLAG: ("True", "False"),
    TUPLE: (),
    UNKNOWN: ("None", "0", "[]", '""', "False"),
}
_LIMITS = ("< 0", "<= 0", "== 0")


def _conditions(names: list[str], types: dict[str, str]) -> Iterator[str]:
    for name in names:
        kind = types.get(name, UNKNOWN)
        if kind in (NUMBER, UNKNOWN):
            yield from (f"{name} {limit}" for limit in _LIMITS)
        if kind != NUMBER:
            yield f"not {name}"
    numbers = [name for name in names if types.get(name) == NUMBER]
    for at, left in enumerate(numbers):
        for right in numbers[at + 1 :]:
            yield from (f"{left} {sign} {right}" for sign in (">", "<", "==", "<=", ">="))


def _exits(names: list[str], types: dict[str, str], in_loop: bool) -> Iterator[str]:
    returned = types.get("return", UNKNOWN)
    if in_loop:
        yield from ("continue", "break")
        return
    yield "raise ValueError"
    yield from (f"return {value}" for value in _EXITS[returned])
    yield from (f"return {name}" for name in names if returned != UNKNOWN and types.get(name) == returned)


def _loop_names(node: ast.FunctionDef) -> set[str]:
    loops = [child for child in ast.walk(node) if isinstance(child, ast.For)]
    return {name.id for loop in loops for name in ast.walk(loop.target) if isinstance(name, ast.Name)}


def guard_templates(node: ast.FunctionDef, names: list[str], in_loop: bool) -> list[str]:
    """Texts of guards for the start of a block, two lines each: over parameters, or in a loop over the names that change there."""
    types = coarse_types(node)
    moving = _loop_names(node)
    tested = [name for name in names if name in moving] if in_loop else names
    exits = list(_exits(names, types, in_loop))
    return [f"if {condition}:\n    {leave}" for condition in _conditions(tested, types) for leave in exits]


def updated_names(node: ast.FunctionDef) -> set[str]:
    """Names that a statement of the function assigns or changes in place; loop targets and plain parameters are left out."""
    found: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Assign):
            found.update(n.id for target in child.targets for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        elif isinstance(child, ast.AugAssign | ast.AnnAssign) and isinstance(child.target, ast.Name):
            found.add(child.target.id)
    return found


def statement_templates(node: ast.FunctionDef, names: list[str]) -> list[str]:
    """Texts of one-line updates over the names that are bound here."""
    types = coarse_types(node)
    changing = [name for name in names if name in updated_names(node)]
    parameters = {arg.arg for arg in node.args.args}
    found: list[str] = []
    for name in changing:
        kind = types.get(name, UNKNOWN)
        others = [other for other in names if other != name]
        if kind == NUMBER:
            found += [f"{name} += 1", f"{name} -= 1"]
            numbers = [other for other in others if types.get(other) in (NUMBER, UNKNOWN)]
            found += [f"{name} {sign} {other}" for other in numbers for sign in ("+=", "=")]
        elif kind == LIST:
            found += [f"{name}.append({other})" for other in others if types.get(other) not in (LIST, DICT, SET) and other not in parameters]
        elif kind == TEXT:
            found += [f"{name} {sign} {other}" for other in others if types.get(other) in (TEXT, UNKNOWN) for sign in ("+=", "=")]
        elif kind == SET:
            found += [f"{name}.add({other})" for other in others if types.get(other) not in (LIST, DICT, SET) and other not in parameters]
        elif kind == FLAG:
            found += [f"{name} = True", f"{name} = False"]
        elif kind == UNKNOWN:
            found += [f"{name} = {other}" for other in others if types.get(other) not in (LIST, DICT, SET)]
    return found
