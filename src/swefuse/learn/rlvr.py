"""Stage 2: reinforcement learning from verified rewards, with pairs weighed by the entropy of the value model's verdict.

The whole loop stands in ``train``: sample K candidates a task, verify, pair, ask the lagged value model, weigh, update the value model,
update the policy. Formulas live in ``losses``, ``entropy``, ``pairs`` and ``value``; docs/algorithm.md section 6 is this loop in words.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from swefuse.collect import protocol
from swefuse.collect.agent import Start, Verify, rollouts
from swefuse.errors import ConfigError, InfraError
from swefuse.learn.batch import Group, PackedBatch, open_tokens, pack
from swefuse.learn.entropy import EntropyAlarm, Mode, Weigher, effective_size, normalised_entropy
from swefuse.learn.losses import bt_loss, bt_ties_loss, group_loss, leave_one_out, minmax, token_entropies, token_logprobs
from swefuse.learn.pairs import make_pairs, reward
from swefuse.learn.tokens import Codec
from swefuse.learn.value import Candidates, Head, ResidualHead, fit_baseline, make_head, train_head
from swefuse.policy.local import LocalPolicy, autocast
from swefuse.records import Pair, Task, Trajectory

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Progress = Callable[[int, int], None]


class RlvrSettings(BaseModel):
    """Settings of stage 2; rounds, never seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rounds: int = Field(40, ge=1, description="rounds of sampling and updating")
    tasks: int = Field(64, ge=1, description="tasks a round")
    samples: int = Field(4, ge=2, description="candidates a task (K)")
    objective: Literal["group", "bt", "bt_ties"] = Field("group", description="policy objective")
    reward: Literal["passed", "score"] = Field("passed", description="what a candidate earns: pass or fail, or the verified score")
    lr: float = Field(2e-4, gt=0, description="policy learning rate, a tenth of stage 1's")
    clip: float = Field(0.2, gt=0, lt=1, description="PPO clip range epsilon")
    clip_slope: float = Field(0.5, ge=0, description="how far a rollout's entropy widens the clip range (0: plain PPO)")
    beta: float = Field(0.1, gt=0, description="strength of the reference in the pair objectives")
    anchor: float = Field(0.1, ge=0, description="share of the winner's negative log-likelihood in the pair objectives")
    head: Literal["residual", "linear3"] = Field("residual", description="value head")
    head_lr: float = Field(3e-3, gt=0, description="value head learning rate")
    head_steps: int = Field(8, ge=1, description="value updates a round")
    warmup: int = Field(5, ge=0, description="rounds before weights act")
    weights: Mode = Field("soft", description="how pairs are weighed: off, soft, hard, posterior, recorded, random")
    lam: float = Field(2.0, ge=0, description="strength of the entropy weight")
    tau: float = Field(0.8, ge=0, le=1, description="entropy above which hard drops a pair")
    alarm: float = Field(3.0, gt=0, description="standard deviations of the mean entropy that ring the alarm")
    fallback: int = Field(3, ge=1, description="rounds without policy updates after an alarm")
    max_infra: float = Field(0.05, ge=0, le=1, description="share of ungraded candidates above which the run stops")
    micro_batch: int = Field(16, ge=1, description="tasks a forward pass")
    seed: int = Field(0, ge=0, description="draws of tasks and samples")


@dataclass(frozen=True)
class Rollouts:
    """What one round sampled: per task its trajectories, and the ids of each candidate with what was open to it."""

    tasks: tuple[Task, ...]
    trajectories: tuple[tuple[Trajectory, ...], ...]
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Readings:
    """One forward pass over packed candidates: per token ``logprobs`` [N] and ``entropies`` [N]; ``last`` hidden [C, D]."""

    logprobs: Tensor
    entropies: Tensor
    last: Tensor


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
        torch.save({"name": self.name, "width": self.width, "head": self.head.state_dict(), "baseline": self.baseline.state_dict()}, partial)
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> Learnt:
        """Read what ``save`` wrote."""
        stored = torch.load(path, weights_only=True)
        head, baseline = make_head(stored["name"], stored["width"]), ResidualHead(stored["width"], use_hidden=False)
        head.load_state_dict(stored["head"])
        baseline.load_state_dict(stored["baseline"])
        return cls(head, baseline, stored["name"], stored["width"])


