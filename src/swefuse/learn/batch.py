"""Examples to tensors: which tokens are trained, among which alternatives, and how the candidates of one task share a row.

Shape legend: B rows, T row length, N trained tokens of the batch, V vocabulary, C candidates of the batch.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from swefuse.errors import DataError


@dataclass(frozen=True, slots=True)
class About:
    """Where an example comes from and what tells how hard it is: steps, messages that were open at its choices, tests' strength."""

    task: str = ""
    source: str = ""
    kind: str = ""
    steps: int = 0
    edits: int = 0
    strength: float | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One trained trajectory.

    ``ids``: the row. ``positions``: where trained tokens stand. ``allowed``: for each of them the token ids that were open there,
    empty where all were. ``about``: where it comes from. Raises DataError when nothing is trained,
    since such a row would only dilute a mean.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    allowed: tuple[tuple[int, ...], ...]
    name: str = ""
    about: About = About()

    def __post_init__(self) -> None:
        if not self.positions:
            raise DataError(f"trajectory {self.name or '(unnamed)'} has no trained token")


@dataclass(frozen=True, slots=True)
class Group:
    """The candidates of one task: a shared prompt, each candidate's ids and, per token, the ids that were open."""

    prompt: tuple[int, ...]
    candidates: tuple[tuple[int, ...], ...]
    allowed: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def size(self) -> int:
        """Tokens that the model reads: the prompt, and each different candidate once."""
        return len(self.prompt) + sum(map(len, set(self.candidates)))


def open_tokens(messages: Sequence[Sequence[int]], chosen: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """For each token of ``chosen`` the different next tokens of those messages that agree with it so far, sorted."""
    still = [message for message in messages if len(message) > 0]
    found = []
    for place, token in enumerate(chosen):
        found.append(tuple(sorted({message[place] for message in still})))
        still = [message for message in still if message[place] == token and len(message) > place + 1]
    return tuple(found)


class SftBatch(NamedTuple):
    """``ids``, ``mask`` [B, T], 0 for padding and elsewhere the number of the example in its row, from 1;
    ``row``, ``column`` [N] of the logits that predict the trained tokens ``targets`` [N];
    ``allowed`` [N, V]."""

    ids: Tensor
    mask: Tensor
    row: Tensor
    column: Tensor
    targets: Tensor
    allowed: Tensor


def shown(batch: SftBatch) -> Tensor:
    """Boolean [B, T]: the tokens that an example shows and that are not trained, but for its first one, which nothing predicts."""
    found = torch.zeros_like(batch.mask, dtype=torch.bool)
    found[:, 1:] = (batch.mask[:, 1:] == batch.mask[:, :-1]) & (batch.mask[:, 1:] != 0)
    found[batch.row, batch.column + 1] = False
    return found


def allowed_mask(allowed: Sequence[Sequence[int]], vocabulary: int) -> Tensor:
    """Boolean [N, V]; a row stays all False where every token is allowed."""
    mask = torch.zeros(len(allowed), vocabulary, dtype=torch.bool)
    rows = [number for number, ids in enumerate(allowed) for _ in ids]
    mask[rows, [token for ids in allowed for token in ids]] = True
    return mask


def fill(lengths: Sequence[int], room: int) -> list[list[int]]:
    """Positions of the lengths by row, no row longer than ``room``: the longest first, each into the first row that has room.

    First-fit decreasing takes at most 11/9 of the fewest rows possible, and one more (Johnson 1973). A length above ``room`` gets
    a row of its own.
    """
    rows: list[list[int]] = []
    left: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda n: (-lengths[n], n)):
        row = next((at for at, free in enumerate(left) if free >= lengths[number]), len(rows))
        if row == len(rows):
            rows.append([])
            left.append(room)
        rows[row].append(number)
        left[row] -= lengths[number]
    return rows


def collate(examples: Sequence[Example], vocabulary: int, pad: int, room: int = 0) -> SftBatch:
    """Right-padded batch: one example a row, or with ``room`` as many as fit in that many tokens.

    The mask goes by length, never by the pad's id, so a pad id inside a row keeps its place.
    """
    lengths = [len(example.ids) for example in examples]
    layout = fill(lengths, room) if room else [[number] for number in range(len(examples))]
    longest = max(sum(lengths[number] for number in row) for row in layout)
    ids = torch.full((len(layout), longest), pad, dtype=torch.long)
    mask = torch.zeros(len(layout), longest, dtype=torch.long)
    rows: list[int] = []
    columns: list[int] = []
    for at, members in enumerate(layout):
        start = 0
        for place, number in enumerate(members, 1):
            end = start + lengths[number]
            ids[at, start:end] = torch.tensor(examples[number].ids)
            mask[at, start:end] = place
            rows += [at] * len(examples[number].positions)
            columns += [start + position - 1 for position in examples[number].positions]
            start = end
    row, column = torch.tensor(rows), torch.tensor(columns)
    allowed = allowed_mask([open_ids for members in layout for n in members for open_ids in examples[n].allowed], vocabulary)
    return SftBatch(ids, mask, row, column, ids[row, column + 1], allowed)


