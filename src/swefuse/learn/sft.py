"""Stage 1: supervised fine-tuning on gated trajectories, with TRL's ``SFTTrainer`` on rows that we tokenised.

What the agent wrote is trained, nothing else. Where the protocol left a choice, the loss is the cross-entropy among the
messages that
were open there (the policy that will act), plus a share of the plain one, so that the model stays a language model. ``prompt_loss``
adds a share of the observations for a model trained from scratch, which has yet to learn to read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor
from trl.trainer.sft_config import SFTConfig

from swefuse.collect import protocol
from swefuse.config import OnlyWhen
from swefuse.errors import ConfigError, DataError
from swefuse.learn import manifest, ranks
from swefuse.learn.batch import Example, SftBatch, kept_apart, shown
from swefuse.learn.board import Place, exact_pass, make_board
from swefuse.learn.checkpoint import Best, check_same, fingerprint, keep_lines, load_state, save_state
from swefuse.learn.examples import all_fitted, init_codec, make_examples, without_tail
from swefuse.learn.losses import token_logprobs
from swefuse.learn.mix import MixSettings, Order, chosen, hardness, weights
from swefuse.learn.model import gathered, load, output_layer, save, steady
from swefuse.learn.optimizers import OptimizerName, make_optimizer
from swefuse.learn.shards import loading, sharded, state_of, take_over
from swefuse.learn.tokens import Codec, codec_for, remember
from swefuse.learn.trainer import Log, Trainer, collator, write_line
from swefuse.library.store import Library
from swefuse.policy.attention import LEAST
from swefuse.policy.trie import autocast, most_tokens
from swefuse.records import content_hash
from swefuse.sandbox.choose import AUTO, resolve
from swefuse.scale.executor import ProcessExecutor
from swefuse.tasks.store import load_tasks
from swefuse.verify.many import init_worker, verify_many

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Progress = Callable[[int, int], None]
STATE, BEST = "state.pt", "best.pt"


class SftSettings(BaseModel):
    """Settings of supervised fine-tuning; steps, never seconds, so that the same seed gives the same figures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(520, ge=1, description="optimizer steps")
    batch: int = Field(24, ge=1, description="trajectories a step")
    micro_batch: int = Field(0, ge=0, description="trajectories a forward pass; divides batch, 0: the whole batch")
    pack: int = Field(0, ge=0, description="tokens of a row that holds several trajectories, kept apart; 0: one trajectory a row")
    optimizer: OptimizerName = Field("muon", description="muon: Muon for the matrices inside the blocks, AdamW for the rest")
    lr: float = Field(2e-3, gt=0, description="peak learning rate")
    warmup: int = Field(40, ge=0, description="steps of linear warm-up")
    hold: float = Field(0.3, ge=0, le=1, description="share of the steps after warm-up at the peak, then linear to final_lr")
    final_lr: float = Field(0.02, ge=0, le=1, description="last learning rate as a share of the peak")
    weight_decay: float = Field(0.05, ge=0, description="decoupled weight decay")
    clip: float = Field(1.0, gt=0, description="largest gradient norm")
    raw_loss: float = Field(1.0, ge=0, description="share of the unconstrained cross-entropy at choices")
    prompt_loss: float = Field(0.2, ge=0, description="share of the cross-entropy of observations")
    tail: bool = Field(False, description="train also the turns behind the last choice, which the protocol forces")
    dialect: Literal["", "compact", "tools"] = Field(
        "", description="how actions are written in the rows of a chat model; empty: as it was trained before, else compact"
    )
    short_first: Annotated[float, OnlyWhen("mix.curriculum", "length", "difficulty")] = Field(
        0.35, ge=0, le=1, description="share of the steps that see only the shorter half of the data, or the easier: mix.curriculum"
    )
    lora: int = Field(0, ge=0, description="rank of low-rank adapters on every inner matrix, merged at the end; 0: all weights")
    shard: Literal["none", "fsdp"] = Field(
        "none", description="fsdp: each of several processes holds a part of the weights (FSDP2)"
    )
    recompute: bool = Field(False, description="compute activations again in the backward pass: less memory, a third more time")
    save_every: int = Field(200, ge=1, description="steps between the states that a stopped run goes on from, about; and checks")
    check_tasks: int = Field(64, ge=1, description="held-out tasks of --check that decide which state is the best")
    patience: int = Field(0, ge=0, description="checks without a better one after which training ends; 0: it goes on to the end")
    report: Literal["none", "tensorboard", "wandb", "trackio"] = Field("none", description="also log the steps there")
    seed: int = Field(0, ge=0, description="order of the data")
    mix: MixSettings = Field(default_factory=MixSettings, validate_default=True, description="what batches are made of")

    @model_validator(mode="after")
    def _shards_need(self) -> Self:
        """Muon orthogonalises whole matrices, and adapters are small as they are."""
        if self.shard == "fsdp" and (self.optimizer != "adamw" or self.lora):
            raise ValueError("shard = fsdp needs optimizer = adamw and lora = 0")
        return self


