"""Sampling among messages that are known in advance: a trie of their token ids, walked by a causal language model.

A prompt is read once. All draws on it then share its row of the key-value cache: what they chose lies side by side in that row,
each token seeing the prompt and its own ancestors only, and what two draws chose alike is computed once. Tokens that leave no
choice are read together with the next one that does, so a message takes as many forward passes as it holds decisions.
"""

from __future__ import annotations

import heapq
import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Node:
    """A trie node: the next token ids and what follows, and at a leaf the position of the choice.

    What follows is worked out when it is first asked for: of a hundred messages a walk sees the few that it passes.
    """

    __slots__ = ("_children", "_depth", "_messages", "_numbers")

    def __init__(self, messages: Sequence[Sequence[int]], numbers: list[int], depth: int) -> None:
        self._messages, self._numbers, self._depth = messages, numbers, depth
        self._children: dict[int, Node] | None = None

    @property
    def choice(self) -> int:
        """At a leaf the position of its message, the first of equal ones; -1 elsewhere."""
        first = self._numbers[0]
        return first if len(self._messages[first]) == self._depth else -1

    @property
    def children(self) -> dict[int, Node]:
        """What follows, by token id in the order of the messages."""
        if self._children is None:
            ways: dict[int, list[int]] = {}
            for number in self._numbers:
                message = self._messages[number]
                if len(message) > self._depth:
                    ways.setdefault(message[self._depth], []).append(number)
            self._children = {token: Node(self._messages, numbers, self._depth + 1) for token, numbers in ways.items()}
        return self._children


def build_trie(messages: Sequence[Sequence[int]]) -> Node:
    """The trie of one or more messages; of equal messages the first counts. No message may be a prefix of another."""
    return Node(messages, list(range(len(messages))), 0)


@dataclass(slots=True)
class Draw:
    """One message on its way through the trie of prompt number ``prompt``; it ends with ``node`` at a leaf.

    It is sampled, or if ``greedy`` the most probable message of all, which need not begin with the most probable token. For each
    token: ``logprobs`` among the open ones, ``raw`` among all, ``entropies`` of the open ones, in nats.
    """

    node: Node
    rng: random.Random
    prompt: int
    greedy: bool = False
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)


@dataclass(slots=True)
class _Place:
    """A node up to which the model has read: where its path lies in the cache, and the distribution over what is open."""

    path: tuple[int, ...]
    options: list[int]
    logprobs: list[float]
    raw: list[float]
    entropy: float


@dataclass(slots=True)
class _Stretch:
    """A chosen token and the forced ones behind it, up to ``end``: the next node that is a leaf or leaves a choice."""

    prompt: int
    before: _Place
    tokens: list[int]
    end: Node
    raw: list[float] = field(default_factory=list)
    after: _Place | None = None

    @property
    def read(self) -> list[int]:
        """What the model has to read; nothing follows the last token of a leaf."""
        return self.tokens if self.end.children else self.tokens[:-1]


def run_trie(model: PreTrainedModel, prompts: Sequence[Sequence[int]], draws: Sequence[Draw], temperature: float) -> None:
    """Move every draw to a leaf."""
    rows, first = _begin(model, prompts, {draw.prompt: draw.node for draw in draws}, temperature)
    active = [(_Best if draw.greedy else _Sampled)(draw, first[draw.prompt]) for draw in draws if draw.node.children]
    _walk(rows, active, temperature)


def likeliest(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], tries: Sequence[Node], most: int, temperature: float
) -> list[list[Draw]]:
    """The ``most`` most probable messages of each trie behind its prompt, the most probable first; all where there are no more.

    Nothing is sampled: a best-first search that goes on after its first leaf meets the leaves in the order of their probability.
    """
    rows, first = _begin(model, prompts, dict(enumerate(tries)), temperature)
    draws = [Draw(trie, random.Random(0), number, True) for number, trie in enumerate(tries)]
    active = {draw.prompt: _Best(draw, first[draw.prompt], most) for draw in draws if draw.node.children}
    _walk(rows, list(active.values()), temperature)
    return [active[number].leaves if number in active else [draw] for number, draw in enumerate(draws)]


@torch.no_grad()
def _begin(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], roots: dict[int, Node], temperature: float
) -> tuple[_Rows, dict[int, _Place]]:
    """The prompts, read, and where the tries begin."""
    rows = _Rows(model, prompts)
    return rows, {number: _place(rows.logits[number], node, (), temperature) for number, node in roots.items()}


