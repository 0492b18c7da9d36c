"""ShareGPT conversations and LLaMA-Factory's rows of messages with a mask for each turn.

https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from swefuse.errors import DataError, nearest
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.messages import (
    Style,
    arguments_text,
    content,
    flag,
    read_messages,
    shown,
    tools_of,
    unfolded,
    word,
    write_messages,
)
from swefuse.library.formats.transcript import ROLES, Call, Transcript, Turn, values, with_calls

_FROM = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}
_CALL = "function_call"


def _take(value: Any, where: str) -> Transcript:
    listed = unfolded(value.get("conversations")) if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise DataError(f"{where}: a row of sharegpt has a list of conversations, not {shown(value)}")
    system = word(value, "system")
    turns = [Turn(role="system", text=system)] if system else []
    turns += [_turn(one, f"{where}, conversations {number}") for number, one in enumerate(listed, 1)]
    return Transcript(turns=tuple(turns), tools=tools_of(value.get("tools") or None, where), instance=word(value, "instance_id"))


def _turn(raw: Any, where: str) -> Turn:
    said = raw.get("from", raw.get("role")) if isinstance(raw, dict) else None
    text = content(raw.get("value", raw.get("content")), where) if isinstance(raw, dict) else ""
    trained = next((flag(raw[key]) for key in ("turn_mask", "weight") if raw.get(key) is not None), None) if said else None
    if said == _CALL:
        calls = _calls(text)
        return Turn(role="assistant", text="" if calls else text, calls=calls, trained=trained)
    if said not in ROLES:
        raise DataError(f"{where}: 'from' must say who speaks, not {shown(said)}{nearest(str(said), [*ROLES, _CALL])}")
    return Turn(role=ROLES[said], text=text, trained=trained if ROLES[said] == "assistant" else None)


def _calls(text: str) -> tuple[Call, ...]:
    found = unfolded(text)
    listed = found if isinstance(found, list) else [found]
    if not listed or not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in listed):
        return ()
    return tuple(Call(name=one["name"], arguments=arguments_text(one.get("arguments"))) for one in listed)


def _make(transcript: Transcript) -> dict[str, Any]:
    made: dict[str, Any] = {"conversations": [_said(turn) for turn in transcript.turns]}
    if transcript.tools:
        made["tools"] = json.dumps(list(transcript.tools), ensure_ascii=False)
    return {**made, **({"instance_id": transcript.instance} if transcript.instance else {})}


def _said(turn: Turn) -> dict[str, Any]:
    if turn.calls:
        listed = [{"name": call.name, "arguments": values(call.arguments)} for call in turn.calls]
        made: dict[str, Any] = {"from": _CALL, "value": json.dumps(listed[0] if len(listed) == 1 else listed, ensure_ascii=False)}
    else:
        made = {"from": _FROM[turn.role], "value": turn.text}
    return {**made, **({"turn_mask": int(turn.trained)} if turn.trained is not None else {})}


def _reduce(transcript: Transcript) -> Reduced:
    """A turn is words or calls: calls beside words, and such as are no values, become words. Ids of calls are not carried."""
    lost: Counter[str] = Counter()
    turns = []
    for turn in transcript.turns:
        if turn.calls and (turn.text or any(values(call.arguments) is None for call in turn.calls)):
            lost["calls"] += len(turn.calls)
            turn = turn.model_copy(update={"text": with_calls(turn), "calls": ()})
        lost["ids of calls"] += sum(bool(call.id) for call in turn.calls)
        turns.append(turn.model_copy(update={"calls": tuple(call.model_copy(update={"id": ""}) for call in turn.calls)}))
    return transcript.model_copy(update={"turns": tuple(turns)}), lost


def _detect(value: Any) -> Sign | None:
    listed = unfolded(value.get("conversations")) if isinstance(value, dict) else None
    return Sign(3, "the field conversations") if isinstance(listed, list) else None


def _take_tagged(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or "messages" not in value:
        raise DataError(f"{where}: a row of llamafactory has messages, not {shown(value)}")
    return Transcript(
        turns=read_messages(value["messages"], where), tools=tools_of(value.get("tools") or None, where),
        instance=word(value, "instance_id"),
    )  # fmt: skip


def _make_tagged(transcript: Transcript) -> dict[str, Any]:
    made: dict[str, Any] = {"messages": write_messages(transcript.turns, Style(trained="turn_mask"))}
    if transcript.tools:
        made["tools"] = json.dumps(list(transcript.tools), ensure_ascii=False)
    return {**made, **({"instance_id": transcript.instance} if transcript.instance else {})}


def _detect_tagged(value: Any) -> Sign | None:
    messages = unfolded(value.get("messages")) if isinstance(value, dict) else None
    if not isinstance(messages, list):
        return None
    found = any(isinstance(one, dict) and "turn_mask" in one for one in messages)
    return Sign(3, "messages with a turn_mask") if found else None


SHAREGPT = Format(
    "sharegpt", "ShareGPT conversations", frozenset({"turns", "calls", "trained", "tools", "instance"}), _take, _make, _detect,
    _reduce,
)  # fmt: skip
LLAMAFACTORY = Format(
    "llamafactory", "LLaMA-Factory messages with turn_mask", frozenset({"turns", "trained", "tools", "instance"}), _take_tagged,
    _make_tagged, _detect_tagged,
)  # fmt: skip
