"""Turns as chat protocols write them: what most formats have in common, and the ways in which they differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from swefuse.errors import DataError, nearest
from swefuse.library.formats.transcript import ROLES, Call, Turn, plain_arguments, values

IMAGE = "[image]"  # what stands for a part of a message that is no text
_THINKING = ("reasoning_content", "thinking", "reasoning")
_TRUE, _FALSE = ("1", "true", "yes", "1.0"), ("0", "false", "no", "0.0", "-1")


@dataclass(frozen=True, slots=True)
class Style:
    """How a format writes a message: ``arguments`` as text or as values, ``thinking`` and ``trained`` under these keys, empty for
    none, ``name`` of the tool beside a result."""

    values: bool = False
    thinking: str = ""
    trained: str = ""
    name: bool = False


def read_message(raw: Any, where: str) -> Turn:
    """A turn of one message. Raises DataError for what is none."""
    if not isinstance(raw, dict) or "role" not in raw:
        raise DataError(f"{where}: a message is an object with a role and content, not {shown(raw)}")
    role = ROLES.get(str(raw["role"]))
    if role is None:
        raise DataError(f"{where}: there is no role {raw['role']!r}{nearest(str(raw['role']), ROLES)}")
    thinking = next((raw[key] for key in _THINKING if isinstance(raw.get(key), str) and raw[key]), "")
    trained = next((flag(raw[key]) for key in ("weight", "turn_mask", "train") if raw.get(key) is not None), None)
    return Turn(
        role=role, text=content(raw.get("content"), where), thinking=thinking if role == "assistant" else "",
        calls=calls(raw, where) if role == "assistant" else (), answers=_answered(raw) if role == "tool" else "",
        name=str(raw.get("name") or "") if role == "tool" else "", trained=trained if role == "assistant" else None,
    )  # fmt: skip


def read_messages(raw: Any, where: str, field: str = "messages") -> tuple[Turn, ...]:
    """The turns of a list of messages, which may also be a text that holds one in JSON. Raises DataError."""
    listed = unfolded(raw)
    if not isinstance(listed, list):
        raise DataError(f"{where}: {field} must be a list of messages, not {shown(raw)}")
    return tuple(read_message(one, f"{where}, {field} {number}") for number, one in enumerate(listed, 1))


def write_message(turn: Turn, style: Style) -> dict[str, Any]:
    """A turn as a message."""
    made: dict[str, Any] = {"role": turn.role, "content": turn.text}
    if turn.thinking and style.thinking:
        made[style.thinking] = turn.thinking
    if turn.calls:
        made["tool_calls"] = [write_call(call, style.values) for call in turn.calls]
    if turn.answers:
        made["tool_call_id"] = turn.answers
    if turn.name and style.name:
        made["name"] = turn.name
    if turn.trained is not None and style.trained:
        made[style.trained] = int(turn.trained)
    return made


def write_messages(turns: Iterable[Turn], style: Style) -> list[dict[str, Any]]:
    """Turns as a list of messages."""
    return [write_message(turn, style) for turn in turns]


def write_call(call: Call, as_values: bool = False) -> dict[str, Any]:
    """A call of a tool as chat protocols have it."""
    arguments: Any = call.arguments
    if as_values and (found := values(call.arguments)) is not None and plain_arguments(call.arguments) == call.arguments:
        arguments = found
    made = {"type": "function", "function": {"name": call.name, "arguments": arguments}}
    return {"id": call.id, **made} if call.id else made


def calls(raw: Mapping[str, Any], where: str) -> tuple[Call, ...]:
    """The calls of a message, in the present form or in the old one of ``function_call``. Raises DataError."""
    given = unfolded(raw.get("tool_calls"))
    old = raw.get("function_call")
    listed = given if isinstance(given, list) else [{"function": old}] if isinstance(old, dict) else []
    if given and not isinstance(given, list):
        raise DataError(f"{where}: tool_calls must be a list, not {shown(given)}")
    found = []
    for number, one in enumerate(listed, 1):
        one = unfolded(one)
        inner = one.get("function", one) if isinstance(one, dict) else None
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            raise DataError(f"{where}, call {number}: a call names a function, not {shown(one)}")
        found.append(Call(id=str(one.get("id") or ""), name=inner["name"], arguments=arguments_text(inner.get("arguments"))))
    return tuple(found)


def arguments_text(given: Any) -> str:
    """Arguments as text: as they stand where they are one, else as JSON."""
    return given if isinstance(given, str) else json.dumps({} if given is None else given, ensure_ascii=False)


def content(given: Any, where: str) -> str:
    """The text of a message's content: a text, or parts of which those that are no text are shown as ``IMAGE``."""
    if given is None:
        return ""
    if isinstance(given, str):
        return given
    if isinstance(given, dict):
        given = [given]
    if not isinstance(given, list):
        return json.dumps(given)
    parts = []
    for part in given:
        text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
        if text is None and not isinstance(part, dict):
            raise DataError(f"{where}: a part of the content is an object with text, not {shown(part)}")
        parts.append(text if isinstance(text, str) else IMAGE)
    return "".join(parts)


def tools_of(raw: Any, where: str) -> tuple[dict[str, Any], ...]:
    """Descriptions of tools: a list of objects, or of texts that hold one, or one text that holds them all. Raises DataError."""
    listed = unfolded(raw)
    if listed is None:
        return ()
    found = [unfolded(one) for one in listed] if isinstance(listed, list) else [listed]
    if not all(isinstance(one, dict) for one in found):
        raise DataError(f"{where}: tools must be a list of objects, not {shown(raw)}")
    return tuple(found)


def unfolded(given: Any) -> Any:
    """A value that may have been put into a text as JSON, as columns of tables often are."""
    if isinstance(given, str) and given[:1] in ("[", "{"):
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    return given


def flag(given: Any) -> bool | None:
    """Yes or no, however it is written; None where it is neither."""
    if isinstance(given, bool) or given is None:
        return given
    text = str(given).strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def number(given: Any) -> float | None:
    """A finite number, maybe written as a text; None where it is none."""
    try:
        found = float(given) if isinstance(given, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and found - found == 0 else None


def word(raw: Any, *names: str) -> str:
    """The first of the fields of an object that holds a text or a number, as text."""
    found = (raw.get(name) for name in names) if isinstance(raw, dict) else ()
    return next((str(one) for one in found if isinstance(one, str | int) and not isinstance(one, bool) and one != ""), "")


def inner(raw: Any, *path: str) -> Any:
    """The value at the end of a way through objects, which may be folded into texts; None where the way breaks off."""
    for name in path:
        raw = unfolded(raw)
        raw = raw.get(name) if isinstance(raw, dict) else None
    return raw


def shown(value: Any) -> str:
    """A value, cut, for an error."""
    return json.dumps(value)[:80]


def _answered(raw: Mapping[str, Any]) -> str:
    many = raw.get("tool_call_ids")
    given = raw.get("tool_call_id") or (many[0] if isinstance(many, list) and many else "")
    return given if isinstance(given, str) else ""
