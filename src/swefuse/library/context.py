"""What checks know beside the three records: the settings, evaluation sets, and what was accepted before."""

from __future__ import annotations

from dataclasses import dataclass, field

from swefuse.library.evaluation import EvaluationSet, evaluation_set
from swefuse.library.held import Held
from swefuse.library.settings import GateConfig


@dataclass(frozen=True, slots=True)
class Context:
    """Prepared once and used for many batches. Checks only read it; ``held`` grows by what the gate accepts."""

    settings: GateConfig = field(default_factory=GateConfig)
    evaluation: tuple[EvaluationSet, ...] = ()
    held: Held = field(default_factory=Held)

    @classmethod
    def prepared(cls, settings: GateConfig, held: Held | None = None) -> Context:
        """With the evaluation sets that the settings name. Raises ConfigError where one cannot be read."""
        sets = tuple(evaluation_set(source, settings.words) for source in settings.evaluation)
        return cls(settings, sets, Held() if held is None else held)

    def version(self) -> str:
        """The settings that differ from the defaults, with what the evaluation sets hold; empty for none.

        Example: ``steps = 50, evaluation = [heldout 1a2b3c4d]``.
        """
        default = GateConfig()
        names = [name for name in GateConfig.model_fields if name not in ("checks", "evaluation")]
        told = [
            f"{name} = {getattr(self.settings, name)}" for name in names if getattr(self.settings, name) != getattr(default, name)
        ]
        if self.evaluation:
            told.append(f"evaluation = [{', '.join(f'{one.name} {one.digest}' for one in self.evaluation)}]")
        return ", ".join(told)


USUAL = Context()
"""The default settings, nothing accepted before: what a check has that is called alone. Nothing is ever added to it."""
