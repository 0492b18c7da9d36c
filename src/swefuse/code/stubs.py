"""Functions whose body is to be written."""

from __future__ import annotations

import ast

from swefuse.code.functions import function

MISSING = 'raise RuntimeError("this body is to be written")'


def without_body(text: str, name: str) -> str:
    """The module with the body of a top-level function, its docstring excepted, replaced by an error. DataError without it."""
    node = function(ast.parse(text), name)
    first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
    lines = text.splitlines(keepends=True)
    start = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))])
    indent = lines[first.lineno - 1][: first.col_offset]
    if first.lineno == node.lineno:  # all in one line
        head = lines[node.lineno - 1][: first.col_offset].rstrip()
        return "".join([*lines[: node.lineno - 1], f"{head} {MISSING}\n", *lines[node.end_lineno or 0 :]])
    return "".join([*lines[: start - 1], f"{indent}{MISSING}\n", *lines[node.end_lineno or 0 :]])