def sample(tasks: Sequence[Task], policy: LocalPolicy, codec: Codec, verify: Verify, samples: int, seed: int) -> Rollouts:
    """K trajectories a task, verified, with the ids of what was chosen. Tasks in which nothing was left to choose are dropped."""
    starts = [Start(task, seed * 1000 + k) for task in tasks for k in range(samples)]
    flat = rollouts(starts, policy, verify, "rlvr")
    kept, trajectories, groups = [], [], []
    for at, task in enumerate(tasks):
        members = tuple(flat[at * samples : (at + 1) * samples])
        group = choice_group(task, members, codec)
        if group is not None:
            kept.append(task)
            trajectories.append(members)
            groups.append(group)
    return Rollouts(tuple(kept), tuple(trajectories), tuple(groups))


def choice_group(task: Task, members: Sequence[Trajectory], codec: Codec) -> Group | None:
    """The shared prompt and each member's chosen ids at the one real choice of the protocol, exactly as they were sampled."""
    places = [next((n for n, step in enumerate(t.steps) if step.trace is not None), None) for t in members]
    place = places[0]
    if place is None or any(other != place for other in places):
        return None
    steps = members[0].steps[:place]
    prompt = codec.row(task, steps, prompt=True).ids
    messages = codec.messages(task, protocol.choices(task, task.files, steps))
    chosen = [step.trace.token_ids for t in members if (step := t.steps[place]).trace is not None]
    return Group(prompt, tuple(chosen), tuple(open_tokens(messages, ids) for ids in chosen))


def read(model: PreTrainedModel, batch: PackedBatch) -> Readings:
    """Masked log-probs and entropies of every candidate token, and each candidate's last hidden state."""
    with autocast(model):
        inputs = {"input_ids": batch.ids, "position_ids": batch.positions, "attention_mask": batch.mask}
        hidden = model.base_model(**{name: value.to(model.device) for name, value in inputs.items()}).last_hidden_state
        logits = model.get_output_embeddings()(hidden[batch.row, batch.column])
    allowed = batch.allowed.to(model.device)
    logprobs = token_logprobs(logits, batch.targets.to(model.device), allowed)
    return Readings(logprobs, token_entropies(logits, allowed), hidden[batch.last_row, batch.last_column].float())


def per_candidate(values: Tensor, candidate: Tensor) -> Tensor:
    """Sum of token values [N] for each candidate [C]."""
    return torch.zeros(int(candidate.max()) + 1, dtype=values.dtype).index_add(0, candidate, values.cpu())


@torch.no_grad()
def describe(reference: PreTrainedModel, data: Rollouts, settings: RlvrSettings, pad: int) -> Candidates:
    """What the value model may look at for every candidate: log-probs and last hidden state of the reference, votes. No outcomes."""
    numbers, hidden = [], []
    for at in range(0, len(data.groups), settings.micro_batch):
        batch = pack(data.groups[at : at + settings.micro_batch], reference.config.vocab_size, pad)
        seen = read(reference, batch)
        total = per_candidate(seen.logprobs, batch.candidate)
        length = per_candidate(torch.ones(len(batch.candidate)), batch.candidate)
        numbers.append(torch.stack([total, total / length], -1))
        hidden.append(seen.last.cpu())
    votes = [math.log(group.candidates.count(ids)) for group in data.groups for ids in group.candidates]
    passed = [float(t.verdict is not None and t.verdict.outcome.value == "PASSED") for members in data.trajectories for t in members]
    owner = tuple(number for number, members in enumerate(data.trajectories) for _ in members)
    return Candidates(torch.cat([torch.cat(numbers), torch.tensor(votes)[:, None]], -1), torch.cat(hidden), torch.tensor(passed), owner)


