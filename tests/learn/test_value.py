from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

import pytest
import torch
from torch import Tensor, tensor

from swefuse.learn.value import (
    HEADS,
    Candidates,
    DavidsonHead,
    Head,
    Linear3Head,
    Reading,
    ResidualHead,
    cool,
    fit_baseline,
    make_head,
    measure,
    pair_label,
    train_head,
)


def random_candidates(tasks: Sequence[int], graded: Sequence[bool] | None = None, width: int = 4) -> Candidates:
    generator = torch.Generator().manual_seed(1)
    count = len(tasks)
    passed = tensor([float(n % 2 == 0) for n in range(count)])
    kept = tensor([True] * count if graded is None else list(graded))
    return Candidates(
        torch.randn(count, 3, generator=generator), torch.randn(count, width, generator=generator), passed, kept, tuple(tasks)
    )


def stirred(name: str, width: int = 4) -> Head:
    torch.manual_seed(2)
    head = make_head(name, width)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=1.0 if parameter.ndim else 0.05)
    return head


@pytest.mark.parametrize("name", HEADS)
def test_swapping_the_candidates_swaps_the_verdict(name: str) -> None:
    data, head = random_candidates([0, 0, 0]), stirred(name)
    for there, back in zip(head.verdicts(data, [(0, 1), (1, 2)]), head.verdicts(data, [(1, 0), (2, 1)]), strict=True):
        assert (there[1], there[0], there[2]) == pytest.approx(back, abs=1e-6)
        assert sum(there) == pytest.approx(1) and there[0] != pytest.approx(there[1], abs=1e-3)


@pytest.mark.parametrize("name", HEADS)
def test_what_was_not_graded_teaches_and_measures_nothing(name: str) -> None:
    data = random_candidates([0, 0, 0, 1, 1, 1], [True, True, False, True, True, False])
    other = replace(data, numbers=data.numbers.clone(), hidden=data.hidden.clone(), passed=data.passed.clone())
    for column in (2, 5):
        other.numbers[column], other.hidden[column], other.passed[column] = 9.0, -9.0, 1 - other.passed[column]

    def trained(known: Candidates) -> Head:
        head = stirred(name)
        train_head(head, known, torch.optim.Adam(head.parameters(), lr=0.1), steps=4, seed=3)
        return head

    one, two, untouched = trained(data), trained(other), stirred(name)
    for (part, a), b, c in zip(one.named_parameters(), two.parameters(), untouched.parameters(), strict=True):
        unused = name == "platt" and part == "hidden.weight"
        assert torch.equal(a, b) and torch.equal(a, c) == unused
    assert measure(one, data) == measure(one, other)
    assert measure(one, data).n == 2
    fits = [fit_baseline(known).numbers.weight for known in (data, other)]
    assert torch.equal(*fits)


def test_the_baseline_recovers_planted_numbers() -> None:
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(6000, 3, generator=generator)
    chance = torch.sigmoid(numbers @ tensor([0.8, -0.5, 0.3]) + 0.2)
    passed = (torch.rand(6000, generator=generator) < chance).float()
    head = fit_baseline(Candidates(numbers, torch.zeros(6000, 1), passed, torch.ones(6000, dtype=torch.bool), (0,) * 6000))
    assert head.numbers.weight[0].tolist() == pytest.approx([0.8, -0.5, 0.3], abs=0.1)
    assert head.numbers.bias.item() == pytest.approx(0.2, abs=0.1)


def test_joining_keeps_tasks_apart() -> None:
    joined = Candidates.join([random_candidates([0, 0, 1]), random_candidates([0, 1, 1]), random_candidates([5, 5])])
    assert joined.task == (0, 0, 1, 2, 3, 3, 9, 9)
    assert joined.pairs() == [(0, 1), (4, 5), (6, 7)]
    assert torch.equal(joined.numbers[3:6], random_candidates([0, 1, 1]).numbers)
    assert joined.only(joined.passed > 0).task == (0, 1, 2, 3, 9)


def test_labels_of_pairs() -> None:
    data = replace(random_candidates([0, 0, 0, 0]), passed=tensor([1.0, 0.0, 1.0, 0.0]))
    assert [pair_label(data, a, b) for a, b in ((0, 1), (1, 0), (0, 2), (1, 3))] == [0, 1, 2, 2]


def logit_reader(noise: tuple[float, float] = (0.0, 0.0)) -> ResidualHead:
    head = ResidualHead(1, use_hidden=False, noise=noise)
    with torch.no_grad():
        head.numbers.weight.copy_(tensor([[1.0, 0.0, 0.0]]))
    return head


def with_chances(chances: Sequence[float], passed: Sequence[int], tasks: Sequence[int], graded: Sequence[bool]) -> Candidates:
    numbers = tensor([[log(q / (1 - q)), 0.0, 0.0] for q in chances])
    outcomes: Tensor = tensor(list(map(float, passed)))
    return Candidates(numbers, torch.zeros(len(tasks), 1), outcomes, tensor(list(graded)), tuple(tasks))


def test_measure_by_hand() -> None:
    chances, passed = [0.85, 0.25, 0.55, 0.65, 0.35, 0.15, 0.99], [1, 0, 1, 0, 0, 0, 0]
    data = with_chances(chances, passed, [0, 0, 1, 1, 2, 2, 2], [True] * 6 + [False])
    found = measure(logit_reader(), data)
    # verdicts A (0.64), tie (0.52; B before A), tie (0.61); labels A, A, tie
    assert (found.three_way, found.majority, found.decisive, found.n) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 0.5, 3)
    assert found.auc == pytest.approx(7 / 8)
    assert found.ece == pytest.approx((0.15 + 0.25 + 0.45 + 0.65 + 0.35 + 0.15) / 6, abs=1e-6)


