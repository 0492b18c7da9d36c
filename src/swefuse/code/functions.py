"""What we know about one Python function: where it is, which names are local, what its body hashes to, how to rename its locals.

Positions follow ``ast``; texts are ``str``. Column offsets of ``ast`` count UTF-8 bytes, so lines are mapped through bytes.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import hashlib
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from swefuse.errors import DataError

BUILTINS = frozenset(dir(builtins))


Located = ast.expr | ast.stmt | ast.arg | ast.keyword
"""Nodes that have a position."""


class Span(NamedTuple):
    """A half-open range of characters in a text."""

    start: int
    end: int


class Source:
    """A parsed module with a fast map from ``ast`` positions to character offsets. Raises DataError if it does not parse."""

    def __init__(self, text: str) -> None:
        try:
            self.tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise DataError(f"source does not parse: {error}") from error
        self.text = text
        self.ascii = text.isascii()
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Character offset of a 1-based line and a 0-based UTF-8 byte column."""
        if not self.ascii:
            column = len(self.lines[line - 1].encode("utf-8")[:column].decode("utf-8", "ignore"))
        return self.starts[line - 1] + column

    def indent(self, line: int) -> int:
        """Width of the white space before the code of a 1-based line."""
        text = self.lines[line - 1]
        return len(text) - len(text.lstrip())

    def line_of(self, offset: int) -> int:
        """1-based line in which the character at ``offset`` stands."""
        return bisect.bisect_right(self.starts, offset)

    def span(self, node: Located) -> Span:
        """Where a node stands in the text."""
        start = self.offset(node.lineno, node.col_offset)
        return Span(start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset))

    def segment(self, node: Located) -> str:
        """The text of a node."""
        span = self.span(node)
        return self.text[span.start : span.end]


_OUTER = (ast.Global, ast.Nonlocal)
_PLAIN = frozenset(
    {"arg", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "name", "names", "op", "ops", "type_comment"}
)


_CHILD_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    if kind not in _CHILD_FIELDS:
        _CHILD_FIELDS[kind] = tuple(field for field in kind._fields if field not in _PLAIN)
    return _CHILD_FIELDS[kind]


def walk(node: ast.AST, into_fstrings: bool = True) -> list[ast.AST]:
    """The nodes of ``ast.walk`` in its order, without operators and contexts, several times as fast.

    ``into_fstrings=False`` makes f-strings leaves: before Python 3.12 the positions of what is inside them are wrong.
    """
    found = [node]
    for child in found:  # the list grows while it is walked
        if into_fstrings or not isinstance(child, ast.JoinedStr):
            for field in _child_fields(type(child)):
                value = getattr(child, field, None)
                if isinstance(value, list):
                    found.extend(item for item in value if isinstance(item, ast.AST))
                elif isinstance(value, ast.AST):
                    found.append(value)
    return found


def syntax_problem(text: str) -> str:
    """Why a module does not compile; empty when it does."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"[:200]
    return ""


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Top-level functions, in order of appearance."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def function(tree: ast.Module, name: str) -> ast.FunctionDef:
    """The top-level function of that name; the last definition wins as it does in Python. Raises DataError if there is none."""
    found = [node for node in functions(tree) if node.name == name]
    if not found:
        raise DataError(f"there is no top-level function {name}; functions: {', '.join(f.name for f in functions(tree)) or 'none'}")
    return found[-1]


Function = ast.FunctionDef | ast.AsyncFunctionDef
"""Both kinds of functions."""


def definition(tree: ast.Module, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The function of a dotted name such as ``Queue.put``; the last definition wins. Raises DataError if there is none."""
    body: list[ast.stmt] = tree.body
    *classes, last = name.split(".")
    for part in classes:
        body = next((node.body for node in reversed(body) if isinstance(node, ast.ClassDef) and node.name == part), [])
    for node in reversed(body):
        if isinstance(node, Function) and node.name == last:
            return node
    raise DataError(f"there is no function {name}")


def body_statements(node: ast.FunctionDef) -> list[ast.stmt]:
    """The body without its docstring."""
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def local_names(node: ast.FunctionDef, nodes: Sequence[ast.AST] | None = None) -> list[str]:
    """Parameters and every name bound inside, nested scopes included, in order of first appearance in the text.

    ``nodes``: those of ``walk(node)``, for callers that have them already.
    """
    found: dict[str, tuple[int, int]] = {}

    def add(name: str, line: int, column: int) -> None:
        if name not in found or (line, column) < found[name]:
            found[name] = (line, column)

    outer: set[str] = set()
    for child in walk(node) if nodes is None else nodes:
        if isinstance(child, ast.Name):
            if not isinstance(child.ctx, ast.Load):
                add(child.id, child.lineno, child.col_offset)
        elif isinstance(child, ast.arg):
            add(child.arg, child.lineno, child.col_offset)
        elif isinstance(child, ast.ExceptHandler) and child.name:
            add(child.name, child.lineno, child.col_offset)
        elif isinstance(child, _OUTER):
            outer.update(child.names)
    return [name for name, _ in sorted(found.items(), key=lambda item: item[1]) if name not in outer]


