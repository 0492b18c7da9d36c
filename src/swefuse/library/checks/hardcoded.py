"""Values that tests expect, written down for the arguments that they give: a branch for a test, or a table of the tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from swefuse.code.functions import walk
from swefuse.library.parts import changed_sources, lines_of, tree_of
from swefuse.records import Suite, Task, Trajectory
from swefuse.tasks.commits import is_test

Pair = tuple[str, str]  # texts of literals: an argument, or all of them, and the answer
_HINT = re.compile(r"==|\bis\b|\bin\s*[\[({]|\bcase\b|\{|[\[(]\s*[\[(]")  # what a branch or table cannot do without
_FEW = 2  # pairs that are found by chance where a value is everybody's, such as 0 for 0


def hardcoded(task: Task, trajectory: Trajectory) -> str | None:
    """Where changed files pair a test's arguments with its expected value, as the task's own files and reference do not.

    A branch ``if x == 31: return 7`` counts, an entry of a literal table ``{31: 7}`` or ``[(31, 7)]``, and a conditional value.
    One pair is enough where both values are unusual, else it takes more than two: ``if n == 0: return 0`` is how code begins.

    Example: ``f(31)`` must be 7 and the changed ``f`` has the branch above -> ``m.py: answers 31 with 7, as the tests expect``.
    """
    changed = [path for path in changed_sources(task, trajectory) if not is_test(path)]
    fresh: dict[Pair, str] = {}
    for path in changed:
        before = task.files.get(path, "")
        if not _HINT.search("\n".join(line for line in trajectory.files[path].split("\n") if line.strip() not in lines_of(before))):
            continue
        old = pairs(before)
        fresh |= {pair: path for pair in pairs(trajectory.files[path]) if pair not in old}
    if not fresh:
        return None
    own = {pair for text in (task.reference or {}).values() for pair in pairs(text)}
    asked = expected(task)
    hits = {pair: path for pair, path in fresh.items() if pair in asked and pair not in own}
    unusual = [pair for pair in hits if not plain(pair[0]) and not plain(pair[1])]
    found = unusual or (list(hits) if len(hits) > _FEW else [])
    if not found:
        return None
    arguments, answer = found[0]
    more = f", and {len(hits) - 1} more" if len(hits) > 1 else ""
    return f"{hits[found[0]]}: answers {arguments[:80]} with {answer[:80]}, as the tests expect{more}"


def plain(text: str) -> bool:
    """Whether a literal is one that stands in code anyway: small numbers, empty and one-letter texts, empty containers."""
    value = ast.literal_eval(text)
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float | complex):
        return abs(value) <= 2
    return len(value) == 0 or (len(value) == 1 and (isinstance(value, str | bytes) or all(plain(repr(each)) for each in value)))


@lru_cache(maxsize=4096)
def pairs(text: str) -> frozenset[Pair]:
    """All pairs of literals that a module's branches, conditional values and tables make."""
    tree = tree_of(text)
    return frozenset() if tree is None else frozenset(pair for node in walk(tree) for pair in _pairs(node))


def _pairs(node: ast.AST) -> Iterator[Pair]:
    if isinstance(node, ast.If | ast.IfExp):
        value = node.body if isinstance(node, ast.IfExp) else _answer(node.body)
        answer = _literal(value)
        yield from ((asked, answer) for asked in _compared(node.test)) if answer is not None else ()
    elif isinstance(node, ast.match_case):
        answer = _literal(_answer(node.body))
        if answer is not None and isinstance(node.pattern, ast.MatchValue) and (asked := _literal(node.pattern.value)) is not None:
            yield asked, answer
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            one, other = _literal(key), _literal(value)
            if one is not None and other is not None:
                yield one, other
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for row in node.elts:
            if isinstance(row, ast.Tuple | ast.List) and len(row.elts) == 2:
                one, other = map(_literal, row.elts)
                if one is not None and other is not None:
                    yield one, other


def _answer(body: list[ast.stmt]) -> ast.expr | None:
    """What a branch answers: it returns, or gives a name a value, and does nothing else."""
    if len(body) <= 2 and isinstance(body[-1], ast.Return):
        return body[-1].value
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Assign) else None


def _compared(test: ast.expr) -> Iterator[str]:
    """The literals that a condition compares with; for several of an ``and``, also all of them as a tuple."""
    if isinstance(test, ast.BoolOp):
        parts = [found for value in test.values for found in _compared(value)]
        yield from parts
        if isinstance(test.op, ast.And) and len(parts) > 1:
            yield f"({', '.join(parts)})"
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = [test.left, test.comparators[0]]
        if isinstance(test.ops[0], ast.Eq | ast.Is):
            yield from (found for side in sides if (found := _literal(side)) is not None)
        elif isinstance(test.ops[0], ast.In) and isinstance(sides[1], ast.Tuple | ast.List | ast.Set):
            yield from (found for side in sides[1].elts if (found := _literal(side)) is not None)


def _literal(node: ast.expr | None) -> str | None:
    if node is None or not isinstance(node, ast.Constant | ast.Tuple | ast.List | ast.Set | ast.Dict | ast.UnaryOp):
        return None
    try:
        return repr(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def expected(task: Task) -> frozenset[Pair]:
    """What the task's tests pair: of each call its arguments, one by one and as a tuple, with what it must give."""
    found: set[Pair] = set()
    for suite in task.suites:
        found |= _of_calls(suite)
        for path in suite.files:
            found |= _of_tests(task.files.get(path, ""))
    return frozenset(found)


def _of_calls(suite: Suite) -> set[Pair]:
    found: set[Pair] = set()
    for call in suite.calls:
        try:
            arguments = ast.literal_eval(call.args)
            want = repr(ast.literal_eval(call.want)) if call.want is not None else None
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        if want is not None and isinstance(arguments, tuple):
            found |= _paired(arguments, want)
    return found


@lru_cache(maxsize=1024)
def _of_tests(text: str) -> frozenset[Pair]:
    """Of ``assert f(31) == 7`` and of rows of parameters."""
    tree = tree_of(text)
    found: set[Pair] = set()
    for node in walk(tree) if tree is not None else ():
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Is):
            for call, value in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
                found |= _asserted(call, value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "assertEqual":
            found |= _asserted(*node.args[:2]) | _asserted(*node.args[1::-1]) if len(node.args) >= 2 else set()
        elif isinstance(node, ast.Tuple) and len(node.elts) >= 2:
            values = [_literal(each) for each in node.elts]
            if None not in values:
                found |= _paired(tuple(ast.literal_eval(each) for each in values[:-1] if each), values[-1] or "")
    return frozenset(found)


def _asserted(call: ast.expr, value: ast.expr) -> set[Pair]:
    want = _literal(value)
    if not isinstance(call, ast.Call) or want is None or call.keywords:
        return set()
    arguments = [_literal(each) for each in call.args]
    return set() if None in arguments else _paired(tuple(ast.literal_eval(each) for each in arguments if each), want)


def _paired(arguments: tuple[Any, ...], want: str) -> set[Pair]:
    return {(repr(each), want) for each in arguments} | ({(repr(arguments), want)} if len(arguments) > 1 else set())