@torch.no_grad()
def _walk(rows: _Rows, active: Sequence[_Sampled | _Best], temperature: float) -> None:
    while active:
        stretches: dict[tuple[int, int], _Stretch] = {}
        moves = []
        for walk in active:
            draw, place, pick = walk.next()
            tokens, end = _follow(draw, place, pick)
            stretch = stretches.setdefault((draw.prompt, id(end)), _Stretch(draw.prompt, place, tokens, end))
            moves.append((walk, draw, stretch))
        lasting = {draw.prompt for walk, draw, stretch in moves if stretch.read or not walk.last}
        rows.read(list(stretches.values()), temperature, lasting)
        for walk, draw, stretch in moves:
            forced = len(stretch.tokens) - 1
            draw.ids += stretch.tokens
            draw.raw += stretch.raw
            draw.logprobs += [0.0] * forced
            draw.entropies += [0.0] * forced
            draw.node = stretch.end
            walk.reached(draw, stretch.after)
        active = [walk for walk in active if not walk.done]


def _follow(draw: Draw, place: _Place, pick: int) -> tuple[list[int], Node]:
    """Record option number ``pick`` of a place; returns its token with what is forced behind it, and the node reached."""
    tokens = [place.options[pick]]
    draw.logprobs.append(place.logprobs[pick])
    draw.raw.append(place.raw[pick])
    draw.entropies.append(place.entropy)
    node = draw.node.children[tokens[0]]
    while len(node.children) == 1:
        token, node = next(iter(node.children.items()))
        tokens.append(token)
    return tokens, node


class _Sampled:
    """A draw that goes where chance sends it. ``last``: the next leaf is its end."""

    last = True

    def __init__(self, draw: Draw, place: _Place) -> None:
        self._draw, self._place = draw, place
        self.done = False

    def next(self) -> tuple[Draw, _Place, int]:
        """What is extended next: a draw, the place where it stands, and the option that it takes."""
        weights = [math.exp(value) for value in self._place.logprobs]
        return self._draw, self._place, draw_index(weights, self._draw.rng.random())

    def reached(self, draw: Draw, place: _Place | None) -> None:
        """Told where the draw stands now; None at a leaf."""
        if place is None:
            self.done = True
        else:
            self._place = place


class _Best:
    """Best-first search for the most probable message: a longer prefix is never more probable, so the first leaf is the best.

    ``leaves``: those that were met, at most ``most``, the best first.
    """

    def __init__(self, draw: Draw, place: _Place, most: int = 1) -> None:
        self._draw, self._most = draw, most
        self.leaves: list[Draw] = []
        self._ways: list[tuple[float, int, Draw, _Place, int]] = []
        self._serial = 0
        self.done = False
        self._branch(draw, place)

    @property
    def last(self) -> bool:
        """As ``_Sampled.last``."""
        return len(self.leaves) + 1 >= self._most

    def _branch(self, draw: Draw, place: _Place) -> None:
        so_far = sum(draw.logprobs)
        for pick, logprob in enumerate(place.logprobs):
            heapq.heappush(self._ways, (-so_far - logprob, self._serial, draw, place, pick))
            self._serial += 1

    def next(self) -> tuple[Draw, _Place, int]:
        """As ``_Sampled.next``; the draw is a copy, for other ways lead on from the same place."""
        _, _, draw, place, pick = heapq.heappop(self._ways)
        own = replace(draw, ids=[*draw.ids], logprobs=[*draw.logprobs], raw=[*draw.raw], entropies=[*draw.entropies])
        return own, place, pick

    def reached(self, draw: Draw, place: _Place | None) -> None:
        """As ``_Sampled.reached``."""
        if place is not None:
            self._branch(draw, place)
            return
        self.leaves.append(draw)
        if len(self.leaves) < self._most and self._ways:
            return
        for name in ("node", "ids", "logprobs", "raw", "entropies"):
            setattr(self._draw, name, getattr(self.leaves[0], name))
        self.done = True


def _place(logits: Tensor, node: Node, path: tuple[int, ...], temperature: float) -> _Place:
    options = list(node.children)
    logprobs = torch.log_softmax(logits[options].double() / temperature, -1).tolist()
    entropy = max(0.0, -sum(math.exp(value) * value for value in logprobs))
    return _Place(path, options, logprobs, torch.log_softmax(logits, -1)[options].tolist(), entropy)


