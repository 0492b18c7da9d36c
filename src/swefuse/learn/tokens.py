"""Text to token ids and back: the one place that knows how an episode is written for a model.

A codec turns a task and its steps into one row of ids. Rows only ever grow at the end, so the prompt of a later turn has the
earlier row as its prefix, and what a model wrote enters again as the ids that it wrote (``Step.trace``), never encoded anew.

``NanoCodec`` is for models of a few million parameters: it shows a function through a lens (names numbered, docstring and
blank lines left out, lines counted from 1) in a form of few tokens. ``learn.chat`` has the one for chat models.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from swefuse.code.functions import Source, function, normal_names
from swefuse.collect import actions, protocol
from swefuse.errors import DataError, PatchError
from swefuse.learn.chat import ChatCodec, Row, read_text
from swefuse.policy.base import Choice
from swefuse.records import Step, Task
from swefuse.workspace import occurrence

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PAD, TASK, ACT, OBS = "<|pad|>", "<|task|>", "<|act|>", "<|obs|>"
SPECIAL = (PAD, TASK, ACT, OBS)
PIECES = (
    r"<\|[a-z]+\|>|\n?@[a-z]+ ?|\n[-+]|#[a-z]+|(?: {4})+|\n| ?[A-Za-z_]+\d*| ?\d{1,2}"
    r"| ?(?:==|!=|<=|>=|//=|//|\*\*|[-+*/%&|^]=|->|<<|>>)| ?[^\sA-Za-z0-9_]|\s|."
)
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
_PART = re.compile(r"\A.+|\n[^\n]*")  # a message by its lines, each with the line feed before it
_SHOWN_VALUE = 44
DIALECT = "swefuse_dialect"  # a key of tokenizer_config.json
MOST_KEPT = 20_000  # pieces and parts that are remembered before a memory starts anew
MOST_LISTED = 256  # tasks whose messages are remembered: a round asks for them when it samples and again when it reads


class Codec(Protocol):
    """How episodes are written for one model."""

    def row(self, task: Task, steps: Sequence[Step], prompt: bool = False) -> Row:
        """The ids of an episode; with ``prompt`` the agent's next turn is opened at the end."""
        ...

    def messages(self, task: Task, choices: Sequence[Choice]) -> list[tuple[int, ...]]:
        """The ids of agent messages, each with its terminator."""
        ...

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase | None:
        """Whose ids these are; None where the codec only writes."""
        ...

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end a message which a model writes freely."""
        ...

    @property
    def holds_stop(self) -> bool:
        """Whether such an id is part of the message, rather than of what ``row`` writes behind it."""
        ...

    @property
    def dialect(self) -> str:
        """How actions are written; a name of ``collect.dialects``."""
        ...

    def text(self, ids: Sequence[int]) -> str:
        """What a message says, without its terminator."""
        ...


@dataclass(frozen=True)
class Lens:
    """How a function is shown to a small model: ``names`` maps world names, ``shown`` world lines to lines counted
    from 1; ``rows`` are the world lines."""

    names: Mapping[str, str]
    shown: Mapping[int, int]
    rows: tuple[str, ...]
    _quoted: dict[int, str] = field(default_factory=dict, init=False, compare=False, repr=False)

    def row(self, world: int) -> str:
        """World line ``world`` with names replaced, without indentation."""
        if world not in self._quoted:
            self._quoted[world] = self.text(self.rows[world - 1].strip())
        return self._quoted[world]

    def text(self, text: str) -> str:
        """World text with names replaced."""
        return _WORD.sub(lambda match: self.names.get(match.group(), match.group()), text)

    def line(self, world: int) -> int:
        """The number of a world line; of one that is hidden, the next shown line's. A line behind the function stays as it is."""
        return self.shown.get(world) or next((number for line, number in self.shown.items() if line > world), world)


def make_lens(text: str, name: str) -> Lens:
    """The lens for function ``name`` of a module. Raises DataError when there is no such function."""
    source = Source(text)
    node = function(source.tree, name)
    hidden: set[int] = set()
    if ast.get_docstring(node, clean=False) is not None:
        hidden.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    end = node.end_lineno or node.lineno
    rows = [n for n in range(node.lineno, end + 1) if n not in hidden and not re.match(r"\s*(#.*)?$", source.lines[n - 1])]
    shown = {line: number for number, line in enumerate([*rows, end + 1], 1)}
    return Lens({**normal_names(node), name: "f"}, shown, tuple(source.lines))


