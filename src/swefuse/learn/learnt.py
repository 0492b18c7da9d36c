"""What stage 2 leaves beside the policy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from swefuse.learn.backbone import ValueModel, make_value
from swefuse.learn.settings import ValueSettings
from swefuse.learn.value import ResidualHead

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Learnt:
    """The value model and the four-number baseline, fitted on the same candidates; ``settings`` say what they are."""

    head: ValueModel
    baseline: ResidualHead
    settings: ValueSettings

    def save(self, path: Path) -> None:
        """Write both; the file appears whole or not at all. Of a backbone only what was trained is in it."""
        partial = path.with_name(f".{path.name}.partial")
        settings = self.settings.model_dump(mode="json")
        stored = {"settings": settings, "head": self.head.state_dict(), "baseline": self.baseline.state_dict()}
        torch.save(stored, partial)
        partial.replace(path)

    @classmethod
    def load(cls, path: Path, reference: PreTrainedModel, micro_batch: int = 16) -> Learnt:
        """Read what ``save`` wrote, for the reference that it was trained beside."""
        stored = torch.load(path, weights_only=True)
        settings = ValueSettings.model_validate(stored["settings"])
        head = make_value(settings, reference, micro_batch)
        rates = (settings.false_pass, settings.false_fail)
        baseline = ResidualHead(reference.config.hidden_size, False, rates, settings.noise == "learned")
        head.load_state_dict(stored["head"])
        baseline.load_state_dict(stored["baseline"])
        return cls(head, baseline, settings)
