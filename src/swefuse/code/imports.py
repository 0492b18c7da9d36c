"""Which modules Python files import, read from their text alone."""

from __future__ import annotations

import ast
from functools import lru_cache

# they look only once, when they are imported, at what is installed: not to be loaded before a work tree is there
_LATE = frozenset({"pkg_resources", "setuptools"})


@lru_cache(maxsize=1024)
def imported_modules(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Absolute module names that ``import`` and ``from`` statements anywhere in the files name, sorted; relative ones are left out.

    A file that does not parse counts as one that imports nothing.
    """
    found = frozenset[str]().union(*map(_of_file, texts))
    return tuple(sorted(name for name in found if name.partition(".")[0] not in _LATE))


@lru_cache(maxsize=8192)
def _of_file(text: str) -> frozenset[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return frozenset(found)
