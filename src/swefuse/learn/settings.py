"""Settings of stage 2, one section each for the value model, the weights of pairs, and what is watched."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from swefuse.config import OnlyAbove, OnlyWhen
from swefuse.learn.entropy import Course, Mode
from swefuse.learn.optimizers import OptimizerName

HeadName = Literal["residual", "platt", "davidson", "linear3"]
BackboneName = Literal["shared", "lora", "copy"]


class ValueSettings(BaseModel):
    """Settings of the value model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    head: HeadName = Field("residual", description="value head")
    backbone: Annotated[BackboneName, OnlyWhen("head", "residual", "davidson", "linear3")] = Field(
        "shared", description="what the head reads: the reference as it is, a copy with adapters, or one that is trained whole"
    )
    rank: Annotated[int, OnlyWhen("backbone", "lora")] = Field(8, ge=1, description="rank of the backbone's adapters")
    backbone_lr: Annotated[float, OnlyWhen("backbone", "lora", "copy")] = Field(
        3e-4, gt=0, description="learning rate of the backbone"
    )
    lr: float = Field(3e-3, gt=0, description="value head learning rate")
    steps: int = Field(8, ge=1, description="value updates a round")
    memory: int = Field(10, ge=1, description="rounds whose candidates the value model is trained on")
    noise: Annotated[Literal["fixed", "learned"], OnlyWhen("head", "residual", "platt")] = Field(
        "learned", description="the verifier's rate of false passes: as false_pass says, or fitted with the head"
    )
    false_pass: Annotated[float, OnlyWhen("noise", "fixed")] = Field(
        0.0, ge=0, lt=1, description="share of failing candidates that the verifier passes"
    )
    false_fail: Annotated[float, OnlyWhen("head", "residual", "platt")] = Field(
        0.0, ge=0, lt=1, description="share of passing candidates that the verifier fails"
    )
    calibrate: bool = Field(
        False,
        description="fit a temperature on each round's candidates, before the value model learns from them, for the next rounds",
    )
    foreign: float = Field(
        0.0, ge=0, le=4, description="candidates of scripted rules and references, a share of the policy's, that it learns from too"
    )


class WeightSettings(BaseModel):
    """How much each pair may teach."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Mode = Field(
        "recorded",
        description="how pairs are weighed: off, soft, hard, posterior, recorded, random, agreement, prior; oracle in experiments",
    )
    lam: Annotated[float, OnlyWhen("mode", "soft", "posterior", "random")] = Field(
        2.0, ge=0, description="strength of the entropy weight"
    )
    tau: Annotated[float, OnlyWhen("mode", "hard")] = Field(0.8, ge=0, le=1, description="entropy above which hard drops a pair")
    course: Annotated[Course, OnlyWhen("mode", "soft", "posterior", "random", "hard")] = Field(
        "fixed", description="how lam or tau moves to its end over the rounds: fixed, linear, cosine"
    )
    lam_end: Annotated[float, OnlyWhen("course", "linear", "cosine")] = Field(2.0, ge=0, description="lam in the last round")
    tau_end: Annotated[float, OnlyWhen("course", "linear", "cosine")] = Field(0.5, ge=0, le=1, description="tau in the last round")
    keep: Annotated[float, OnlyWhen("mode", "hard")] = Field(
        0.0, ge=0, le=1, description="share of the pairs that hard keeps at first, whatever tau says; 0: as tau says"
    )
    keep_end: Annotated[float, OnlyWhen("mode", "hard")] = Field(
        0.0, ge=0, le=1, description="share that hard keeps in the last round; 0: as at first"
    )
    normalise: bool = Field(True, description="scale the weights of a round to mean 1, so that they set no learning rate")
    warmup: int = Field(5, ge=0, description="rounds before weights act")


class WatchSettings(BaseModel):
    """Thresholds of what is watched in stage 2; each event that one of them raises is explained in docs/troubleshooting.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alarm: float = Field(3.0, gt=0, description="standard deviations of the mean entropy of verdicts that ring the alarm")
    fallback: int = Field(3, ge=0, description="rounds of SFT steps instead of policy updates after an alarm; 0: none")
    max_infra: float = Field(0.05, ge=0, le=1, description="share of ungraded candidates above which the run stops")
    entropy_floor: float = Field(0.1, ge=0, description="policy entropy, as a share of the first round's, that is too low")
    entropy_ceiling: float = Field(2.0, gt=0, description="policy entropy, as a share of the first round's, that is too high")
    winners: float = Field(0.5, gt=0, description="nats by which the winners' log-prob may fall below the reference's")
    length: float = Field(1.5, gt=1, description="factor by which messages may grow or shrink against the first round")
    broken: float = Field(0.2, gt=0, le=1, description="share of UNPARSED, TAMPERED or TIMEOUT candidates that is too high")
    kl: float = Field(1.0, gt=0, description="nats a message between policy and reference that are too many")
    repeated: float = Field(0.8, gt=0, le=1, description="share of samples that repeat another of their task that is too high")
    doubt: float = Field(0.9, ge=0.5, le=1, description="probability of the losing side from which on a pair is verified anew")
    hidden: float = Field(0.0, ge=0, lt=1, description="share of each task's calls that no reward counts; 0: none")
    overfit: Annotated[float, OnlyAbove("hidden")] = Field(
        0.1, gt=0, le=1, description="share of candidates that pass all but the hidden tests that is too high"
    )
    gold: int = Field(0, ge=0, description="tasks that are set aside to score the value model on pairs of known truth; 0: none")
    gold_drop: Annotated[float, OnlyAbove("gold")] = Field(
        0.1, gt=0, le=1, description="fall of the accuracy on gold pairs below its best at which training ends"
    )


