"""Which modules Python files import, read from their text alone."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=1024)
def imported_modules(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Absolute module names that ``import`` and ``from`` statements anywhere in the files name, sorted; relative ones are left out.

    A file that does not parse counts as one that imports nothing.
    """
    found: set[str] = set()
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module)
    return tuple(sorted(found))
