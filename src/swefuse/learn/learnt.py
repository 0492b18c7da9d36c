"""What stage 2 leaves beside the policy."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from swefuse.errors import DataError
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
        """Read what ``save`` wrote, for the reference that it was trained beside. Raises DataError for anything else."""
        try:
            stored = torch.load(path, weights_only=True)
            settings = ValueSettings.model_validate(stored["settings"])
        except (OSError, RuntimeError, pickle.UnpicklingError, KeyError, TypeError, EOFError, ValueError) as error:
            raise DataError(f"{path} holds no value model of this version: {type(error).__name__}: {str(error)[:200]}") from error
        head = make_value(settings, reference, micro_batch)
        rates = (settings.false_pass, settings.false_fail)
        baseline = ResidualHead(reference.config.hidden_size, False, rates, settings.noise == "learned")
        try:
            head.load_state_dict(stored["head"])
            baseline.load_state_dict(stored["baseline"])
        except (RuntimeError, KeyError) as error:
            raise DataError(f"{path} was trained beside another reference: {str(error).splitlines()[-1].strip()}") from error
        return cls(head, baseline, settings)
