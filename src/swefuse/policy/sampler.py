"""Free sampling from a causal language model in this process: many sequences at once, each with a random stream of its own.

A prompt is read once, however many samples it gets. Its samples then lie side by side in its row of the key-value cache, up to
``SIDE`` of them, each seeing the prompt and its own tokens only: the prompt's keys are kept and read once for all of them. Where
samples have ended, rows are put together anew, so that hardly any place computes for nobody.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

from swefuse.errors import DataError, UserError
from swefuse.policy.trie import autocast

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SIDE = 4  # more side by side read no more keys than rows of their own would, but compute on ever more that they do not see
_REGROUP = 0.8  # rows are put together anew where that leaves less than this share of the work
_SPARE = 64  # columns that a row of the cache grows by at once
_BLOCK = 256  # tokens whose probabilities are added up before a draw looks among them
_LOW = -1e30  # a logit of nothing: finite, so that its product with a probability of 0 is 0


class Masker(Protocol):
    """What may follow in one sequence. It hears of every token of it, the one that ends it too."""

    def allowed(self) -> Tensor:
        """What may come next: bool [V] on the CPU; tokens that a shorter one leaves out may not."""
        ...

    def accept(self, token: int) -> None:
        """The token that came."""
        ...

    def rollback(self, count: int) -> None:
        """Take back the last ``count`` tokens."""
        ...

    def is_done(self) -> bool:
        """Whether the sequence is complete and nothing can follow."""
        ...


@dataclass(frozen=True, slots=True)
class Sampling:
    """One sequence to be sampled behind prompt number ``prompt``; ``rng`` and ``masker`` are its own and are used up.

    It ends with a token of ``stops``, which it then holds, or when ``ended`` says so of its ids (for strings that stop), when the
    masker is done, or after ``max_tokens``. ``greedy`` takes the likeliest token each time; ``temperature`` then only tells what
    distribution is reported. ``guard`` is asked after each token how many of the last tokens to take back (0: none) for another
    draw; when it has done so ``rollbacks`` times and wants to again, the sequence ends there.
    """

    prompt: int
    rng: random.Random
    max_tokens: int
    temperature: float = 1.0
    greedy: bool = False
    stops: frozenset[int] = frozenset()
    ended: Callable[[Sequence[int]], bool] | None = None
    masker: Masker | None = None
    guard: Callable[[Sequence[int]], int] | None = None
    rollbacks: int = 8


@dataclass(slots=True)
class Sampled:
    """What was sampled. For each of ``ids``: ``logprobs`` under the distribution that it was drawn from (mask and temperature
    applied) and its entropy, in nats; ``raw_logprobs`` under the model's full softmax at temperature 1.

    ``finish``: "stop"; "length" at the limit of tokens; "masked" when nothing was allowed. ``gave_up``: it ends with "length"
    because the guard wanted more than was granted. ``rollbacks``: how often it took tokens back. ``seconds`` from the reading of
    its prompt to its last token, with all that was sampled beside it.
    """

    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    raw_logprobs: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    finish: Literal["", "stop", "length", "masked"] = ""
    gave_up: bool = False
    rollbacks: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class _Lane:
    """A sequence under way. ``row`` and ``slot``: its place in the cache; ``unseen``: columns of its own that it takes back."""

    wish: Sampling
    prompt: Sequence[int]
    row: int
    out: Sampled
    slot: int = 0
    unseen: int = 0

    @property
    def last(self) -> int:
        """The token that the model reads next; what follows it is drawn."""
        return self.out.ids[-1] if self.out.ids else self.prompt[-1]

    @property
    def position(self) -> int:
        """Where ``last`` stands, counted from 0."""
        return len(self.prompt) + len(self.out.ids) - 1


@torch.no_grad()
def sample(model: PreTrainedModel, prompts: Sequence[Sequence[int]], draws: Sequence[Sampling], lanes: int = 0) -> list[Sampled]:
    """One sequence for each of ``draws``, in order. ``prompts``: token ids, at least one each; equal ones are read once.

    ``lanes``: sequences that are sampled at once (more where one prompt has more); 0: 64 on a CPU, 256 elsewhere. It changes
    nothing but the rounding of sums. The model must be in evaluation mode. Raises UserError for a prompt, limit or temperature that
    cannot be, and DataError for a model whose layers do not see all that came before.
    """
    if draws:
        _check(model, prompts, draws)
    found = [Sampled() for _ in draws]
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, wish in enumerate(draws):
        groups.setdefault(tuple(prompts[wish.prompt]), []).append(number)
    for wave in _waves(groups, lanes or (64 if model.device.type == "cpu" else 256)):
        started = time.perf_counter()
        live = [_Lane(draws[n], prompt, row, found[n]) for row, prompt in enumerate(wave) for n in groups[prompt]]
        board = _Board(model, wave)
        logits = board.prompted[torch.tensor([lane.row for lane in live], device=board.prompted.device)]
        while live:
            live = _advance(logits, live, started)
            if live:
                logits = board.read(live)
    return found


def _check(model: PreTrainedModel, prompts: Sequence[Sequence[int]], draws: Sequence[Sampling]) -> None:
    config = model.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    kinds = set(getattr(config, "layer_types", None) or ()) - {"full_attention"}
    if kinds - {"sliding_attention"}:
        raise DataError(f"this model has layers of {', '.join(sorted(kinds))}; free sampling in process needs full attention")
    for wish in draws:
        if not prompts[wish.prompt]:
            raise UserError(f"prompt {wish.prompt} is empty; a model needs at least one token to begin with")
        if wish.temperature <= 0 or wish.max_tokens < 1:
            raise UserError(f"temperature {wish.temperature} and max_tokens {wish.max_tokens}: both must be above 0")
        length = len(prompts[wish.prompt]) + wish.max_tokens
        if window is not None and length > window:
            raise DataError(f"this model sees the last {window} tokens only, and prompt and answer may be {length} long")


def _waves(groups: dict[tuple[int, ...], list[int]], lanes: int) -> Iterator[list[tuple[int, ...]]]:
    """Prompts that are read together: of like lengths, which means less padding."""
    wave: list[tuple[int, ...]] = []
    count = 0
    for prompt in sorted(groups, key=len):
        if wave and count + len(groups[prompt]) > lanes:
            yield wave
            wave, count = [], 0
        wave.append(prompt)
        count += len(groups[prompt])
    if wave:
        yield wave


def _advance(logits: Tensor, lanes: list[_Lane], started: float) -> list[_Lane]:
    """Draw a token for every lane from ``logits`` [N, V]; returns the lanes that go on."""
    allowed = _allowed(lanes, logits.shape[-1])
    if allowed is not None:
        able = allowed.any(-1)
        for lane, can in zip(lanes, able.tolist(), strict=True):
            if not can:
                lane.out.finish = "masked"
        rows = able.nonzero().flatten()
        logits, allowed = logits[rows.to(logits.device)], allowed[rows].to(logits.device)
    drawing = [lane for lane in lanes if not lane.out.finish]
    if drawing:
        for lane, *told in zip(drawing, *_draw(logits, allowed, [lane.wish for lane in drawing]), strict=True):
            _take(lane, *told)
    now = time.perf_counter() - started
    for lane in lanes:
        lane.out.seconds = now
    return [lane for lane in lanes if not lane.out.finish]


def _allowed(lanes: list[_Lane], size: int) -> Tensor | None:
    """Bool [N, V] on the CPU; None where no lane has a masker."""
    if all(lane.wish.masker is None for lane in lanes):
        return None
    allowed = torch.zeros(len(lanes), size, dtype=torch.bool)
    for row, lane in zip(allowed, lanes, strict=True):
        if lane.wish.masker is None:
            row.fill_(True)
        else:
            own = lane.wish.masker.allowed()[:size]
            row[: len(own)] = own
    return allowed


def _draw(logits: Tensor, allowed: Tensor | None, wishes: list[Sampling]) -> tuple[list[Any], ...]:
    """Tokens, their log-probs, raw log-probs and the entropies, for each row of ``logits`` [N, V] on the model's device."""
    scaled = logits
    if any(wish.temperature != 1.0 for wish in wishes):
        scaled = scaled / torch.tensor([wish.temperature for wish in wishes], dtype=logits.dtype, device=logits.device)[:, None]
    if allowed is not None:
        scaled = scaled.masked_fill(~allowed, _LOW)
    offsets, weights, total = _weights(scaled)
    blocks = torch.nn.functional.pad(weights, (0, -weights.shape[-1] % _BLOCK)).view(len(weights), -1, _BLOCK)
    uniform = torch.tensor([0.0 if wish.greedy else wish.rng.random() for wish in wishes], dtype=torch.float64)
    tokens = _inverse(blocks, uniform).to(logits.device)
    greedy = torch.tensor([wish.greedy for wish in wishes])
    if greedy.any():
        tokens = torch.where(greedy.to(logits.device), scaled.argmax(-1), tokens)
    entropies = total.log() - (weights * offsets).sum(-1, dtype=torch.float64) / total
    logprobs = offsets.gather(-1, tokens[:, None])[:, 0].double() - total.log()
    raw = logprobs
    if scaled is not logits:
        offsets, _, total = _weights(logits)
        raw = offsets.gather(-1, tokens[:, None])[:, 0].double() - total.log()
    told = torch.stack([logprobs.clamp(max=0.0), raw.clamp(max=0.0), entropies.clamp(min=0.0)]).cpu()
    return tokens.tolist(), *told.tolist()


