"""What a file says beside what a transcript holds: the difference between two JSON values, and the way back.

A format's writer makes the plain form of a transcript. Where the file that was read says more, or says it in another way, the
difference to that plain form is kept, and laid over it when the same format is written. So nothing of a file is lost, whatever its
writer put there, and reading stays simple. A difference is laid over only where the plain form still reads as it did: what was
changed meanwhile wins.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from swefuse.records import content_hash


def delta(base: Any, given: Any) -> dict[str, Any] | None:
    """The difference that makes ``given`` of ``base``, itself JSON; None where both are the same, order of keys included.

    Example: ``delta({"a": 1}, {"a": 1, "b": 2})`` -> ``{"put": {"b": 2}}``.
    """
    if isinstance(base, dict) and isinstance(given, dict):
        return _of_objects(base, given)
    if isinstance(base, list) and isinstance(given, list) and len(base) == len(given):
        at = {str(n): found for n, pair in enumerate(zip(base, given, strict=True)) if (found := delta(*pair)) is not None}
        return {"n": len(given), "at": at} if at else None
    return None if type(base) is type(given) and base == given else {"was": _mark(base), "is": given}


def _of_objects(base: dict[str, Any], given: dict[str, Any]) -> dict[str, Any] | None:
    put = {key: value for key, value in given.items() if key not in base}
    gone = {key: _mark(value) for key, value in base.items() if key not in given}
    inside = {key: found for key in base.keys() & given.keys() if (found := delta(base[key], given[key])) is not None}
    order = [key for key in base if key in given] + list(put)
    parts = {"put": put, "gone": gone, "in": dict(sorted(inside.items())), "order": list(given) if order != list(given) else []}
    return {name: part for name, part in parts.items() if part} or None


def apply(base: Any, difference: dict[str, Any] | None) -> Any:
    """``base`` with a difference laid over it, wherever it still reads as it did when the difference was made."""
    if difference is None:
        return base
    if "is" in difference:
        return difference["is"] if _mark(base) == difference["was"] else base
    if "n" in difference:
        if not isinstance(base, list) or len(base) != difference["n"]:
            return base
        return [apply(value, difference["at"].get(str(number))) for number, value in enumerate(base)]
    if not isinstance(base, dict):
        return base
    gone = difference.get("gone", {})
    kept = {key: value for key, value in base.items() if key not in gone or _mark(value) != gone[key]}
    made = {key: apply(value, difference.get("in", {}).get(key)) for key, value in kept.items()}
    made |= {key: value for key, value in difference.get("put", {}).items() if key not in base}
    order = {key: place for place, key in enumerate(difference.get("order", []))}
    return dict(sorted(made.items(), key=lambda item: order.get(item[0], len(order)))) if order else made


def named(difference: dict[str, Any] | None) -> Counter[str]:
    """The fields that a difference adds, with how often."""
    found: Counter[str] = Counter()
    if difference is not None and "is" not in difference:
        found.update(difference.get("put", {}).keys())
        for inner in (*difference.get("in", {}).values(), *difference.get("at", {}).values()):
            found += named(inner)
    return found


def _mark(value: Any) -> str:
    return content_hash(value)[:16]