def _fstring_sites(source: Source, node: ast.JoinedStr, names: Mapping[str, str]) -> Iterator[tuple[Span, str]]:
    start = source.span(node).start
    for at, word in _fstring_names(source.segment(node)):
        if word in names:
            yield Span(start + at, start + at + len(word)), names[word]


_FSTRING_TOKEN = re.compile(
    r"""[rbfuRBFU]{1,2}(?:"[^"]*"|'[^']*')|[\w.]*[A-Za-z_]\w*|![rsa](?=[:}])|"[^"]*"|'[^']*'|.""", re.DOTALL
)


def _fstring_names(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each word in the expressions of an f-string; words of literal parts and of format specs are left out."""
    open_ = list[str]()  # innermost last: "{" an expression, ":" a format spec, "(" brackets inside an expression
    at = 0
    while at < len(text):
        inside = open_[-1] if open_ else ""
        token = _FSTRING_TOKEN.match(text, at)
        word = token.group() if token and inside in ("{", "(") else text[at : at + 2]
        if inside == ":" or (not inside and word not in ("{{", "}}")):
            word = text[at]
        at += len(word)
        if word == "{" and inside in ("", ":"):
            open_.append("{")
        elif inside in ("{", "(") and word[-1] in "\"'":
            prefix = word[: min(word.find(quote) % len(word) for quote in "\"'")]
            if "f" in prefix.lower():  # an f-string inside an f-string
                start = at - len(word) + len(prefix)
                yield from ((start + offset, name) for offset, name in _fstring_names(word[len(prefix) :]))
        elif inside in ("{", "("):
            if word in ("(", "[", "{"):
                open_.append("(")
            elif word in (")", "]", "}"):
                open_.pop()
            elif word == ":" and inside == "{":
                open_[-1] = ":"
            elif word[0].isalpha() or word[0] == "_":
                yield at - len(word), word.partition(".")[0]
        elif word == "}" and inside == ":":
            open_.pop()


def name_sites(source: Source, node: ast.FunctionDef, names: Mapping[str, str]) -> Iterator[tuple[Span, str]]:
    """Spans of every use of a name in ``names`` inside the function, with what it maps to; in no particular order."""
    for child in walk(node, into_fstrings=False):
        if isinstance(child, ast.JoinedStr):
            yield from _fstring_sites(source, child, names)
        elif isinstance(child, ast.Name) and child.id in names:
            yield source.span(child), names[child.id]
        elif isinstance(child, ast.arg) and child.arg in names:
            start = source.offset(child.lineno, child.col_offset)
            yield Span(start, start + len(child.arg)), names[child.arg]
        elif isinstance(child, ast.ExceptHandler) and child.name in names:
            head = source.offset(child.lineno, child.col_offset)
            at = source.text.index(f" as {child.name}", head) + 4
            yield Span(at, at + len(child.name or "")), names[child.name or ""]


def rename(source: Source, node: ast.FunctionDef, names: Mapping[str, str]) -> str:
    """The module's text with the function's names replaced by ``names``. New names must not collide; f-strings are handled."""
    text = source.text
    for span, new in sorted(set(name_sites(source, node, names)), key=lambda item: -item[0].start):
        text = text[: span.start] + new + text[span.end :]
    return text


def normal_names(node: ast.FunctionDef) -> dict[str, str]:
    """Local names -> ``v0, v1, …`` in order of appearance."""
    return {name: f"v{index}" for index, name in enumerate(local_names(node))}


class _Normalise(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str], function_name: str) -> None:
        self.names = dict(names)
        self.names[function_name] = "f"

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self.names.get(node.arg, node.arg), None)


def body_hash(node: ast.FunctionDef) -> str:
    """Hash of what the function computes as text: locals numbered, own name, annotations, docstring and layout left out.

    Two functions that differ only in names have the same hash, so a held-out function cannot return under another name.
    """
    names = normal_names(node)
    parts = [ast.dump(_Normalise(names, node.name).visit(ast.parse(ast.unparse(s)))) for s in body_statements(node)]
    arity = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
    return hashlib.sha256(f"{arity}|{'|'.join(parts)}".encode()).hexdigest()[:16]


def valid_new_name(name: str, taken: set[str]) -> bool:
    """Whether ``name`` can replace a local without shadowing a keyword, a builtin or another name."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in BUILTINS and name not in taken
