"""The optimizers of stage 1: AdamW, or Muon for the matrices inside the blocks with AdamW for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor
from torch.optim import AdamW, Muon, Optimizer

from swefuse.policy.trie import fast_bf16

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_MATCH = 0.2  # root mean square of AdamW's updates, to which Muon's are scaled (Liu et al. 2025, section 2.2)

OptimizerName = Literal["adamw", "muon"]


class Muon32(Muon):
    """torch's Muon as ``make_optimizer`` sets it up, with the orthogonalisation in float32; the state is the same.

    torch casts to bfloat16 for it, which a CPU without instructions for that computes dozens of times slower than float32: a step
    of ``nano`` took five times as long as its forward and backward pass.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; the formula is torch's."""
        loss = closure() if closure else None
        for group in self.param_groups:
            lr, momentum = group["lr"], group["momentum"]
            for param in group["params"]:
                if param.grad is None:
                    continue
                buffer = self.state[param].setdefault("momentum_buffer", torch.zeros_like(param.grad))
                buffer.lerp_(param.grad, 1 - momentum)
                update = orthogonal(param.grad.lerp(buffer, momentum) if group["nesterov"] else buffer, group)
                param.mul_(1 - lr * group["weight_decay"])
                param.add_(update, alpha=-lr * _MATCH * math.sqrt(max(param.shape)))
        return loss


def orthogonal(update: Tensor, group: Mapping[str, Any]) -> Tensor:
    """Roughly the nearest orthogonal matrix, by ``ns_steps`` of a quintic Newton-Schulz iteration (Jordan et al. 2024)."""
    a, b, c = group["ns_coefficients"]
    wide = update.T if update.size(0) > update.size(1) else update
    wide = wide / wide.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide.T if update.size(0) > update.size(1) else wide


class Joined(Optimizer):
    """Several optimizers as one: their parameter groups side by side, so that one schedule moves them all."""

    def __init__(self, parts: list[Optimizer]) -> None:
        self.parts = parts
        super().__init__([group for part in parts for group in part.param_groups], {})
        self._share()

    def _share(self) -> None:
        """Make the groups of the parts the very same objects as ours."""
        at = 0
        for part in self.parts:
            part.param_groups = self.param_groups[at : at + len(part.param_groups)]
            at += len(part.param_groups)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step of every part."""
        loss = closure() if closure else None
        for part in self.parts:
            part.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The states of the parts, in order."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        for part, state in zip(self.parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self.param_groups = [group for part in self.parts for group in part.param_groups]


def make_optimizer(model: PreTrainedModel, name: OptimizerName, lr: float, weight_decay: float) -> Optimizer:
    """An optimizer over the trainable parameters of ``model``.

    Muon (Jordan et al. 2024) orthogonalises each update of a matrix; scaled to the size of AdamW's updates (Liu et al. 2025,
    section 2.2), so that one learning rate fits both. Embeddings, the output layer and vectors stay with AdamW.
    """
    betas = (0.9, 0.98)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if name == "adamw":
        return AdamW(trained, lr=lr, betas=betas, weight_decay=weight_decay)
    outer: list[Any] = [model.get_input_embeddings(), model.get_output_embeddings()]  # type: ignore[no-untyped-call]
    ends = {id(layer.weight) for layer in outer if layer is not None}
    inner = [p for p in trained if p.ndim == 2 and id(p) not in ends]
    rest = [p for p in trained if not (p.ndim == 2 and id(p) not in ends)]
    parts: list[Optimizer] = []
    if inner:
        kind = Muon if fast_bf16(inner[0].device.type) else Muon32
        parts.append(kind(inner, lr=lr, momentum=0.95, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"))
    if rest:
        parts.append(AdamW(rest, lr=lr, betas=betas, weight_decay=weight_decay))
    return Joined(parts)