def learning_rate(step: int, settings: SftSettings) -> float:
    """Factor on the peak at a 0-based step: linear warm-up, a flat part, then linear down."""
    if step < settings.warmup:
        return (step + 1) / settings.warmup
    done = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    if done <= settings.hold:
        return 1.0
    return settings.final_lr + (1 - settings.final_lr) * (1 - done) / max(1e-9, 1 - settings.hold)


def sft_loss(
    model: PreTrainedModel, batch: SftBatch, tokens: int, prompt_tokens: int, settings: SftSettings
) -> tuple[Tensor, Tensor]:
    """``(loss, sum of the choice loss)`` of one forward pass, divided by the numbers of tokens of the whole optimizer step."""
    with autocast(model):
        inputs = {"attention_mask": batch.mask}
        if settings.pack:
            positions, seen = kept_apart(batch.mask)
            hidden_from = torch.zeros(seen.shape, dtype=model.dtype, device=seen.device).masked_fill(~seen, LEAST)
            inputs = {"attention_mask": hidden_from[:, None], "position_ids": positions}
        hidden = model.base_model(input_ids=batch.ids, **inputs).last_hidden_state
        head = output_layer(model)
        logits = head(hidden[batch.row, batch.column])
        chosen = token_logprobs(logits, batch.targets, batch.allowed)
        choice = batch.allowed.any(-1)
        loss = -chosen.sum()
        if settings.raw_loss:
            loss = loss - settings.raw_loss * token_logprobs(logits[choice], batch.targets[choice]).sum()
        loss = loss / tokens
        if settings.prompt_loss:
            others = shown(batch)
            prompt = token_logprobs(head(hidden[:, :-1][others[:, 1:]]), batch.ids[others])
            loss = loss - settings.prompt_loss * prompt.sum() / prompt_tokens
    return loss, -chosen[choice].sum().detach()


def batch_order(examples: Sequence[Example], settings: SftSettings) -> list[list[int]]:
    """The batches of all steps by ``mix``: the first ``short_first`` of them from the shorter or easier half, then from all.

    Raises DataError when the examples do not fill one batch, and ConfigError for a mix of what they are not.
    """
    mix = settings.mix
    first = 0 if mix.curriculum == "none" else round(settings.steps * settings.short_first)
    order = Order([len(example.ids) for example in examples], hardness(examples, mix), weights(examples, mix))
    return order.batches(settings.steps, first, settings.batch, settings.seed)


def trained_rows(examples: Sequence[Example], settings: SftSettings) -> Sequence[Example]:
    """The examples as they are put through the model."""
    return examples if settings.tail else [without_tail(example) for example in examples]


