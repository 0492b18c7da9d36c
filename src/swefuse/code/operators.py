"""Single edits of Python code: one set serves bug injection, mutants and the choice that a small model makes.

``edits(source, name)`` lists every edit that applies to a function in this state. The set is (almost) closed under inversion: what one
edit breaks, another edit of the broken state mends, so a bug that was injected here is within reach of a policy that chooses among the
edits. Insertions are templates over the names in scope; ``removals`` lists the statements that such a template can bring back.

Every edit is an ``edit`` action (line, occurrence, old text, new text) plus the kind of bug that it makes or mends.
"""

from __future__ import annotations

import ast
from operator import attrgetter

from swefuse.code.edit import Bug, Edit
from swefuse.code.insertions import blocks, insertions
from swefuse.code.shape import Shape
from swefuse.code.substitutions import substitutions
from swefuse.workspace import apply_edit

__all__ = ["Bug", "Edit", "apply", "breaks", "edits", "mending", "removals"]

_ORDER = attrgetter("kind", "line", "old", "nth", "new")


def edits(source_text: str, name: str) -> list[Edit]:
    """Every edit that applies to function ``name`` in this state, without duplicates, in a stable order; each result parses.

    Raises DataError if the source does not parse or has no such function.
    """
    shape = Shape(source_text, name)
    return sorted(substitutions(shape) + insertions(shape), key=_ORDER)


def removals(source_text: str, name: str) -> list[Edit]:
    """Edits that drop one whole statement which an insertion template can bring back; a block never becomes empty."""
    return _removals(Shape(source_text, name))


def _removals(shape: Shape) -> list[Edit]:
    source = shape.source
    found: list[Edit] = []
    for _, block in blocks(shape):
        for statement in block:
            if len(block) < 2:
                continue
            kind = Bug.GUARD if isinstance(statement, ast.If) else Bug.STATEMENT
            if not isinstance(statement, ast.If | ast.Assign | ast.AugAssign | ast.Expr):
                continue
            end = statement.end_lineno or statement.lineno
            old = "".join(f"{row}\n" for row in source.lines[statement.lineno - 1 : end])
            if source.text.startswith(old, source.starts[statement.lineno - 1]):
                found.append(Edit(kind, statement.lineno, 1, old, ""))
    return found


def apply(source_text: str, edit: Edit) -> str:
    """The text after an edit."""
    return apply_edit({"f": source_text}, edit.action("f"))["f"]


def breaks(source_text: str, name: str) -> list[Edit]:
    """Every edit that may be injected as a bug: substitutions that leave a module that parses, and removals."""
    shape = Shape(source_text, name)
    return sorted(substitutions(shape), key=_ORDER) + _removals(shape)


def _normal(text: str) -> str:
    """The code of a module without docstrings and messages of errors."""
    tree = ast.parse(text)
    for child in ast.walk(tree):
        if isinstance(child, ast.Raise) and isinstance(child.exc, ast.Call):
            child.exc = child.exc.func
    return ast.dump(tree)


def mending(original: str, broken: str, name: str, choices: list[Edit] | None = None) -> Edit | None:
    """The edit of the broken state that gives back the original (up to the message of a raised error), or None if no edit does.

    ``choices`` are the edits of the broken state, for callers that have them already.
    """
    wanted: str | None = None
    for edit in edits(broken, name) if choices is None else choices:
        result = apply(broken, edit)
        if result == original:
            return edit
        if edit.old == "" and abs(len(result.split("\n")) - len(original.split("\n"))) == 0:
            wanted = wanted or _normal(original)
            if _normal(result) == wanted:
                return edit
    return None
