"""The optimizers of stage 1: AdamW, or Muon for the matrices inside the blocks with AdamW for the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from torch.optim import AdamW, Muon, Optimizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

OptimizerName = Literal["adamw", "muon"]


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
        parts.append(Muon(inner, lr=lr, momentum=0.95, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw"))
    if rest:
        parts.append(AdamW(rest, lr=lr, betas=betas, weight_decay=weight_decay))
    return Joined(parts)
