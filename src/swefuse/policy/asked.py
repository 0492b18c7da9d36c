"""Chat as OpenAI-compatible servers speak it, seen from the server: what a body asks for, and the body of the reply.

A field that would be ignored is an error, so that nobody believes in a setting that does nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from swefuse.errors import DataError, nearest
from swefuse.policy.base import Message, ToolCall
from swefuse.policy.wire import EXTENSION

MOST_SAMPLES = 64  # n of a request
_READ = frozenset(
    {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "seed", "n", "stop", "stream", "stream_options"}
    | {"logprobs", "return_token_ids", "structured_outputs", "tools"}
)
_LABELS = frozenset({"user", "metadata", "safety_identifier", "prompt_cache_key"})  # they are about billing, not about the reply
# fields that are understood only with the values that change nothing
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "top_p": (1,),
    "top_k": (-1, 0),
    "min_p": (0,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "repetition_penalty": (1,),
    "logit_bias": ({},),
    "top_logprobs": (0,),
    "response_format": ({"type": "text"},),
    "tool_choice": ("auto", "none"),
    "parallel_tool_calls": (True,),
    "store": (False,),
    "service_tier": ("auto", "default"),
    "modalities": (["text"],),
}
_ROLES: dict[str, Literal["system", "user", "assistant", "tool"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_CALL = re.compile(r"<tool_call>\s*")
_END = re.compile(r"\s*</tool_call>")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Asked:
    """One sample to write. ``temperature`` 0 asks for the most probable text. ``grammar``: empty for none. ``stop``: texts before
    which the reply ends."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    seed: int
    grammar: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """One sample. The lists have an entry for each written token, the one that ends the reply included; see ``TokenTrace``.

    ``tokens``: the tokens as text. ``finish``: ``length`` when the limit of tokens ended it.
    """

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    raw_logprobs: tuple[float, ...]
    entropies: tuple[float, ...]
    tokens: tuple[str, ...]
    prompt_tokens: int
    finish: Literal["stop", "length"] = "stop"


@dataclass(frozen=True, slots=True)
class Order:
    """A request as a whole: the samples that it asks for and how they are to be told."""

    samples: tuple[Asked, ...]
    stream: bool
    usage: bool
    logprobs: bool
    token_ids: bool


def read_order(body: Any, usual_tokens: int) -> Order:
    """What a body asks for; ``usual_tokens`` is the limit where it names none. Raises DataError, naming the field."""
    if not isinstance(body, dict):
        raise DataError("the body is no JSON object")
    given = {name: value for name, value in body.items() if value is not None}
    for name, value in given.items():
        if name in _NEUTRAL:
            if value not in _NEUTRAL[name]:
                raise DataError(f"{name} is not supported: leave it out, or give {_spelt(_NEUTRAL[name])}, which changes nothing")
        elif name not in _READ | _LABELS:
            raise DataError(f"{name} is not supported{nearest(name, _READ | set(_NEUTRAL))}")
    options = _typed(given, "stream_options", dict, {})
    if set(options) - {"include_usage"} or not isinstance(options.get("include_usage", False), bool):
        raise DataError("stream_options takes include_usage, true or false, and nothing else")
    tools = _tools(given) if given.get("tool_choice") != "none" else ()
    seed = _whole(given, "seed", secrets.randbits(31), -(1 << 63), (1 << 63) - 1)
    asked = Asked(
        messages=_messages(given.get("messages")),
        max_tokens=_limit(given, usual_tokens),
        temperature=_temperature(given),
        seed=seed,
        grammar=_grammar(given),
        tools=tools,
        stop=_stop(given),
    )
    count = _whole(given, "n", 1, 1, MOST_SAMPLES)
    return Order(
        samples=tuple(_sample(asked, number) for number in range(count)),
        stream=_typed(given, "stream", bool, False),
        usage=options.get("include_usage", False),
        logprobs=_typed(given, "logprobs", bool, False),
        token_ids=_typed(given, "return_token_ids", bool, False),
    )


def _sample(asked: Asked, number: int) -> Asked:
    """The samples after the first have seeds of their own that no neighbouring request has."""
    if not number:
        return asked
    seed = int(hashlib.sha256(f"{asked.seed}-{number}".encode()).hexdigest()[:15], 16)
    return Asked(asked.messages, asked.max_tokens, asked.temperature, seed, asked.grammar, asked.tools, asked.stop)


