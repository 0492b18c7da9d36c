"""What holds the policy of the group objective."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import pytest
import torch
from torch import tensor

from learn_samples import TASKS, first_round, group, model, tokenizer, verdict
from swefuse.learn.holds import Hold
from swefuse.learn.rollouts import Readings, Rollouts, describe, described, per_candidate
from swefuse.learn.settings import RlvrSettings, WatchSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models, Round, update
from swefuse.learn.value import Candidates
from swefuse.records import Verdict
from swefuse.verify.many import Candidate

GROUPS = (group((1, 2), (3,), (4, 5)), group((1,), (6,), (7, 8)))
PLAIN = RlvrSettings(tasks=2, lr=1e-3, weight=WeightSettings(mode="off", warmup=0), watch=WatchSettings(max_infra=0.5))


def hold(passed: Sequence[bool], **changes: Any) -> Hold:
    reference = (tensor([log(1 / 4), 0.0, 0.0]), tensor([0.0, log(1 / 2), 0.0]))
    zeros = torch.zeros(4, 3)
    known = Candidates(zeros, zeros, tensor([float(one) for one in passed]), tensor([True] * 4), (0, 0, 1, 1))
    return Hold.of(Rollouts((), (), GROUPS), known, reference, PLAIN.model_copy(update=changes))


def test_which_tasks_are_read() -> None:
    assert hold([True, True, False, False]).groups == ()
    assert hold([True, True, False, False], kl=0.1).groups == (0, 1)
    assert hold([False, False, False, True], anchor=0.1).groups == (1,)
    assert hold([True] * 4, objective="bt", anchor=0.1, kl=0.1).groups == ()
    assert [RlvrSettings(objective=one).likelihood for one in ("group", "bt", "bt_ties")] == [0.0, 0.1, 0.1]
    assert RlvrSettings(objective="bt", anchor=0.0).likelihood == 0.0


@pytest.mark.parametrize("cut", [False, True])
def test_the_loss_by_hand_however_it_is_cut_up(cut: bool) -> None:
    new = tensor([log(1 / 2), 0.0, 0.0, 0.0, log(1 / 4), log(1 / 2)], requires_grad=True)
    one = hold([False, True, False, True], kl=3.0, anchor=0.5)
    assert (one.tokens, one.winners) == (6, 2)
    owner = tensor([0, 1, 1])

    def part(slot: slice, owners: torch.Tensor, groups: list[int], flat: list[int]) -> torch.Tensor:
        return one.loss(Readings(new[slot], torch.empty(0), torch.empty(0)), owners, groups, flat)

    if cut:
        total = part(slice(0, 3), owner, [0], [0, 1]) + part(slice(3, 6), owner, [1], [2, 3])
    else:
        total = part(slice(0, 6), torch.cat([owner, owner + 2]), [0, 1], [0, 1, 2, 3])
    apart = (1 / 2 - 1 + log(2)) + (2 - 1 - log(2)) + (2 - 1 - log(2))
    likelihood = (0 + (log(1 / 4) + log(1 / 2)) / 2) / 2
    assert float(total.detach()) == pytest.approx(3.0 * apart / 6 - 0.5 * likelihood)
    total.backward()
    assert new.grad is not None
    slopes = [3 / 6 * (1 - 1 / 2), -0.5 / 4, -0.5 / 4, 0.0, 3 / 6 * (1 - 2) - 0.5 / 4, 3 / 6 * (1 - 2) - 0.5 / 4]
    assert new.grad.tolist() == pytest.approx(slopes)


def alike(passed: bool) -> Any:
    def judge(items: Sequence[Candidate]) -> list[Verdict]:
        return [verdict(passed) for _ in items]

    return judge


def after(passed: bool, chosen: RlvrSettings, seed: int = 1) -> tuple[Models, Round, dict[str, float]]:
    """One update of a policy that is another than its reference, on groups in which all earn the same."""
    made = Models(model(seed), model(), codec_for(tokenizer()))
    data = first_round(made, alike(passed), chosen, TASKS[:2])
    optimizer = torch.optim.AdamW(made.policy.parameters(), lr=chosen.lr, weight_decay=0.0)
    return made, data, update(made, optimizer, data, chosen)


def changed(kept: Models, seed: int) -> bool:
    return any(not torch.equal(a, b) for a, b in zip(kept.policy.parameters(), model(seed).parameters(), strict=True))


def test_the_policy_is_drawn_to_the_reference_and_the_reference_stays() -> None:
    off, _, figures = after(False, PLAIN)
    assert not changed(off, 1) and "read_groups" not in figures
    made, data, figures = after(False, PLAIN.model_copy(update={"kl": 1.0}))
    assert figures["useful_groups"] == 0 and figures["read_groups"] == 1
    assert all(torch.equal(a, b) for a, b in zip(made.reference.parameters(), model().parameters(), strict=True))

    def apart(policy: Any) -> float:
        own = described(policy, data.data, 16, 0)[1]
        return sum(float((b - a).exp().sub(1).sub(b - a).sum()) for a, b in zip(own, data.reference, strict=True))

    assert apart(made.policy) < apart(model(1)) - 1e-3


def test_what_passed_grows_likelier() -> None:
    for passed in (True, False):
        made, data, _ = after(passed, PLAIN.model_copy(update={"anchor": 1.0}))
        rise = describe(made.policy, data.data, 16, 0).numbers[:, 1] - describe(model(1), data.data, 16, 0).numbers[:, 1]
        assert float(rise.mean()) > 1e-3 if passed else not changed(made, 1)


def test_the_references_tokens_add_up_to_what_the_value_model_sees() -> None:
    _, data, _ = after(True, PLAIN)
    for number, (tokens, members) in enumerate(zip(data.reference, data.data.groups, strict=True)):
        owner = torch.tensor([c for c, ids in enumerate(members.candidates) for _ in ids])
        own = torch.tensor([task == number for task in data.known.task])
        torch.testing.assert_close(per_candidate(tokens, owner), data.known.numbers[own, 0].to(tokens.dtype))
