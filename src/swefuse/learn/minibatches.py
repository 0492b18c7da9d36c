"""Several updates on one round's candidates: which groups each is on, and what is seen of the tokens."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


def minibatches(groups: Sequence[int], count: int, seed: str) -> list[list[int]]:
    """``groups`` dealt out to ``count`` parts by chance, in each part in the order in which they were; never an empty part, but for
    no groups at all."""
    count = max(1, min(count, len(groups)))
    dealt = list(range(len(groups)))
    random.Random(f"minibatches-{seed}").shuffle(dealt)
    return [[groups[place] for place in sorted(dealt[part::count])] for part in range(count)]


@dataclass(slots=True)
class Tally:
    """Tokens of the updates of a round: how many there were, how many were cut by the clip range, and the sum of their weights."""

    tokens: int = 0
    clipped: int = 0
    weight: float = 0.0

    def add(self, clipped: Tensor, weights: Tensor | None) -> None:
        """Take in the tokens of one forward pass; without ``weights`` each counts 1."""
        self.tokens += len(clipped)
        self.clipped += int(clipped.sum())
        self.weight += len(clipped) if weights is None else float(weights.sum())

    def figures(self) -> dict[str, float]:
        """``clip_share``, and ``importance``: the mean weight."""
        if not self.tokens:
            return {"clip_share": 0.0, "importance": 1.0}
        return {"clip_share": self.clipped / self.tokens, "importance": self.weight / self.tokens}