def _weights(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """How far each logit is below the greatest [N, V], what it weighs beside that [N, V], and the sums of weights [N], float64."""
    offsets = (logits - logits.amax(-1, keepdim=True)).clamp_(min=_LOW)
    weights = offsets.exp()
    return offsets, weights, weights.sum(-1, dtype=torch.float64)


def _inverse(blocks: Tensor, uniform: Tensor) -> Tensor:
    """Where the running sum of weights [N, B, _BLOCK] passes ``uniform`` [N] in [0, 1) of the total: the block, then the place.

    The sums run on the CPU, for on a GPU their order is not fixed. What weighs nothing is never met.
    """
    sums = blocks.sum(-1, dtype=torch.float64).cpu().cumsum(-1)
    block, left = _passed(sums, uniform * sums[:, -1])
    numbers = torch.arange(len(blocks), device=blocks.device)
    own = blocks[numbers, block.to(blocks.device)].cpu().double().cumsum(-1)
    place, _ = _passed(own, left)
    return block * _BLOCK + place


def _passed(sums: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The first index [N] where the running ``sums`` [N, K] are above ``target`` [N], and what is left of it there."""
    below = torch.nextafter(sums[:, -1], torch.zeros(1, dtype=sums.dtype))  # rounding must not lead past the end
    target = torch.minimum(target, below)[:, None]
    index = torch.searchsorted(sums, target, right=True)
    before = torch.where(index > 0, sums.gather(-1, (index - 1).clamp(min=0)), 0.0)
    return index[:, 0], (target - before)[:, 0]


def _take(lane: _Lane, token: int, logprob: float, raw: float, entropy: float) -> None:
    """Add a token to a lane, take back what its guard refuses, and see whether the lane ends."""
    out, wish = lane.out, lane.wish
    out.ids.append(token)
    out.logprobs.append(logprob)
    out.raw_logprobs.append(raw)
    out.entropies.append(entropy)
    if wish.masker is not None:
        wish.masker.accept(token)
    back = wish.guard(out.ids) if wish.guard is not None else 0
    if back:
        if out.rollbacks == wish.rollbacks:
            out.finish, out.gave_up = "length", True
            return
        assert 0 < back <= len(out.ids), f"a guard wants {back} of {len(out.ids)} tokens back"
        for values in (out.ids, out.logprobs, out.raw_logprobs, out.entropies):
            del values[-back:]
        if wish.masker is not None:
            wish.masker.rollback(back)
        out.rollbacks += 1
        lane.unseen = back
    elif (
        token in wish.stops
        or (wish.ended is not None and wish.ended(out.ids))
        or (wish.masker is not None and wish.masker.is_done())
    ):
        out.finish = "stop"
    elif len(out.ids) >= wish.max_tokens:
        out.finish = "length"


class _Layer(DynamicLayer):  # type: ignore[no-untyped-call]
    """Keys and values of one layer with room to grow: joining them anew for every token costs more than reading them."""

    size = 0
    rooms: tuple[Tensor | None, Tensor | None] = (None, None)

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Add keys and values [R, G, T, D]; returns all of them so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        keys, values = _put(self.rooms[0], key_states, self.size), _put(self.rooms[1], value_states, self.size)
        self.rooms = keys, values
        self.size += key_states.shape[2]
        self.keys, self.values = keys[:, :, : self.size], values[:, :, : self.size]
        return self.keys, self.values

    def regroup(self, rows: Tensor, columns: Tensor) -> None:
        """Have as row r the ``columns`` [R, T] of row ``rows[r]``, in that order."""
        index = columns[:, None, :, None]
        keys, values = self.keys, self.values
        assert keys is not None and values is not None, "the prompts were read"
        self.keys, self.values = torch.take_along_dim(keys[rows], index, 2), torch.take_along_dim(values[rows], index, 2)
        self.rooms, self.size = (self.keys, self.values), columns.shape[1]


def _put(room: Tensor | None, new: Tensor, start: int) -> Tensor:
    """``room`` with ``new`` from column ``start`` on, and a larger one where it does not fit."""
    end = start + new.shape[2]
    if room is None or end > room.shape[2]:
        larger = new.new_empty(*new.shape[:2], end + _SPARE, new.shape[3])
        if room is not None:
            larger[:, :, :start] = room[:, :, :start]
        room = larger
    room[:, :, start:end] = new
    return room


class _Board:
    """The cache: rows of prompts, and in each row places side by side. ``prompted`` [P, V] are the logits after the prompts."""

    def __init__(self, model: PreTrainedModel, prompts: Sequence[Sequence[int]]) -> None:
        self.model = model
        self.cache: Any = Cache(layer_class_to_replicate=_Layer)
        longest = max(len(prompt) for prompt in prompts)
        ids = torch.zeros(len(prompts), longest, dtype=torch.long)
        shown = torch.zeros(len(prompts), longest, dtype=torch.long)
        for number, prompt in enumerate(prompts):
            ids[number, longest - len(prompt) :] = torch.tensor(prompt)
            shown[number, longest - len(prompt) :] = 1
        self.prompted = self._forward(ids, (shown.cumsum(-1) - 1).clamp(min=0), shown, 1)[:, 0]
        self.seen = shown.bool().to(model.device)[:, None]  # [R, S, T]: what each place sees of its row's columns
        self.grouped = False

    def _forward(self, ids: Tensor, positions: Tensor, mask: Tensor, kept: int) -> Tensor:
        """Logits [R, kept, V] of the last columns; the whole model runs, for some do more to logits than their head does."""
        ids, positions, mask = (tensor.to(self.model.device) for tensor in (ids, positions, mask))
        with autocast(self.model):
            out = self.model(
                input_ids=ids, attention_mask=mask, position_ids=positions, cache=self.cache, use_cache=True, logits_to_keep=kept
            )
        logits: Tensor = out.logits
        return logits if logits.dtype == torch.float64 else logits.float()

    def read(self, lanes: list[_Lane]) -> Tensor:
        """Read the last token of every lane; returns the logits [N, V] after it."""
        self._arrange(lanes)
        rows, side, _ = self.seen.shape
        for lane in lanes:
            if lane.unseen:  # its columns are the last that it sees, and where none is its own, those of the prompt are
                own = self.seen[lane.row, lane.slot]
                own[own.nonzero().flatten()[-lane.unseen :]] = False
                lane.unseen = 0
        ids = torch.zeros(rows, side, dtype=torch.long)
        positions = torch.zeros(rows, side, dtype=torch.long)
        at = torch.tensor([(lane.row, lane.slot) for lane in lanes]).T
        ids[at[0], at[1]] = torch.tensor([lane.last for lane in lanes])
        positions[at[0], at[1]] = torch.tensor([lane.position for lane in lanes])
        themselves = torch.eye(side, dtype=torch.bool, device=self.seen.device).expand(rows, -1, -1)
        self.seen = torch.cat([self.seen, themselves], -1)  # a place for nobody sees itself too: no row of -inf
        dtype = self.model.dtype
        mask = torch.zeros(self.seen.shape, dtype=dtype, device=self.seen.device)
        logits = self._forward(ids, positions, mask.masked_fill(~self.seen, torch.finfo(dtype).min)[:, None], side)
        at = at.to(logits.device)
        return logits[at[0], at[1]]

    def _arrange(self, lanes: list[_Lane]) -> None:
        """Put rows together anew where that saves enough. A step costs about as much for a row's keys as for a place in it."""
        members: dict[int, list[_Lane]] = {}
        for lane in lanes:
            members.setdefault(lane.row, []).append(lane)
        works = {side: (side + 1) * sum(-(-len(group) // side) for group in members.values()) for side in range(1, SIDE + 1)}
        best = min(works, key=lambda side: works[side])
        rows, places, _ = self.seen.shape
        if self.grouped and works[best] > _REGROUP * rows * (places + 1):
            return
        self.grouped = True
        parts = [group[at : at + best] for group in members.values() for at in range(0, len(group), best)]
        device = self.seen.device
        sources = torch.tensor([part[0].row for part in parts], device=device)
        seen = torch.zeros(len(parts), best, self.seen.shape[2], dtype=torch.bool, device=device)
        for row, part in enumerate(parts):
            for slot, lane in enumerate(part):
                seen[row, slot] = self.seen[lane.row, lane.slot]
                lane.row, lane.slot = row, slot
        used = seen.any(1)
        columns = (~used).long().argsort(dim=-1, stable=True)[:, : int(used.sum(-1).max())]
        self.seen = torch.take_along_dim(seen, columns[:, None], 2)
        for layer in self.cache.layers:
            layer.regroup(sources, columns)
