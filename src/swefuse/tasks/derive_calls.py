"""Calls whose answers a repository tells itself: examples in docstrings, and asserts of tests, parametrised ones too."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from swefuse.code.functions import Function, function
from swefuse.tasks.commits import is_test_file
from swefuse.tasks.derive_questions import plain_functions, tree

MOST_ROWS = 30  # of a parametrised test
_BAD = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class Told:
    """A call of ``subject`` (``path:name``) with the text of its arguments, a tuple, and of what it should give."""

    subject: str
    arguments: str
    want: str

    @property
    def call(self) -> str:
        """As it would be written."""
        values = ast.literal_eval(self.arguments)
        return f"{self.subject.rpartition(':')[2]}({', '.join(map(repr, values))})"


def told(files: Mapping[str, str]) -> list[Told]:
    """All calls with literal arguments and answers of functions that their name alone tells, each once, in a stable order."""
    homes = {name: path for path, name in plain_functions(files)}
    found: dict[Told, None] = {}
    for name, path in homes.items():
        said = ast.get_docstring(function(tree(files[path]), name)) or ""
        for call, want in _examples(said):
            _add(found, homes, call, want, {})
    for path in sorted(filter(is_test_file, files)):
        for node in ast.walk(tree(files[path])):
            if isinstance(node, Function) and node.name.startswith("test"):
                for values in _rows(node):
                    for one in node.body:
                        if isinstance(one, ast.Assert) and (pair := _equal(one.test)):
                            _add(found, homes, *pair, values)
    return list(found)


def _examples(said: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    try:
        for one in doctest.DocTestParser().get_examples(said):
            yield ast.parse(one.source.strip(), mode="eval").body, ast.parse(one.want.strip(), mode="eval").body
    except _BAD:
        return


def _equal(test: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        return test.left, test.comparators[0]
    return None


def _rows(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[dict[str, Any]]:
    """The values of each row of a parametrised test; one empty row for a plain test, none where rows cannot be read."""
    marks = [one for one in node.decorator_list if isinstance(one, ast.Call) and ast.unparse(one.func).endswith("parametrize")]
    if not marks:
        return [{}]
    if len(marks) > 1 or len(marks[0].args) < 2:
        return []
    try:
        said = ast.literal_eval(marks[0].args[0])
    except _BAD:
        return []
    names = [one.strip() for one in said.split(",")] if isinstance(said, str) else list(said)
    rows = getattr(marks[0].args[1], "elts", [])
    found = []
    for row in islice(rows, MOST_ROWS):
        try:
            values = ast.literal_eval(row)
        except _BAD:
            continue
        values = (values,) if len(names) == 1 and isinstance(said, str) else values
        if isinstance(values, tuple | list) and len(values) == len(names):
            found.append(dict(zip(names, values, strict=True)))
    return found


def _add(found: dict[Told, None], homes: Mapping[str, str], call: ast.expr, want: ast.expr, values: Mapping[str, Any]) -> None:
    if not isinstance(call, ast.Call) or call.keywords:
        return
    name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name not in homes or (isinstance(call.func, ast.Attribute) and not isinstance(call.func.value, ast.Name)):
        return
    try:
        arguments = list[Any]()
        for one in call.args:
            arguments += _value(one.value, values) if isinstance(one, ast.Starred) else [_value(one, values)]
        answer = _value(want, values)
        told = Told(f"{homes[name]}:{name}", repr(tuple(arguments)), repr(answer))
        same = ast.literal_eval(told.arguments) == tuple(arguments) and ast.literal_eval(told.want) == answer
    except _BAD:
        return
    # what is one of two values, or stands in the question, can be guessed
    if same and not isinstance(answer, bool | None) and answer not in arguments:
        found.setdefault(told)


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    return values[node.id] if isinstance(node, ast.Name) and node.id in values else ast.literal_eval(node)
