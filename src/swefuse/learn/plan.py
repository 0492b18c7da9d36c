"""How much memory training takes, before any is bought: a model's own code run on the ``meta`` device, which computes nothing.

What a forward pass keeps for the backward one is counted as it is kept, by ``saved_tensors_hooks``: any architecture is known
without a formula of its own. The scores of attention are left out, since the kernels for long rows do not keep them. Weights,
gradients and optimizer are split over the devices (FSDP2); what is gathered for a block at a time, and what a device keeps of its
own rows, are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from swefuse.errors import DataError, UserError, nearest
from swefuse.learn.losses import token_logprobs
from swefuse.learn.model import output_layer
from swefuse.learn.optimizers import OptimizerName

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

GIB = 1 << 30
_FULL, _HALF = 4, 2  # bytes of a number
# shapes alone, of the sizes that people ask for: layers, width, feed-forward, heads, key-value heads, vocabulary, tied
SHAPES = {
    "llama-1b": (16, 2048, 8192, 32, 8, 128_256, True),
    "llama-8b": (32, 4096, 14_336, 32, 8, 128_256, False),
    "qwen-7b": (28, 3584, 18_944, 28, 4, 152_064, False),
    "qwen-32b": (64, 5120, 27_648, 40, 8, 152_064, False),
    "llama-70b": (80, 8192, 28_672, 64, 8, 128_256, False),
}


class PlanSettings(BaseModel):
    """What is trained, and how."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int = Field(1, ge=1, description="rows that a device puts through the model at once")
    length: int = Field(8192, ge=2, description="tokens of a row")
    trained: float = Field(0.25, gt=0, le=1, description="share of the tokens that the agent wrote, which alone get logits")
    half: bool = Field(True, description="compute in bfloat16, with weights and optimizer in float32")
    recompute: bool = Field(True, description="compute activations again in the backward pass")
    optimizer: OptimizerName = Field("adamw", description="muon keeps one number for each weight of the inner matrices, not two")
    lora: int = Field(0, ge=0, description="rank of adapters; the other weights are then kept in half, without gradients; 0: none")
    reference: bool = Field(False, description="a frozen reference model beside it, as in stage 2")
    overhead: float = Field(1.0, ge=0, description="GiB that the runtime, its buffers and fragments take on each device")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on each of ``devices``. ``gathered``: whole blocks in transit; ``activations``: what is kept for the backward pass."""

    devices: int
    weights: float
    gradients: float
    optimizer: float
    reference: float
    gathered: float
    activations: float
    logits: float
    overhead: float

    @property
    def total(self) -> float:
        """All of it."""
        parts: list[float] = [value for name, value in asdict(self).items() if name != "devices"]
        return sum(parts)


@dataclass(frozen=True, slots=True)
class Shape:
    """A model's size: parameters in all, in the matrices inside the blocks, in the largest block, and in what lies around them."""

    parameters: int
    inner: int
    block: int
    ends: int


def config_of(name: str) -> PretrainedConfig:
    """The config of a folder, a hub id that is cached, or one of ``SHAPES``. Raises UserError for what is neither."""
    from transformers import AutoConfig, LlamaConfig

    if name in SHAPES:
        layers, width, inner, heads, kv, vocabulary, tied = SHAPES[name]
        return LlamaConfig(
            num_hidden_layers=layers, hidden_size=width, intermediate_size=inner, num_attention_heads=heads, vocab_size=vocabulary,
            num_key_value_heads=kv, tie_word_embeddings=tied, max_position_embeddings=131_072,
        )  # fmt: skip
    try:
        config: PretrainedConfig = AutoConfig.from_pretrained(name, local_files_only=not Path(name).exists())
    except (OSError, ValueError) as error:
        raise UserError(
            f"there is no model {name!r}{nearest(name, SHAPES)}, and no folder or cached hub id of that name"
        ) from error
    return config


def empty(config: PretrainedConfig, half: bool) -> PreTrainedModel:
    """A model without weights. Raises DataError where it is no causal language model."""
    from transformers import AutoModelForCausalLM

    try:
        with torch.device("meta"):
            make: Callable[..., PreTrainedModel] = AutoModelForCausalLM.from_config
            model = make(config, dtype=torch.bfloat16 if half else torch.float32)
    except ValueError as error:
        raise DataError(f"{config.model_type} is no causal language model: {error}") from error
    model.train()
    return model


