"""Edits that insert whole lines: guards at the places where guards stand, and small statements between statements.

A ``raise`` is brought back without its message, since tests look at the class of an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from swefuse.code.edit import Bug, Edit
from swefuse.code.functions import body_statements, walk
from swefuse.code.guards import conditions, exits
from swefuse.code.shape import Shape
from swefuse.code.statements import first_values, progress, updated_names, updates

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def insertions(shape: Shape) -> list[Edit]:
    """Every insertion that applies, without duplicates."""
    found: dict[Edit, None] = {}
    for kind, line, column, text in _all(shape):
        indent = " " * column
        found[Edit(kind, line, 1, "", indent + text.replace("\n", f"\n{indent}"))] = None
    return list(found)


def _all(shape: Shape) -> Iterator[tuple[Bug, int, int, str]]:
    updated, firsts = updated_names(shape), first_values(shape)
    known_updates: dict[tuple[str, ...], list[str]] = {}
    for owner, block in blocks(shape):
        last = block[-1]
        places = [(statement.lineno, statement.col_offset) for statement in block]
        yield from _guards(shape, block, owner)
        if not isinstance(last, _LEAVING):
            places.append(((last.end_lineno or last.lineno) + 1, last.col_offset))
        for line, column in places:
            known = shape.bound_before(line)
            if known not in known_updates:
                known_updates[known] = updates(known, [name for name in known if name in updated], shape)
            texts = known_updates[known] + (progress(known, owner, shape) if isinstance(owner, ast.While) else [])
            texts += [
                f"{name} = {value}" for name, (first, values) in firsts.items() if line <= first <= _end(last) for value in values
            ]
            for text in texts:
                yield Bug.STATEMENT, line, column, text


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _guards(shape: Shape, block: Sequence[ast.stmt], owner: ast.AST) -> Iterator[tuple[Bug, int, int, str]]:
    """Guards of the body and of loops: at the start, behind each guard there, and behind what binds the names that they test."""
    if owner is not shape.node and not isinstance(owner, ast.For | ast.While):
        return
    leaves = exits(shape, owner is not shape.node)
    known = shape.bound_before(block[0].lineno)
    leading: list[str] = list(known)
    if owner is not shape.node:  # in a loop what changes from turn to turn is worth a test
        moving = {name.id for name in walk(owner.target) if isinstance(name, ast.Name)} if isinstance(owner, ast.For) else set()
        leading = [name for name in known if name in moving]
    before: ast.stmt | None = None
    for statement in block:
        bound = _bound(before)
        tested = leading or [name for name in shape.names if name in bound]
        for text in conditions(tested, known, shape.guessed):
            for leave in leaves:
                yield Bug.GUARD, statement.lineno, statement.col_offset, f"if {text}:\n    {leave}"
        if not is_guard(statement):
            leading = []
        before = statement


def _bound(statement: ast.stmt | None) -> set[str]:
    """The names that a statement gives a value."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
        targets = [statement.target]
    else:
        return set()
    return {name.id for target in targets for name in walk(target) if isinstance(name, ast.Name)}


def is_guard(statement: ast.stmt | None) -> bool:
    """Whether a statement is an ``if`` that does nothing but leave."""
    return (
        isinstance(statement, ast.If)
        and len(statement.body) == 1
        and isinstance(statement.body[0], _LEAVING)
        and not statement.orelse
    )


def blocks(shape: Shape) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """Every block of whole lines inside a function, docstring left out, behind the statement that it is the body of."""
    candidates: list[tuple[ast.AST, list[ast.stmt]]] = [(shape.node, body_statements(shape.node))]
    for child in shape.visited:
        if child is not shape.node and isinstance(child, ast.stmt | ast.ExceptHandler):
            candidates.append((child, getattr(child, "body", [])))
            candidates += [(shape.source.tree, getattr(child, field, [])) for field in ("orelse", "finalbody")]
    for owner, block in candidates:
        if block and all(_starts_line(shape, statement) for statement in block):
            yield owner, block


def _starts_line(shape: Shape, statement: ast.stmt) -> bool:
    """False for what follows a colon or semicolon on one line, and for an ``elif``."""
    source = shape.source
    at = source.span(statement).start
    return not source.text[source.starts[statement.lineno - 1] : at].strip() and not source.text.startswith("elif", at)
