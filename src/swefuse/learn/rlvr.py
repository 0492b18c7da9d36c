"""Stage 2: reinforcement learning from verified rewards, with pairs weighed by the entropy of the value model's verdict.

The whole loop stands in ``train``: sample K candidates a task, verify, pair, ask the lagged value model, weigh, update the
value model,
update the policy. Formulas live in ``losses``, ``entropy``, ``pairs`` and ``value``; docs/algorithm.md section 6 is this loop
in words.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor

from swefuse.collect.agent import Verify
from swefuse.config import OnlyWhen
from swefuse.errors import ConfigError, InfraError
from swefuse.learn.batch import Example, PackedBatch, SftBatch, collate, pack
from swefuse.learn.entropy import EntropyAlarm, Mode, Weigher, effective_size, normalised_entropy
from swefuse.learn.losses import bt_loss, bt_ties_loss, group_loss, leave_one_out, minmax
from swefuse.learn.model import give_back, load, save, steady
from swefuse.learn.optimizers import OptimizerName, make_optimizer
from swefuse.learn.pairs import make_pairs, reward
from swefuse.learn.rollouts import Readings, Rollouts, describe, per_candidate, read, sample
from swefuse.learn.sft import SftSettings, sft_loss
from swefuse.learn.tokens import Codec, codec_for
from swefuse.learn.value import Candidates, Head, ResidualHead, fit_baseline, make_head, train_head
from swefuse.policy.local import LocalPolicy
from swefuse.records import Pair, Task
from swefuse.sandbox.choose import AUTO, resolve
from swefuse.scale.executor import ProcessExecutor
from swefuse.tasks.store import load_tasks
from swefuse.verify.many import init_worker, verify_many

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Progress = Callable[[int, int], None]
FALLBACK_BATCH = 24
MEMORY = 10  # rounds whose candidates the value model is trained on


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
    anchor: Annotated[float, OnlyWhen("objective", "bt", "bt_ties")] = Field(
        0.1, ge=0, description="share of the winner's negative log-likelihood in the pair objectives"
    )
    head: Literal["residual", "linear3"] = Field("residual", description="value head")
    head_lr: float = Field(3e-3, gt=0, description="value head learning rate")
    head_steps: int = Field(8, ge=1, description="value updates a round")
    warmup: int = Field(5, ge=0, description="rounds before weights act")
    weights: Mode = Field("soft", description="how pairs are weighed: off, soft, hard, posterior, recorded, random")
    lam: Annotated[float, OnlyWhen("weights", "soft", "posterior", "random")] = Field(
        2.0, ge=0, description="strength of the entropy weight"
    )
    false_pass: Annotated[float, OnlyWhen("weights", "posterior")] = Field(
        0.0, ge=0, lt=1, description="share of failing candidates that the verifier passes, for posterior"
    )
    tau: Annotated[float, Field(ge=0, le=1, description="entropy above which hard drops a pair"), OnlyWhen("weights", "hard")] = 0.8
    alarm: float = Field(3.0, gt=0, description="standard deviations of the mean entropy that ring the alarm")
    fallback: int = Field(3, ge=1, description="rounds without policy updates after an alarm")
    max_infra: float = Field(0.05, ge=0, le=1, description="share of ungraded candidates above which the run stops")
    micro_batch: int = Field(16, ge=1, description="tasks a forward pass")
    seed: int = Field(0, ge=0, description="draws of tasks and samples")

    @model_validator(mode="after")
    def _posterior_needs_noise(self) -> Self:
        """Without a noise rate every posterior is certain, so that ``posterior`` would be ``off`` under another name."""
        if self.weights == "posterior" and self.false_pass == 0:
            raise ValueError("weights = posterior needs false_pass above 0 (the verifier's rate of false passes)")
        if self.weights == "posterior" and self.head != "residual":
            raise ValueError("weights = posterior needs head = residual, which gives each candidate a chance of passing")
        return self


@dataclass(frozen=True)
class Learnt:
    """What stage 2 leaves beside the policy: the value head and the four-number baseline, fitted on the same candidates."""

    head: Head
    baseline: ResidualHead
    name: str
    width: int

    def save(self, path: Path) -> None:
        """Write both; the file appears whole or not at all."""
        partial = path.with_name(f".{path.name}.partial")
        torch.save(
            {"name": self.name, "width": self.width, "head": self.head.state_dict(), "baseline": self.baseline.state_dict()},
            partial,
        )
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> Learnt:
        """Read what ``save`` wrote."""
        stored = torch.load(path, weights_only=True)
        head, baseline = make_head(stored["name"], stored["width"]), ResidualHead(stored["width"], use_hidden=False)
        head.load_state_dict(stored["head"])
        baseline.load_state_dict(stored["baseline"])
        return cls(head, baseline, stored["name"], stored["width"])


@dataclass(frozen=True)
class Models:
    """The policy, trained in place; the reference, the frozen model of stage 1; and how both read an episode."""

    policy: PreTrainedModel
    reference: PreTrainedModel
    codec: Codec

    @property
    def pad(self) -> int:
        """Token id of padding; any id would do, since masks go by length."""
        return self.policy.config.pad_token_id or 0


class Round(NamedTuple):
    """What one round saw: candidates, their description, all pairs with weights, and whether the weights act yet."""

    data: Rollouts
    known: Candidates
    pairs: list[Pair]
    weighted: bool


def weigh(data: Rollouts, known: Candidates, head: Head, weigher: Weigher, settings: RlvrSettings) -> list[Pair]:
    """All pairs with P, h and weight; pair positions count over the whole round."""
    found: list[Pair] = []
    start = 0
    for task, members in zip(data.tasks, data.trajectories, strict=True):
        verdicts = [t.verdict for t in members if t.verdict is not None]
        for pair in make_pairs(task, verdicts, settings.reward):
            found.append(pair.model_copy(update={"a": pair.a + start, "b": pair.b + start}))
        start += len(members)
    places = known.graded.nonzero().flatten().tolist()
    q = dict(zip(places, head.scores(known.only(known.graded)), strict=True))
    verdicts_p = head.verdicts(known, [(pair.a, pair.b) for pair in found])
    recorded = [bool(x) for x in known.passed]
    rows = [(prior, (q[p.a], q[p.b]), (recorded[p.a], recorded[p.b]), p.label) for p, prior in zip(found, verdicts_p, strict=True)]
    weights = weigher.weights(rows, settings.seed)
    return [
        pair.model_copy(update={"p": p, "h": normalised_entropy(p), "weight": w})
        for pair, p, w in zip(found, verdicts_p, weights, strict=True)
    ]


def advantages(data: Rollouts, pairs: Sequence[Pair], settings: RlvrSettings) -> list[float]:
    """Leave-one-out advantage of every candidate times the mean weight of its pairs; 0 for what was not graded."""
    found: list[float] = []
    for members in data.trajectories:
        graded = [t.verdict for t in members if t.verdict is not None and t.verdict.outcome.graded]
        values = iter(leave_one_out([reward(verdict, settings.reward) for verdict in graded]))
        found += [next(values) if t.verdict is not None and t.verdict.outcome.graded else 0.0 for t in members]
    weights: dict[int, list[float]] = {}
    for pair in pairs:
        for side in (pair.a, pair.b):
            weights.setdefault(side, []).append(pair.weight)
    return [value * (sum(weights[n]) / len(weights[n]) if n in weights else 1.0) for n, value in enumerate(found)]


def update(models: Models, optimizer: torch.optim.Optimizer, seen: Round, settings: RlvrSettings) -> dict[str, float]:
    """One optimizer step on the round's candidates; tasks without any gradient are left out of the forward pass and counted.

    Raises InfraError, leaving the policy as it was, when the gradient is not finite.
    """
    data, gains = seen.data, advantages(seen.data, seen.pairs, settings)
    starts = [0]
    for members in data.trajectories:
        starts.append(starts[-1] + len(members))
    useful = [n for n in range(len(data.groups)) if _teaches(seen, gains, range(starts[n], starts[n + 1]), settings)]
    useful.sort(key=lambda n: data.groups[n].size)  # like lengths together: less padding
    tokens = sum(len(ids) for n in useful for ids in data.groups[n].candidates)
    optimizer.zero_grad()
    total = 0.0
    for at in range(0, len(useful), settings.micro_batch):
        chosen = useful[at : at + settings.micro_batch]
        batch = pack([data.groups[n] for n in chosen], models.policy.config.vocab_size, models.pad)
        flat = [c for n in chosen for c in range(starts[n], starts[n + 1])]
        readings = read(models.policy, batch)
        if settings.objective == "group":
            loss = _group_part(readings, batch, data, flat, gains, settings) * len(batch.candidate) / tokens
        else:
            loss = _pair_part(readings, batch, flat, seen, settings) / len(seen.pairs)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    norm = float(torch.nn.utils.clip_grad_norm_(models.policy.parameters(), 1.0))
    if not math.isfinite(norm):
        raise InfraError("the policy's gradient is not finite; the round was not applied. Lower the learning rate (rlvr.lr).")
    if useful:
        optimizer.step()
    return {"loss": total, "grad_norm": norm, "useful_groups": len(useful) / max(1, len(data.groups))}


def _teaches(seen: Round, gains: Sequence[float], members: range, settings: RlvrSettings) -> bool:
    if settings.objective == "group":
        return any(abs(gains[c]) > 1e-9 for c in members)
    return any(p.a in members and (p.label != "tie" or settings.objective == "bt_ties") for p in seen.pairs)


def _group_part(
    readings: Readings, batch: PackedBatch, data: Rollouts, flat: Sequence[int], gains: Sequence[float], settings: RlvrSettings
) -> Tensor:
    members, device = data.flat, readings.logprobs.device
    old = [lp for c in flat for step in members[c].steps if step.trace is not None for lp in step.trace.logprobs]
    length = per_candidate(torch.ones(len(batch.candidate)), batch.candidate)
    spread = minmax(per_candidate(readings.entropies.detach(), batch.candidate) / length)
    gain = torch.tensor([gains[c] for c in flat])[batch.candidate].to(device)
    clip = (settings.clip, settings.clip_slope)
    return group_loss(readings.logprobs, torch.tensor(old, device=device), gain, spread[batch.candidate].to(device), clip)


def _pair_part(readings: Readings, batch: PackedBatch, flat: Sequence[int], seen: Round, settings: RlvrSettings) -> Tensor:
    place = {c: n for n, c in enumerate(flat)}
    here = [p for p in seen.pairs if p.a in place and (p.label != "tie" or settings.objective == "bt_ties")]
    device = readings.logprobs.device
    owner = batch.candidate.to(device)
    total = torch.zeros(len(flat), device=device).index_add(0, owner, readings.logprobs)
    length = torch.zeros(len(flat), device=device).index_add(0, owner, torch.ones_like(readings.logprobs))
    gain = total - seen.known.numbers[torch.tensor(list(flat)), 0].to(device)
    winner = torch.tensor([place[p.b if p.label == "B" else p.a] for p in here])
    loser = torch.tensor([place[p.a if p.label == "B" else p.b] for p in here])
    weights = torch.tensor([p.weight for p in here], device=device)
    margin = settings.beta * (gain[winner] - gain[loser])
    tie = torch.tensor([p.label == "tie" for p in here], device=device)
    loss = bt_loss(margin, weights) if settings.objective == "bt" else bt_ties_loss(margin, tie, weights, 0.0)
    likelihood = (weights * (total / length)[winner])[~tie].sum()
    return loss - settings.anchor * likelihood


def train(
    models: Models,
    tasks: Sequence[Task],
    verify: Verify,
    settings: RlvrSettings,
    out: Path,
    progress: Progress = lambda done, total: None,
    gold: Callable[[], Sequence[Example]] = lambda: (),
) -> Learnt:
    """Train the policy against the reference and return the value head and its baseline.

    After an alarm the policy takes steps on the ``gold`` examples only, for ``fallback`` rounds; the value head keeps learning.
    ``out`` gets metrics.jsonl and events.jsonl. Raises ConfigError for fewer tasks than one round needs and InfraError
    when too many candidates could not be graded.
    """
    if len(tasks) < settings.tasks:
        raise ConfigError(f"{len(tasks)} tasks are fewer than one round needs ({settings.tasks})")
    out.mkdir(parents=True, exist_ok=True)
    optimizer = make_optimizer(models.policy, settings.optimizer, settings.lr, weight_decay=0.0)
    head = make_head(settings.head, models.reference.config.hidden_size)
    head_optimizer = torch.optim.Adam(head.parameters(), lr=settings.head_lr)
    alarm, quiet, memory = EntropyAlarm(settings.alarm), 0, list[Candidates]()
    with (out / "metrics.jsonl").open("w") as metrics, (out / "events.jsonl").open("w") as events:
        for number, places in enumerate(task_order(len(tasks), settings)):
            lagged = copy.deepcopy(head)  # weights come from before this round's update
            seen = look(models, [tasks[place] for place in places], verify, lagged, settings, number)
            memory = [*memory[-(MEMORY - 1) :], seen.known]
            head_loss = train_head(head, Candidates.join(memory), head_optimizer, settings.head_steps, settings.seed + number)
            mean_h = sum(pair.h for pair in seen.pairs) / max(1, len(seen.pairs))
            if alarm.update(mean_h) and seen.weighted:
                quiet = settings.fallback
                events.write(json.dumps({"round": number + 1, "event": "alarm", "mean_h": mean_h}) + "\n")
            done = fall_back(models, optimizer, gold(), number) if quiet else update(models, optimizer, seen, settings)
            quiet = max(0, quiet - 1)
            figures = {**token_counts(seen.data, done["useful_groups"]), **done, "head_loss": head_loss, "mean_h": mean_h}
            metrics.write(json.dumps(describe_round(number, seen, figures)) + "\n")
            metrics.flush()
            events.flush()
            give_back()
            progress(number + 1, settings.rounds)
    return Learnt(head, fit_baseline(Candidates.join(memory)), settings.head, models.reference.config.hidden_size)


def look(models: Models, tasks: Sequence[Task], verify: Verify, head: Head, settings: RlvrSettings, number: int) -> Round:
    """Sample and verify candidates, describe them by the reference, pair them, and weigh the pairs by the lagged ``head``.

    Raises InfraError when more than ``max_infra`` of the candidates could not be graded.
    """
    actor = LocalPolicy(models.policy, models.codec, "policy")
    data = sample(tasks, actor, models.codec, verify, settings.samples, settings.seed * 100_003 + number)
    check_infra([t.verdict is not None and t.verdict.outcome.graded for t in data.flat], settings.max_infra)
    known = describe(models.reference, data, settings.micro_batch, models.pad)
    weighted = settings.weights != "off" and number >= settings.warmup
    weigher = Weigher(settings.weights if weighted else "off", settings.lam, settings.tau, settings.false_pass)
    return Round(data, known, weigh(data, known, head, weigher, settings), weighted)


def fall_back(models: Models, optimizer: torch.optim.Optimizer, gold: Sequence[Example], number: int) -> dict[str, float]:
    """One supervised step on a batch of gold examples, which ones is drawn from the round's number; none if there are none."""
    if not gold:
        return {"useful_groups": 0.0}
    chosen = random.Random(f"fallback-{number}").sample(list(gold), min(len(gold), FALLBACK_BATCH))
    batch = collate(chosen, models.policy.config.vocab_size, models.pad)
    optimizer.zero_grad()
    loss, _ = sft_loss(
        models.policy,
        SftBatch(*(part.to(models.policy.device) for part in batch)),
        SftSettings(prompt_loss=0.0),
        len(batch.targets),
        1,
    )
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(models.policy.parameters(), 1.0)
    optimizer.step()
    return {"useful_groups": 0.0, "fallback_loss": loss.item()}


