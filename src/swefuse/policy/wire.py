"""Chat as OpenAI-compatible servers speak it, seen from the client: the body of a request, and what a reply's body says."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swefuse.policy.base import Freedom, Message, ToolCall
from swefuse.records import TokenTrace

EMPTY = "the reply is empty"
EXTENSION = "swefuse"  # field of a choice in which our own server tells the whole token trace


@dataclass(frozen=True, slots=True)
class Answer:
    """What one completion says. ``metered`` is False where the server did not tell the tokens; then both counts are 0.

    ``problem``: why a completion that is well formed is no answer, such as a filter that withheld it.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    cut: bool = False
    trace: TokenTrace | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    metered: bool = False
    fingerprint: str = ""
    problem: str = ""


def unpaired(messages: Sequence[Message]) -> str:
    """Why the calls of tools and their answers do not fit together; empty when they do."""
    made: set[str] = set()
    for message in messages:
        made |= {call.id for call in message.tool_calls}
        if message.role == "tool" and message.call not in made:
            return f"a tool message answers the call {message.call!r}, which no message before it makes"
        if message.role != "assistant" and message.tool_calls:
            return f"a message of the role {message.role} calls tools; only the assistant's can"
    return ""


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation as the protocol has it."""
    listed = []
    for message in messages:
        one: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.tool_calls:
            one["content"] = message.content or None
            one["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in message.tool_calls
            ]
        if message.role == "tool":
            one["tool_call_id"] = message.call
        listed.append(one)
    return listed


def chat_tools(tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tools with the envelope that the protocol wants; those that have it already stay as they are."""
    return [
        tool if tool.get("type") == "function" and "function" in tool else {"type": "function", "function": tool} for tool in tools
    ]


def chat_body(freedom: Freedom, model: str, temperature: float, seed: int) -> dict[str, Any]:
    """The body of a request, without what only some servers know."""
    body: dict[str, Any] = {
        "model": model,
        "messages": chat_messages(freedom.messages),
        "temperature": temperature,
        "max_tokens": freedom.max_tokens,
        "seed": seed,
    }
    if freedom.tools:
        body["tools"] = chat_tools(freedom.tools)
    return body


def error_text(body: bytes) -> tuple[str, str]:
    """Message and code of a server's error, as far as its body tells them."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if isinstance(value, dict):
        error = value.get("error", value)
        if isinstance(error, dict):
            said = error.get("message") or error.get("detail") or text
            return (said if isinstance(said, str) else json.dumps(said)), str(error.get("code") or error.get("type") or "")
        return str(error), ""
    return text, ""


def read_answer(value: Any) -> Answer | str:
    """What a completion says, or in words what is wrong with its shape."""
    choice = _first(value)
    if isinstance(choice, str):
        return choice
    message = choice.get("message")
    if not isinstance(message, dict):
        return "the reply's choice holds no message"
    content = message.get("content")
    text = content if content is not None else message.get("refusal") or ""
    if not isinstance(text, str):
        return "the reply's content is no text"
    calls = _tool_calls(message.get("tool_calls"))
    if isinstance(calls, str):
        return calls
    prompt, completion, metered = usage(value)
    reason = choice.get("finish_reason")
    if reason == "error":
        return "the server says that the reply failed while it was written"
    filtered = "the server's content filter withheld the reply" if reason == "content_filter" else ""
    if not text.strip() and not calls and reason != "length" and not filtered and not _thought(message, value.get("usage")):
        return EMPTY
    return Answer(
        text=text,
        tool_calls=calls,
        cut=reason == "length",
        trace=_trace(choice.get(EXTENSION)),
        prompt_tokens=prompt,
        completion_tokens=completion,
        metered=metered,
        fingerprint=str(value.get("system_fingerprint") or ""),
        problem=filtered,
    )


def _first(value: Any) -> dict[str, Any] | str:
    if not isinstance(value, dict):
        return "the reply is no JSON object"
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return "the reply holds no choices"
    return choices[0]


def _tool_calls(value: Any) -> tuple[ToolCall, ...] | str:
    if not value:
        return ()
    if not isinstance(value, list):
        return "the reply's tool calls are no list"
    calls = []
    for number, one in enumerate(value):
        function = one.get("function") if isinstance(one, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return "a tool call of the reply names no function"
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
        calls.append(ToolCall(str(one.get("id") or f"call_{number}"), function["name"], text))  # some servers give no id
    return tuple(calls)


def _thought(message: dict[str, Any], told: Any) -> bool:
    """Whether a model thought before it said nothing: that is an answer, though a poor one."""
    details = told.get("completion_tokens_details") if isinstance(told, dict) else None
    spent = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return bool(message.get("reasoning_content") or message.get("reasoning") or spent)


def usage(value: Any) -> tuple[int, int, bool]:
    """Tokens read and written of a reply's body, and whether it tells them."""
    told = value.get("usage") if isinstance(value, dict) else None
    if not isinstance(told, dict):
        return 0, 0, False
    counts = told.get("prompt_tokens"), told.get("completion_tokens")
    if not all(type(count) is int and count >= 0 for count in counts):
        return 0, 0, False
    return int(counts[0] or 0), int(counts[1] or 0), True


def _trace(value: Any) -> TokenTrace | None:
    """The trace if all four lists are there, as long as each other and finite. Nothing is filled in."""
    if not isinstance(value, dict):
        return None
    ids = value.get("token_ids")
    numbers = [value.get(name) for name in ("logprobs", "raw_logprobs", "entropies")]
    if not isinstance(ids, list) or not ids or not all(type(one) is int for one in ids):
        return None
    for listed in numbers:
        if not isinstance(listed, list) or len(listed) != len(ids):
            return None
        if not all(type(one) in (int, float) and math.isfinite(one) for one in listed):
            return None
    logprobs, raw, entropies = (tuple(map(float, listed or ())) for listed in numbers)
    return TokenTrace(token_ids=tuple(ids), logprobs=logprobs, raw_logprobs=raw, entropies=entropies)
