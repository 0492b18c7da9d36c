"""Updates of the policy in stage 2: advantages, the losses of a round put together, and SFT steps after an alarm."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from swefuse.learn.batch import Example, PackedBatch, SftBatch, collate, pack
from swefuse.learn.entropy import LABELS
from swefuse.learn.holds import Hold
from swefuse.learn.losses import bt_loss, bt_ties_loss, group_loss, minmax
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

    ``reference``: for each task the reference's log-probs of its candidates' tokens, one after the other.
    """

    data: Rollouts
    known: Candidates
    pairs: list[Pair]
    weighted: bool
    reference: tuple[Tensor, ...] = ()


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


def update(models: Models, optimizer: torch.optim.Optimizer, seen: Round, settings: RlvrSettings) -> dict[str, float]:
    """One optimizer step on the round's candidates; tasks without any gradient are left out of the forward pass and counted.

    Where ``grad_norm`` is not finite, the policy is left as it was.
    """
    data, gains = seen.data, advantages(seen.data, seen.pairs, settings)
    starts = [0]
    for members in data.trajectories:
        starts.append(starts[-1] + len(members))
    useful = [n for n in range(len(data.groups)) if _teaches(seen, gains, range(starts[n], starts[n + 1]), settings)]
    hold = Hold.of(data, seen.known, seen.reference, settings)
    taken = sorted(sorted({*useful, *hold.groups}), key=lambda n: data.groups[n].size)  # like lengths together: less padding
    tokens = sum(len(ids) for n in useful for ids in data.groups[n].candidates)
    optimizer.zero_grad()
    total = 0.0
    for at in range(0, len(taken), settings.micro_batch):
        chosen = taken[at : at + settings.micro_batch]
        batch = pack([data.groups[n] for n in chosen], models.policy.config.vocab_size, models.pad)
        flat = [c for n in chosen for c in range(starts[n], starts[n + 1])]
        readings = read(models.policy, batch)
        if settings.objective == "group":
            loss = _group_part(readings, batch, data, flat, gains, settings) * len(batch.candidate) / max(1, tokens)
            loss = loss + hold.loss(readings, batch.candidate, chosen, flat)
        else:
            loss = _pair_part(readings, batch, flat, seen, settings) / len(seen.pairs)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    norm = float(torch.nn.utils.clip_grad_norm_(models.policy.parameters(), 1.0))
    if taken and math.isfinite(norm):
        optimizer.step()
    shares = {"useful_groups": len(useful) / max(1, len(data.groups))}
    if hold.groups:
        shares["read_groups"] = len(taken) / max(1, len(data.groups))
    return {"loss": total, "grad_norm": norm, **shares}


def _teaches(seen: Round, gains: Sequence[float], members: range, settings: RlvrSettings) -> bool:
    if settings.objective == "group":
        return any(abs(gains[c]) > 1e-9 for c in members)
    ties = settings.objective == "bt_ties"
    return any(p.a in members and (p.label != "tie" or ties or p.expected is not None) for p in seen.pairs)


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
        SftSettings(prompt_loss=0.0),
        len(batch.targets),
        1,
    )
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(models.policy.parameters(), 1.0)
    optimizer.step()
    return {"useful_groups": 0.0, "fallback_loss": loss.item()}