def plain(text: str) -> str:
    """Text of code or tests in which nothing reads as a control token: only we say where a turn begins."""
    return text.replace("<|", "< |")


def shorten(text: str, limit: int = _SHOWN_VALUE) -> str:
    """``text`` cut in the middle to at most ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 14]}..{text[-12:]}"


class Pieces:
    """Encodes text piece by piece with a memory; equal to encoding it whole, because the tokenizer never merges across pieces."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self._pattern = re.compile(PIECES)
        self._known: dict[str, list[int]] = {}

    def __call__(self, text: str) -> list[int]:
        """Ids of a text."""
        ids: list[int] = []
        for piece in self._pattern.findall(text):
            known = self._known.get(piece)
            if known is None:
                if len(self._known) >= MOST_KEPT:
                    self._known.clear()
                known = self._known[piece] = list(self.tokenizer.encode(piece, add_special_tokens=False))
            ids += known
        return ids


class NanoCodec:
    """Rows for the built-in small models. ``encode``: text to ids, such as ``Pieces``; ``tokenizer`` reads what a model wrote.
    ``failing``: how many failing tests of an observation are shown; one passing test follows."""

    holds_stop = False
    dialect = "compact"

    def __init__(
        self, encode: Callable[[str], list[int]], failing: int = 2, tokenizer: PreTrainedTokenizerBase | None = None
    ) -> None:
        self.encode = encode
        self.failing = failing
        self.tokenizer = tokenizer
        self._lens = lru_cache(maxsize=8192)(make_lens)
        self._parts: dict[str, list[int]] = {}
        self._listed: dict[str, tuple[Sequence[Choice], list[tuple[int, ...]]]] = {}  # a task's latest choices, as messages

    def lens(self, task: Task) -> Lens:
        """The lens of a task's initial state."""
        path, name = protocol.entry(task)
        return self._lens(task.files[path], name)

    def row(self, task: Task, steps: Sequence[Step], prompt: bool = False) -> Row:
        """See ``Codec.row``."""
        ids = self.encode(TASK + heading(task))
        spans: list[tuple[int, int]] = []
        for number, step in enumerate(steps):
            ids += self.encode(ACT)
            start = len(ids)
            ids += step.trace.token_ids if step.trace else self._step_message(task, step)
            spans.append((start, len(ids)))
            ids += self.encode(OBS + self.observation(task, step, short=number > 1) + "\n")
        return Row(tuple(ids + self.encode(ACT) if prompt else ids), tuple(spans))

    def _step_message(self, task: Task, step: Step) -> tuple[int, ...]:
        if step.action is None:
            return tuple(self.encode(step.raw))
        return self.message(task, Choice(step.thought, step.action))

    def message(self, task: Task, choice: Choice) -> tuple[int, ...]:
        """The ids of one agent message, its terminator included."""
        return tuple(self.encode(self._written(self.lens(task), choice)))

    def messages(self, task: Task, choices: Sequence[Choice]) -> list[tuple[int, ...]]:
        """``message`` of every choice, put together from parts that are encoded once; the grammar's line ends never merge."""
        listed = self._listed.get(task.id)
        if listed is not None and listed[0] is choices:
            return listed[1]
        lens, known = self.lens(task), self._parts
        found = []
        for choice in choices:
            message = self._written(lens, choice)
            ids: list[int] = []
            for part in _PART.findall(message):
                if part not in known:
                    known[part] = self.encode(part)
                ids += known[part]
            found.append(tuple(ids))
        if len(self._listed) >= MOST_LISTED:
            self._listed.clear()
        if len(known) >= MOST_KEPT:
            known.clear()
        self._listed[task.id] = (choices, found)
        return found

    @property
    def stops(self) -> frozenset[int]:
        """See ``Codec.stops``: a message is over where the observation begins."""
        return frozenset(self.encode(OBS))

    def text(self, ids: Sequence[int]) -> str:
        """See ``Codec.text``. Raises DataError for a codec without a tokenizer."""
        if self.tokenizer is None:
            raise DataError("this codec has no tokenizer, so it cannot read ids")
        return read_text(self.tokenizer, ids, self.stops)

    def _written(self, lens: Lens, choice: Choice) -> str:
        """A message as the small model writes it. Of an edit it quotes the whole line before and after, without indentation.

        Copying a line is what such a model learns first, and the place where the copy departs is then the decision.
        """
        action = choice.action
        if action.name == "view":
            return actions.render(action.model_copy(update={"path": "f"}), choice.thought)
        if action.name != "edit":
            return actions.render(action, choice.thought)
        old, new = action.old, action.new
        if old:
            row = lens.rows[action.line - 1]
            at = occurrence(row, old, action.nth)
            if at < 0:
                raise PatchError(f"{old!r} (occurrence {action.nth}) is not on line {action.line} of {action.path}")
            old, new = lens.row(action.line), (row[:at] + new + row[at + len(old) :]).strip()
        return actions.render_edit("f", lens.line(action.line), 1, plain(old), plain(lens.text(new)), choice.thought)

    def observation(self, task: Task, step: Step, short: bool) -> str:
        """An observation through the lens: the function's lines after a view, a few shortened rows after a test."""
        return plain(self._observation(task, step, short))

    def _observation(self, task: Task, step: Step, short: bool) -> str:
        lens = self.lens(task)
        name = step.action.name if step.action else ""
        if name == "view":
            rows = []
            for row in step.observation.split("\n"):
                number, _, text = row.partition(">")
                if number.isdigit() and int(number) in lens.shown:
                    rows.append(f"{lens.shown[int(number)]}>{lens.text(text)}")
            return "\n".join(rows)
        if name == "test":
            rows = step.observation.split("\n")
            failed = [row for row in rows if row.startswith("FAIL")]
            passed = [row for row in rows if not row.startswith("FAIL")]
            kept = (failed or passed)[:1] if short else failed[: self.failing] + passed[:1]
            return "\n".join(_shorten_row(lens.text(row)) for row in kept)
        return step.observation


