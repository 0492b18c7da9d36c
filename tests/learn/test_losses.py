"""Every number here is worked out by hand."""

from __future__ import annotations

from math import log

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, tensor

from swefuse.learn.losses import bt_loss, bt_ties_loss, group_loss, kl_tokens, minmax, token_entropies, token_logprobs

LOGITS = [[0.0, log(2), log(3)]]  # probabilities 1/6, 2/6, 3/6


def test_a_log_probability_is_taken_among_the_allowed_tokens() -> None:
    logits = tensor(LOGITS * 3, requires_grad=True)
    allowed = tensor([[True, False, True], [False, False, False], [False, False, True]])
    found = token_logprobs(logits, tensor([2, 2, 2]), allowed)
    assert found.tolist() == pytest.approx([log(3 / 4), log(1 / 2), 0.0])
    assert token_logprobs(logits, tensor([0, 1, 2])).tolist() == pytest.approx([log(1 / 6), log(1 / 3), log(1 / 2)])
    found[0].backward()
    assert logits.grad is not None
    assert logits.grad[0].tolist() == pytest.approx([-1 / 4, 0.0, 1 / 4]), "what was not open gets no gradient"


def test_entropies_of_the_masked_softmax_and_their_gradient_is_finite() -> None:
    logits = tensor(LOGITS * 2, requires_grad=True)
    found = token_entropies(logits, tensor([[True, False, True], [False, True, False]]))
    assert found.tolist() == pytest.approx([log(4) / 4 + 3 / 4 * log(4 / 3), 0.0])
    found.sum().backward()
    assert logits.grad is not None
    slope = 3 / 16 * log(3)  # dH/dx_0 = -p_0 (ln p_0 + H) = 1/4 · 3/4 · ln(p_2/p_0)
    assert logits.grad.tolist() == [pytest.approx([slope, 0.0, -slope]), [0.0, 0.0, 0.0]]


def test_minmax_scales_and_cuts() -> None:
    assert minmax(tensor([2.0, 4.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    assert minmax(tensor([2.0, 4.0, 3.0]), cap=0.75).tolist() == [0.0, 0.75, 0.5]
    assert minmax(tensor([3.0, 3.0])).tolist() == [0.0, 0.0]


def grouped(slope: float) -> tuple[float, list[float]]:
    ratios = tensor([1.5, 1.1, 0.5, 2.0, 5.0])
    new = ratios.log().requires_grad_()
    advantages, spread = tensor([2.0, 1.0, -1.0, -1.0, 0.0]), tensor([1.0, 0.0, 1.0, 0.0, 1.0])
    loss = group_loss(new, torch.zeros(5), advantages, spread, (0.2, slope))
    loss.backward()
    assert new.grad is not None
    return loss.item(), new.grad.tolist()


def test_the_clip_range_widens_upwards_and_narrows_downwards_with_entropy() -> None:
    loss, gradient = grouped(0.5)
    # bounds 1 + 0.2·1.5 = 1.3 on the first token, 1 - 0.2·0.5 = 0.9 on the third; the others move freely
    assert loss == pytest.approx(-(2 * 1.3 + 1.1 - 0.9 - 2.0) / 5)
    assert gradient == pytest.approx([0.0, -1.1 / 5, 0.0, 2.0 / 5, 0.0]), "a clipped token teaches nothing"


def test_without_slope_it_is_plain_ppo_clipping() -> None:
    assert grouped(0.0)[0] == pytest.approx(-(2 * 1.2 + 1.1 - 0.8 - 2.0) / 5)


def test_bradley_terry() -> None:
    margin = tensor([log(3), 0.0], requires_grad=True)
    loss = bt_loss(margin, tensor([2.0, 0.5]))
    loss.backward()
    assert loss.item() == pytest.approx(2 * log(4 / 3) + 0.5 * log(2))
    assert margin.grad is not None
    assert margin.grad.tolist() == pytest.approx([-2 / 4, -0.5 / 2])


def test_davidson_gives_probabilities_of_win_loss_and_tie() -> None:
    def of(margin: float, tie: bool, weight: float = 1.0) -> float:
        return bt_ties_loss(tensor([margin]), tensor([tie]), tensor([weight]), log(2)).item()

    # nu = 2, d = ln 4: win 1 / (1 + 1/4 + 2/2), tie the same, loss 1 / (1 + 4 + 2·2)
    assert of(log(4), False) == pytest.approx(log(9 / 4))
    assert of(log(4), True) == pytest.approx(log(9 / 4))
    assert of(-log(4), False, 3.0) == pytest.approx(3 * log(9))


@pytest.mark.parametrize("ties", [False, True])
def test_weights_that_carry_a_gradient_are_refused(ties: bool) -> None:
    weights: Tensor = torch.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="detached"):
        if ties:
            bt_ties_loss(torch.zeros(1), tensor([True]), weights, 0.0)
        else:
            bt_loss(torch.zeros(1), weights)


def test_the_distance_to_the_reference_by_hand() -> None:
    new = tensor([log(1 / 2), log(1 / 2), log(1 / 4)], requires_grad=True)
    found = kl_tokens(new, tensor([log(1 / 4), log(1 / 2), log(1 / 2)]))
    assert found.tolist() == pytest.approx([1 / 2 - 1 + log(2), 0.0, 2 - 1 - log(2)])
    found.sum().backward()
    assert new.grad is not None
    assert new.grad.tolist() == pytest.approx([1 - 1 / 2, 0.0, 1 - 2]), "down where the policy is surer, up where it is less so"
    with pytest.raises(ValueError, match="must be detached"):
        kl_tokens(new, tensor([0.0] * 3, requires_grad=True))


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=2, max_size=6))
def test_over_all_tokens_it_is_the_divergence(both: list[tuple[float, float]]) -> None:
    p, q = (tensor(side, dtype=torch.float64) / sum(side) for side in zip(*both, strict=True))
    found = kl_tokens(p.log(), q.log())
    assert float(found.min()) >= -1e-12
    assert float((p * found).sum()) == pytest.approx(float((p * (p / q).log()).sum()), abs=1e-9)