def weigh(data: Rollouts, known: Candidates, head: Head, weigher: Weigher, settings: RlvrSettings) -> tuple[list[Pair], list[Pair]]:
    """``(all pairs, decisive pairs)`` with P, h and weight; pair positions count over the whole round."""
    found: list[Pair] = []
    start = 0
    for task, members in zip(data.tasks, data.trajectories, strict=True):
        verdicts = [t.verdict for t in members if t.verdict is not None]
        for pair in make_pairs(task.id, verdicts, settings.reward):
            found.append(pair.model_copy(update={"a": pair.a + start, "b": pair.b + start}))
        start += len(members)
    q = head.scores(known)
    verdicts_p = head.verdicts(known, [(pair.a, pair.b) for pair in found])
    recorded = [bool(x) for x in known.passed]
    rows = [((q[p.a], q[p.b]), (recorded[p.a], recorded[p.b]), p.label) for p in found]
    weights = weigher.weights(rows, settings.seed)
    pairs = [
        pair.model_copy(update={"p": p, "h": normalised_entropy(p), "weight": w}) for pair, p, w in zip(found, verdicts_p, weights, strict=True)
    ]
    return pairs, [pair for pair in pairs if pair.label != "tie"]


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


def update(
    policy: PreTrainedModel, optimizer: torch.optim.Optimizer, data: Rollouts, pairs: Sequence[Pair], known: Candidates, settings: RlvrSettings, pad: int
) -> dict[str, float]:
    """One optimizer step on the round's candidates. Groups without any gradient are left out of the forward pass and counted."""
    gains = advantages(data, pairs, settings)
    starts = [0]
    for members in data.trajectories:
        starts.append(starts[-1] + len(members))
    if settings.objective == "group":
        useful = [n for n in range(len(data.groups)) if any(abs(g) > 1e-9 for g in gains[starts[n] : starts[n + 1]])]
    else:
        paired = {pair.task_id for pair in pairs if pair.label != "tie" or settings.objective == "bt_ties"}
        useful = [n for n, task in enumerate(data.tasks) if task.id in paired]
    optimizer.zero_grad()
    tokens = sum(len(ids) for n in useful for ids in data.groups[n].candidates)
    total = 0.0
    for at in range(0, len(useful), settings.micro_batch):
        chosen = useful[at : at + settings.micro_batch]
        batch = pack([data.groups[n] for n in chosen], policy.config.vocab_size, pad)
        flat = [c for n in chosen for c in range(starts[n], starts[n + 1])]
        seen = read(policy, batch)
        if settings.objective == "group":
            loss = _group_part(seen, batch, data, flat, gains, settings) * len(batch.candidate) / tokens
        else:
            loss = _pair_part(seen, batch, flat, pairs, known, settings) / max(1, len(pairs))
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss)
    norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    if not math.isfinite(float(norm)):
        raise InfraError("the policy's gradient is not finite; the round was not applied. Lower the learning rate or look at its batch.")
    if useful:
        optimizer.step()
    return {"loss": total, "grad_norm": float(norm), "useful_groups": len(useful) / max(1, len(data.groups))}


def _old_logprobs(data: Rollouts, flat: Sequence[int]) -> Tensor:
    members = [t for group in data.trajectories for t in group]
    return torch.tensor([lp for c in flat for step in members[c].steps if step.trace is not None for lp in step.trace.logprobs])


