"""Settings of the quickstart: one nested model, with a full and a smoke budget."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from swefuse.config import OnlyWhen
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.sft import SftSettings
from swefuse.tasks.build import TasksConfig

SMOKE: dict[str, dict[str, Any]] = {
    "tasks": {
        "train_tasks": 160, "heldout_tasks": 12, "real_tasks": 12, "composed_functions": 60, "unseen_functions": 20,
        "recombined_functions": 12, "agreement_sample": 2,
    },
    "sft": {"steps": 12, "batch": 8, "warmup": 4},
    "rlvr": {"rounds": 3, "tasks": 8, "micro_batch": 8, "weight": {"warmup": 1}},
}  # fmt: skip

# stage 1 of a model that can read and repair already: shorter, slower, and without the easy beginning
PRETRAINED: dict[str, Any] = {"steps": 170, "lr": 1e-3, "warmup": 20, "hold": 0.0, "prompt_loss": 0.1, "short_first": 0.0}


class QuickstartConfig(BaseModel):
    """Everything that the quickstart can be told. ``budget`` sets defaults; a setting that is given wins over them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget: Literal["full", "smoke"] = Field("full", description="full: the real run; smoke: every stage, briefly")
    seed: int = Field(0, ge=0, description="seed of data, weights and draws; same seed, same figures")
    seeds: int = Field(1, ge=1, description="how many seeds are run, counting up from seed")
    base: str = Field("nano", description="model that is trained: nano, smollm2, or a folder or hub id")
    scratch: Annotated[bool, OnlyWhen("base", "nano")] = Field(
        False, description="a nano with new weights and a tokenizer of its own, instead of the pretrained one"
    )
    workers: int = Field(2, ge=1, description="verifier processes")
    threads: int = Field(2, ge=1, description="threads of the trainer")
    eval_samples: int = Field(4, ge=4, description="sampled episodes a held-out task")
    rl_share: float = Field(0.25, gt=0, lt=1, description="share of the train tasks kept for stage 2 and its control")
    tasks: TasksConfig = Field(default_factory=TasksConfig, validate_default=True, description="task building")
    sft: SftSettings = Field(default_factory=SftSettings, validate_default=True, description="stage 1")
    rlvr: RlvrSettings = Field(default_factory=RlvrSettings, validate_default=True, description="stage 2")

    @model_validator(mode="before")
    @classmethod
    def _budget(cls, data: Any) -> Any:
        """Put the smoke budget, and what fits the pretrained nano, under what was given."""
        if not isinstance(data, dict):
            return data
        under = {"sft": PRETRAINED} if data.get("base", "nano") == "nano" and data.get("scratch", False) is False else {}
        if data.get("budget") == "smoke":
            under = {**SMOKE, "sft": {**under.get("sft", {}), **SMOKE["sft"]}}
        given = {part: data.get(part, {}) for part in under}
        return {**data, **{part: {**under[part], **keys} for part, keys in given.items() if isinstance(keys, dict)}}

    @field_validator("tasks", "sft", "rlvr")
    @classmethod
    def _from_above(cls, section: BaseModel, info: ValidationInfo) -> BaseModel:
        """Hand ``seed`` and ``workers`` down to the sections that have them; another value given there would have no effect."""
        handed: dict[str, int] = {
            key: info.data[key] for key in ("seed", "workers") if key in info.data and key in type(section).model_fields
        }
        for key, value in handed.items():
            if key in section.model_fields_set and getattr(section, key) != value:
                raise ValueError(f"{info.field_name}.{key} has no effect, it follows {key} (which is {value}); set {key} instead")
        return section.model_copy(update=handed)
