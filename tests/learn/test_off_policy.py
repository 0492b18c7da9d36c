from __future__ import annotations

from math import exp, log
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from learn_samples import first_round, model, tokenizer, verdict
from swefuse.learn.losses import clipped_tokens, group_loss, importance
from swefuse.learn.minibatches import Tally, minibatches
from swefuse.learn.settings import OffPolicySettings, RlvrSettings, WatchSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models, Round, update
from swefuse.workspace import ref

SETTINGS = RlvrSettings(tasks=4, lr=1e-3, weight=WeightSettings(mode="off", warmup=0), watch=WatchSettings(max_infra=0.5))


def test_importance_weights_by_hand() -> None:
    start, sampled = torch.tensor([-1.0, -1.0, -2.0, -5.0]), torch.tensor([-1.0, -1.0 - log(3), -2.0 + log(4), -1.0])
    start.requires_grad_()
    found = importance(start, sampled, 2.0)
    assert found.tolist() == pytest.approx([1.0, 2.0, 0.25, exp(-4)]) and not found.requires_grad
    assert found[0] == 1.0, "exactly, where the two are equal"


def test_weighted_loss_by_hand_and_gradients_through_the_present_log_probs_alone() -> None:
    new = torch.tensor([-1.0, -2.0, -1.0 + log(1.5)], requires_grad=True)
    old = torch.tensor([-1.0, -2.0, -1.0], requires_grad=True)
    sampled = torch.tensor([-1.0 + log(2), -2.0 - log(9), -1.0], requires_grad=True)
    gains, clip = torch.tensor([1.0, -2.0, 1.0]), (0.2, 0.0)
    weights = importance(old, sampled, 2.0)  # 0.5, 2, 1
    loss = group_loss(new, old.detach(), gains, torch.zeros(3), clip, weights)
    assert loss.item() == pytest.approx(-(0.5 * 1 + 2 * -2 + 1 * 1.2) / 3)
    loss.backward()
    assert new.grad is not None and new.grad.tolist() == pytest.approx([-0.5 / 3, 4 / 3, 0.0]), "w r A, and 0 where it was cut"
    assert old.grad is None and sampled.grad is None
    with pytest.raises(ValueError, match="detached"):
        group_loss(new, old, gains, torch.zeros(3), clip, (old - sampled).exp())
    plain = group_loss(new, old, gains, torch.zeros(3), clip)
    assert torch.equal(plain, group_loss(new, old, gains, torch.zeros(3), clip, torch.ones(3)))


def test_which_tokens_are_cut_by_hand() -> None:
    ratio = torch.tensor([1.25, 1.15, 0.75, 0.85, 1.25, 0.75, 2.0])
    gains = torch.tensor([1.0, 1.0, -1.0, -1.0, -1.0, 1.0, 0.0])
    zero = torch.zeros(7)
    assert clipped_tokens(ratio.log(), zero, gains, zero, (0.2, 0.0)).tolist() == [True, False, True, False, False, False, False]
    wide = clipped_tokens(ratio.log(), zero, gains, torch.ones(7), (0.2, 0.5))  # up to 1.3, down to 0.9
    assert wide.tolist() == [False, False, True, True, False, False, False]


@given(st.lists(st.integers(), unique=True, max_size=12), st.integers(1, 15), st.text(max_size=3))
def test_minibatches_deal_out_every_group_once_and_evenly(groups: list[int], count: int, seed: str) -> None:
    parts = minibatches(groups, count, seed)
    assert sorted(place for part in parts for place in part) == sorted(groups)
    assert len(parts) == max(1, min(count, len(groups))) and max(map(len, parts)) - min(map(len, parts)) <= 1
    assert all([groups.index(one) for one in part] == sorted(groups.index(one) for one in part) for part in parts)
    assert parts == minibatches(groups, count, seed) and minibatches(groups, 1, seed) == [groups]


def test_a_tally_by_hand() -> None:
    tally = Tally()
    assert tally.figures() == {"clip_share": 0.0, "importance": 1.0}
    tally.add(torch.tensor([True, False]), torch.tensor([0.5, 2.0]))
    tally.add(torch.tensor([False, False]), None)
    assert tally.figures() == {"clip_share": 0.25, "importance": 1.125}


def seen(made: Models, chosen: RlvrSettings = SETTINGS) -> Round:
    def half(items: Any) -> Any:
        return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]

    return first_round(made, half, chosen)


def stepped(off_policy: OffPolicySettings, moved: float = 0.0, **changes: Any) -> tuple[dict[str, float], torch.Tensor, int]:
    """One round's update, of a policy that ``moved`` by chance after it sampled; figures, weights and steps."""
    made = Models(model(), model(), codec_for(tokenizer()))
    chosen = SETTINGS.model_copy(update={"off_policy": off_policy, **changes})
    data = seen(made, chosen)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for p in made.policy.parameters():
            p += moved * torch.randn(p.shape, generator=generator)
    steps = list[int]()
    optimizer = torch.optim.SGD(made.policy.parameters(), lr=chosen.lr)
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    done = update(made, optimizer, data, chosen)
    return done, torch.cat([p.detach().flatten() for p in made.policy.parameters()]), len(steps)


def test_on_policy_importance_weights_change_nothing_but_rounding() -> None:
    plain, weights, steps = stepped(OffPolicySettings())
    assert (plain["clip_share"], plain["importance"], steps) == (0.0, 1.0, 1)
    done, same, _ = stepped(OffPolicySettings(is_cap=2.0))
    assert done == pytest.approx(plain, abs=1e-5)
    torch.testing.assert_close(same, weights, atol=1e-7, rtol=0)


def test_a_policy_that_moved_since_it_sampled_is_weighed_and_not_cut() -> None:
    """Without weights the whole distance counts as the update's own, and what has gone too far is cut."""
    plain, weights, _ = stepped(OffPolicySettings(), moved=0.03)
    assert plain["clip_share"] > 0 and plain["importance"] == 1
    done, others, _ = stepped(OffPolicySettings(is_cap=5.0), moved=0.03)
    assert done["clip_share"] == 0 and abs(done["importance"] - 1) > 1e-4
    assert not torch.allclose(weights, others, atol=1e-9)
    capped, _, _ = stepped(OffPolicySettings(is_cap=1.0), moved=0.03)
    assert capped["importance"] < min(1, done["importance"])


@pytest.mark.parametrize("objective", ["group", "bt"])
def test_several_updates_take_so_many_steps_and_the_clip_range_acts(objective: Any) -> None:
    _, once, steps = stepped(OffPolicySettings(), lr=1.0, objective=objective)
    done, twice, more = stepped(OffPolicySettings(updates=2), lr=1.0, objective=objective)
    assert (steps, more) == (1, 2) and not torch.equal(once, twice)
    assert ("clip_share" in done) == (objective == "group")


def test_the_steps_of_a_round_are_cut_where_they_went_too_far() -> None:
    """Groups differ and one step hardly moves others' tokens; a long one does."""
    assert stepped(OffPolicySettings(updates=4), lr=30.0)[0]["clip_share"] > 0


def test_settings_without_effect_are_refused() -> None:
    with pytest.raises(ValidationError, match="only when objective is group"):
        RlvrSettings(objective="bt", off_policy=OffPolicySettings(is_cap=2.0))
    with pytest.raises(ValidationError, match="give 0 or at least 1"):
        OffPolicySettings(is_cap=0.5)
