"""OpenAI fine-tuning: chat rows, and rows of preference. https://platform.openai.com/docs/guides/fine-tuning"""

from __future__ import annotations

from collections import Counter
from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.messages import Style, read_messages, shown, tools_of, write_messages
from swefuse.library.formats.transcript import Transcript, Turn

_STYLE = Style(trained="weight")
_CARRIES = frozenset({"turns", "calls", "arguments", "answers", "tools"})


def _take(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or "messages" not in value:
        raise DataError(f"{where}: a row of openai has messages, not {shown(value)}")
    given = value.get("tools")
    if given is None and isinstance(value.get("functions"), list):
        given = [{"type": "function", "function": one} for one in value["functions"]]
    return Transcript(turns=read_messages(value["messages"], where), tools=tools_of(given, where))


def _make(transcript: Transcript) -> dict[str, Any]:
    made: dict[str, Any] = {"messages": write_messages(transcript.turns, _STYLE)}
    return {**made, **({"tools": list(transcript.tools)} if transcript.tools else {})}


def _detect(value: Any) -> Sign | None:
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return None
    for key in ("parallel_tool_calls", "functions"):
        if key in value:
            return Sign(3, f"messages and {key}")
    if any("weight" in one for one in messages):
        return Sign(3, "messages with a weight")
    if texts := [argument for argument in called(messages) if isinstance(argument, str)]:
        return Sign(2, "messages whose calls have arguments as text") if len(texts) == len(called(messages)) else None
    return None if called(messages) else Sign(2, "messages, and nothing that is another format's")


def called(messages: Any) -> list[Any]:
    """The arguments of all calls in a list of messages."""
    found = []
    for one in messages:
        for call in (one.get("tool_calls") or []) if isinstance(one, dict) else []:
            inner = call.get("function", call) if isinstance(call, dict) else None
            if isinstance(inner, dict) and "arguments" in inner:
                found.append(inner["arguments"])
    return found


def _take_pair(value: Any, where: str) -> Transcript:
    given = value.get("input") if isinstance(value, dict) else None
    if not isinstance(given, dict) or "preferred_output" not in value or "non_preferred_output" not in value:
        raise DataError(f"{where}: a row of openai-preference has input, preferred_output and non_preferred_output")
    prompt = read_messages(given.get("messages"), where, "input.messages")
    best = read_messages(value["preferred_output"], where, "preferred_output")
    other = read_messages(value["non_preferred_output"], where, "non_preferred_output")
    return Transcript(turns=(*prompt, *best), split=len(prompt), rejected=other, tools=tools_of(given.get("tools"), where))


def _make_pair(transcript: Transcript) -> dict[str, Any]:
    prompt, best = divided(transcript)
    given: dict[str, Any] = {"messages": write_messages(prompt, Style())}
    return {
        "input": {**given, **({"tools": list(transcript.tools)} if transcript.tools else {})},
        "preferred_output": write_messages(best, Style()),
        "non_preferred_output": write_messages(transcript.rejected, Style()),
    }


def divided(transcript: Transcript) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns of the prompt and those of the answer: where the transcript says, else before the assistant's first."""
    at = len(transcript.opening()) if transcript.split is None else transcript.split
    return transcript.turns[:at], transcript.turns[at:]


def parted(transcript: Transcript) -> Reduced:
    """A transcript that says where its prompt ends."""
    return transcript.model_copy(update={"split": len(divided(transcript)[0])}), Counter()


def _detect_pair(value: Any) -> Sign | None:
    found = isinstance(value, dict) and "preferred_output" in value
    return Sign(3, "the field preferred_output") if found else None


OPENAI = Format("openai", "OpenAI fine-tuning rows", _CARRIES | {"trained"}, _take, _make, _detect)
OPENAI_PREFERENCE = Format(
    "openai-preference", "OpenAI preference rows", _CARRIES | {"split", "rejected"}, _take_pair, _make_pair, _detect_pair, parted,
    needs=("turns", "rejected"),
)  # fmt: skip
