"""A learning rate for stage 1: it rises exponentially on a copy of the model, and where the loss falls fastest is the one to try.

After Smith 2017 (Cyclical learning rates, section 3.3). Steps are those of training: same batches, loss, clipping and optimizer.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from swefuse.errors import ConfigError, DataError
from swefuse.learn import ranks
from swefuse.learn.batch import Example, SftBatch, collate, shown
from swefuse.learn.optimizers import make_optimizer
from swefuse.learn.sft import SftSettings, adapt, batch_order, check_packing, prepared, sft_loss, trained_rows
from swefuse.tasks.store import save_lines

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LOW, HIGH = 1e-6, 1.0
LEAST = 8  # steps; fewer say nothing
WORSE = 4.0  # a loss of so many times the least one ends the search


def rates(steps: int, low: float = LOW, high: float = HIGH) -> list[float]:
    """The learning rate of each step, from ``low`` to ``high`` by equal factors."""
    return [low * (high / low) ** (step / (steps - 1)) for step in range(steps)]


def smoothed(losses: Sequence[float], width: int) -> list[float]:
    """Each loss averaged with up to ``width`` neighbours on either side, as many on both, so that no place moves."""
    found = []
    for at in range(len(losses)):
        reach = min(width, at, len(losses) - 1 - at)
        window = losses[at - reach : at + reach + 1]
        found.append(sum(window) / len(window))
    return found


def steepest(lrs: Sequence[float], losses: Sequence[float]) -> float:
    """The rate at which the smoothed loss falls fastest by the log of the rate, before its least value.

    Raises DataError where it never falls.
    """
    curve = smoothed(losses, max(1, len(losses) // 20))
    least = min(range(len(curve)), key=lambda at: (curve[at], at))
    slopes = {
        at: (curve[at + 1] - curve[at - 1]) / math.log(lrs[at + 1] / lrs[at - 1]) for at in range(1, len(curve) - 1) if at <= least
    }
    best = min(slopes, key=lambda at: (slopes[at], at), default=0)
    if not slopes or slopes[best] >= 0:
        raise DataError("the loss never fell while the learning rate rose; look at lr_finder.json, and at the data")
    return lrs[best]


def find(
    model: PreTrainedModel,
    examples: Sequence[Example],
    settings: SftSettings,
    steps: int,
    pad: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[tuple[float, float]]:
    """``(rate, loss before the step)`` of each step on a copy of ``model``, until the loss is no number or far above its least."""
    examples = trained_rows(examples, settings)
    check_packing(model, examples, settings.pack)
    order = batch_order(examples, settings.model_copy(update={"steps": steps}))
    learner = copy.deepcopy(model).train()
    adapt(learner, settings.lora)
    optimizer = make_optimizer(learner, settings.optimizer, LOW, settings.weight_decay)
    weights = [weight for weight in learner.parameters() if weight.requires_grad]
    micro, _ = ranks.share(settings.batch, settings.micro_batch)
    found: list[tuple[float, float]] = []
    for lr, batch in zip(rates(steps), order, strict=True):
        rows = [examples[number] for number in batch]
        parts = [collate(rows[at : at + micro], model.config.vocab_size, pad, settings.pack) for at in range(0, len(rows), micro)]
        found.append((lr, _gradients(learner, parts, settings)))
        progress(len(found), steps)
        if not found[-1][1] < WORSE * min(loss for _, loss in found) + 1e-12:
            break
        for group in optimizer.param_groups:
            group["lr"] = lr
        torch.nn.utils.clip_grad_norm_(weights, settings.clip)
        optimizer.step()
        optimizer.zero_grad()
    return found


def _gradients(model: PreTrainedModel, parts: Sequence[SftBatch], settings: SftSettings) -> float:
    """The loss of a step, whose gradients are left in the model."""
    tokens, others = sum(len(part.targets) for part in parts), sum(int(shown(part).sum()) for part in parts)
    total = 0.0
    for part in parts:
        here = SftBatch(*(value.to(model.device) for value in part))
        loss, _ = sft_loss(model, here, tokens, max(1, others), settings)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    return total


def run(
    settings: SftSettings, model: Path, library: Path, out: Path, steps: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> float:  # fmt: skip
    """The learning rate to try on a library; ``out`` gets lr_finder.json with every step. Raises ConfigError for too few steps."""
    if steps < LEAST:
        raise ConfigError(f"{steps} steps are too few to find a learning rate; give {LEAST} or more, better 100")
    if ranks.world() > 1:
        raise ConfigError("a learning rate is found by one process; start it without torchrun")
    learner = prepared(settings, model, library)
    found = find(learner.model, learner.examples, settings, steps, learner.tokenizer.pad_token_id or 0, progress)
    lrs, losses = [lr for lr, _ in found], [loss for _, loss in found]
    out.mkdir(parents=True, exist_ok=True)
    rows = [{"lr": lr, "loss": loss if math.isfinite(loss) else None} for lr, loss in found]
    save_lines(out / "lr_finder.json", [json.dumps({"suggested": None, "steps": rows}, indent=1)])
    last = len(losses) if math.isfinite(losses[-1]) else len(losses) - 1
    suggested = steepest(lrs[:last], losses[:last])
    save_lines(out / "lr_finder.json", [json.dumps({"suggested": suggested, "steps": rows}, indent=1)])
    return suggested
