"""How different several solutions of one task are."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from swefuse.records import Kind, Task, content_hash

MOST_PAIRS = 200


@dataclass(frozen=True, slots=True)
class Diversity:
    """``distinct``: solutions that mean different things. ``distance``: mean share of the changed text that two of them do not have
    in common, in [0, 1]; 0 for fewer than two."""

    distinct: int
    distance: float


def normal(task: Task, changed: Mapping[str, str]) -> str:
    """A hash that is the same for solutions that differ in layout, comments and docstrings only; in layout and comments where
    docstrings are the work."""
    kept = task.kind is Kind.DOCGEN
    parts = {path: _code(path, text, kept) for path, text in sorted(changed.items()) if task.files.get(path) != text}
    return content_hash(parts)[:20]


def _code(path: str, text: str, kept: bool) -> str:
    if not path.endswith((".py", ".pyi")):
        return text
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    for node in () if kept else ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def diversity(task: Task, solutions: Sequence[Mapping[str, str]]) -> Diversity:
    """Of the changed files of several solutions; the pairs are those that come first, at most MOST_PAIRS."""
    texts = list({normal(task, changed): _changed(task, changed) for changed in solutions}.values())
    pairs = [pair for pair, _ in zip(combinations(texts, 2), range(MOST_PAIRS), strict=False)]
    far = [1 - difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() for a, b in pairs]
    return Diversity(len(texts), sum(far) / len(far) if far else 0.0)


def _changed(task: Task, changed: Mapping[str, str]) -> list[str]:
    """The words of the lines that a solution adds or takes away."""
    rows: list[str] = []
    for path, text in sorted(changed.items()):
        diff = difflib.unified_diff(task.files.get(path, "").split("\n"), text.split("\n"), n=0, lineterm="")
        rows += [word for row in list(diff)[2:] if not row.startswith("@@") for word in row.split()]
    return rows