def token_counts(data: Rollouts, useful: float) -> dict[str, float]:
    """Tokens that a round put through the model: forward only (sampling, description) and with a backward pass (the update)."""
    packed = sum(group.size for group in data.groups)
    return {"forward_tokens": 2 * packed, "trained_tokens": packed * useful}


def check_infra(graded: Sequence[bool], most: float) -> None:
    """Raise InfraError when more than a share ``most`` of candidates could not be graded: the sandbox, not the policy, is at
    fault."""
    lost = graded.count(False)
    if lost > most * len(graded):
        raise InfraError(
            f"{lost} of {len(graded)} candidates could not be graded (FLAKY or INFRA); run 'swefuse doctor' and resume"
        )


def task_order(count: int, settings: RlvrSettings) -> list[list[int]]:
    """Positions of each round's tasks: every task once before any comes again."""
    order: list[list[int]] = []
    pool: list[int] = []
    epoch = 0
    while len(order) < settings.rounds:
        if len(pool) < settings.tasks:
            fresh = list(range(count))
            random.Random(f"{settings.seed}-{epoch}").shuffle(fresh)
            fresh.sort(key=pool.__contains__)  # those still waiting come last, so that no round holds a task twice
            pool, epoch = pool + fresh, epoch + 1
        order.append(pool[: settings.tasks])
        pool = pool[settings.tasks :]
    return order