def kept_apart(mask: Tensor) -> tuple[Tensor, Tensor]:
    """``(positions [B, T], seen [B, T, T])`` for rows of several examples, numbered by ``mask`` as in ``SftBatch``.

    Positions begin anew with each example, and a token sees its own example up to itself. Padding sees padding, so that no query
    sees nothing.
    """
    place = torch.arange(mask.shape[1], device=mask.device)
    new = torch.ones_like(mask, dtype=torch.bool)
    new[:, 1:] = mask[:, 1:] != mask[:, :-1]
    starts = torch.where(new, place, 0).cummax(1).values
    seen = (mask[:, :, None] == mask[:, None, :]) & (place[:, None] >= place)
    return place - starts, seen


class PackedBatch(NamedTuple):
    """Candidates of B tasks, one row a task. ``mask`` [B, 1, T, T] is additive; ``candidate`` [N] counts over the batch (C in all).

    ``last_row``, ``last_column`` [C]: where each candidate's last token stands.
    """

    ids: Tensor
    positions: Tensor
    mask: Tensor
    row: Tensor
    column: Tensor
    targets: Tensor
    allowed: Tensor
    candidate: Tensor
    last_row: Tensor
    last_column: Tensor


def pack(groups: Sequence[Group], vocabulary: int, pad: int) -> PackedBatch:
    """Shared prompt, then the candidates side by side: each sees the prompt and itself, and its positions go on from the prompt.

    Candidates of a task that are the same stand in the row once; each of them points there.
    """
    longest = max(g.size for g in groups)
    ids = torch.full((len(groups), longest), pad, dtype=torch.long)
    positions = torch.zeros(len(groups), longest, dtype=torch.long)
    seen = torch.eye(longest, dtype=torch.bool).repeat(len(groups), 1, 1)  # a padded query sees itself: no row of -inf
    rows: list[int] = []
    columns: list[int] = []
    owners: list[int] = []
    last: list[tuple[int, int]] = []
    for number, group in enumerate(groups):
        start = len(group.prompt)
        ids[number, :start] = torch.tensor(group.prompt)
        positions[number, :start] = torch.arange(start)
        seen[number, :start, :start] |= torch.ones(start, start, dtype=torch.bool).tril()
        placed: dict[tuple[int, ...], int] = {}
        end = start
        for candidate in group.candidates:
            size, at = len(candidate), placed.setdefault(candidate, end)
            if at == end:
                ids[number, at : at + size] = torch.tensor(candidate)
                positions[number, at : at + size] = torch.arange(start, start + size)
                seen[number, at : at + size, :start] = True
                seen[number, at : at + size, at : at + size] |= torch.ones(size, size, dtype=torch.bool).tril()
                end += size
            rows += [number] * size
            columns += [start - 1, *range(at, at + size - 1)]
            owners += [len(last)] * size
            last.append((number, at + size - 1))
    targets = torch.tensor([token for g in groups for candidate in g.candidates for token in candidate])
    allowed = allowed_mask([open_ids for g in groups for candidate in g.allowed for open_ids in candidate], vocabulary)
    mask = torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)[:, None]
    ends = torch.tensor(last)
    return PackedBatch(
        ids,
        positions,
        mask,
        torch.tensor(rows),
        torch.tensor(columns),
        targets,
        allowed,
        torch.tensor(owners),
        ends[:, 0],
        ends[:, 1],
    )


def times(often: Sequence[float], seed: int, epoch: int) -> list[int]:
    """How many times each item is in an epoch: ``often`` on average over the epochs, and never further off than 1 over all so far.

    Systematic sampling: item i with offset u_i in [0, 1) has been seen floor(often_i · epochs + u_i) times.
    """
    rng = random.Random(f"{seed}-often")
    starts = [rng.random() for _ in often]
    return [
        math.floor(weight * (epoch + 1) + start) - math.floor(weight * epoch + start)
        for weight, start in zip(often, starts, strict=True)
    ]


def bucketed(lengths: Sequence[int], size: int, seed: int, often: Sequence[float] | None = None) -> Iterator[list[int]]:
    """Batches of positions, for ever: shuffled, then grouped by like length within windows of 16 batches, whole batches only.

    ``often``: how many times each is in an epoch, on average; 1 if not given. The same seed gives the same batches.
    Raises DataError when there are fewer items than one batch holds.
    """
    if len(lengths) < size:
        raise DataError(f"{len(lengths)} examples do not fill one batch of {size}; lower the batch size or add data")
    epoch = 0
    while True:
        rng = random.Random(f"{seed}-{epoch}")
        order = list(range(len(lengths)))
        if often is not None:
            order = [number for number, count in enumerate(times(often, seed, epoch)) for _ in range(count)]
        rng.shuffle(order)
        batches = []
        for at in range(0, len(order), size * 16):
            window = sorted(order[at : at + size * 16], key=lambda number: lengths[number])
            batches += [window[k : k + size] for k in range(0, len(window) - size + 1, size)]
        rng.shuffle(batches)
        yield from batches
        epoch += 1
