"""Several processes as one run, as ``torchrun`` starts them: which of them this is, and the little that they tell each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import distributed

from swefuse.errors import ConfigError

T = TypeVar("T")


def world() -> int:
    """How many processes share the run."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def first() -> bool:
    """Whether this is the process that writes."""
    return int(os.environ.get("RANK", "0")) == 0


def start() -> None:
    """Join the other processes, each on its own device; nothing to do where there is only one."""
    if world() > 1:
        from accelerate import PartialState  # type: ignore[import-untyped]

        PartialState(cpu=not torch.cuda.is_available())


def finish() -> None:
    """Wait for the others and leave them."""
    if distributed.is_initialized():
        distributed.barrier()
        distributed.destroy_process_group()


def total(values: Sequence[float], device: torch.device) -> list[float]:
    """The sums of these numbers over all processes."""
    if world() == 1:
        return list(values)
    summed = torch.tensor(values, dtype=torch.float64, device=device)
    distributed.all_reduce(summed)
    return [float(value) for value in summed.tolist()]


def told(value: T) -> T:
    """What the first process has as ``value``, everywhere."""
    if world() == 1:
        return value
    box = [value]
    distributed.broadcast_object_list(box)
    return box[0]


def share(batch: int, micro: int) -> tuple[int, int]:
    """``(rows of a forward pass, forward passes of a step)`` of each process; ``micro`` 0 stands for one pass.

    Raises ConfigError where the processes cannot share a batch evenly.
    """
    many = world()
    if batch % many:
        raise ConfigError(f"batch {batch} does not divide among {many} processes; choose a multiple of {many}")
    own = batch // many
    if own % (micro or own):
        each = f", which is {own} for each of {many} processes" if many > 1 else ""
        raise ConfigError(f"micro_batch {micro} does not divide batch {batch}{each}")
    return micro or own, own // (micro or own)
