"""Best of n without samples: how often the candidate passes that a value model keeps of n draws, as a sum of probabilities.

The odds of every open edit are known, and so is the score of each: the one that is kept is the best-scored of the n that were
drawn. No luck of the samples is left in the figure, as in ``board`` for pass@1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from swefuse.learn.batch import Group, open_tokens, pack
from swefuse.learn.board import Place, choices
from swefuse.learn.rollouts import per_candidate, read
from swefuse.learn.tokens import Codec
from swefuse.learn.value import Candidates

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_BATCH = 8


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


@torch.no_grad()
def look(model: PreTrainedModel, menu: Menu) -> Candidates:
    """All messages of all places as the value model sees them; a message of which one copy was drawn has no votes.

    The first column of ``numbers`` holds the sum of log-probs, so that ``model`` chooses each with the exponential of it.
    """
    was_training = model.training
    model.train(False)
    numbers: list[torch.Tensor] = [torch.empty(0)] * len(menu.groups)
    hidden = list(numbers)
    order = sorted(range(len(menu.groups)), key=lambda number: menu.groups[number].size)  # like lengths together: less padding
    for at in range(0, len(order), _BATCH):
        batch = order[at : at + _BATCH]
        packed = pack([menu.groups[n] for n in batch], model.config.vocab_size, model.config.pad_token_id or 0)
        seen = read(model, packed)
        total = per_candidate(seen.logprobs, packed.candidate)
        length = per_candidate(torch.ones(len(packed.candidate)), packed.candidate)
        counts = [len(menu.groups[n].candidates) for n in batch]
        columns = torch.split(torch.stack([total, total / length, torch.zeros_like(total)], -1), counts)
        for number, own, last in zip(batch, columns, torch.split(seen.last.cpu(), counts), strict=True):
            numbers[number], hidden[number] = own, last
    model.train(was_training)
    owner = tuple(number for number, group in enumerate(menu.groups) for _ in group.candidates)
    passed = torch.tensor([float(one) for row in menu.good for one in row])
    written = tuple((group.prompt, ids) for group in menu.groups for ids in group.candidates)
    return Candidates(torch.cat(numbers), torch.cat(hidden), passed, torch.ones(len(owner), dtype=torch.bool), owner, written)


def best_of(menu: Menu, policy: Candidates, scores: Sequence[float], n: int) -> list[float]:
    """For each place the chance that the best-scored of ``n`` messages drawn from the policy solves the task.

    ``policy``: ``look`` of the model that draws. ``scores``: one number for each message, in that order, the better the higher.
    """
    odds = policy.numbers[:, 0].exp().tolist()
    found, at = [], 0
    for good in menu.good:
        part = slice(at, at + len(good))
        found.append(best_chance(odds[part], scores[part], good, n))
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
