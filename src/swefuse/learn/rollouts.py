"""Candidates sampled from a policy, and what a model reads off them in one packed forward pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from swefuse.collect import protocol
from swefuse.collect.agent import Verify, rollouts
from swefuse.collect.episode import How, Start
from swefuse.learn.batch import Group, PackedBatch, open_tokens, pack
from swefuse.learn.losses import token_entropies, token_logprobs
from swefuse.learn.model import output_layer
from swefuse.learn.tokens import Codec
from swefuse.learn.value import Candidates
from swefuse.policy.base import Policy
from swefuse.policy.trie import autocast
from swefuse.records import Outcome, Task, Trajectory

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Rollouts:
    """What one round sampled: per task its trajectories, and the ids of each candidate with what was open to it."""

    tasks: tuple[Task, ...]
    trajectories: tuple[tuple[Trajectory, ...], ...]
    groups: tuple[Group, ...]

    @property
    def flat(self) -> list[Trajectory]:
        """All candidates, task by task; positions in pairs and descriptions count in this order."""
        return [t for members in self.trajectories for t in members]

    def joined(self, other: Rollouts) -> Rollouts:
        """These, and then the others."""
        return Rollouts(self.tasks + other.tasks, self.trajectories + other.trajectories, self.groups + other.groups)


@dataclass(frozen=True)
class Readings:
    """One forward pass over packed candidates: per token ``logprobs`` [N] and ``entropies`` [N]; ``last`` hidden [C, D]."""

    logprobs: Tensor
    entropies: Tensor
    last: Tensor


def sample(
    tasks: Sequence[Task], policy: Policy, codec: Codec, verify: Verify, samples: int, seed: int, ahead: bool = False
) -> Rollouts:
    """K trajectories a task, verified, with the ids of what was chosen. Tasks in which nothing was left to choose are dropped.

    ``ahead``: verify those of some tasks while others are sampled; see ``collect.episode.How``.
    """
    starts = [Start(task, seed * 1000 + k) for task in tasks for k in range(samples)]
    flat = rollouts(starts, policy, verify, "rlvr", How(ahead=ahead))
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


def read(model: PreTrainedModel, batch: PackedBatch, temperature: float = 1.0) -> Readings:
    """Masked log-probs and entropies of every candidate token at a temperature, and each candidate's last hidden state."""
    with autocast(model):
        inputs = {"input_ids": batch.ids, "position_ids": batch.positions, "attention_mask": batch.mask.to(model.dtype)}
        hidden = model.base_model(**{name: value.to(model.device) for name, value in inputs.items()}).last_hidden_state
        logits = output_layer(model)(hidden[batch.row, batch.column])
    if temperature != 1.0:
        logits = logits.float() / temperature
    allowed = batch.allowed.to(model.device)
    logprobs = token_logprobs(logits, batch.targets.to(model.device), allowed)
    return Readings(logprobs, token_entropies(logits, allowed), hidden[batch.last_row, batch.last_column].float())


def repeated(data: Rollouts) -> float:
    """The share of samples that say what another of their task has said: 0 where all differ, 1 where all of each task are alike."""
    shares = [(len(g.candidates) - len(set(g.candidates))) / max(1, len(g.candidates) - 1) for g in data.groups]
    return sum(shares) / max(1, len(shares))


def per_candidate(values: Tensor, candidate: Tensor) -> Tensor:
    """Sum of token values [N] for each candidate [C]."""
    return torch.zeros(int(candidate.max()) + 1, dtype=values.dtype).index_add(0, candidate, values.cpu())


def describe(reference: PreTrainedModel, data: Rollouts, micro_batch: int, pad: int) -> Candidates:
    """What the value model may look at for every candidate: log-probs and last hidden state of the reference, votes. No
    outcomes."""
    return described(reference, data, micro_batch, pad)[0]


@torch.no_grad()
def described(reference: PreTrainedModel, data: Rollouts, micro_batch: int, pad: int) -> tuple[Candidates, tuple[Tensor, ...]]:
    """``describe``, and for each task the reference's log-probs of its candidates' tokens, one after the other."""
    numbers: list[Tensor] = [torch.empty(0)] * len(data.groups)
    hidden, tokens = list(numbers), list(numbers)
    order = sorted(range(len(data.groups)), key=lambda n: data.groups[n].size)  # like lengths together: less padding
    for at in range(0, len(order), micro_batch):
        chosen = order[at : at + micro_batch]
        batch = pack([data.groups[n] for n in chosen], reference.config.vocab_size, pad)
        seen = read(reference, batch)
        total = per_candidate(seen.logprobs, batch.candidate)
        length = per_candidate(torch.ones(len(batch.candidate)), batch.candidate)
        counts = [len(data.groups[n].candidates) for n in chosen]
        both = torch.split(torch.stack([total, total / length], -1), counts)
        lengths = [sum(map(len, data.groups[n].candidates)) for n in chosen]
        parts = (both, torch.split(seen.last.cpu(), counts), torch.split(seen.logprobs.cpu(), lengths))
        for n, own, last, logprobs in zip(chosen, *parts, strict=True):
            numbers[n], hidden[n], tokens[n] = own, last, logprobs
    votes = [math.log(group.candidates.count(ids)) for group in data.groups for ids in group.candidates]
    passed = [float(t.verdict is not None and t.verdict.outcome is Outcome.PASSED) for t in data.flat]
    graded = [t.verdict is not None and t.verdict.outcome.graded for t in data.flat]
    owner = tuple(number for number, members in enumerate(data.trajectories) for _ in members)
    known = Candidates(
        torch.cat([torch.cat(numbers), torch.tensor(votes)[:, None]], -1),
        torch.cat(hidden),
        torch.tensor(passed),
        torch.tensor(graded),
        owner,
        tuple((group.prompt, ids) for group in data.groups for ids in group.candidates),
    )
    return known, tuple(tokens)
