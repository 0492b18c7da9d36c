"""Weights of which each process holds a part (FSDP2): how a model is cut, and whole states to take over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, get_state_dict, set_state_dict
from torch.distributed.tensor import DTensor

from swefuse.errors import ConfigError
from swefuse.learn import ranks

if TYPE_CHECKING:
    from torch.nn import Module
    from torch.optim import Optimizer

_WHOLE = StateDictOptions(full_state_dict=True, cpu_offload=True)


def loading() -> dict[str, Any]:
    """What ``from_pretrained`` is told, so that each process reads its part only. Raises ConfigError for a single process."""
    from transformers.distributed.configuration_utils import DistributedConfig

    if ranks.world() < 2:
        raise ConfigError(
            "shard=fsdp cuts the weights among processes, and there is one; start more with torchrun, or leave it out"
        )
    return {"distributed_config": DistributedConfig(fsdp_size=ranks.world())}


def sharded(model: Module) -> bool:
    """Whether each process holds a part of the weights."""
    return any(isinstance(weight, DTensor) for weight in model.parameters())


def check_ties(model: Module) -> None:
    """Raises ConfigError for a weight that two layers share and whose rows do not divide among the processes.

    Each layer would gather a padded copy of its own, of which the optimizer moves one: a loss that falls, and a wrong one.
    """
    names: dict[int, list[str]] = {}
    weights = dict(model.named_parameters(remove_duplicate=False))
    for name, weight in weights.items():
        names.setdefault(id(weight), []).append(name)
    for first, *others in names.values():
        if others and weights[first].shape[0] % ranks.world():
            raise ConfigError(
                f"shard=fsdp cannot cut {first}, tied to {others[0]}: its {weights[first].shape[0]} rows do not divide "
                f"among {ranks.world()} processes; start another number of them, or leave it out"
            )


def whole(weight: Tensor) -> Tensor:
    """All of a weight, whatever part of it is here; every process has to ask."""
    return weight.full_tensor() if isinstance(weight, DTensor) else weight


def whole_state(model: Module) -> dict[str, Any]:
    """The whole weights of a sharded model, in the first process; every process has to ask."""
    return get_model_state_dict(model, options=_WHOLE)


def state_of(model: Module, optimizer: Optimizer) -> dict[str, Any]:
    """Weights and the optimizer's state as ``take_over`` takes them; of sharded ones the first process gets all."""
    if not sharded(model):
        return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    weights, moments = get_state_dict(model, optimizer, options=_WHOLE)
    return {"model": weights, "optimizer": moments}


def take_over(model: Module, optimizer: Optimizer, state: dict[str, Any]) -> None:
    """Take over what ``state_of`` gave."""
    if sharded(model):
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])  # a schedule adds it, and torch wants the keys to be the same
        set_state_dict(
            model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"],
            options=StateDictOptions(full_state_dict=True),
        )  # fmt: skip
    else:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
