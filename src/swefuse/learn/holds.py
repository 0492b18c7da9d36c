"""What holds the policy of the group objective near what is known to be good: its distance to the reference, and the likelihood of
what passed. Both are off by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from swefuse.learn.losses import kl_tokens
from swefuse.learn.rollouts import Readings, Rollouts
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.value import Candidates


@dataclass(frozen=True)
class Hold:
    """``kl`` and ``anchor`` are their strengths; ``groups`` the tasks that are read for them, also where all candidates earn the
    same; ``tokens`` and ``winners`` what the means go over; ``reference`` the reference's log-probs by task."""

    kl: float
    anchor: float
    groups: tuple[int, ...]
    tokens: int
    winners: int
    passed: tuple[bool, ...]
    reference: tuple[Tensor, ...]

    @classmethod
    def of(cls, data: Rollouts, known: Candidates, reference: Sequence[Tensor], settings: RlvrSettings) -> Hold:
        """For one round; of the pair objectives, which hold by ``beta`` and an anchor of their own, it reads nothing."""
        group = settings.objective == "group"
        kl, anchor = (settings.kl, settings.likelihood) if group else (0.0, 0.0)
        passed = tuple(bool(one) for one in known.passed)
        solved = {task for task, yes in zip(known.task, passed, strict=True) if yes} if anchor else set()
        groups = tuple(range(len(data.groups))) if kl else tuple(sorted(solved))
        tokens = sum(len(ids) for group_ in data.groups for ids in group_.candidates)
        return cls(kl, anchor, groups, tokens, sum(passed), passed, tuple(reference))

    def loss(self, readings: Readings, owner: Tensor, groups: Sequence[int], flat: Sequence[int]) -> Tensor:
        """Their part of one forward pass over ``groups``; ``owner`` [N] is each token's candidate in it, ``flat`` [C] in the round.

        ``kl * mean over all tokens of the round + anchor * mean over all that passed of the negative log-likelihood a token``.
        """
        new = readings.logprobs
        total = new.new_zeros(())
        if self.kl:
            reference = torch.cat([self.reference[n] for n in groups]).to(new)
            total = total + self.kl * kl_tokens(new, reference).sum() / self.tokens
        if self.anchor and self.winners:
            place = owner.to(new.device)
            summed = new.new_zeros(len(flat)).index_add(0, place, new)
            length = new.new_zeros(len(flat)).index_add(0, place, torch.ones_like(new))
            won = torch.tensor([self.passed[c] for c in flat], device=new.device)
            total = total - self.anchor * (summed / length)[won].sum() / self.winners
        return total
