"""Edits that insert whole lines: guards at the places where guards stand, and small statements between statements.

The same templates say which statements may be dropped as a bug: only those that a template brings back, so that the bug stays within
reach. A ``raise`` is brought back without its message, since tests look at the class of an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from swefuse.code.edit import Bug, Edit
from swefuse.code.functions import body_statements, walk
from swefuse.code.guards import conditions, exits
from swefuse.code.shape import NOWHERE, Shape
from swefuse.code.statements import first_values, updated_names, updates

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BINDING = (ast.Assign, ast.AugAssign, ast.AnnAssign)


def insertions(shape: Shape) -> list[Edit]:
    """Every insertion that applies, without duplicates."""
    found: dict[Edit, None] = {}
    for kind, line, column, text in _all(shape):
        indent = " " * column
        found[Edit(kind, line, 1, "", indent + text.replace("\n", f"\n{indent}"))] = None
    return list(found)


def _all(shape: Shape) -> Iterator[tuple[Bug, int, int, str]]:
    updated, firsts = updated_names(shape), first_values(shape)
    known_updates: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for owner, block in blocks(shape):
        in_loop, in_while = isinstance(owner, ast.For | ast.While), isinstance(owner, ast.While)
        yield from _guards(shape, block, owner, exits(shape, in_loop))
        last = block[-1]
        places = [(statement.lineno, statement.col_offset) for statement in block]
        if not isinstance(last, _LEAVING):
            places.append(((last.end_lineno or last.lineno) + 1, last.col_offset))
        for line, column in places:
            known = shape.bound_before(line)
            if (known, in_while) not in known_updates:
                changing = [name for name in known if name in updated]
                known_updates[known, in_while] = updates(known, changing, shape, in_while)
            for text in known_updates[known, in_while]:
                yield Bug.STATEMENT, line, column, text
        for name, (first, values) in firsts.items():
            if block[0].lineno <= first <= (last.end_lineno or last.lineno):
                for line, column in places:
                    if line <= first:
                        yield from ((Bug.STATEMENT, line, column, f"{name} = {value}") for value in values)


def _guards(shape: Shape, block: Sequence[ast.stmt], owner: ast.AST, leaves: list[str]) -> Iterator[tuple[Bug, int, int, str]]:
    """Guards at the start of a block and behind each guard that stands there, and behind a statement that binds what they test."""
    known = shape.bound_before(block[0].lineno)
    tested = _moving(owner, known)
    leading = True
    for at, statement in enumerate([*block, None]):
        before = block[at - 1] if at else None
        if leading and statement:
            texts = conditions(tested, tested if owner is not shape.node else known, shape.guessed)
        elif isinstance(before, _BINDING) and statement:
            targets = before.targets if isinstance(before, ast.Assign) else [before.target]
            bound = {name.id for target in targets for name in walk(target) if isinstance(name, ast.Name)}
            texts = conditions([name for name in shape.names if name in bound], (), shape.guessed)
        else:
            texts = iter(())
        for text in texts:
            for leave in leaves:
                assert statement is not None
                yield Bug.GUARD, statement.lineno, statement.col_offset, f"if {text}:\n    {leave}"
        leading = leading and is_guard(statement)


def _moving(owner: ast.AST, known: Sequence[str]) -> list[str]:
    """The names that a guard at the start of a block may test: what changes from turn to turn in a loop, all that is bound elsewhere."""
    if isinstance(owner, ast.For):
        moving = {name.id for name in walk(owner.target) if isinstance(name, ast.Name)}
        return [name for name in known if name in moving]
    return list(known)


def is_guard(statement: ast.stmt | None) -> bool:
    """Whether a statement is an ``if`` that does nothing but leave."""
    return isinstance(statement, ast.If) and len(statement.body) == 1 and isinstance(statement.body[0], _LEAVING) and not statement.orelse


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
