"""Which functions figures are made on, and whether the pretrained nano has seen any that a run holds out."""

from __future__ import annotations

from pathlib import Path

from swefuse.errors import ConfigError
from swefuse.recipes.config import QuickstartConfig
from swefuse.tasks.build import TasksConfig, sources
from swefuse.tasks.spec import FunctionSpec
from swefuse.tasks.splits import TRAIN, split_functions

SEEN = "functions.txt"  # beside the weights: hashes of the bodies of shipped functions that they were trained on
_SPLIT = ("composed_functions", "unseen_functions", "recombined_functions", "split_seed")


def _budgets() -> list[TasksConfig]:
    return [QuickstartConfig.model_validate({"budget": budget}).tasks for budget in ("full", "smoke")]


def held_out(config: TasksConfig) -> list[FunctionSpec]:
    """The functions that a run with these settings holds out."""
    known, sizes = sources(config)
    specs, _ = split_functions(known, sizes, config.split_seed)
    return [spec for spec in specs if spec.split != TRAIN]


def evaluation_functions() -> list[FunctionSpec]:
    """Every function that figures of this project are made on: those that either budget holds out, and all of HumanEval."""
    everything = {spec.body_hash: spec for spec in sources(TasksConfig())[0] if spec.family == "real"}
    for config in _budgets():
        everything |= {spec.body_hash: spec for spec in held_out(config)}
    return list(everything.values())


def check_unseen(config: QuickstartConfig, nano: Path | None = None) -> None:
    """Raise ConfigError where the pretrained nano is the base and was trained on a function that the run would hold out.

    Its pretraining left out what both budgets hold out by default, so only other settings of the split are looked at. ``nano``:
    the folder of the weights; None: those that come along.
    """
    if config.base != "nano" or config.scratch:
        return
    if any(all(getattr(config.tasks, key) == getattr(default, key) for key in _SPLIT) for default in _budgets()):
        return
    from swefuse.learn.model import pretrained_nano

    seen = set(((nano or pretrained_nano()) / SEEN).read_text(encoding="ascii").split())
    known = [spec.name for spec in held_out(config.tasks) if spec.body_hash in seen]
    if known:
        raise ConfigError(
            f"the pretrained nano was trained on {len(known)} of the functions that these settings hold out ({known[0]}, ...): "
            f"leave {', '.join(f'tasks.{key}' for key in _SPLIT)} as they are, or start --from-scratch"
        )
