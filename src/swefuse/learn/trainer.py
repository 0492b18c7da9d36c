"""TRL's trainer on rows that we tokenised, in our order and with our loss, on one process or several.

The loss needs hidden states and is no part of any model's ``forward``, yet DDP and FSDP see only what goes through that: so for the
time of training the model's own ``forward`` also takes a batch of ours (``taught``). Both average gradients over the processes, so
each multiplies its part by their number; the tokens that the loss is divided by are those of the whole optimizer step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import SequentialSampler
from transformers import PrinterCallback, TrainerCallback
from trl.trainer.sft_trainer import SFTTrainer

from swefuse.learn import ranks
from swefuse.learn.batch import Example, SftBatch, collate, shown
from swefuse.learn.model import give_back

Loss = Callable[..., tuple[Tensor, Tensor]]
GIVE_BACK = 100  # steps


def write_line(path: Path, row: dict[str, Any]) -> None:
    """Add a line to a log; of several processes the first one does."""
    if ranks.first():
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


class Log(TrainerCallback):
    """Writes metrics.jsonl, reports progress, and saves states. ``done``: steps of the calls before this one."""

    def __init__(
        self, path: Path, progress: Callable[[int, int], None], done: int, every: int, keep: Callable[[int], bool]
    ) -> None:
        self.path, self.progress, self.done, self.every, self.keep = path, progress, done, every, keep

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """One line for each logged step."""
        write_line(self.path, {"step": self.done + state.global_step, **(logs or {})})

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Progress in steps."""
        if state.global_step % GIVE_BACK == 0:
            give_back()
        self.progress(self.done + state.global_step, self.done + state.max_steps)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Save what the steps so far made, whose line in metrics.jsonl is written by now; training ends if that was enough."""
        if state.global_step and state.global_step % self.every == 0 and self.keep(self.done + state.global_step):
            control.should_training_stop = True


@contextmanager
def taught(model: Any, loss: Loss) -> Iterator[None]:
    """Meanwhile ``model(sft=(batch, tokens, prompt_tokens))`` is ``loss`` of them; every other call stays as it is."""
    own = model.forward

    def forward(*args: Any, sft: tuple[SftBatch, int, int] | None = None, **kwargs: Any) -> Any:
        return own(*args, **kwargs) if sft is None else loss(model, *sft)

    model.forward = forward
    try:
        yield
    finally:
        del model.forward


class Trainer(SFTTrainer):
    """SFTTrainer with our loss and our order of the data."""

    def __init__(self, loss: Loss, **kwargs: Any) -> None:
        self.loss = loss
        self.choice_loss: list[float] = []
        super().__init__(**kwargs)
        self.remove_callback(PrinterCallback)  # we report progress ourselves

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """Train, with our loss as part of the model."""
        with taught(self.model, self.loss):
            return super().train(*args, **kwargs)

    def _get_train_sampler(self, *_: Any, **__: Any) -> SequentialSampler:
        assert isinstance(self.train_dataset, Sized), "rows are counted, never streamed"
        return SequentialSampler(self.train_dataset)  # the dataset lies in the order of the batches

    def compute_loss(self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None) -> Any:
        """Our loss; its tokens are counted over the whole optimizer step, whatever the size of a forward pass."""
        loss, choice = model(sft=(inputs["batch"], inputs["tokens"], inputs["prompt_tokens"]))
        self.choice_loss.append(float(choice) / inputs["rows"])
        loss = loss * ranks.world()
        return (loss, None) if return_outputs else loss

    def _prepare_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        device = self.args.device
        return {**inputs, "batch": SftBatch(*(part.to(device) for part in inputs["batch"]))}

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Add the mean choice loss (nats a trajectory) since the last line, over all processes."""
        if self.choice_loss:
            (summed,) = ranks.total([sum(self.choice_loss)], self.args.device)
            logs = {**logs, "choice_loss": summed / len(self.choice_loss) / ranks.world()}
            self.choice_loss = []
        super().log(logs, *args, **kwargs)

    def get_batch_samples(self, epoch_iterator: Any, num_batches: int, device: Any) -> tuple[list[Any], Any]:
        """The forward passes of one optimizer step; each learns the numbers of tokens of all of them, in every process."""
        batches, _ = super().get_batch_samples(epoch_iterator, num_batches, device)
        own = [sum(len(b["batch"].targets) for b in batches), sum(int(shown(b["batch"]).sum()) for b in batches)]
        tokens, prompt = (int(count) for count in ranks.total(own, self.args.device))
        for b in batches:
            b.update(tokens=tokens, prompt_tokens=max(1, prompt))
        return batches, torch.tensor(tokens)  # a count tells the Trainer not to divide by the accumulation steps


def collator(
    examples: Sequence[Example], vocabulary: int, pad: int, room: int = 0
) -> Callable[[list[dict[str, int]]], dict[str, Any]]:
    """What makes a forward pass of the rows whose numbers the dataset holds; see ``collate``."""

    def together(rows: list[dict[str, int]]) -> dict[str, Any]:
        return {"batch": collate([examples[row["example"]] for row in rows], vocabulary, pad, room), "rows": len(rows)}

    return together