def _group_part(seen: Readings, batch: PackedBatch, data: Rollouts, flat: Sequence[int], gains: Sequence[float], settings: RlvrSettings) -> Tensor:
    old = _old_logprobs(data, flat).to(seen.logprobs.device)
    length = per_candidate(torch.ones(len(batch.candidate)), batch.candidate)
    spread = minmax(per_candidate(seen.entropies.detach(), batch.candidate) / length)
    gain = torch.tensor([gains[c] for c in flat])
    owner = batch.candidate
    device = seen.logprobs.device
    return group_loss(seen.logprobs, old, gain[owner].to(device), spread[owner].to(device), (settings.clip, settings.clip_slope))


def _pair_part(
    seen: Readings, batch: PackedBatch, flat: Sequence[int], pairs: Sequence[Pair], known: Candidates, settings: RlvrSettings
) -> Tensor:
    place = {c: n for n, c in enumerate(flat)}
    here = [p for p in pairs if p.a in place and (p.label != "tie" or settings.objective == "bt_ties")]
    if not here:
        return seen.logprobs.sum() * 0.0
    total = torch.zeros(len(flat), dtype=seen.logprobs.dtype, device=seen.logprobs.device)
    total = total.index_add(0, batch.candidate.to(total.device), seen.logprobs)
    gain = total - known.numbers[torch.tensor(list(flat)), 0].to(total.device)
    winner = torch.tensor([place[p.b if p.label == "B" else p.a] for p in here])
    loser = torch.tensor([place[p.a if p.label == "B" else p.b] for p in here])
    weights = torch.tensor([p.weight for p in here], device=total.device)
    margin = settings.beta * (gain[winner] - gain[loser])
    tie = torch.tensor([p.label == "tie" for p in here], device=total.device)
    loss = bt_loss(margin, weights) if settings.objective == "bt" else bt_ties_loss(margin, tie, weights, 0.0)
    length = per_candidate(torch.ones(len(batch.candidate)), batch.candidate).to(total.device)
    likelihood = (weights * (total / length)[winner])[~tie].sum()
    return loss - settings.anchor * likelihood


