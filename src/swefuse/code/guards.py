"""Texts of guards: a condition on one or two names that leaves the block. Few enough to choose among, chosen by what mends."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from swefuse.code.scope import DICT, FLAG, LIST, NUMBER, SET, TEXT, UNKNOWN
from swefuse.code.shape import Shape

_DEFAULTS = {NUMBER: ("0", "-1"), TEXT: ('""',), LIST: ("[]",), DICT: ("{}",), SET: ("set()",), FLAG: ("False", "True")}
_NUMBER = ("{0} < 0", "{0} <= 0", "{0} < 1", "{0} == 0")
_SINGLE = {
    NUMBER: _NUMBER, TEXT: ("not {0}",), LIST: ("not {0}", "len({0}) < 2"), DICT: ("not {0}",), SET: ("not {0}",),
    UNKNOWN: ("{0} < 0", "{0} <= 0", "{0} == 0", "not {0}"),
}  # fmt: skip
_PAIR = {NUMBER: tuple(f"{{0}} {sign} {{1}}" for sign in (">", "<", "==", "<=", ">=")), TEXT: ("len({0}) != len({1})",)}
_PAIR[LIST] = _PAIR[TEXT]


def conditions(names: Iterable[str], others: Iterable[str], types: dict[str, str]) -> Iterator[str]:
    """Conditions on each of ``names``, and on each pair of one of them and one of ``others`` that follows it."""
    later = list(others)
    for name in names:
        kind = types.get(name, UNKNOWN)
        yield from (form.format(name) for form in _SINGLE.get(kind, ()))
        if name in later:
            for other in later[later.index(name) + 1 :]:
                if types.get(other, UNKNOWN) == kind:
                    yield from (form.format(name, other) for form in _PAIR.get(kind, ()))


def exits(shape: Shape, in_loop: bool) -> list[str]:
    """How a guard may leave: by an error, by an answer of the function's type or one that it gives elsewhere, or on to the next turn."""
    returned = shape.guessed.get("return", UNKNOWN)
    answers = list(_DEFAULTS.get(returned, ()))
    given = dict.fromkeys(ast.unparse(value) for value in shape.returned if isinstance(value, ast.Constant))
    answers += [text for text in sorted(given) if text not in answers][:2]
    if in_loop:
        return ["continue", "break", "raise ValueError", *(f"return {text}" for text in answers if returned == FLAG)]
    return ["raise ValueError", *(f"return {text}" for text in answers)]