class _Rows:
    """The prompts in the cache, one row each, with what was read behind them. ``logits`` [B, V] are those after the prompts."""

    def __init__(self, model: PreTrainedModel, prompts: Sequence[Sequence[int]]) -> None:
        self.model = model
        longest = max(len(prompt) for prompt in prompts)
        ids = torch.zeros(len(prompts), longest, dtype=torch.long)
        self.shown = torch.zeros(len(prompts), longest, dtype=torch.bool)  # [B, T]: the prompts' own columns
        for number, prompt in enumerate(prompts):
            ids[number, longest - len(prompt) :] = torch.tensor(prompt)
            self.shown[number, longest - len(prompt) :] = True
        positions = (self.shown.cumsum(-1) - 1).clamp(min=0)
        self.lengths = [len(prompt) for prompt in prompts]
        self.rows = {number: number for number in range(len(prompts))}  # prompt -> row
        self.width = longest
        self.cache: Any = None
        hidden = self._forward(ids, positions, self.shown.long())
        self.logits = self._logits(hidden[:, -1])

    def _forward(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        device = self.model.device
        past = {} if self.cache is None else {"cache": self.cache}
        with autocast(self.model):
            out = self.model.base_model(
                input_ids=ids.to(device), attention_mask=mask.to(device), position_ids=positions.to(device), use_cache=True, **past
            )
        self.cache = out.cache
        hidden: Tensor = out.last_hidden_state
        return hidden

    def _logits(self, hidden: Tensor) -> Tensor:
        head: Any = self.model.get_output_embeddings()  # type: ignore[no-untyped-call]
        with autocast(self.model):
            logits: Tensor = head(hidden)
        return logits.float().cpu()

    def _keep(self, prompts: set[int]) -> None:
        """Drop the rows of other prompts once they are the larger part."""
        if len(prompts) * 2 > len(self.rows):
            return
        kept = sorted(prompts)
        rows = torch.tensor([self.rows[prompt] for prompt in kept])
        self.cache.batch_select_indices(rows.to(self.model.device))
        self.shown = self.shown[rows]
        self.rows = {prompt: row for row, prompt in enumerate(kept)}

    def read(self, stretches: list[_Stretch], temperature: float, lasting: set[int]) -> None:
        """Read all stretches in one pass; each gets the raw log-probs of its forced tokens and, unless it ends, its place.

        ``lasting``: prompts of which more is to be read, now or later.
        """
        wanted = [stretch for stretch in stretches if stretch.read]
        if not wanted:
            return
        self._keep(lasting)
        ends = [0] * len(self.rows)
        starts = []
        for stretch in wanted:
            row = self.rows[stretch.prompt]
            starts.append((row, ends[row]))
            ends[row] += len(stretch.read)
        size = max(ends)
        ids = torch.zeros(len(self.rows), size, dtype=torch.long)
        positions = torch.zeros(len(self.rows), size, dtype=torch.long)
        mask = torch.zeros(len(self.rows), size, self.width + size, dtype=torch.bool)
        mask[:, :, : self.shown.shape[1]] = self.shown[:, None]
        mask[:, :, self.width :] = torch.eye(size, dtype=torch.bool)  # padding sees itself: no row of -inf
        for stretch, (row, at) in zip(wanted, starts, strict=True):
            count, start = len(stretch.read), self.lengths[stretch.prompt] + len(stretch.before.path)
            ids[row, at : at + count] = torch.tensor(stretch.read)
            positions[row, at : at + count] = torch.arange(start, start + count)
            mask[row, at : at + count, list(stretch.before.path)] = True
            mask[row, at : at + count, self.width + at : self.width + at + count] = torch.ones(
                count, count, dtype=torch.bool
            ).tril()
        added = torch.zeros(mask.shape, dtype=self.model.dtype).masked_fill(~mask, torch.finfo(self.model.dtype).min)[:, None]
        hidden = self._forward(ids, positions, added)
        row_of = [row for stretch, (row, _) in zip(wanted, starts, strict=True) for _ in stretch.read]
        columns = [at + k for stretch, (_, at) in zip(wanted, starts, strict=True) for k in range(len(stretch.read))]
        logits = self._logits(hidden[row_of, columns])
        done = 0
        for stretch, (_, at) in zip(wanted, starts, strict=True):
            count = len(stretch.read)
            own = logits[done : done + count]
            done += count
            forced = stretch.tokens[1:]
            raw = torch.log_softmax(own[: len(forced)], -1)
            stretch.raw = raw.gather(-1, torch.tensor(forced, dtype=torch.long)[:, None]).flatten().tolist()
            if stretch.end.children:
                path = (*stretch.before.path, *range(self.width + at, self.width + at + count))
                stretch.after = _place(own[-1], stretch.end, path, temperature)
        self.width += size


def draw_index(weights: Sequence[float], uniform: float) -> int:
    """The index where the running sum of ``weights`` (which add up to 1) passes ``uniform`` in [0, 1)."""
    total = 0.0
    for index, weight in enumerate(weights):
        total += weight
        if uniform < total:
            return index
    return len(weights) - 1


def autocast(model: PreTrainedModel) -> torch.autocast:
    """bfloat16 where the machine computes faster in it; weights stay as they are."""
    device = model.device.type
    return torch.autocast(device, dtype=torch.bfloat16, enabled=fast_bf16(device))


def most_tokens(model: PreTrainedModel) -> int | None:
    """How many tokens of a row the model has positions for; None where it does not say."""
    found = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return None if found is None else int(found)


def fast_bf16(device: str) -> bool:
    """Whether matrix products in bfloat16 run in hardware here; ``SWEFUSE_FLOAT32=1`` says no, for equal figures on any machine."""
    if os.environ.get("SWEFUSE_FLOAT32") == "1":
        return False
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    capability: Callable[[], bool] = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return device == "cpu" and capability()
