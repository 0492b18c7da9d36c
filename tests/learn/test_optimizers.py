from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from learn_samples import model
from swefuse.learn.optimizers import Joined, Muon32, make_optimizer, orthogonal


def gradients(made: Any, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for parameter in made.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)


def state(made: Any) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in made.parameters()]


def test_muon_takes_the_inner_matrices_and_adamw_the_rest() -> None:
    made = model(layers=2)
    optimizer = make_optimizer(made, "muon", 1e-3, 0.1)
    assert isinstance(optimizer, Joined)
    muon, adamw = optimizer.parts
    assert isinstance(muon, torch.optim.Muon) and isinstance(adamw, torch.optim.AdamW)
    names = {id(parameter): name for name, parameter in made.named_parameters()}
    taken = {names[id(p)] for group in muon.param_groups for p in group["params"]}
    others = {names[id(p)] for group in adamw.param_groups for p in group["params"]}
    assert taken | others == set(names.values()) and not taken & others
    assert len(taken) == 2 * 7 and all("layers" in name for name in taken), "seven matrices a block"
    assert any("embed" in name for name in others) and any("norm" in name for name in others)


def test_adamw_alone_is_torchs_own() -> None:
    made, other = model(layers=1), model(layers=1)
    ours = make_optimizer(made, "adamw", 1e-3, 0.1)
    plain = torch.optim.AdamW(other.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.1)
    for seed in range(3):
        gradients(made, seed)
        gradients(other, seed)
        ours.step()
        plain.step()
    assert all(torch.equal(a, b) for a, b in zip(state(made), state(other), strict=True))


def test_a_step_moves_every_parameter_by_about_the_learning_rate() -> None:
    """The root mean square of an update is near 0.2 times the rate for Muon, and the rate itself for AdamW's first step."""
    made = model(layers=2)
    optimizer = make_optimizer(made, "muon", 1e-2, 0.0)
    before = state(made)
    gradients(made, 0)
    optimizer.step()
    matrices = {id(p) for group in optimizer.parts[0].param_groups for p in group["params"]}  # type: ignore[attr-defined]
    for parameter, old in zip(made.parameters(), before, strict=True):
        size = float((parameter.detach() - old).pow(2).mean().sqrt()) / 1e-2
        assert 0.1 < size < 0.3 if id(parameter) in matrices else size == pytest.approx(1.0, abs=0.05)


def test_one_schedule_moves_all_parts() -> None:
    optimizer = make_optimizer(model(layers=1), "muon", 1e-2, 0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (step + 1))
    gradients_of = [group["lr"] for part in optimizer.parts for group in part.param_groups]  # type: ignore[attr-defined]
    assert gradients_of == [1e-2] * len(gradients_of)
    optimizer.step()
    schedule.step()
    assert [group["lr"] for part in optimizer.parts for group in part.param_groups] == pytest.approx([5e-3, 5e-3])  # type: ignore[attr-defined]


def test_a_saved_state_goes_on_as_if_never_stopped() -> None:
    made = model(layers=1)
    optimizer = make_optimizer(made, "muon", 1e-2, 0.1)
    for seed in range(2):
        gradients(made, seed)
        optimizer.step()
    other = model(layers=1)
    other.load_state_dict(made.state_dict())
    second = make_optimizer(other, "muon", 1.0, 0.1)
    second.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for learner, its in ((made, optimizer), (other, second)):
        gradients(learner, 7)
        its.step()
    assert all(torch.equal(a, b) for a, b in zip(state(made), state(other), strict=True))
    assert [group["lr"] for group in second.param_groups] == [1e-2, 1e-2]


def test_what_is_frozen_is_left_alone() -> None:
    made = model(layers=1)
    for parameter in made.base_model.layers[0].parameters():
        parameter.requires_grad_(False)
    optimizer = make_optimizer(made, "muon", 1e-2, 0.1)
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    assert not held & {id(p) for p in made.base_model.layers[0].parameters()} and held


def test_muon_in_float32_takes_torchs_step_and_keeps_its_state() -> None:
    """Equal up to what bfloat16, in which torch computes the direction, can tell; and a state of one goes on in the other."""
    made, other = model(layers=1), model(layers=1)
    inner = [[p for name, p in one.named_parameters() if p.ndim == 2 and "layers" in name] for one in (made, other)]
    settings: dict[str, Any] = {"lr": 1e-2, "momentum": 0.95, "weight_decay": 0.1, "adjust_lr_fn": "match_rms_adamw"}
    ours, torchs = Muon32(inner[0], **settings), torch.optim.Muon(inner[1], **settings)
    for seed in range(3):
        before = [p.detach().clone() for p in inner[1]]
        gradients(made, seed)
        gradients(other, seed)
        ours.step()
        torchs.step()
        for mine, theirs, old in zip(*inner, before, strict=True):
            moved, off = (theirs - old).norm(), (mine - theirs).norm()
            assert 0 < off < 0.03 * moved, "bfloat16 has eight bits"
            mine.data.copy_(theirs.data)
    ours.load_state_dict(torchs.state_dict())


def test_the_direction_is_nearly_orthogonal() -> None:
    """Singular values of very unlike sizes all come out near 1, of a tall and of a wide matrix."""
    group = {"ns_coefficients": (3.4445, -4.7750, 2.0315), "ns_steps": 5, "eps": 1e-7}
    generator = torch.Generator().manual_seed(0)
    for shape in ((6, 4), (4, 6)):
        u, _, v = torch.linalg.svd(torch.randn(shape, generator=generator), full_matrices=False)
        sizes = torch.linalg.svdvals(orthogonal(u @ torch.diag(torch.tensor([1.0, 0.5, 0.2, 0.1])) @ v, group))
        assert all(0.6 < size < 1.3 for size in sizes.tolist())
