"""Inputs for function tasks: variations of known good arguments, of the same shape and type."""

from __future__ import annotations

import ast
import random
from collections.abc import Sequence
from typing import Any

from swefuse.sandbox.values import encode, literal

MOST_TEXT = 160
_LETTERS = "abcdexyz  ,.;:=-_01239AB"


def argument_text(arguments: tuple[Any, ...]) -> str:
    """The one text of an argument tuple: sets are sorted, so that it does not depend on hashing."""
    return literal(encode(arguments))


def _number(rng: random.Random, value: int) -> int:
    return rng.choice((value + 1, value - 1, value, -value, rng.randint(-3, 12), rng.randint(0, 30)))


def _text(rng: random.Random, value: str) -> str:
    kind = rng.randrange(5)
    at = rng.randint(0, len(value))
    if kind == 0 and value:
        return value[:at] + value[at + 1 :]
    if kind == 1:
        return value[:at] + rng.choice(_LETTERS if not value else value + _LETTERS[:6]) + value[at:]
    if kind == 2:
        return value[at:] + value[:at]
    if kind == 3:
        return value[: max(1, len(value) // 2)]
    return value


def vary(rng: random.Random, value: Any) -> Any:
    """A value of the same type and nesting, close to the given one. Containers change by one element at a time."""
    if value is None or isinstance(value, bool):
        return value if value is None or rng.random() < 0.5 else not value
    if isinstance(value, int):
        return _number(rng, value)
    if isinstance(value, float):
        return rng.choice((value, value + 1, -value, round(value * 1.5, 3), float(rng.randint(-3, 9))))
    if isinstance(value, str):
        return _text(rng, value)
    if isinstance(value, list):
        return _sequence(rng, value)
    if isinstance(value, tuple):
        return tuple(vary(rng, part) if rng.random() < 0.6 else part for part in value)
    if isinstance(value, set):
        return set(_sequence(rng, sorted(value, key=repr)))
    if isinstance(value, dict):
        items = [(key, vary(rng, part) if rng.random() < 0.6 else part) for key, part in value.items()]
        if items and rng.random() < 0.3:
            items.pop(rng.randrange(len(items)))
        return dict(items)
    return value


def _sequence(rng: random.Random, value: list[Any]) -> list[Any]:
    items = [vary(rng, part) if rng.random() < 0.35 else part for part in value]
    kind = rng.randrange(5)
    if kind == 0 and items:
        items.pop(rng.randrange(len(items)))
    elif kind == 1 and items:
        items.insert(rng.randint(0, len(items)), vary(rng, rng.choice(items)))
    elif kind == 2:
        rng.shuffle(items)
    elif kind == 3 and items:
        items[rng.randrange(len(items))] = rng.choice(items)
    return items[:10]


def candidates(rng: random.Random, seeds: Sequence[str], count: int) -> list[str]:
    """Texts of argument tuples: the seeds first, then variations of them, no text twice, at most ``count``; sizes stay small."""
    found = dict.fromkeys(seeds)
    values = [ast.literal_eval(text) for text in seeds]
    for _ in range(count * 6):
        if len(found) >= count:
            break
        text = argument_text(tuple(vary(rng, part) if rng.random() < 0.7 else part for part in rng.choice(values)))
        if len(text) <= MOST_TEXT:
            found.setdefault(text)
    return list(found)[:count]
