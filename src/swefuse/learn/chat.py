"""Episodes for chat models, by each model's own chat template and in either dialect of actions.

A template is a program that others wrote. What it wraps a turn in is read off it once and checked; from then on rows are put
together from those pieces, so that what a model wrote enters again as the ids that it wrote. A template that knows no tools is
told of them in words, and gets calls and their results as text: they are never dropped in silence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError

from swefuse.collect.dialects import called, dialect, in_text
from swefuse.errors import DataError
from swefuse.policy.base import Choice, Message
from swefuse.records import Step, Task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_MARKS = ("\u241f1", "\u241f2", "\u241f3")
_PROBE = ({"type": "function", "function": {"name": "probe_\u241f", "description": "", "parameters": {"type": "object"}}},)
_TOLD = """Tools that you may call:
{tools}
A call is written like this, with nothing behind it:
<tool_call>
{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}
</tool_call>"""


@dataclass(frozen=True, slots=True)
class Row:
    """An episode as ids. ``spans`` are the half-open ranges that the agent wrote, one for each step, in order."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


class Template:
    """A tokenizer's chat template. Raises DataError where there is none. ``knows_tools``: it writes what tools there are."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        if tokenizer.chat_template is None:
            raise DataError(
                "the tokenizer has no chat template; use an instruction-tuned model, or set one with its tokenizer_config.json"
            )
        self.tokenizer = tokenizer
        self.knows_tools = self._writes_tools()

    def _writes_tools(self) -> bool:
        try:
            return "probe_\u241f" in self._apply([Message("user", "a")], _PROBE, True)
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError):  # one that fails at tools does not know them
            return False

    def render(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = (), prompt: bool = False) -> str:
        """The text of a conversation; with ``prompt`` the assistant's next turn is opened. What the template raises, this does."""
        if self.knows_tools:
            return self._apply(messages, tools, prompt)
        return self._apply([_as_text(message) for message in _told_of(tools, messages)], (), prompt)

    def _apply(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], prompt: bool) -> str:
        turns = [_turn(message) for message in messages]
        given: list[Any] | None = list(tools) or None
        return str(self.tokenizer.apply_chat_template(turns, tools=given, tokenize=False, add_generation_prompt=prompt))


def _told_of(tools: Sequence[dict[str, Any]], messages: Sequence[Message]) -> list[Message]:
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


class ChatCodec:
    """Rows for a chat model whose actions are written in the dialect ``written``.

    Raises DataError when the template's text for a conversation is not a prefix of its text for a longer one, and UserError for an
    unknown dialect.
    """

    holds_stop = True

    def __init__(self, tokenizer: PreTrainedTokenizerBase, written: str = "compact") -> None:
        self.tokenizer = tokenizer
        self._speech = dialect(written)
        self._template = Template(tokenizer)
        user = self._wrapping("user")
        self._begin, self._close = user[:2]
        self._between = {"user": user[2], "tool": self._wrapping("tool")[2] if self._speech.tools else user[2]}
        self._closing = tuple(self._encode(self._close))

    @property
    def dialect(self) -> str:
        """See ``Codec.dialect``."""
        return self._speech.name

    def _wrapping(self, role: str) -> tuple[tuple[str, str], str, tuple[str, str]]:
        """What stands around the first turn, what closes an answer, and what stands around one of ``role`` behind that."""
        asked, said, seen = _MARKS
        talk = [Message("user", asked), Message("assistant", said)]
        result = Message("tool", seen, call="call_1") if role == "tool" else Message("user", seen)
        try:
            first = self._template.render(talk[:1], self._speech.tools, prompt=True)
            second = self._template.render(talk, self._speech.tools)
            third = self._template.render([*talk, result], self._speech.tools, prompt=True)
        except Exception as error:  # a template is a program of the model's, and may refuse what it likes
            raise DataError(f"the chat template takes no turn of the role {role} behind an answer: {error}") from error
        if not second.startswith(first) or not third.startswith(second.rstrip("\n")) or seen not in third:
            raise DataError("the chat template rewrites earlier turns, so its rows cannot be trained on token by token")
        before, _, after = first.partition(asked)
        close = second[len(first) :].partition(said)[2]
        left, _, right = third[len(first) :].partition(said)[2].removeprefix(close).partition(seen)
        return (before, after), close, (left, right)

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def _content(self, text: str) -> list[int]:
        """Ids of text that is not ours: what reads as a control token in it is spelt out in ordinary ones."""
        return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def row(self, task: Task, steps: Sequence[Step], prompt: bool = False) -> Row:
        """See ``Codec.row``. The instruction is the first user message, every observation the next one, or a tool's result."""
        ids = self._encode(self._begin[0]) + self._content(self._speech.told(task)) + self._encode(self._begin[1])
        spans: list[tuple[int, int]] = []
        for number, step in enumerate(steps):
            start = len(ids)
            if step.trace:
                ids += step.trace.token_ids
            elif step.action is None:
                ids += self._content(step.raw) + self._encode(self._close)
            else:
                ids += self.message(task, Choice(step.thought, step.action))
            spans.append((start, len(ids)))
            ids += self._missing(ids[start:])
            if prompt or number + 1 < len(steps):
                before, behind = self._between["tool" if called(step.raw) or (step.action and not step.trace) else "user"]
                ids += self._encode(before) + self._content(step.observation) + self._encode(behind)
        return Row(tuple(ids), tuple(spans))

    def messages(self, task: Task, choices: Sequence[Choice]) -> list[tuple[int, ...]]:
        """See ``Codec.messages``."""
        return [self.message(task, choice) for choice in choices]

    def message(self, task: Task, choice: Choice) -> tuple[int, ...]:
        """The ids of one agent message, its terminator included."""
        return tuple(self._content(self._speech.render(choice.action, choice.thought))) + self._closing

    def _missing(self, message: Sequence[int]) -> tuple[int, ...]:
        """What the template writes behind a message and a model that stopped at the first token of it, or was cut, did not."""
        written = range(min(len(self._closing), len(message)), 0, -1)
        have = next((size for size in written if tuple(message[-size:]) == self._closing[:size]), 0)
        return self._closing[have:]

    @property
    def stops(self) -> frozenset[int]:
        """See ``Codec.stops``: the first control token of what closes a message in the template, and the end-of-text token."""
        control = {*self.tokenizer.all_special_ids, *self.tokenizer.added_tokens_decoder}
        closing = [token for token in self._closing if token in control][:1]
        ends = [] if self.tokenizer.eos_token_id is None else [self.tokenizer.eos_token_id]
        return frozenset(closing + ends)

    def text(self, ids: Sequence[int]) -> str:
        """See ``Codec.text``."""
        return read_text(self.tokenizer, ids, self.stops)


def read_text(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], stops: frozenset[int]) -> str:
    """The text of ``ids`` up to the first of ``stops``."""
    end = next((at for at, token in enumerate(ids) if token in stops), len(ids))
    return str(tokenizer.decode(list(ids[:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False))
