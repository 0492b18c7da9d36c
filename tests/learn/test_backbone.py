"""The value model's own backbone: what it starts from, what it trains, and that nothing else moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
import torch

from learn_samples import TASKS, first_round, model, tokenizer, verdict
from swefuse.config import load
from swefuse.errors import ConfigError
from swefuse.learn.backbone import OwnBackbone, ValueModel, make_value, make_value_optimizer, noise, opened, teach_own
from swefuse.learn.gold import make_gold
from swefuse.learn.learnt import Learnt
from swefuse.learn.rlvr import train
from swefuse.learn.settings import BackboneName, RlvrSettings, ValueSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models
from swefuse.learn.value import Candidates, Linear3Head, ResidualHead, measure, train_head
from swefuse.records import Verdict
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

OWN = [name for name in get_args(BackboneName) if name != "shared"]
SETTINGS = RlvrSettings(tasks=4, rounds=2, samples=4, lr=1e-3, weight=WeightSettings(mode="off", warmup=0))


def half(items: Sequence[Candidate]) -> list[Verdict]:
    return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]


def made(seed: int = 0) -> Models:
    return Models(model(seed), model(), codec_for(tokenizer()))


def own(models: Models, name: Any, head: Any = "residual", size: int = 16) -> OwnBackbone:
    value = make_value(ValueSettings(head=head, backbone=name), models.reference, size)
    assert isinstance(value, OwnBackbone)
    return value


def candidates(models: Models) -> Candidates:
    return first_round(models, half, SETTINGS).known


def weights(one: Any) -> torch.Tensor:
    return torch.cat([tensor.detach().flatten().clone() for tensor in one.parameters()])


@pytest.mark.parametrize("name", OWN)
def test_it_starts_with_what_the_reference_reads(name: str) -> None:
    models = made()
    known = candidates(models)
    assert len(known.written) == len(known)
    for size in (1, 3, 16):
        torch.testing.assert_close(own(models, name, size=size).seen(known).hidden, known.hidden, atol=1e-5, rtol=0)
    order = [3, 0, 1, 2]
    turned = replace(known, written=tuple(known.written[n] for n in order), task=tuple(known.task[n] for n in order))
    torch.testing.assert_close(own(models, name).seen(turned).hidden, known.hidden[order], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", OWN)
def test_teaching_moves_head_and_backbone_and_nothing_of_the_reference(name: str) -> None:
    models = made()
    known, value, before = candidates(models), own(models, name), weights(models.reference)
    needed = [tensor.requires_grad for tensor in models.reference.parameters()]
    started = {key: tensor.clone() for key, tensor in value.state_dict().items()}
    with torch.no_grad():
        value.head.hidden.weight.normal_()  # type: ignore[union-attr,operator] - at zero no gradient goes past it
    optimizer = make_value_optimizer(value, ValueSettings(backbone=name, backbone_lr=1e-2))  # type: ignore[arg-type]
    first = float(value.loss(known.only(known.graded)).detach())
    teach_own(value, known, optimizer, 20, 0)
    assert float(value.loss(known.only(known.graded)).detach()) < first / 2, "the few candidates are learnt by heart"
    moved = [not torch.equal(tensor, started[key]) for key, tensor in value.state_dict().items() if key.startswith("own.")]
    assert all(moved) if name == "lora" else sum(moved) > len(moved) / 2
    assert torch.equal(weights(models.reference), before)
    assert [tensor.requires_grad for tensor in models.reference.parameters()] == needed


def test_adapters_share_all_weights_of_the_reference_and_alone_are_kept() -> None:
    models = made()
    value = own(models, "lora")
    shared = {tensor.data_ptr() for tensor in models.reference.parameters()}
    held = [tensor for tensor in value._model[0].parameters() if tensor.data_ptr() not in shared]
    assert len(held) == len(value.own) > 0
    assert (
        sum(tensor.numel() for tensor in value.state_dict().values())
        < sum(tensor.numel() for tensor in models.reference.parameters()) / 2
    )
    assert not any(tensor.data_ptr() in shared for tensor in own(models, "copy").own)


@pytest.mark.parametrize("head", ["residual", "davidson", "linear3"])
def test_every_head_reads_it(head: str) -> None:
    models = made()
    known, value = candidates(models), own(models, "lora", head)
    teach_own(value, known, make_value_optimizer(value, ValueSettings(head=head, backbone="lora")), 2, 0)  # type: ignore[arg-type]
    pairs = known.pairs()
    swapped = value.verdicts(known, [(b, a) for a, b in pairs])
    for there, back in zip(value.verdicts(known, pairs), swapped, strict=True):
        assert (there[1], there[0], there[2]) == pytest.approx(back, abs=1e-6)
    inner, read = opened(value, known)
    assert inner.scores(read) == pytest.approx(value.scores(known)) and measure(value, known) == measure(inner, read)


def test_the_numbers_are_those_of_the_baseline() -> None:
    models = made()
    known, value = candidates(models), own(models, "lora")
    assert isinstance(value.head, ResidualHead)
    with torch.no_grad():
        value.head.hidden.weight.normal_(std=9)
    plain = ResidualHead(known.hidden.shape[-1], use_hidden=False, learn_noise=True)
    train_head(plain, known, torch.optim.Adam(plain.parameters()), 1, 0)
    teach_own(value, known, torch.optim.SGD(value.parameters(), lr=0.0), 1, 0)
    torch.testing.assert_close(value.head.numbers.weight, plain.numbers.weight)


def test_a_shared_backbone_is_the_head_alone_and_knows_the_same_noise() -> None:
    value = make_value(ValueSettings(noise="fixed", false_pass=0.2), model(), 4)
    assert isinstance(value, ResidualHead) and noise(value) == pytest.approx((0.2, 0.0))
    assert noise(own(made(), "lora")) == pytest.approx((0.0596, 0.0), abs=1e-3) and noise(Linear3Head(4)) == (0.0, 0.0)


@pytest.mark.parametrize("name", OWN)
def test_what_was_learnt_is_read_again(name: str, tmp_path: Path) -> None:
    models, settings = made(), ValueSettings(backbone=name)  # type: ignore[arg-type]
    known, value = candidates(models), own(models, name)
    teach_own(value, known, make_value_optimizer(value, settings), 3, 0)
    Learnt(value, ResidualHead(64, use_hidden=False, learn_noise=True), settings).save(tmp_path / "value.pt")
    again = Learnt.load(tmp_path / "value.pt", model())
    assert again.head.verdicts(known, known.pairs()) == value.verdicts(known, known.pairs())
    assert again.head.scores(known) != make_value(settings, model(), 16).scores(known)


@pytest.mark.parametrize("name", OWN)
def test_a_stopped_run_goes_on_to_the_same_end(name: str, tmp_path: Path) -> None:
    value = ValueSettings(backbone=name, steps=2, foreign=0.5)  # type: ignore[arg-type]
    watch = SETTINGS.watch.model_copy(update={"max_infra": 0.5})
    chosen = SETTINGS.model_copy(update={"rounds": 3, "save_every": 1, "value": value, "weight": WeightSettings(), "watch": watch})

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    ends: list[tuple[Models, ValueModel]] = []
    for folder in ("whole", "cut"):
        if folder == "cut":
            with pytest.raises(KeyboardInterrupt):
                train(made(), TASKS, half, chosen, tmp_path / folder, stop)
        both = made()
        ends.append((both, train(both, TASKS, half, chosen, tmp_path / folder).head))
    assert torch.equal(weights(ends[0][0].policy), weights(ends[1][0].policy))
    assert torch.equal(weights(ends[0][1]), weights(ends[1][1]))
    assert not torch.equal(weights(ends[0][1]), weights(make_value(value, model(), chosen.micro_batch)))


def test_gold_pairs_are_read_by_it() -> None:
    models = made()
    gold = make_gold(TASKS, models, half, 4)
    value = own(models, "copy")
    assert gold.accuracy(value) == gold.accuracy(value.head)


@pytest.mark.parametrize(
    "given", ["value.rank=4", 'value.backbone="shared"|value.backbone_lr=0.1', 'value.head="platt"|value.backbone="lora"']
)
def test_a_setting_without_effect_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match=r"value\.(rank|backbone_lr|backbone)"):
        load(RlvrSettings, None, given.split("|"))
