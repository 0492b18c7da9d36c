"""What is taken out of a file so that it can be asked for: a body, a docstring, the tests of a test file."""

from __future__ import annotations

import ast

from swefuse.code.functions import Function, Source, body_statements
from swefuse.code.stubs import MISSING
from swefuse.errors import DataError
from swefuse.tasks.sites import Flaw, Site, node_of

FEWEST_LINES, MOST_LINES = 3, 40  # of a body
BODY = "body"


def body_taken(text: str, site: Site) -> Flaw | None:
    """The flaw that takes out the body of a function or method, its docstring excepted; None where it has no fitting size."""
    node = node_of(text, site)
    body, lines = body_statements(node), text.split("\n")
    if not body or starts(body[0]) <= node.lineno or not _alone(lines, body[0], body[-1]):
        return None
    start, end = starts(body[0]), body[-1].end_lineno or 0
    head = node.body[0].end_lineno or 0 if body[0] is not node.body[0] else node.lineno
    indent = " " * body[0].col_offset
    while start - 1 > head and _says_nothing(lines[start - 2]):  # comments tell what the body does
        start -= 1
    while not lines[start - 1].strip():
        start += 1
    if not FEWEST_LINES <= sum(bool(line.strip()) for line in lines[start - 1 : end]) <= MOST_LINES:
        return None
    old = "\n".join(lines[start - 1 : end])
    return Flaw(site.path, site.name, BODY, start, old, f"{indent}{MISSING}") if old.strip() != MISSING else None


def without_docstring(text: str, site: Site) -> str | None:
    """The text without the docstring of a function; None where there is none, or nothing, or one more text, beside it."""
    node, lines = node_of(text, site), text.split("\n")
    if ast.get_docstring(node, clean=False) is None or len(node.body) == 1:
        return None
    said, after = node.body[:2]
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return None
    if said.lineno == node.lineno or not _alone(lines, said, said) or starts(after) <= (said.end_lineno or 0):
        return None
    end = said.end_lineno or 0
    while not lines[end].strip():
        end += 1
    return "\n".join([*lines[: said.lineno - 1], *lines[end:]])


def without_tests(text: str) -> str | None:
    """A test file without its tests, so that imports, helpers and fixtures stay; None where some cannot be taken out."""
    try:
        tree = Source(text).tree
    except DataError:
        return None
    lines = text.split("\n")
    tests = [node for node in tree.body if _is_test(node)]
    if not tests or any(_is_test(one) for node in tree.body if node not in tests for one in ast.walk(node)):
        return None
    for node in reversed(tests):
        start = starts(node)
        while start > 1 and lines[start - 2].startswith("#"):
            start -= 1
        lines[start - 1 : node.end_lineno] = []
    kept = "\n".join(lines).rstrip("\n")
    while "\n\n\n\n" in kept:
        kept = kept.replace("\n\n\n\n", "\n\n\n")
    return kept + "\n" * text.endswith("\n") if kept.strip() else ""  # no edit takes a last line feed away


def starts(node: ast.stmt) -> int:
    """The line on which a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _alone(lines: list[str], first: ast.stmt, last: ast.stmt) -> bool:
    """Whether statements share their lines with no other."""
    before = lines[first.lineno - 1].encode()[: first.col_offset].strip()
    after = lines[(last.end_lineno or 0) - 1].encode()[last.end_col_offset or 0 :].strip()
    return not before and (not after or after.startswith(b"#"))


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _is_test(node: ast.AST) -> bool:
    if isinstance(node, ast.ClassDef):
        named = node.name.startswith("Test") or any(ast.unparse(base).endswith("TestCase") for base in node.bases)
        return named or any(_is_test(one) for one in node.body)
    return isinstance(node, Function) and node.name.startswith("test")