def fine_tune(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    examples: Sequence[Example],
    settings: SftSettings,
    out: Path,
    progress: Progress,
    check: Callable[[], float] | None = None,
) -> PreTrainedModel:
    """Train ``model`` in place on ``examples`` and return it: with a ``check``, as it was when that gave the most.

    ``out`` gets metrics.jsonl, and the state from which a stopped call goes on to the same end. Raises ConfigError for batches that
    do not divide and for a folder that holds another run.
    """
    from datasets import Dataset  # type: ignore[import-untyped]

    arguments = _arguments(model, settings, out)
    examples = trained_rows(examples, settings)
    check_packing(model, examples, settings.pack)
    order = batch_order(examples, settings)
    names = content_hash([[[e.name, len(e.ids)] for e in examples], order])
    this = {"settings": settings.model_dump(mode="json"), "examples": names, "base": fingerprint(model)}
    adapted = adapt(model, settings.lora)
    optimizer = make_optimizer(model, settings.optimizer, settings.lr, settings.weight_decay)
    best = Best(out / BEST, check) if check else None
    done = _resumed(out, this, model, optimizer, best)
    flat = [number for batch in order[done:] for number in batch]

    def keep(step: int) -> bool:
        """Save the state after ``step`` steps; whether that was enough."""
        if best:
            write_line(out / "metrics.jsonl", {"step": step, "pass1": best.look(model, step)})
        enough = bool(best and settings.patience and best.since >= settings.patience)
        told = {**this, "done": settings.steps if enough else step, "best": best.state() if best else {}}
        save_state(out / STATE, {**told, **state_of(model, optimizer)})
        return enough

    if flat:
        arguments.max_steps = settings.steps - done
        lines = int(arguments.logging_steps)
        log = Log(out / "metrics.jsonl", progress, done, lines * max(1, round(settings.save_every / lines)), keep)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate(done + step, settings))
        trainer = Trainer(
            partial(sft_loss, settings=settings),
            model=model,
            args=arguments,
            processing_class=tokenizer,
            data_collator=collator(examples, model.config.vocab_size, tokenizer.pad_token_id or 0, settings.pack),
            train_dataset=Dataset.from_dict({"example": flat}),
            optimizers=(optimizer, schedule),
            callbacks=[log],
        )
        trainer.train()
        if done + trainer.state.global_step == settings.steps:
            keep(settings.steps)
    if best:
        best.restore(model)
    if adapted is not None:
        adapted.merge_and_unload()
    return model


def check_packing(model: PreTrainedModel, examples: Sequence[Example], room: int) -> None:
    """Raises ConfigError where rows of ``room`` tokens cannot keep examples apart, and for an example that does not fit in one."""
    config = model.config.get_text_config()
    others = sorted(set(getattr(config, "layer_types", None) or ()) - {"full_attention"})
    if room and (others or getattr(config, "sliding_window", None)):
        kind = others[0] if others else "sliding_attention"
        raise ConfigError(f"pack keeps examples apart in full attention only, and this model has {kind}; leave it out")
    for example in examples:
        if room and len(example.ids) > room:
            raise ConfigError(f"trajectory {example.name} has {len(example.ids)} tokens, more than pack={room}; raise it")


def adapt(model: PreTrainedModel, rank: int) -> Any:
    """The adapters (Hu et al. 2021) in ``model``, whose other weights stay as they are; None for rank 0."""
    if not rank:
        return None
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by a name that is on its way out
        return get_peft_model(model, config)


def _resumed(out: Path, this: dict[str, Any], model: PreTrainedModel, optimizer: torch.optim.Optimizer, best: Best | None) -> int:
    """How many steps are done: those of the state in ``out``, which all take over; metrics.jsonl is cut there."""
    out.mkdir(parents=True, exist_ok=True)
    state = load_state(out / STATE)
    done = 0
    if state is not None:
        for key, now in this.items():
            check_same(out / STATE, state, key, now)
        take_over(model, optimizer, state)
        if best and state["best"]:
            best.resume(state["best"])
        done = int(state["done"])
    keep_lines(out / "metrics.jsonl", "step", done)
    return done


