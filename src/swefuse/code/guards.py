"""Texts of guards: a condition on one or two names that leaves the block. Few enough to choose among, chosen by what mends."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from swefuse.code.scope import DICT, FLAG, LIST, NUMBER, SET, TEXT, UNKNOWN, may_be_none
from swefuse.code.shape import Shape

_DEFAULTS = {NUMBER: ("0", "-1"), TEXT: ('""',), LIST: ("[]",), DICT: ("{}",), SET: ("set()",), FLAG: ("False", "True")}
_SINGLE = {
    NUMBER: ("{0} < 0", "{0} <= 0", "{0} == 0", "{0} <= 1", "{0} == 1"),
    TEXT: ("not {0}", "len({0}) < 2", "len({0}) < 3"), LIST: ("not {0}", "len({0}) < 2", "len({0}) < 3"),
    DICT: ("not {0}",), SET: ("not {0}",),
    UNKNOWN: ("{0} < 0", "{0} <= 0", "{0} == 0", "not {0}"),
}  # fmt: skip
MOST_GIVEN = 2
_HOLDERS = (LIST, DICT, SET)
_PAIR = {
    NUMBER: (*(f"{{0}} {sign} {{1}}" for sign in (">", "<", "==", "<=", ">=")), "{0} < 0 or {1} < 0", "{0} <= 0 or {1} <= 0"),
    TEXT: ("len({0}) != len({1})",),
    LIST: ("len({0}) != len({1})",), UNKNOWN: ("{0} == {1}",),
}  # fmt: skip


def conditions(names: Sequence[str], others: Sequence[str], types: dict[str, str]) -> Iterator[str]:
    """Conditions on each of ``names``, alone and with each of ``others`` that follows it there."""
    for name in names:
        kind = types.get(name, UNKNOWN)
        yield from (form.format(name) for form in _SINGLE.get(kind, ()))
        for other in others[others.index(name) + 1 :] if name in others else ():
            if types.get(other, UNKNOWN) == kind:
                yield from (form.format(name, other) for form in _PAIR.get(kind, ()))
        if kind not in _HOLDERS:
            holders = [other for other in others if types.get(other, UNKNOWN) in (SET, DICT)]
            yield from (f"{name} {sign} {other}" for other in holders for sign in ("in", "not in"))


def exits(shape: Shape, in_loop: bool) -> list[str]:
    """How a guard may leave: by an error, by an answer of the function's type or one given elsewhere, or for the next turn."""
    returned = shape.guessed.get("return", UNKNOWN)
    answers = list(_DEFAULTS.get(returned, ()))
    if returned == UNKNOWN or may_be_none(shape.node.returns):
        answers.append("None")
    given = {_short_constant(value) for value in shape.returned} - {"", *answers}
    answers += sorted(given)[:MOST_GIVEN]
    if in_loop:
        return ["continue", "break", "raise ValueError", *(f"return {text}" for text in answers if returned == FLAG)]
    return ["raise ValueError", *(f"return {text}" for text in answers)]


def _short_constant(value: ast.expr | None) -> str:
    """The text of a constant, strings in double quotes; empty for whatever else it is."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return f'"{value.value}"' if value.value.isalnum() or not value.value else ""
    return ast.unparse(value) if isinstance(value, ast.Constant | ast.UnaryOp) else ""