def test_the_loss_of_the_residual_head_goes_through_the_noise_link() -> None:
    data = with_chances([0.5, 0.8], [1, 0], [0, 0], [True, True])
    assert logit_reader().loss(data).item() == pytest.approx(-(log(0.5) + log(0.2)) / 2, abs=1e-6)
    noisy = logit_reader((0.2, 0.1)).loss(data).item()
    assert noisy == pytest.approx(-(log(0.2 + 0.7 * 0.5) + log(1 - 0.2 - 0.7 * 0.8)) / 2, abs=1e-6)


def test_the_hidden_part_starts_at_zero_and_a_candidate_alone_is_even() -> None:
    data = random_candidates([0, 1])
    assert ResidualHead(4).scores(data) == ResidualHead(4, use_hidden=False).scores(data)
    assert stirred("linear3").scores(data) == [0.5, 0.5]
    assert Linear3Head(4).verdicts(data, []) == []
    with pytest.raises(ValueError, match="residual"):
        make_head("deep", 4)


def test_the_rate_of_false_passes_is_found_with_the_numbers() -> None:
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(6000, 3, generator=generator)
    chance = torch.sigmoid(2 * numbers[:, 0] - 1)
    said = (torch.rand(6000, generator=generator) < 0.2 + 0.8 * chance).float()
    data = Candidates(numbers, torch.zeros(6000, 1), said, torch.ones(6000, dtype=torch.bool), (0,) * 6000)
    fitted = fit_baseline(data, learn_noise=True)
    assert fitted.noise == (pytest.approx(0.2, abs=0.04), 0.0)
    assert fitted.numbers.weight[0].tolist() == pytest.approx([2.0, 0.0, 0.0], abs=0.3)
    blind = fit_baseline(data)
    assert blind.noise == (0.0, 0.0) and blind.numbers.weight[0, 0].item() < 1.5, "false passes read as weak evidence"
    head = ResidualHead(1, learn_noise=True)
    assert head.noise[0] == pytest.approx(0.06, abs=0.01) and head.loss(data).requires_grad


def test_davidson_by_hand() -> None:
    head = DavidsonHead(1)
    with torch.no_grad():
        head.numbers.weight.copy_(tensor([[1.0, 0.0, 0.0]]))
        head.log_nu.fill_(log(2) / 10)
    data = with_chances([0.8, 0.5], [1, 0], [0, 0], [True, True])  # scores ln 4 and 0
    weights = (4.0, 1.0, 2.0 * 4**0.5)
    assert head.verdicts(data, [(0, 1)])[0] == pytest.approx([w / sum(weights) for w in weights], abs=1e-6)
    assert head.loss(data).item() == pytest.approx(-log(4 / 9), abs=1e-6)
    assert head.scores(data) == pytest.approx([0.8, 0.5]) and head.verdicts(data, []) == []


@pytest.mark.parametrize("name", HEADS)
def test_the_temperature_moves_half_way_to_the_one_that_fits_and_changes_no_order(name: str) -> None:
    generator = torch.Generator().manual_seed(3)
    tasks = [n // 4 for n in range(1200)]
    data = replace(random_candidates(tasks, width=4), numbers=torch.randn(1200, 3, generator=generator))
    head = stirred(name)
    truth = torch.sigmoid(head.logits(data).detach()) if isinstance(head, Reading) else torch.full((1200,), 0.3)
    data = replace(data, passed=(torch.rand(1200, generator=generator) < truth).float())
    before, order = head.loss(data).item(), head.scores(data)
    with torch.no_grad():
        for parameter in head.numbers.parameters() if isinstance(head, Reading) else head.linear.parameters():
            parameter.mul_(3)
        if isinstance(head, Reading):
            head.hidden.weight.mul_(3)
    steps = [cool(head, data) for _ in range(8)]
    if isinstance(head, ResidualHead):
        assert steps[0] == pytest.approx(3**0.5, rel=0.1) and steps[-1] == pytest.approx(3, rel=0.15), "three times too sure"
        assert head.loss(data, steps[-1]).item() == pytest.approx(before, abs=0.01)
        assert [sorted(order).index(q) for q in order][:50] == [sorted(head.scores(data)).index(q) for q in head.scores(data)][:50]
    assert head.loss(data, steps[-1]) <= head.loss(data, 1.0) + 1e-3
    again = make_head(name, 4)
    again.load_state_dict(head.state_dict())
    assert again.scores(data) == head.scores(data) and again.verdicts(data, [(0, 1)]) == head.verdicts(data, [(0, 1)])
    there, back = head.verdicts(data, [(0, 1)])[0], head.verdicts(data, [(1, 0)])[0]
    assert (there[1], there[0], there[2]) == pytest.approx(back, abs=1e-6)


def test_one_outcome_moves_no_temperature() -> None:
    data = random_candidates([0, 0, 1, 1])
    assert cool(stirred("residual"), replace(data, passed=torch.ones(4))) == 1.0
    assert cool(stirred("davidson"), random_candidates([0, 1, 2, 3])) == 1.0, "no pair"