def describe_round(number: int, seen: Round, figures: Mapping[str, float]) -> dict[str, object]:
    """One line of metrics.jsonl."""
    verdicts = [t.verdict for t in seen.data.flat if t.verdict is not None]
    traces = [step.trace for t in seen.data.flat for step in t.steps if step.trace is not None]
    decisive = [p for p in seen.pairs if p.label != "tie"]
    right = [(p.p[0] > p.p[1]) == (p.label == "A") for p in decisive]
    outcomes = Counter(verdict.outcome.value for verdict in verdicts)
    bins = Counter(min(9, int(pair.h * 10)) for pair in seen.pairs)
    return {
        "round": number + 1,
        "pass_rate": outcomes["PASSED"] / max(1, sum(verdict.outcome.graded for verdict in verdicts)),
        "policy_entropy": sum(sum(trace.entropies) for trace in traces) / max(1, len(traces)),
        "decisive_share": len(decisive) / max(1, len(seen.pairs)),
        "decisive_accuracy": sum(right) / len(right) if right else None,
        "effective_share": effective_size([p.weight for p in seen.pairs]) / max(1, len(seen.pairs)),
        "weights_on": seen.weighted,
        "h_bins": [bins[k] for k in range(10)],
        "outcomes": dict(outcomes),
        **figures,
    }


def run(settings: RlvrSettings, model: Path, tasks: Path, out: Path, progress: Progress = lambda done, total: None) -> Path:
    """Stage 2 from a stage-1 model folder on the train tasks of a tasks folder; ``out/model`` loads with ``from_pretrained``."""
    steady(settings.seed, 1)
    policy, tokenizer = load(model)
    both = Models(policy, load(model)[0], codec_for(tokenizer))
    chosen = [task for task in load_tasks(tasks / "tasks.jsonl") if task.split == "train"]
    with ProcessExecutor(2, init_worker, (resolve(AUTO),), chunk=8) as executor:
        learnt = train(both, chosen, lambda items: verify_many(items, executor), settings, out, progress)
    learnt.save(out / "value.pt")
    save(policy, tokenizer, out / "model")
    return out
