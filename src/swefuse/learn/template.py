"""A model's own chat template: what it writes around each turn, read off it once and checked.

A template is a program that others wrote. What it wraps a turn in is found by rendering marks; what it does to the words of a turn,
such as stripping white space, is found the same way. Tools are left to it only where it writes calls and results as they stand: one
that has another form for them, moves them, or refuses them, is told of tools in words, and calls and their results are text then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError

from swefuse.collect.dialects import in_text
from swefuse.errors import DataError
from swefuse.policy.base import Message, Role, ToolCall

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_MARK = "\u241f{}\u241f"
_PROBE = ({"type": "function", "function": {"name": "probe_\u241f", "description": "", "parameters": {"type": "object"}}},)
_ASKED = ToolCall("call00001", "probe_\u241f", '{"text": "\u241f1"}')  # nine letters, as some templates want it
_RESULT = '\u241f2 "quoted" \\ and\n<lines>'
_TOLD = """Tools that you may call:
{tools}
A call is written like this, with nothing behind it:
<tool_call>
{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}
</tool_call>"""
Tools = Sequence[dict[str, Any]]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Frame:
    """What a template writes around the turns of an episode.

    ``opening`` stands around the first turns, one piece more than there are; ``lead`` before an answer, written by the model, and
    ``close`` behind it; ``between`` around what answers it, by its role.
    """

    opening: tuple[str, ...]
    lead: str
    close: str
    between: Mapping[Role, tuple[str, str]]


class Template:
    """A tokenizer's chat template. Raises DataError where there is none.

    ``knows_tools``: it writes what tools there are, and calls and results as they stand. ``trims``: roles of whose turns it takes
    white space off both ends. ``drops_thinking``: it leaves out what earlier answers said in ``<think>``.
    ``keeps_system``: it takes a turn of the system's and leaves it where it is; else that begins the first question.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        if tokenizer.chat_template is None:
            raise DataError(
                "the tokenizer has no chat template; use an instruction-tuned model, or set one with its tokenizer_config.json"
            )
        self.tokenizer = tokenizer
        self.keeps_system = True
        self.knows_tools = self._keeps_tools()
        self.trims = frozenset(role for role in ROLES if self._trimmed(role))
        self.drops_thinking = self._drops_thinking()
        try:
            self.frame(("system", "user"), ())
        except DataError:
            self.keeps_system = False

    def _keeps_tools(self) -> bool:
        talk = [
            Message("user", "a"), Message("assistant", "", (_ASKED,)), Message("tool", _RESULT, call=_ASKED.id),
            Message("assistant", "b"), Message("user", "c"),
        ]  # fmt: skip
        try:
            texts = [self._apply(talk[:1], _PROBE, True), *(self._apply(talk[:n], _PROBE, False) for n in range(2, 6))]
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError):  # one that fails at tools does not know them
            return False
        grown = all(text.startswith(before.rstrip("\n")) for before, text in pairwise(texts))
        return grown and "probe_\u241f" in texts[0] and in_text(replace(_ASKED, id="")) in texts[1] and _RESULT in texts[2]

    def _trimmed(self, role: Role) -> bool:
        padded = "  \u241f \n"
        talk = [Message("user", padded if role == "user" else "a")]
        if role == "system":
            talk.insert(0, Message("system", padded))
        elif role == "assistant":
            talk.append(Message("assistant", padded))
        elif role == "tool":
            talk += [Message("assistant", "", (_ASKED,)), Message("tool", padded, call=_ASKED.id)]
        try:
            return padded not in self.render(talk, _PROBE if role == "tool" else ())
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError):  # told by ``frame`` where it matters
            return False

    def _drops_thinking(self) -> bool:
        talk = [Message("user", "a"), Message("assistant", "<think>\n\u241f\n</think>\n\nb"), Message("user", "c")]
        try:
            return "\u241f" not in self.render(talk)
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError):
            return False

    def frame(self, roles: Sequence[Role], tools: Tools) -> Frame:
        """What stands around an episode that opens with turns of these roles.

        Raises DataError where the template takes no such turns, and where its text for a conversation is no beginning of its text
        for a longer one.
        """
        opening = [Message(role, _MARK.format(n)) for n, role in enumerate(roles)]
        first = self._rendered(opening, tools, "first")
        pieces, rest = [], first
        for turn in opening:
            before, found, rest = rest.partition(turn.content)
            if not found:
                raise DataError(f"the chat template leaves out a turn of the role {turn.role} at the start")
            pieces.append(before)
        said = Message("assistant", _MARK.format("said"))
        second = self._rendered([*opening, said], tools, "assistant", prompt=False)
        if not second.startswith(first):
            raise _rewriting()
        lead, found, close = second[len(first) :].partition(said.content)
        if not found:
            raise DataError("the chat template leaves out what the assistant said")
        answers: tuple[Role, ...] = ("user", "tool")
        between = {role: self._between([*opening, said], tools, role, (second, close)) for role in answers}
        return Frame((*pieces, rest), lead, close, between)

    def _between(self, talk: list[Message], tools: Tools, role: Role, so_far: tuple[str, str]) -> tuple[str, str]:
        seen = _MARK.format("seen")
        turn = Message(role, seen, call=_ASKED.id if role == "tool" else "")
        third = self._rendered([*talk, turn], tools, role)
        second, close = so_far
        if not third.startswith(second.rstrip("\n")) or seen not in third:
            raise _rewriting()
        left, _, right = third[len(second) - len(close) :].removeprefix(close).partition(seen)
        return left, right

    def _rendered(self, talk: Sequence[Message], tools: Tools, role: str, prompt: bool = True) -> str:
        try:
            return self.render(talk, tools, prompt)
        except Exception as error:  # a template is a program of the model's, and may refuse what it likes
            raise DataError(f"the chat template takes no turn of the role {role} there: {error}") from error

    def opened(self, messages: Sequence[Message]) -> Sequence[Message]:
        """A conversation as its opening is shown to this template."""
        if self.keeps_system or [turn.role for turn in messages[:2]] != ["system", "user"]:
            return messages
        told, asked, *others = messages
        return [Message("user", f"{told.content}\n\n{asked.content}"), *others]

    def kept(self, role: str, text: str) -> str:
        """The words of a turn as the template leaves them."""
        return text.strip() if ("user" if role == "tool" and not self.knows_tools else role) in self.trims else text

    def render(self, messages: Sequence[Message], tools: Tools = (), prompt: bool = False) -> str:
        """The text of a conversation; with ``prompt`` the assistant's next turn is opened. What the template raises, this does."""
        messages = self.opened(messages)
        if self.knows_tools:
            return self._apply(messages, tools, prompt)
        return self._apply([_as_text(message) for message in _told_of(tools, messages)], (), prompt)

    def _apply(self, messages: Sequence[Message], tools: Tools, prompt: bool) -> str:
        turns = [_turn(message) for message in messages]
        given: list[Any] | None = list(tools) or None
        return str(self.tokenizer.apply_chat_template(turns, tools=given, tokenize=False, add_generation_prompt=prompt))


def _rewriting() -> DataError:
    return DataError("the chat template rewrites earlier turns, so its rows cannot be trained on token by token")


def _told_of(tools: Tools, messages: Sequence[Message]) -> list[Message]:
    """The conversation, its first turn beginning with what tools there are."""
    if not tools:
        return list(messages)
    told = _TOLD.format(tools="\n".join(json.dumps(tool.get("function", tool), ensure_ascii=False) for tool in tools))
    first, *others = messages
    if first.role in ("system", "user"):
        return [Message(first.role, f"{told}\n\n{first.content}"), *others]
    return [Message("system", told), *messages]


def _as_text(message: Message) -> Message:
    """A turn without anything that only templates with tools write."""
    if message.role == "tool":
        return Message("user", message.content)
    if not message.tool_calls:
        return message
    calls = "\n".join(in_text(replace(call, id="")) for call in message.tool_calls)
    return Message("assistant", f"{message.content}\n{calls}" if message.content else calls)


def _turn(message: Message) -> dict[str, Any]:
    """A turn as chat templates expect it; arguments of calls are objects there."""
    made: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        made["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call.arguments)}}
            for call in message.tool_calls
        ]
    return {**made, **({"tool_call_id": message.call} if message.call else {})}


def _arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text