def shape_of(model: PreTrainedModel) -> Shape:
    """Parameters by where they lie; weights that are tied count once."""
    total = sum(p.numel() for p in model.parameters())
    ends = {id(p) for layer in (model.get_input_embeddings(), output_layer(model)) for p in layer.parameters()}
    around = sum(p.numel() for p in model.parameters() if id(p) in ends)
    blocks = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    largest = max((sum(p.numel() for p in block.parameters()) for part in blocks for block in part), default=total - around)
    inner = sum(p.numel() for p in model.parameters() if p.ndim == 2 and id(p) not in ends)
    return Shape(total, inner, largest, around)


def kept(model: PreTrainedModel, rows: int, length: int, trained: int) -> tuple[float, float]:
    """Bytes that a forward pass keeps for the backward one: inside the model, and from the hidden states to the loss."""
    weights = {p.untyped_storage()._cdata for p in model.parameters()}
    found: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        scores = tensor.dim() > 1 and tensor.shape[-1] == tensor.shape[-2] == length
        if storage._cdata not in weights and not scores:
            found[storage._cdata] = storage.nbytes()
            held.append(tensor)  # so that no other takes its place
        return tensor

    held: list[Tensor] = []
    ids = torch.zeros(rows, length, dtype=torch.long, device="meta")
    with torch.autograd.graph.saved_tensors_hooks(keep, _same):
        hidden = model.base_model(input_ids=ids).last_hidden_state
        inside = sum(found.values())
        logits = output_layer(model)(hidden.reshape(-1, hidden.shape[-1])[:trained])
        token_logprobs(logits, torch.zeros(trained, dtype=torch.long, device="meta")).sum()
    # what is not kept and yet there at the peak: the gradient of the logits, in the numbers of the loss
    return float(inside), float(sum(found.values()) - inside + trained * logits.shape[-1] * _FULL)


def _same(tensor: Tensor) -> Tensor:
    return tensor


def plan(name: str, settings: PlanSettings, devices: int) -> Memory:
    """Memory on each of ``devices``. Raises UserError and DataError as ``config_of`` and ``empty`` do."""
    model = empty(config_of(name), settings.half)
    shape = shape_of(model)
    trained = max(1, round(settings.rows * settings.length * settings.trained))
    activations, logits = kept(model, settings.rows, settings.length, trained)
    if settings.recompute:
        layers = max(1, int(getattr(model.config.get_text_config(), "num_hidden_layers", 1)))
        width = model.config.get_text_config().hidden_size
        inputs = settings.rows * settings.length * width * (_HALF if settings.half else _FULL) * layers
        activations = inputs + activations / layers  # each block's input, and one block at a time as a whole
    number = _HALF if settings.half else _FULL
    adapters = _adapters(model, settings.lora) if settings.lora else 0
    learnt = adapters or shape.parameters
    moments = 2 * learnt - (shape.inner if settings.optimizer == "muon" and not adapters else 0)
    base = shape.parameters * (number if adapters else _FULL) + adapters * _FULL
    transit = (2 * shape.block + shape.ends) * number if devices > 1 or settings.half else 0
    return Memory(
        devices, base / devices, learnt * _FULL / devices, moments * _FULL / devices,
        shape.parameters * number / devices if settings.reference else 0.0, float(transit), activations, logits,
        settings.overhead * GIB,
    )  # fmt: skip


def _adapters(model: PreTrainedModel, rank: int) -> int:
    """Parameters of adapters on every linear layer but the output."""
    last = output_layer(model)
    layers = [part for part in model.modules() if isinstance(part, nn.Linear) and part is not last]
    return sum(rank * (layer.in_features + layer.out_features) for layer in layers)


def table(found: list[Memory]) -> list[str]:
    """Lines for a terminal, in GiB."""
    names = [name for name in asdict(found[0]) if name != "devices"]
    head = f"{'GiB a device':14}" + "".join(f"{one.devices:>10}" for one in found)
    rows = [f"{name:14}" + "".join(f"{getattr(one, name) / GIB:10.1f}" for one in found) for name in [*names, "total"]]
    return [head, *rows]
