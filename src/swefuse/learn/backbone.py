"""A backbone of the value model's own: what a head reads off a candidate is then trained for telling better from worse.

By default a head reads the reference's last hidden state, which costs nothing and learns nothing. ``lora`` puts adapters (Hu et
al. 2021) into a copy of the reference that shares all its weights; ``copy`` trains every weight of a copy. Log-probs and votes
still come from the frozen reference, and their four numbers are fitted without the hidden part: the backbone learns what is left.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from swefuse.learn.batch import Group, pack
from swefuse.learn.entropy import Probabilities
from swefuse.learn.settings import BackboneName, ValueSettings
from swefuse.learn.sft import adapt
from swefuse.learn.value import Candidates, Head, ResidualHead, fit_numbers, make_head
from swefuse.policy.trie import autocast

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Make:
    """How a backbone is made from ``reference``; ``rank`` of adapters counts for ``lora``."""

    reference: PreTrainedModel
    name: BackboneName
    rank: int = 8

    def model(self) -> PreTrainedModel:
        """Adapters over shared weights, or a copy. Only what is to be trained requires a gradient; the reference stays as it is."""
        if self.name == "copy":
            whole = copy.deepcopy(self.reference)
            return whole.requires_grad_(True)
        shared: dict[int, Any] = {id(tensor): tensor for tensor in (*self.reference.parameters(), *self.reference.buffers())}
        double = copy.deepcopy(self.reference, shared)
        frozen = [(tensor, tensor.requires_grad) for tensor in self.reference.parameters()]
        with torch.random.fork_rng(devices=[]):  # the same adapters whatever was drawn before
            torch.manual_seed(0)
            adapted: PreTrainedModel = adapt(double, self.rank).base_model.model
        for tensor, needed in frozen:  # adapters switch the gradients of what they stand on off, and the reference shares it
            tensor.requires_grad_(needed)
        return adapted


class OwnBackbone(nn.Module):
    """A head with the model that it reads. Its state holds the head and what is trained of the model, nothing of the reference."""

    def __init__(self, head: Head, make: Make, micro_batch: int = 16) -> None:
        super().__init__()
        self.head, self.micro_batch = head, micro_batch
        self._model = (make.model(),)  # in a tuple, so that weights of the reference are no part of this module
        named = self._model[0].named_parameters()
        self.own = nn.ParameterList([tensor for name, tensor in named if make.name == "copy" or "lora_" in name])

    @property
    def noise(self) -> tuple[float, float]:
        """As the head's."""
        return noise(self.head)

    def seen(self, data: Candidates) -> Candidates:
        """The same candidates with the hidden states of this backbone, [C, D], without a gradient."""
        with torch.no_grad():
            return replace(data, hidden=self._read(data))

    def verdicts(self, data: Candidates, pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """(p_A, p_B, p_tie) of every pair."""
        return self.head.verdicts(self.seen(data), pairs)

    def scores(self, data: Candidates) -> list[float]:
        """As the head's."""
        return self.head.scores(self.seen(data))

    def loss(self, data: Candidates) -> Tensor:
        """The head's loss, with a gradient to the backbone."""
        return self.head.loss(replace(data, hidden=self._read(data)))

    def _read(self, data: Candidates) -> Tensor:
        """Last hidden states [C, D]: candidates that stand together and share a prompt are read in one row."""
        model = self._model[0]
        groups = [
            Group(prompt, tuple(ids for _, ids in members), ((),) * len(members))
            for prompt, members in ((prompt, list(of)) for prompt, of in groupby(data.written, key=lambda one: one[0]))
        ]
        found = []
        for at in range(0, len(groups), self.micro_batch):
            batch = pack(groups[at : at + self.micro_batch], model.config.vocab_size, model.config.pad_token_id or 0)
            with autocast(model):
                inputs = {"input_ids": batch.ids, "position_ids": batch.positions, "attention_mask": batch.mask.to(model.dtype)}
                inputs = {name: value.to(model.device) for name, value in inputs.items()}
                hidden = model.base_model(**inputs).last_hidden_state
            found.append(hidden[batch.last_row, batch.last_column].float().cpu())
        return torch.cat(found)


ValueModel = Head | OwnBackbone


def noise(value: ValueModel) -> tuple[float, float]:
    """The verifier's rates of false passes and false fails ``(e, f)`` that a value model knows; 0 for heads that know none."""
    return value.noise if isinstance(value, ResidualHead | OwnBackbone) else (0.0, 0.0)


def make_value(settings: ValueSettings, reference: PreTrainedModel, micro_batch: int) -> ValueModel:
    """The value model that the settings describe, before it has learnt anything."""
    rates = (settings.false_pass, settings.false_fail)
    head = make_head(settings.head, reference.config.hidden_size, rates, settings.noise == "learned")
    if settings.backbone == "shared":
        return head
    return OwnBackbone(head, Make(reference, settings.backbone, settings.rank), micro_batch)


def make_value_optimizer(value: ValueModel, settings: ValueSettings) -> torch.optim.Optimizer:
    """Adam; weights of a backbone have a learning rate of their own."""
    if not isinstance(value, OwnBackbone):
        return torch.optim.Adam(value.parameters(), lr=settings.lr)
    groups: list[dict[str, Any]] = [
        {"params": value.head.parameters()},
        {"params": value.own.parameters(), "lr": settings.backbone_lr},
    ]
    return torch.optim.Adam(groups, lr=settings.lr)


def opened(value: ValueModel, known: Candidates) -> tuple[Head, Candidates]:
    """The head alone, and candidates as it is to read them; so that one pass through a backbone serves many questions."""
    return (value.head, value.seen(known)) if isinstance(value, OwnBackbone) else (value, known)


def teach_own(value: OwnBackbone, data: Candidates, optimizer: torch.optim.Optimizer, steps: int, seed: int) -> float:
    """``steps`` updates of head and backbone, each on ``micro_batch`` tasks; returns the last loss.

    The numbers of ``residual`` are first fitted to the end on what the reference says alone.
    """
    graded = data.only(data.graded)
    if isinstance(value.head, ResidualHead) and len(graded) > 1:
        fit_numbers(value.head, replace(graded, hidden=torch.zeros_like(graded.hidden)))
    rng = random.Random(seed)
    tasks = sorted(set(graded.task))
    last = 0.0
    for _ in range(steps):
        chosen = set(rng.sample(tasks, min(len(tasks), value.micro_batch)))
        part = graded.only(torch.tensor([task in chosen for task in graded.task]))
        if not isinstance(value.head, ResidualHead) and not part.pairs():
            continue
        optimizer.zero_grad()
        loss = value.loss(part)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(value.parameters(), 1.0)
        optimizer.step()
        last = loss.item()
    return last
