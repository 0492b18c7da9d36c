"""Losses and advantages as pure functions of tensors. No I/O, no configuration, no models.

Shape legend: N trained tokens, V vocabulary, B pairs, C candidates. All logs are natural. Symbols follow docs/algorithm.md.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def token_logprobs(logits: Tensor, targets: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Log-probability of each target, shape [N], from ``logits`` [N, V]; where ``allowed`` [N, V] is given, among those tokens
    only.

    A row of ``allowed`` without any True means that every token is allowed.
    """
    if allowed is not None:
        free = ~allowed.any(-1, keepdim=True)
        logits = logits.masked_fill(~(allowed | free), float("-inf"))
    return torch.log_softmax(logits.float(), -1).gather(-1, targets[:, None]).squeeze(-1)


def token_entropies(logits: Tensor, allowed: Tensor) -> Tensor:
    """Entropy in nats of each masked softmax, shape [N]; differentiable, and 0 where one token is allowed."""
    masked = logits.float().masked_fill(~allowed, float("-inf"))
    logprobs = torch.log_softmax(masked, -1)
    return -(logprobs.exp() * logprobs.masked_fill(~allowed, 0.0)).sum(-1)


def minmax(values: Tensor, cap: float = 1.0) -> Tensor:
    """Values scaled to [0, 1] over the batch and cut at ``cap``; all 0 where they are equal."""
    low, high = values.min(), values.max()
    if float(high - low) < 1e-8:
        return torch.zeros_like(values)
    return ((values - low) / (high - low)).clamp(max=cap)


def group_loss(
    new: Tensor, old: Tensor, advantages: Tensor, spread: Tensor, clip: tuple[float, float], weights: Tensor | None = None
) -> Tensor:
    """Clipped policy loss, mean over tokens (algorithm.md section 5).

    ``new``, ``old``: log-probs of N tokens now and when sampled; ``advantages``: that of each token's candidate; ``spread``: the
    candidate's mean entropy in [0, 1]. ``clip`` = (epsilon, a): a rise is cut at 1 + epsilon(1 + a·spread), a fall at
    1 - epsilon(1 - a·spread); a = 0 is plain PPO clipping (Schulman et al. 2017, eq. 7). ``weights``: what each token counts, by
    ``importance``, where ``old`` is not what it was sampled with; they must be detached.
    """
    if weights is not None and weights.requires_grad:
        raise ValueError("importance weights must be detached from the graph")
    ratio = (new - old).exp()
    low, high = _bounds(spread, clip)
    clipped = torch.where(advantages > 0, torch.minimum(ratio, high), torch.maximum(ratio, low))
    gained = clipped * advantages
    return -(gained if weights is None else weights * gained).mean()


def _bounds(spread: Tensor, clip: tuple[float, float]) -> tuple[Tensor, Tensor]:
    epsilon, slope = clip
    return 1 - epsilon * (1 - slope * spread), 1 + epsilon * (1 + slope * spread)


def clipped_tokens(new: Tensor, old: Tensor, advantages: Tensor, spread: Tensor, clip: tuple[float, float]) -> Tensor:
    """Which of N tokens ``group_loss`` has cut, bool [N]: they have no gradient. One without an advantage is not cut."""
    ratio = (new - old).detach().exp()
    low, high = _bounds(spread, clip)
    return ((advantages > 0) & (ratio > high)) | ((advantages < 0) & (ratio < low))


def importance(start: Tensor, sampled: Tensor, cap: float) -> Tensor:
    """Truncated importance weights of N tokens, detached: ``min(cap, exp(start - sampled))``.

    ``start``: log-probs under the policy before a round's first update; ``sampled``: those that they were sampled with. Exactly 1
    where the two are equal. The cap bounds the variance at the price of a bias (Ionides 2008).
    """
    return (start - sampled).detach().exp().clamp(max=cap)


def kl_tokens(new: Tensor, reference: Tensor) -> Tensor:
    """``KL(policy || reference)`` at each token, shape [N], from its log-probs under both: ``r - 1 - ln r`` with ``r`` =
    reference / policy (the estimator k3 of Schulman 2020). Never negative, 0 where they agree, and of the right mean over samples
    of the policy.
    """
    if reference.requires_grad:
        raise ValueError("log-probs of the reference must be detached from the graph: it is not what is trained")
    apart = reference - new
    return apart.exp() - 1 - apart


def bt_loss(margin: Tensor, weights: Tensor) -> Tensor:
    """Bradley-Terry loss of decisive pairs, summed with weights over B: ``w · -log sigmoid(margin)`` (Rafailov et al. 2023, eq. 7).

    ``margin`` = beta·[log pi/ref(winner) - log pi/ref(loser)]. Weights must be detached: else growing uncertainty would lower
    the loss.
    """
    if weights.requires_grad:
        raise ValueError("pair weights must be detached from the graph")
    return (weights * -functional.logsigmoid(margin)).sum()


def bt_ties_loss(margin: Tensor, tie: Tensor, weights: Tensor, log_nu: float) -> Tensor:
    """Davidson's model of wins and ties (Davidson 1970) for margins [B]; ``tie`` is True where neither won."""
    if weights.requires_grad:
        raise ValueError("pair weights must be detached from the graph")
    zero = torch.zeros_like(margin)
    norm = torch.logsumexp(torch.stack([zero, -margin, log_nu - margin / 2]), 0)
    return (weights * torch.where(tie, norm + margin / 2 - log_nu, norm)).sum()
