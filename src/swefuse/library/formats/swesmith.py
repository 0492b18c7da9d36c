"""SWE-smith rows for fine-tuning, in its three styles: calls as XML in the text, as calls of tools, or as fenced blocks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.messages import Style, flag, read_messages, shown, unfolded, word, write_messages
from swefuse.library.formats.openai import called
from swefuse.library.formats.transcript import Call, Transcript, Turn, values


def as_xml(call: Call) -> str:
    """A call as SWE-agent writes it into text; arguments that are no values are one parameter of the name ``arguments``."""
    found = values(call.arguments)
    pairs = {"arguments": call.arguments} if found is None else found
    lines = [f"<parameter={name}>{_plain(value)}</parameter>" for name, value in pairs.items()]
    return "\n".join([f"<function={call.name}>", *lines, "</function>"])


def as_block(call: Call) -> str:
    """A call as a fenced block: the command of a shell, or else the call as XML."""
    found = values(call.arguments)
    command = found.get("command") if found is not None and len(found) == 1 else None
    return f"```\n{command if isinstance(command, str) else as_xml(call)}\n```"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def in_words(transcript: Transcript, written: Callable[[Call], str]) -> Reduced:
    """Calls as ``written`` into the text, and results of tools as the user's words."""
    turns = tuple(_worded(turn, written) for turn in transcript.turns)
    lost = Counter(
        calls=sum(len(turn.calls) for turn in transcript.turns), answers=sum(bool(turn.answers) for turn in transcript.turns)
    )
    return transcript.model_copy(update={"turns": turns}), lost


def _worded(turn: Turn, written: Callable[[Call], str]) -> Turn:
    parts = [turn.text, *map(written, turn.calls)] if turn.calls else [turn.text]
    role = "user" if turn.role == "tool" else turn.role
    text = "\n\n".join(part for part in parts if part) if turn.calls else turn.text
    return turn.model_copy(update={"role": role, "text": text, "calls": (), "answers": ""})


def _take(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or "messages" not in value:
        raise DataError(f"{where}: a row of SWE-smith has messages, not {shown(value)}")
    patch = value.get("patch", value.get("model_patch"))
    return Transcript(
        id=word(value, "traj_id"), instance=word(value, "instance_id"), model=word(value, "model"),
        turns=read_messages(value["messages"], where), patch=patch if isinstance(patch, str) else None,
        resolved=flag(value.get("resolved")),
    )  # fmt: skip


def _make(transcript: Transcript) -> dict[str, Any]:
    made: dict[str, Any] = {"messages": write_messages(transcript.turns, Style())}
    said = {"instance_id": transcript.instance, "traj_id": transcript.id, "model": transcript.model}
    made |= {key: value for key, value in said.items() if value}
    if transcript.resolved is not None:
        made["resolved"] = transcript.resolved
    return {**made, **({"patch": transcript.patch} if transcript.patch is not None else {})}


def _detect(value: Any, style: str) -> Sign | None:
    messages = unfolded(value.get("messages")) if isinstance(value, dict) else None
    if not isinstance(messages, list) or not {"instance_id", "traj_id"} & value.keys():
        return None
    if {"turn_mask", "weight"} & {key for one in messages if isinstance(one, dict) for key in one}:
        return None
    said = [str(one.get("content")) for one in messages if isinstance(one, dict) and one.get("role") == "assistant"]
    if any(isinstance(one, dict) and one.get("tool_calls") for one in messages):
        if not all(isinstance(arguments, str) for arguments in called(messages)):
            return None
        found, seen = "tool", "tool_calls"
    elif any("<function=" in text for text in said):
        found, seen = "xml", "<function=…>"
    else:
        found, seen = "ticks", "fenced blocks or plain text"
    return Sign(4, f"messages with an instance_id, and {seen} in them") if found == style else None


_TOLD = frozenset({"turns", "calls", "arguments", "answers", "id", "instance", "model", "patch", "resolved"})
SWESMITH_XML = Format(
    "swesmith-xml", "SWE-smith rows, calls as XML in the text", _TOLD, _take, _make, partial(_detect, style="xml"),
    partial(in_words, written=as_xml), worded=True,
)  # fmt: skip
SWESMITH_TICKS = Format(
    "swesmith-ticks", "SWE-smith rows, calls as fenced blocks", _TOLD, _take, _make, partial(_detect, style="ticks"),
    partial(in_words, written=as_block), worded=True,
)  # fmt: skip
SWESMITH_TOOL = Format("swesmith-tool", "SWE-smith rows, calls of tools", _TOLD, _take, _make, partial(_detect, style="tool"))