class SamplingSettings(BaseModel):
    """Which tasks a round is about, and how their candidates are sampled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    batch: int = Field(
        0, ge=0, description="tasks sampled at once, whose candidates are then verified; 0: 16 on a CPU, 64 on other devices"
    )
    overlap: bool = Field(True, description="verify candidates while others are sampled; the result does not depend on it")
    resample: int = Field(
        0, ge=0, description="times rlvr.tasks that a round may draw further to replace tasks whose candidates all earn the same"
    )
    order: Literal["shuffled", "difficulty"] = Field(
        "shuffled", description="which tasks come next; difficulty: those first whose pass rate is nearest to one half"
    )
    fresh: Annotated[float, OnlyWhen("order", "difficulty")] = Field(
        0.5, ge=0, le=1, description="share of tasks that were never tried, as long as there are any"
    )
    fade: Annotated[float, OnlyWhen("order", "difficulty")] = Field(
        0.9, gt=0, le=1, description="what an outcome counts after a round, as a share of before"
    )


class OffPolicySettings(BaseModel):
    """How far updates may lean on candidates that an older state of the policy sampled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    updates: int = Field(1, ge=1, description="optimizer steps a round, each on its own part of the groups that teach")
    is_cap: float = Field(
        0.0, ge=0, description="largest importance weight of a token in the group objective, at least 1; 0: no weights"
    )
    max_stale: int = Field(0, ge=0, description="rounds that the state which sampled a candidate may lie back")

    @field_validator("is_cap")
    @classmethod
    def _one_at_least(cls, cap: float) -> float:
        if 0 < cap < 1:
            raise ValueError("below 1 it would weigh down what the present policy sampled; give 0 or at least 1")
        return cap


class RlvrSettings(BaseModel):
    """Settings of stage 2; rounds, never seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rounds: int = Field(32, ge=1, description="rounds of sampling and updating")
    tasks: int = Field(64, ge=1, description="tasks a round")
    samples: int = Field(4, ge=2, description="candidates a task (K)")
    objective: Literal["group", "bt", "bt_ties"] = Field("group", description="policy objective")
    reward: Literal["passed", "score"] = Field("passed", description="what a candidate earns: pass or fail, or the verified score")
    optimizer: OptimizerName = Field("muon", description="muon: Muon for the matrices inside the blocks, AdamW for the rest")
    lr: float = Field(5e-4, gt=0, description="policy learning rate, about a quarter of stage 1's")
    clip: Annotated[float, Field(gt=0, lt=1, description="PPO clip range epsilon"), OnlyWhen("objective", "group")] = 0.2
    clip_slope: Annotated[float, OnlyWhen("objective", "group")] = Field(
        0.5, ge=0, description="how far a rollout's entropy widens the clip range (0: plain PPO)"
    )
    beta: Annotated[float, OnlyWhen("objective", "bt", "bt_ties")] = Field(
        0.1, gt=0, description="strength of the reference in the pair objectives"
    )
    kl: Annotated[float, OnlyWhen("objective", "group")] = Field(
        0.0, ge=0, description="strength of the distance to the reference, KL(policy || reference) a token; 0: off"
    )
    anchor: float | None = Field(
        None, ge=0, description="share of the negative log-likelihood of what passed; none: 0.1 with pair objectives, else 0"
    )
    winners: bool = Field(False, description="keep what passed in winners.jsonl, each different solution once")
    micro_batch: int = Field(16, ge=1, description="tasks a forward pass")
    save_every: int = Field(8, ge=1, description="rounds between the states that a stopped run goes on from")
    seed: int = Field(0, ge=0, description="draws of tasks and samples")
    sampling: SamplingSettings = Field(default_factory=SamplingSettings, validate_default=True, description="tasks and candidates")
    off_policy: OffPolicySettings = Field(
        default_factory=OffPolicySettings, validate_default=True, description="updates on what an older policy sampled"
    )
    value: ValueSettings = Field(default_factory=ValueSettings, validate_default=True, description="the value model")
    weight: WeightSettings = Field(default_factory=WeightSettings, validate_default=True, description="the weights of pairs")
    watch: WatchSettings = Field(default_factory=WatchSettings, validate_default=True, description="what is watched")

    @property
    def likelihood(self) -> float:
        """What ``anchor`` amounts to."""
        return self.anchor if self.anchor is not None else 0.0 if self.objective == "group" else 0.1

    @model_validator(mode="after")
    def _importance_is_of_tokens(self) -> Self:
        """The pair objectives compare whole messages with the reference and know no ratio to what was sampled."""
        if self.off_policy.is_cap and self.objective != "group":
            raise ValueError("off_policy.is_cap has no effect, it counts only when objective is group")
        return self

    @model_validator(mode="after")
    def _posterior_needs_noise(self) -> Self:
        """Without a noise rate every posterior is certain, so that ``posterior`` would be ``off`` under another name."""
        if self.weight.mode == "posterior":
            if self.value.head not in ("residual", "platt"):
                raise ValueError(
                    "weight.mode = posterior needs value.head = residual or platt, which tells each candidate's chance of passing"
                )
            if self.value.noise == "fixed" and not (self.value.false_pass or self.value.false_fail):
                raise ValueError("weight.mode = posterior needs value.noise = learned, or a value.false_pass above 0")
        return self