def train(
    policy: PreTrainedModel, reference: PreTrainedModel, codec: Codec, tasks: Sequence[Task], verify: Verify, settings: RlvrSettings, out: Path,
    progress: Progress = lambda done, total: None,
) -> Learnt:  # fmt: skip
    """Train ``policy`` in place against ``reference`` (the SFT model) and return the value head and its baseline.

    ``out`` gets metrics.jsonl, events.jsonl and pairs.jsonl. Raises ConfigError for fewer tasks than one round needs and InfraError
    when too many candidates could not be graded.
    """
    if len(tasks) < settings.tasks:
        raise ConfigError(f"{len(tasks)} tasks are fewer than one round needs ({settings.tasks})")
    out.mkdir(parents=True, exist_ok=True)
    pad = policy.config.pad_token_id or 0
    actor = LocalPolicy(policy, codec, "policy")
    optimizer = torch.optim.AdamW(policy.parameters(), lr=settings.lr, betas=(0.9, 0.95), weight_decay=0.0)
    head = make_head(settings.head, reference.config.hidden_size)
    head_optimizer = torch.optim.Adam(head.parameters(), lr=settings.head_lr)
    alarm, quiet, memory = EntropyAlarm(settings.alarm), 0, list[Candidates]()
    order = _task_order(tasks, settings)
    with (out / "metrics.jsonl").open("w") as metrics, (out / "events.jsonl").open("w") as events, (out / "pairs.jsonl").open("w") as kept:
        for number in range(settings.rounds):
            chosen = [tasks[n] for n in order[number]]
            data = sample(chosen, actor, codec, verify, settings.samples, settings.seed * 100_003 + number)
            outcomes = [t.verdict.outcome for members in data.trajectories for t in members if t.verdict is not None]
            check_infra([o.graded for o in outcomes], settings.max_infra)
            known = describe(reference, data, settings, pad)
            lagged = copy.deepcopy(head)  # weights come from before this round's update
            mode: Mode = settings.weights if number >= settings.warmup else "off"
            pairs, decisive = weigh(data, known, lagged, Weigher(mode, settings.lam, settings.tau), settings)
            memory = [*memory[-9:], known]
            head_loss = train_head(head, Candidates.join(memory), head_optimizer, settings.head_steps, settings.seed + number)
            mean_h = sum(p.h for p in pairs) / max(1, len(pairs))
            if alarm.update(mean_h) and number >= settings.warmup:
                quiet = settings.fallback
                events.write(json.dumps({"round": number, "event": "alarm", "what": f"mean verdict entropy {mean_h:.3f} jumped"}) + "\n")
            done = {} if quiet else update(policy, optimizer, data, pairs, known, settings, pad)
            quiet = max(0, quiet - 1)
            spent = token_counts(data, done.get("useful_groups", 0.0), quiet > 0)
            row = _row(number, data, pairs, decisive, {**spent, **done, "head_loss": head_loss, "mean_h": mean_h, "weights_on": float(mode != "off")})
            metrics.write(json.dumps(row) + "\n")
            kept.writelines(pair.model_dump_json() + "\n" for pair in pairs[:: max(1, len(pairs) // 50)])
            metrics.flush()
            progress(number + 1, settings.rounds)
    return Learnt(head, fit_baseline(Candidates.join(memory)), settings.head, reference.config.hidden_size)


def token_counts(data: Rollouts, useful: float, quiet: bool) -> dict[str, float]:
    """Tokens that a round put through the model: forward only (sampling, description) and with a backward pass (the update)."""
    packed = sum(len(g.prompt) + sum(map(len, g.candidates)) for g in data.groups)
    return {"forward_tokens": 2 * packed, "trained_tokens": 0.0 if quiet else packed * useful}


def check_infra(graded: Sequence[bool], most: float) -> None:
    """Raise InfraError when more than a share ``most`` of candidates could not be graded: the sandbox, not the policy, is at fault."""
    lost = graded.count(False)
    if lost > most * len(graded):
        raise InfraError(f"{lost} of {len(graded)} candidates could not be graded (FLAKY or INFRA); run 'swefuse doctor' and resume")


def _task_order(tasks: Sequence[Task], settings: RlvrSettings) -> list[list[int]]:
    """Positions of each round's tasks: every task once before any comes again."""
    order: list[list[int]] = []
    pool: list[int] = []
    epoch = 0
    while len(order) < settings.rounds:
        if len(pool) < settings.tasks:
            fresh = list(range(len(tasks)))
            random.Random(f"{settings.seed}-{epoch}").shuffle(fresh)
            pool, epoch = pool + fresh, epoch + 1
        order.append(pool[: settings.tasks])
        pool = pool[settings.tasks :]
    return order


def _row(number: int, data: Rollouts, pairs: Sequence[Pair], decisive: Sequence[Pair], extra: dict[str, float]) -> dict[str, object]:
    members = [t for group in data.trajectories for t in group]
    verdicts = [t.verdict for t in members if t.verdict is not None]
    traces = [step.trace for t in members for step in t.steps if step.trace is not None]
    entropy = sum(sum(trace.entropies) for trace in traces) / max(1, len(traces))
    weights = [p.weight for p in pairs]
    bins = [0] * 10
    for pair in pairs:
        bins[min(9, int(pair.h * 10))] += 1
    outcomes: dict[str, int] = {}
    for verdict in verdicts:
        outcomes[verdict.outcome.value] = outcomes.get(verdict.outcome.value, 0) + 1
    right = [(p.p[0] > p.p[1]) == (p.label == "A") for p in decisive]
    return {
        "round": number + 1,
        "pass_rate": outcomes.get("PASSED", 0) / max(1, len(verdicts)),
        "policy_entropy": entropy,
        "decisive_share": len(decisive) / max(1, len(pairs)),
        "decisive_accuracy": sum(right) / len(right) if right else None,
        "effective_share": effective_size(weights) / max(1, len(weights)),
        "h_bins": bins,
        "outcomes": outcomes,
        **extra,
    }