def _spelt(values: Sequence[Any]) -> str:
    return " or ".join(json.dumps(value) for value in values)


def _typed(given: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = given.get(name, default)
    if type(value) is not kind:
        raise DataError(f"{name} must be {'true or false' if kind is bool else 'a JSON object'}")
    return value


def _whole(given: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = given.get(name, default)
    if type(value) is not int or not least <= value <= most:
        raise DataError(f"{name} must be a whole number from {least} to {most}")
    return value


def _limit(given: Mapping[str, Any], usual: int) -> int:
    names = [name for name in ("max_tokens", "max_completion_tokens") if name in given]
    limits = {_whole(given, name, usual, 1, 1 << 31) for name in names}
    if len(limits) > 1:
        raise DataError("max_tokens and max_completion_tokens differ; give one of them")
    return limits.pop() if limits else usual


def _temperature(given: Mapping[str, Any]) -> float:
    value = given.get("temperature", 1.0)
    if type(value) not in (int, float) or not 0 <= value <= 2:
        raise DataError("temperature must be a number from 0 to 2")
    return float(value)


def _grammar(given: Mapping[str, Any]) -> str:
    value = _typed(given, "structured_outputs", dict, {})
    told = {name: one for name, one in value.items() if one is not None}
    grammar = told.pop("grammar", "")
    if told or not isinstance(grammar, str):
        raise DataError('structured_outputs takes {"grammar": TEXT} and nothing else')
    return grammar


def _stop(given: Mapping[str, Any]) -> tuple[str, ...]:
    value = given.get("stop", [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        raise DataError("stop must be a text or a list of texts, none of them empty")
    return tuple(listed)


def _tools(given: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    value = given.get("tools", [])
    if not isinstance(value, list):
        raise DataError("tools must be a list")
    for tool in value:
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise DataError('each of the tools must be {"type": "function", "function": {"name": ...}}')
    return tuple(value)


def _messages(value: Any) -> tuple[Message, ...]:
    if not isinstance(value, list) or not value:
        raise DataError("messages must be a list with at least one message")
    return tuple(_message(one, f"messages[{number}]") for number, one in enumerate(value))


def _message(value: Any, where: str) -> Message:
    if not isinstance(value, dict):
        raise DataError(f"{where} is no JSON object")
    given = {name: one for name, one in value.items() if one not in (None, [])}
    role = _ROLES.get(str(given.get("role")))
    if role is None:
        raise DataError(f"{where}: role must be system, user, assistant or tool")
    known = {"role", "content"} | ({"tool_call_id", "name"} if role == "tool" else {"tool_calls"} if role == "assistant" else set())
    if unknown := sorted(set(given) - known):
        raise DataError(f"{where}: {unknown[0]} is not supported in a message of the role {role}")
    calls = given.get("tool_calls", [])
    if not isinstance(calls, list):
        raise DataError(f"{where}: tool_calls must be a list")
    call = given.get("tool_call_id", "")
    if role == "tool" and not (isinstance(call, str) and call):
        raise DataError(f"{where}: a message of the role tool needs tool_call_id")
    return Message(role, _content(given.get("content", ""), where), tuple(_call(one, where) for one in calls), call)


def _content(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    texts = []
    for part in value if isinstance(value, list) else [None]:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(text, str):
            raise DataError(f"{where}: content must be a text, or parts of the type text")
        texts.append(text)
    return "".join(texts)


def _call(value: Any, where: str) -> ToolCall:
    function = value.get("function") if isinstance(value, dict) else None
    parts = (value.get("id"), function.get("name"), function.get("arguments")) if isinstance(function, dict) else (None,)
    if not all(isinstance(part, str) for part in parts):
        raise DataError(f"{where}: a tool call needs id, function.name and function.arguments, all of them texts")
    return ToolCall(*parts)


def tool_calls(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What stands outside of the tool calls that ``text`` holds, and the name and the arguments of each as they were written.

    A call is ``<tool_call>{"name": ..., "arguments": ...}</tool_call>``. What is not exactly that stays in the text.
    """
    rest, calls, at = [], [], 0
    for start in _CALL.finditer(text):
        # an opening inside of a call that was read is no trouble: it stands in a text, whose quotes are spelt otherwise
        members, end = _members(text, start.end())
        close = _END.match(text, end)
        name = json.loads(members.get("name", "null"))
        if close is None or not isinstance(name, str) or set(members) != {"name", "arguments"}:
            continue
        arguments = members["arguments"]
        if arguments.startswith('"'):  # some models write the object as a text, as the protocol has it
            arguments = json.loads(arguments)
        rest.append(text[at : start.start()])
        calls.append((name, arguments))
        at = close.end()
    return ("".join([*rest, text[at:]]).strip() if calls else text), tuple(calls)


def _members(text: str, at: int) -> tuple[dict[str, str], int]:
    """Members of the JSON object at ``at``, their values as they are spelt, and where it ends; nothing if there is none."""
    decoder, members = json.JSONDecoder(), {}
    try:
        value, end = decoder.raw_decode(text, at)
        if not isinstance(value, dict) or not value:
            return {}, at
        while text[at] != "}":
            at = _skip(text, at + 1)
            name, at = decoder.raw_decode(text, at)
            start = _skip(text, _skip(text, at) + 1)
            _, at = decoder.raw_decode(text, start)
            members[name] = text[start:at]
            at = _skip(text, at)
    except (ValueError, RecursionError):
        return {}, at
    return members, end


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def completion(order: Order, written: Sequence[Written], model: str, revision: str) -> dict[str, Any]:
    """The body of a reply that is told as a whole."""
    return _head("chat.completion", model, revision) | {
        "choices": [_choice(order, number, one) for number, one in enumerate(written)],
        "usage": _usage(written),
    }


def chunks(order: Order, written: Sequence[Written], model: str, revision: str) -> Iterator[dict[str, Any]]:
    """The bodies of a reply that is told in pieces."""
    head = _head("chat.completion.chunk", model, revision)
    for number, one in enumerate(written):
        choice = _choice(order, number, one)
        message, reason = choice.pop("message"), choice.pop("finish_reason")
        plain = {"index": number, "finish_reason": None}
        yield head | {"choices": [plain | {"delta": {"role": "assistant", "content": ""}}]}
        for piece in one.tokens if "".join(one.tokens) == message["content"] else filter(None, [message["content"]]):
            yield head | {"choices": [plain | {"delta": {"content": piece}}]}
        for at, call in enumerate(message.get("tool_calls", ())):
            yield head | {"choices": [plain | {"delta": {"tool_calls": [{"index": at, **call}]}}]}
        yield head | {"choices": [choice | {"delta": {}, "finish_reason": reason}]}
    if order.usage:
        yield head | {"choices": [], "usage": _usage(written)}


def _head(kind: str, model: str, revision: str) -> dict[str, Any]:
    head = {"id": f"chatcmpl-{secrets.token_hex(12)}", "object": kind, "created": int(time.time()), "model": model}
    return head | ({"system_fingerprint": revision} if revision else {})


def _usage(written: Sequence[Written]) -> dict[str, int]:
    read, wrote = written[0].prompt_tokens, sum(len(one.token_ids) for one in written)  # the prompt is read once for all samples
    return {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}


def _choice(order: Order, number: int, one: Written) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": one.text}
    rest, calls = tool_calls(one.text) if order.samples[number].tools else (one.text, ())
    if calls:
        message["content"] = rest or None
        message["tool_calls"] = [
            {"id": f"call_{secrets.token_hex(12)}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in calls
        ]
    reason = "length" if one.finish == "length" else "tool_calls" if calls else "stop"
    choice: dict[str, Any] = {"index": number, "message": message, "finish_reason": reason, "logprobs": None}
    if order.logprobs:
        pairs = zip(one.tokens, one.logprobs, strict=True)
        choice["logprobs"] = {
            "content": [
                {"token": token, "logprob": logprob, "bytes": list(token.encode("utf-8", "replace")), "top_logprobs": []}
                for token, logprob in pairs
            ]
        }
    if order.token_ids:
        lists = {"logprobs": one.logprobs, "raw_logprobs": one.raw_logprobs, "entropies": one.entropies}
        choice["token_ids"] = list(one.token_ids)
        choice[EXTENSION] = {"token_ids": list(one.token_ids)} | {name: list(listed) for name, listed in lists.items()}
    return choice
