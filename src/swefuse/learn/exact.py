"""Best of n without samples: how often the candidate passes that a value model keeps of n draws, as a sum of probabilities.

The odds of every open edit are known, and so is the score of each: the one that is kept is the best-scored of the n that were
drawn. No luck of the samples is left in the figure, as in ``board`` for pass@1.
"""

from __future__ import annotations

import math
import pickle
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from swefuse.errors import DataError
from swefuse.learn.batch import Group, open_tokens, pack
from swefuse.learn.board import Place, choices
from swefuse.learn.rollouts import per_candidate, read
from swefuse.learn.tokens import Codec
from swefuse.learn.value import Candidates

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_CHUNK = 1200  # tokens of messages behind one prompt: the attention of a row grows with the square
_ROWS = 6000  # tokens of a forward pass, padding included


@dataclass(frozen=True)
class Menu:
    """Every different message that is open at each place of a board, and which of them solve the task: one row a place."""

    groups: tuple[Group, ...]
    good: tuple[tuple[bool, ...], ...]

    @classmethod
    def of(cls, codec: Codec, board: Sequence[Place]) -> Menu:
        """Choices that are the same message to the model count once."""
        groups, good = [], []
        for place in board:
            messages = codec.messages(place.task, choices(place))
            solving = {messages[at] for at in place.good}
            different = tuple(dict.fromkeys(messages))
            prompt = codec.row(place.task, place.steps, prompt=True).ids
            groups.append(Group(prompt, different, tuple(open_tokens(messages, ids) for ids in different)))
            good.append(tuple(ids in solving for ids in different))
        return cls(tuple(groups), tuple(good))

    def candidates(self, numbers: Tensor, hidden: Tensor) -> Candidates:
        """What ``look`` saw of all messages, as the value model takes it."""
        owner = tuple(number for number, group in enumerate(self.groups) for _ in group.candidates)
        passed = torch.tensor([float(one) for row in self.good for one in row])
        written = tuple((group.prompt, ids) for group in self.groups for ids in group.candidates)
        return Candidates(numbers, hidden, passed, torch.ones(len(owner), dtype=torch.bool), owner, written)

    def parts(self) -> list[tuple[int, Group]]:
        """The messages in groups that are short enough for one row, each with the number of its first message."""
        found, first = [], 0
        for group in self.groups:
            start = size = 0
            for end, ids in enumerate(group.candidates):
                if end > start and size + len(ids) > _CHUNK:
                    found.append((first + start, _slice(group, start, end)))
                    start, size = end, 0
                size += len(ids)
            found.append((first + start, _slice(group, start, len(group.candidates))))
            first += len(group.candidates)
        return found


def _slice(group: Group, start: int, end: int) -> Group:
    return Group(group.prompt, group.candidates[start:end], group.allowed[start:end])


@torch.no_grad()
def look(model: PreTrainedModel, menu: Menu) -> tuple[Tensor, Tensor]:
    """What the value model may see of all C messages of all places: ``numbers`` [C, 3] and ``hidden`` [C, D], as in ``Candidates``.

    The first column is the sum of log-probs: the model chooses a message with the exponential of it. Each stands for one draw, so
    that the third, the log of the votes, is 0.
    """
    was_training = model.training
    model.train(False)
    total = sum(map(len, menu.good))
    numbers, hidden = torch.zeros(total, 3), torch.zeros(total, model.config.hidden_size)
    for batch in _batches(menu.parts()):
        packed = pack([group for _, group in batch], model.config.vocab_size, model.config.pad_token_id or 0)
        seen = read(model, packed)
        sums = per_candidate(seen.logprobs, packed.candidate)
        length = per_candidate(torch.ones(len(packed.candidate)), packed.candidate)
        places = [first + at for first, group in batch for at in range(len(group.candidates))]
        numbers[places, 0], numbers[places, 1], hidden[places] = sums, sums / length, seen.last.cpu()
    model.train(was_training)
    return numbers, hidden


def save(path: Path, seen: tuple[Tensor, Tensor]) -> None:
    """Keep what ``look`` saw; the file appears whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    torch.save(seen, partial)
    partial.replace(path)


def load(path: Path) -> tuple[Tensor, Tensor]:
    """What ``save`` kept. Raises DataError where it is damaged."""
    try:
        numbers, hidden = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, TypeError, pickle.UnpicklingError) as error:
        raise DataError(f"{path} is damaged: {str(error)[:200]}; delete it to make it anew") from error
    return numbers, hidden


def _batches(parts: list[tuple[int, Group]]) -> Iterator[list[tuple[int, Group]]]:
    """Like lengths together, as many as have room in one forward pass."""
    batch: list[tuple[int, Group]] = []
    for part in sorted(parts, key=lambda part: part[1].size):
        if batch and (len(batch) + 1) * part[1].size > _ROWS:
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch


def best_of(menu: Menu, sums: Sequence[float], scores: Sequence[float], n: int) -> list[float]:
    """For each place the chance that the best-scored of ``n`` messages drawn from a policy solves the task.

    ``sums``: the log of the chance with which it draws each message. ``scores``: one number for each, the better the higher.
    """
    found, at = [], 0
    for good in menu.good:
        part = slice(at, at + len(good))
        found.append(best_chance([math.exp(one) for one in sums[part]], scores[part], good, n))
        at += len(good)
    return found


def best_chance(odds: Sequence[float], scores: Sequence[float], good: Sequence[bool], n: int) -> float:
    """The chance that the best-scored of ``n`` independent draws is good; of equal scores the first that was drawn is kept.

    With the mass ``t`` of what scores at most as high as a group of equal scores, and ``m`` that group's own, the best of ``n`` is
    in the group with chance ``t^n - (t - m)^n``, and in it each stands for its share of ``m``.

    Example: odds 0.5 and 0.5, the first scores higher and is good, n = 2 -> 0.75.
    """
    mass: dict[float, float] = defaultdict(float)
    right: dict[float, float] = defaultdict(float)
    for odd, score, solves in zip(odds, scores, good, strict=True):
        mass[score] += odd
        right[score] += odd * solves
    below, total, whole = 0.0, 0.0, sum(odds)
    for score in sorted(mass):
        upto = below + mass[score] / whole
        if mass[score] > 0:
            total += (upto**n - below**n) * right[score] / mass[score]
        below = upto
    return min(1.0, total)
