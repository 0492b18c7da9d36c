"""Updates of the policy in stage 2: advantages, the losses of a round put together, and SFT steps after an alarm."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from swefuse.learn.batch import Example, PackedBatch, SftBatch, collate, pack
from swefuse.learn.entropy import LABELS, Weigher
from swefuse.learn.holds import Hold
from swefuse.learn.losses import bt_loss, bt_ties_loss, clipped_tokens, group_loss, importance, minmax
from swefuse.learn.minibatches import Tally, minibatches
from swefuse.learn.pairs import reward
from swefuse.learn.rollouts import Readings, Rollouts, per_candidate, read
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.sft import SftSettings, sft_loss
from swefuse.learn.tokens import Codec
from swefuse.learn.value import Candidates
from swefuse.records import Pair

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FALLBACK_BATCH = 24


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
    """What one round saw: candidates, their description, all pairs with weights, and whether the weights act yet.

    ``reference``: for each task the reference's log-probs of its candidates' tokens, one after the other. ``judged``: how good the
    value model's verdicts on them were, before it learnt from them. ``how``: what made the weights.
    """

    data: Rollouts
    known: Candidates
    pairs: list[Pair]
    weighted: bool
    reference: tuple[Tensor, ...] = ()
    judged: Mapping[str, float] = MappingProxyType({})
    how: Weigher = Weigher("off")


def advantages(data: Rollouts, pairs: Sequence[Pair], settings: RlvrSettings) -> list[float]:
    """Advantage of every candidate: the mean over its pairs of ``w (c_own - c_other)``; 0 for what was not graded.

    With all weights 1 that is the leave-one-out advantage (Ahmadian et al. 2024): ``c_own`` minus the mean of the others. So a pair
    moves its two candidates against each other by as much as it may teach, and a false win moves nobody where its weight is 0. Of a
    pair whose label is doubted the expected difference counts, ``P'_A - P'_B``.
    """
    earned = [reward(t.verdict, settings.reward) if t.verdict is not None and t.verdict.outcome.graded else 0.0 for t in data.flat]
    total, count = [0.0] * len(earned), [0] * len(earned)
    for pair in pairs:
        difference = earned[pair.a] - earned[pair.b] if pair.expected is None else pair.expected[0] - pair.expected[1]
        ahead = pair.weight * difference
        for side, gain in ((pair.a, ahead), (pair.b, -ahead)):
            total[side] += gain
            count[side] += 1
    return [gain / max(1, number) for gain, number in zip(total, count, strict=True)]


@dataclass
class _Lesson:
    """What an update works on: the round, each candidate's advantage, where each group's candidates begin, their token log-probs
    when sampled and, where importance weights count, before the first step; the groups with unlike advantages, what else holds the
    policy; and what was seen of the tokens."""

    seen: Round
    gains: list[float]
    starts: list[int]
    sampled: list[list[float]]
    useful: frozenset[int]
    hold: Hold
    before: list[list[float]] | None = None
    tally: Tally = field(default_factory=Tally)

    def members(self, groups: Sequence[int]) -> list[int]:
        """The candidates of groups."""
        return [c for n in groups for c in range(self.starts[n], self.starts[n + 1])]

    def batches(self, groups: Sequence[int], models: Models, size: int) -> Iterator[tuple[PackedBatch, list[int], Sequence[int]]]:
        """The groups packed, ``size`` at a time, with the candidates of each batch and its groups."""
        for at in range(0, len(groups), size):
            chosen = groups[at : at + size]
            packed = pack([self.seen.data.groups[n] for n in chosen], models.policy.config.vocab_size, models.pad)
            yield packed, self.members(chosen), chosen


def update(
    models: Models, optimizer: torch.optim.Optimizer, seen: Round, settings: RlvrSettings, number: int = 0
) -> dict[str, float]:
    """The optimizer steps of round ``number``; tasks without any gradient are left out of the forward pass and counted.

    There are ``off_policy.updates`` of them, each on a part of the groups, which one is drawn from the round's number. ``loss`` is
    their mean and ``grad_norm`` the largest; where that is not finite, the policy is left as it was before that step, the last.
    """
    data, gains = seen.data, advantages(seen.data, seen.pairs, settings)
    starts = [0]
    for members in data.trajectories:
        starts.append(starts[-1] + len(members))
    useful = [n for n in range(len(data.groups)) if _teaches(seen, gains, range(starts[n], starts[n + 1]), settings)]
    hold = Hold.of(data, seen.known, seen.reference, settings)
    taken = sorted(sorted({*useful, *hold.groups}), key=lambda n: data.groups[n].size)  # like lengths together: less padding
    traces = [[lp for step in t.steps if step.trace is not None for lp in step.trace.logprobs] for t in data.flat]
    lesson = _Lesson(seen, gains, starts, traces, frozenset(useful), hold)
    if settings.off_policy.is_cap:
        lesson.before = _logprobs(models, lesson, taken, settings)
    losses, norms = [], []
    parts = minibatches(taken, settings.off_policy.updates, f"{settings.seed}-{number}")
    for part in parts:
        loss, norm = _step(models, optimizer, lesson, part, settings, len(parts))
        losses.append(loss)
        norms.append(norm)
        if not math.isfinite(norm):
            break
    done = {"loss": sum(losses) / len(parts), "grad_norm": norms[-1] if not math.isfinite(norms[-1]) else max(norms)}
    told = lesson.tally.figures() if settings.objective == "group" else {}
    shares = {"useful_groups": len(useful) / max(1, len(data.groups))}
    if hold.groups:
        shares["read_groups"] = len(taken) / max(1, len(data.groups))
    return {**done, **told, **shares}


def _step(
    models: Models, optimizer: torch.optim.Optimizer, lesson: _Lesson, groups: Sequence[int], settings: RlvrSettings, steps: int
) -> tuple[float, float]:
    """One optimizer step on some groups, one of ``steps``: loss and gradient norm."""
    seen = lesson.seen
    tokens = sum(len(ids) for n in groups if n in lesson.useful for ids in seen.data.groups[n].candidates)
    optimizer.zero_grad()
    total = 0.0
    for batch, flat, chosen in lesson.batches(groups, models, settings.micro_batch):
        readings = read(models.policy, batch)
        if settings.objective == "group":
            loss = _group_part(readings, batch, lesson, flat, settings) * len(batch.candidate) / max(1, tokens)
            loss = loss + lesson.hold.loss(readings, batch.candidate, chosen, flat) * steps
        else:
            loss = _pair_part(readings, batch, flat, seen, settings) * steps / len(seen.pairs)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    norm = float(torch.nn.utils.clip_grad_norm_(models.policy.parameters(), 1.0))
    if groups and math.isfinite(norm):
        optimizer.step()
    return total, norm


@torch.no_grad()
def _logprobs(models: Models, lesson: _Lesson, groups: Sequence[int], settings: RlvrSettings) -> list[list[float]]:
    """Log-probs of the tokens of each candidate of ``groups`` under the policy as it is; none of the others."""
    found: list[list[float]] = [[] for _ in lesson.sampled]
    for batch, flat, _ in lesson.batches(groups, models, settings.micro_batch):
        for place, value in zip(batch.candidate.tolist(), read(models.policy, batch).logprobs.tolist(), strict=True):
            found[flat[place]].append(value)
    return found


def _teaches(seen: Round, gains: Sequence[float], members: range, settings: RlvrSettings) -> bool:
    if settings.objective == "group":
        return any(abs(gains[c]) > 1e-9 for c in members)
    ties = settings.objective == "bt_ties"
    return any(p.a in members and (p.label != "tie" or ties or p.expected is not None) for p in seen.pairs)


def _group_part(readings: Readings, batch: PackedBatch, lesson: _Lesson, flat: Sequence[int], settings: RlvrSettings) -> Tensor:
    device = readings.logprobs.device
    old = torch.tensor([lp for c in flat for lp in lesson.sampled[c]], device=device)
    weights = None
    if lesson.before is not None:
        start = torch.tensor([lp for c in flat for lp in lesson.before[c]], device=device)
        weights, old = importance(start, old, settings.off_policy.is_cap), start
    length = per_candidate(torch.ones(len(batch.candidate)), batch.candidate)
    spread = minmax(per_candidate(readings.entropies.detach(), batch.candidate) / length)
    gain = torch.tensor([lesson.gains[c] for c in flat])[batch.candidate].to(device)
    by_token, clip = spread[batch.candidate].to(device), (settings.clip, settings.clip_slope)
    lesson.tally.add(clipped_tokens(readings.logprobs, old, gain, by_token, clip), weights)
    return group_loss(readings.logprobs, old, gain, by_token, clip, weights)


class Contest(NamedTuple):
    """One outcome of a pair, as the pair losses take it: ``winner`` and ``loser`` (either way round for a tie), what it counts."""

    winner: int
    loser: int
    tie: bool
    weight: float


def contests(pair: Pair, ties: bool) -> list[Contest]:
    """The outcomes of a pair: its label, or where that is doubted all three by their probabilities. Ties only if ``ties``."""
    chances = {pair.label: 1.0} if pair.expected is None else dict(zip(LABELS, pair.expected, strict=True))
    found = []
    for label, chance in chances.items():
        if chance > 0 and (ties or label != "tie"):
            first, second = (pair.b, pair.a) if label == "B" else (pair.a, pair.b)
            found.append(Contest(first, second, label == "tie", chance * pair.weight))
    return found


def _pair_part(readings: Readings, batch: PackedBatch, flat: Sequence[int], seen: Round, settings: RlvrSettings) -> Tensor:
    place = {c: n for n, c in enumerate(flat)}
    ties = settings.objective == "bt_ties"
    here = [contest for pair in seen.pairs if pair.a in place for contest in contests(pair, ties)]
    device = readings.logprobs.device
    owner = batch.candidate.to(device)
    total = torch.zeros(len(flat), device=device).index_add(0, owner, readings.logprobs)
    length = torch.zeros(len(flat), device=device).index_add(0, owner, torch.ones_like(readings.logprobs))
    gain = total - seen.known.numbers[torch.tensor(list(flat)), 0].to(device)
    winner, loser = (torch.tensor([place[one] for one in side]) for side in zip(*((c.winner, c.loser) for c in here), strict=True))
    weights = torch.tensor([contest.weight for contest in here], device=device)
    margin = settings.beta * (gain[winner] - gain[loser])
    tie = torch.tensor([contest.tie for contest in here], device=device)
    loss = bt_ties_loss(margin, tie, weights, 0.0) if ties else bt_loss(margin, weights)
    likelihood = (weights * (total / length)[winner])[~tie].sum()
    return loss - settings.likelihood * likelihood


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
        len(batch.targets),
        1,
        SftSettings(prompt_loss=0.0),
    )
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(models.policy.parameters(), 1.0)
    optimizer.step()
    return {"useful_groups": 0.0, "fallback_loss": loss.item()}
