"""What stage 2 leaves beside the policy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from swefuse.learn.value import Head, ResidualHead, make_head


@dataclass(frozen=True)
class Learnt:
    """The value head and the four-number baseline, fitted on the same candidates."""

    head: Head
    baseline: ResidualHead
    name: str
    width: int

    def save(self, path: Path) -> None:
        """Write both; the file appears whole or not at all."""
        partial = path.with_name(f".{path.name}.partial")
        stored = {
            "name": self.name, "width": self.width, "noise": list(self.baseline.fixed), "learnt": self.baseline.learn_noise,
            "head": self.head.state_dict(), "baseline": self.baseline.state_dict(),
        }  # fmt: skip
        torch.save(stored, partial)
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> Learnt:
        """Read what ``save`` wrote."""
        stored = torch.load(path, weights_only=True)
        noise = (stored["noise"][0], stored["noise"][1])
        head = make_head(stored["name"], stored["width"], noise, stored["learnt"])
        baseline = ResidualHead(stored["width"], False, noise, stored["learnt"])
        head.load_state_dict(stored["head"])
        baseline.load_state_dict(stored["baseline"])
        return cls(head, baseline, stored["name"], stored["width"])