def _arguments(model: PreTrainedModel, settings: SftSettings, out: Path) -> SFTConfig:
    """How TRL is to train. Raises ConfigError for a ``micro_batch`` that does not divide the batch."""
    rows, passes = ranks.share(settings.batch, settings.micro_batch)
    if (settings.shard == "fsdp") != sharded(model):
        raise ConfigError("shard=fsdp is for 'swefuse train sft' on several processes; leave it out here")
    return SFTConfig(
        output_dir=str(out),
        max_steps=settings.steps,
        per_device_train_batch_size=rows,
        gradient_accumulation_steps=passes,
        max_grad_norm=settings.clip,
        use_cpu=model.device.type == "cpu",
        bf16=False,  # the loss opens autocast itself, where the machine is faster in bfloat16
        activation_checkpointing=False,
        gradient_checkpointing=settings.recompute,
        save_strategy="no",
        report_to=settings.report,
        logging_steps=max(1, min(20, settings.steps // 10)),
        disable_tqdm=True,
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        dataloader_pin_memory=False,
        seed=settings.seed,
        ddp_find_unused_parameters=False,  # every trained weight is used in every step
    )


def run(
    settings: SftSettings, model: Path, library: Path, out: Path, progress: Progress = lambda done, total: None,
    check: Path | None = None,
) -> Path:  # fmt: skip
    """Stage 1 from a model folder on the accepted trajectories of a library; ``out/model`` loads with ``from_pretrained``.

    ``check``: a folder of tasks, of which the held-out ones decide by executed pass@1 which state of the model is the best. Raises
    DataError when the library holds no accepted trajectory or ``check`` no task that can be checked. Several processes, as torchrun
    starts them, share every step; the first one writes.
    """
    if check and settings.shard == "fsdp":
        raise ConfigError("--check asks a whole model, and shard=fsdp leaves none: drop one of them")
    ranks.start()
    board = _board(check, settings.check_tasks) if check and ranks.first() else []
    given = prepared(settings, model, library)

    def executed() -> float:
        return ranks.told(sum(exact_pass(given.model, given.codec, board)) / len(board) if ranks.first() else 0.0)

    fine_tune(given.model, given.tokenizer, given.examples, settings, out, progress, executed if check else None)
    trained = gathered(given.model, model)
    if ranks.first():
        save(trained, given.tokenizer, out / "model")
        manifest.write(out, "sft", settings, {**given.told, "policy": fingerprint(trained)})
    ranks.finish()
    return out


class Prepared(NamedTuple):
    """What training begins with; ``told``: what the manifest says of it."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    codec: Codec
    examples: list[Example]
    told: dict[str, Any]


def prepared(settings: SftSettings, model: Path, library: Path) -> Prepared:
    """A model and the accepted trajectories of a library as its rows. Raises DataError when there are none."""
    with Library(library) as store:
        items = [(entry.task, entry.trajectory) for entry in store.iter_accepted()]
    if not items:
        raise DataError(f"{library} holds no accepted trajectory; 'swefuse library stats {library}' shows why")
    items = chosen(items, settings.mix, settings.seed)
    with ProcessExecutor(2, init_codec, (model, settings.dialect), chunk=8) as executor:
        examples = make_examples(items, executor)
    steady(settings.seed, 1)
    learner, tokenizer = load(model, cut=loading() if settings.shard == "fsdp" else None)
    examples, unfit = all_fitted(examples, most_tokens(learner))
    codec = codec_for(tokenizer, settings.dialect)
    remember(tokenizer, codec)
    tasks = sorted({task.id for task, _ in items})
    told = {
        "base": fingerprint(learner), "library": manifest.library(library), "tasks": content_hash(tasks), "task_count": len(tasks),
        "split": sorted({task.split for task, _ in items}), **({"too_long": unfit} if unfit else {}),
    }  # fmt: skip
    return Prepared(learner, tokenizer, codec, examples, told)


def _board(place: Path, count: int) -> list[Place]:
    """The first held-out tasks of a folder that are one function each, every open edit of them verified."""
    known = load_tasks(place / "tasks.jsonl" if place.is_dir() else place)
    tasks = [task for task in known if task.split != "train" and task.suite("calls") and protocol.choices(task, task.files, ())]
    if not tasks:
        raise DataError(f"{place} has no held-out task (of another split than 'train') that is one function with tests by calls")
    tasks.sort(key=lambda task: content_hash(["check", task.id]))  # of every split
    with ProcessExecutor(2, init_worker, (resolve(AUTO),), chunk=16) as executor:
        return make_board(tasks[:count], lambda items: verify_many(items, executor))
