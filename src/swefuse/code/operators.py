"""Single edits of Python code: one set serves bug injection, mutants and the choice that a small model makes.

``edits(source, name)`` lists every edit that applies to a function in this state. The set is almost closed under inversion: what
one edit breaks, another edit of the broken state mends, so an injected bug is within reach of a policy that chooses among them.
Insertions are templates over the names in scope; ``removals`` lists statements of the forms that such a template can bring back.

Every edit is an ``edit`` action (line, occurrence, old text, new text) plus the kind of bug that it makes or mends.
"""

from __future__ import annotations

import ast
from operator import attrgetter

from swefuse.code.edit import Bug, Edit
from swefuse.code.insertions import blocks, insertions, is_guard
from swefuse.code.meaning import meaning
from swefuse.code.shape import Shape
from swefuse.code.statements import is_small
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
    """Edits that drop one whole statement of a form that an insertion can bring back; a block never becomes empty."""
    return _removals(Shape(source_text, name))


def _removals(shape: Shape) -> list[Edit]:
    source = shape.source
    found: list[Edit] = []
    for _, block in blocks(shape):
        for statement in block if len(block) > 1 else ():
            if is_guard(statement) or is_small(statement):
                kind = Bug.GUARD if isinstance(statement, ast.If) else Bug.STATEMENT
                old = "".join(f"{row}\n" for row in source.lines[statement.lineno - 1 : statement.end_lineno])
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


def mending(original: str, broken: str, name: str, choices: list[Edit] | None = None) -> Edit | None:
    """The edit of the broken state that gives back the original, or None if no edit does.

    A dropped statement counts as given back when what is inserted has the same ``meaning``. ``choices`` are the edits of
    the broken state, for callers that have them already.
    """
    choices = edits(broken, name) if choices is None else choices
    before, after = _code_lines(original), _code_lines(broken)
    dropped = len(before) - len(after)
    shared = min(len(before), len(after))
    first = next((at for at in range(shared) if before[at][1] != after[at][1]), shared)
    if dropped <= 0:
        here = [edit for edit in choices if first < len(after) and edit.line == after[first][0]]
        return next((edit for edit in here if edit.old and apply(broken, edit) == original), None)
    if [text for _, text in before[first + dropped :]] != [text for _, text in after[first:]]:
        return None
    removed = "\n".join(text for _, text in before[first : first + dropped])
    above = after[first - 1][0] if first else 0
    below = after[first][0] if first < len(after) else len(broken)
    here = [edit for edit in choices if not edit.old and above < edit.line <= below and _column(edit.new) == _column(removed)]
    exact = next((edit for edit in here if edit.new == removed), None)
    if exact is not None:
        return exact
    wanted = meaning(removed)
    return next((edit for edit in here if meaning(edit.new) == wanted), None)


def _code_lines(text: str) -> list[tuple[int, str]]:
    """Number and text of each line that is neither blank nor a comment."""
    return [(at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip() and not line.lstrip().startswith("#")]


def _column(text: str) -> int:
    return len(text) - len(text.lstrip())
