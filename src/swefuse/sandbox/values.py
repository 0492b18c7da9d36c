"""Python values as JSON trees, for the way out of the sandbox.

``None``, bools, ints, floats and strings stand for themselves and a JSON array for a list; every other type is an object with one
key: ``{"t": [...]}`` tuple, ``{"s": [...]}`` set or frozenset (sorted), ``{"d": [[key, value], ...]}`` dict, ``{"b": "hex"}`` bytes
or bytearray. JSON is parsed by guarded C code, while Python's own parser can be driven out of stack by a hostile literal.
Standard library only: the worker imports this too.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict
from typing import Any

MAX_DEPTH = 60
MAX_TEXT = 65536
_DICTS = frozenset({dict, Counter, OrderedDict, defaultdict})  # each of them equals a dict with the same items
_PLAIN = frozenset({type(None), bool, int, float, str})
_dumps = json.dumps


class UnrepresentableError(Exception):
    """A value holds a type that has no literal, nests too deeply or is too large."""


def encode(value: object, depth: int = 0) -> Any:
    """The tree of ``value``.

    Only exact builtin types pass, and the dicts of ``collections``, which go out as plain ones: an instance of any other subclass
    could carry its own ``__eq__``. Raises UnrepresentableError for those and beyond MAX_DEPTH levels.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if depth > MAX_DEPTH:
        raise UnrepresentableError("nested too deeply")
    below = depth + 1
    if isinstance(value, list) and kind is list:
        return [encode(item, below) for item in value]
    if isinstance(value, tuple) and kind is tuple:
        return {"t": [encode(item, below) for item in value]}
    if isinstance(value, dict) and kind in _DICTS:
        return {"d": [[encode(key, below), encode(item, below)] for key, item in value.items()]}
    if isinstance(value, set | frozenset) and kind in (set, frozenset):
        return {"s": sorted((encode(item, below) for item in value), key=_dumps)}
    if isinstance(value, bytes | bytearray) and kind in (bytes, bytearray):
        return {"b": value.hex()}
    raise UnrepresentableError(type.__repr__(kind)[:100])


def decode(tree: Any) -> Any:
    """The value of ``tree``. Raises ValueError, TypeError or RecursionError for what ``encode`` cannot have made."""
    if type(tree) in _PLAIN:
        return tree
    if type(tree) is list:
        return [decode(item) for item in tree]
    [(tag, items)] = tree.items()
    if tag == "t":
        return tuple([decode(item) for item in items])
    if tag == "d":
        return {decode(key): decode(item) for key, item in items}
    if tag == "s":
        return {decode(item) for item in items}
    if tag == "b":
        return bytes.fromhex(items)
    raise ValueError(f"unknown tag {tag!r}")


def literal(tree: Any) -> str:
    """Text of the literal that ``tree`` stands for, such that ``ast.literal_eval`` gives the value back (``nan`` excepted)."""
    return _text(decode(tree))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return {"inf": "1e999", "-inf": "-1e999"}.get(repr(value), repr(value))
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(key)}: {_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, set):
        return f"{{{', '.join(sorted(map(_text, value)))}}}" if value else "set()"
    return repr(value)