def heading(task: Task) -> str:
    """What a small model is told of the instruction: the words of the function's name, nothing when the instruction is hidden."""
    return "" if task.hide_instruction else " " + protocol.entry(task)[1].replace("_", " ")


def _shorten_row(row: str) -> str:
    for mark in (" gave ", " raised "):
        if mark in row:
            head, _, tail = row.partition(mark)
            got, comma, want = tail.rpartition(", expected ")
            parts = [shorten(part) for part in ([got, want] if comma else [tail])]
            return f"{shorten(head, 60)}{mark}{comma.join(parts)}"
    return shorten(row, 100)


def is_nano(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a tokenizer is one of ours, which is told by its special tokens."""
    return tokenizer.convert_tokens_to_ids(ACT) not in (None, tokenizer.unk_token_id)


def codec_for(tokenizer: PreTrainedTokenizerBase, written: str = "") -> Codec:
    """The codec that fits a tokenizer, for actions in the dialect ``written``; empty: the one that the model was trained in.

    Raises DataError where the two do not go together.
    """
    written = written or str(tokenizer.init_kwargs.get(DIALECT, NanoCodec.dialect))
    if not is_nano(tokenizer):
        return ChatCodec(tokenizer, written)
    if written != NanoCodec.dialect:
        raise DataError(f"the built-in small models write the compact dialect only, not {written!r}")
    return NanoCodec(Pieces(tokenizer), tokenizer=tokenizer)


def remember(tokenizer: PreTrainedTokenizerBase, codec: Codec) -> None:
    """Note the dialect that a model is trained in with its tokenizer, so that the folder it is saved to tells ``codec_for``."""
    tokenizer.init_kwargs[DIALECT] = codec.dialect


def trained_in(tokenizer: PreTrainedTokenizerBase, codec: Codec) -> str:
    """The dialect that ``remember`` noted, where it is another than the codec's; else empty."""
    noted = str(tokenizer.init_kwargs.get(DIALECT, codec.dialect))
    return "" if noted == codec.dialect else noted


def nano_text(task: Task, steps: Sequence[Step]) -> str:
    """An episode as the text that a small model reads: what its tokenizer is trained on."""
    characters = NanoCodec(lambda text: list(text.encode("utf-8", "replace"))).row(task, steps).ids
    return bytes(characters).decode("utf-8", "replace")
