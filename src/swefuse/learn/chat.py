"""Episodes for chat models, by each model's own chat template and in either dialect of actions.

A template is a program that others wrote. What it wraps a turn in is read off it once and checked; from then on rows are put
together from those pieces, so that what a model wrote enters again as the ids that it wrote. A template that knows no tools is
told of them in words, and gets calls and their results as text: they are never dropped in silence.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swefuse.collect.dialects import called, conversation, dialect
from swefuse.learn.template import Frame, Template
from swefuse.policy.base import Choice, Message, Role
from swefuse.records import Step, Task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MOST_FRAMES = 256  # ways of opening an episode that are remembered before the memory starts anew


@dataclass(frozen=True, slots=True)
class Row:
    """An episode as ids. ``spans`` are the half-open ranges that the agent wrote, one for each step, in order."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


class ChatCodec:
    """Rows for a chat model whose actions are written in the dialect ``written``.

    Raises DataError when the template's text for a conversation is not a prefix of its text for a longer one, and UserError for an
    unknown dialect.
    """

    holds_stop = True

    def __init__(self, tokenizer: PreTrainedTokenizerBase, written: str = "compact") -> None:
        self.tokenizer = tokenizer
        self._speech = dialect(written)
        self.template = Template(tokenizer)
        self._frames: dict[str, Frame] = {}
        self._own = self._frame(("user",), self._speech.tools)

    @property
    def dialect(self) -> str:
        """See ``Codec.dialect``."""
        return self._speech.name

    def _frame(self, roles: Sequence[Role], tools: Sequence[dict[str, Any]]) -> Frame:
        key = json.dumps([list(roles), list(tools)])
        if key not in self._frames:
            if len(self._frames) >= MOST_FRAMES:
                self._frames.clear()
            self._frames[key] = self.template.frame(roles, tools)
        return self._frames[key]

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def _content(self, text: str) -> list[int]:
        """Ids of text that is not ours: what reads as a control token in it is spelt out in ordinary ones."""
        return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def row(self, task: Task, steps: Sequence[Step], prompt: bool = False) -> Row:
        """See ``Codec.row``. The instruction is the first user message, every observation the next one, or a tool's result; a
        task that came with a conversation of its own opens with that."""
        frame, tools = self._own, self._speech.tools
        opening: Sequence[Message] = (Message("user", self._speech.told(task)),)
        brought = conversation(task)
        if brought is not None:
            opening, tools = self.template.opened(brought[0]), brought[1]
            frame = self._frame([turn.role for turn in opening], tools)
        ids = self._opened(frame, opening, bool(tools))
        closing = self._encode(frame.close)
        spans: list[tuple[int, int]] = []
        for number, step in enumerate(steps):
            start = len(ids)
            if step.trace:
                ids += step.trace.token_ids
            elif step.action is None or brought is not None:
                ids += self._answer(frame, step.raw) + closing
            else:
                ids += self.message(task, Choice(step.thought, step.action))
            spans.append((start, len(ids)))
            ids += _missing(ids[start:], closing)
            if prompt or number + 1 < len(steps):
                calls = bool(tools) and (called(step.raw) or (step.action is not None and not step.trace))
                role: Role = "tool" if calls else "user"
                before, behind = frame.between[role]
                ids += self._encode(before) + self._content(self.template.kept(role, step.observation)) + self._encode(behind)
        return Row(tuple(ids), tuple(spans))

    def _opened(self, frame: Frame, opening: Sequence[Message], tools: bool) -> list[int]:
        """The turns before the first answer, and what opens that."""
        ids = self._encode(frame.opening[0])
        for number, (turn, behind) in enumerate(zip(opening, frame.opening[1:], strict=True)):
            text = self.template.kept(turn.role, turn.content)
            if tools and number == 0 and not self.template.knows_tools and text != turn.content:
                text = turn.content.rstrip()  # what tools there are stands before it in the same turn
            ids += self._content(text) + self._encode(behind)
        return ids

    def _answer(self, frame: Frame, text: str) -> list[int]:
        """What the agent wrote, without its terminator. The line end that closes an action is none of the template's."""
        return self._content(frame.lead + self.template.kept("assistant", text.removesuffix("\n")))

    def messages(self, task: Task, choices: Sequence[Choice]) -> list[tuple[int, ...]]:
        """See ``Codec.messages``."""
        return [self.message(task, choice) for choice in choices]

    def message(self, task: Task, choice: Choice) -> tuple[int, ...]:
        """The ids of one agent message, its terminator included."""
        written = self._speech.render(choice.action, choice.thought)
        return (*self._answer(self._own, written), *self._encode(self._own.close))

    @property
    def stops(self) -> frozenset[int]:
        """See ``Codec.stops``: the first control token of what closes a message in the template, and the end-of-text token."""
        control = {*self.tokenizer.all_special_ids, *self.tokenizer.added_tokens_decoder}
        closing = [token for token in self._encode(self._own.close) if token in control][:1]
        ends = [] if self.tokenizer.eos_token_id is None else [self.tokenizer.eos_token_id]
        return frozenset(closing + ends)

    def text(self, ids: Sequence[int]) -> str:
        """See ``Codec.text``."""
        return read_text(self.tokenizer, ids, self.stops).removeprefix(self._own.lead)


def _missing(message: Sequence[int], closing: Sequence[int]) -> Sequence[int]:
    """What the template writes behind a message and a model that stopped at the first token of it, or was cut, did not."""
    written = range(min(len(closing), len(message)), 0, -1)
    have = next((size for size in written if list(message[-size:]) == list(closing[:size])), 0)
    return closing[have:]


def read_text(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], stops: frozenset[int]) -> str:
    """The text of ``ids`` up to the first of ``stops``."""
    end = next((at for at, token in enumerate(ids) if token in stops), len(ids))
    return str(tokenizer.decode(list(ids[:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False))
