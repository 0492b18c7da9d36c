"""One update of stage 2 against TRL's ``DPOTrainer``: the same model, the same pairs, the same lengths, one run.

Each side runs in a process of its own, since a process's peak memory is never given back. Both take ``STEPS`` optimizer steps on
``TASKS`` tasks with ``samples`` candidates each, the first of which won; the reference is read in both. A first step is not timed.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

from swefuse.collect import protocol
from swefuse.collect.episode import Start, begin, step
from swefuse.learn.batch import Group, open_tokens
from swefuse.learn.model import load, steady
from swefuse.learn.optimizers import make_optimizer
from swefuse.learn.rollouts import Rollouts, describe
from swefuse.learn.settings import RlvrSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models, Round, update
from swefuse.records import Action, Outcome, Pair, PolicyIdentity, Trajectory, Verdict
from swefuse.tasks.store import load_tasks

TASKS, STEPS, MICRO = 32, 2, 8


def groups(tasks: Path, codec: Any, samples: int) -> list[list[Group]]:
    """For each step the groups of its tasks: what was shown, and ``samples`` different edits."""
    known = [task for task in load_tasks(tasks / "tasks.jsonl") if task.split == "train"][: TASKS * (STEPS + 1)]
    refused = Verdict(outcome=Outcome.FAILED, form="calls")
    found = []
    for number, task in enumerate(known):
        episode = begin(Start(task))
        for action in (Action(name="view", path=protocol.entry(task)[0]), Action(name="test")):
            step(episode, "", action, lambda _: refused)
        steps = tuple(episode.steps)
        messages = codec.messages(task, protocol.choices(task, task.files, steps))
        drawn = random.Random(number).sample(list(dict.fromkeys(messages)), samples)
        prompt = codec.row(task, steps, prompt=True).ids
        found.append(Group(prompt, tuple(drawn), tuple(open_tokens(messages, ids) for ids in drawn)))
    return [found[at : at + TASKS] for at in range(0, len(found), TASKS)]


def ours(model: Path, tasks: Path, samples: int) -> list[float]:
    """Seconds of each step of our update, with the reading of the reference."""
    policy, tokenizer = load(model)
    codec = codec_for(tokenizer)
    both = Models(policy, load(model)[0], codec)
    settings = RlvrSettings(objective="bt", anchor=0.0, optimizer="adamw", micro_batch=MICRO, weight=WeightSettings(mode="off"))
    optimizer = make_optimizer(policy, "adamw", 1e-5, 0.0)
    took = []
    for batch in groups(tasks, codec, samples):
        dummy = Trajectory(id="", task_id="", initial="", steps=(), final="", files={}, stop_reason="submit",
                           policy=PolicyIdentity(model=""), verdict=None, source="")  # fmt: skip
        members = tuple(tuple(dummy for _ in group.candidates) for group in batch)
        data = Rollouts(tuple(load_tasks(tasks / "tasks.jsonl")[:1]) * len(batch), members, tuple(batch))
        pairs = [
            Pair(task_id="", a=n * samples, b=n * samples + other, label="A")
            for n in range(len(batch))
            for other in range(1, samples)
        ]
        started = time.perf_counter()
        update(both, optimizer, Round(data, describe(both.reference, data, MICRO, both.pad), pairs, False), settings)
        took.append(time.perf_counter() - started)
    return took


def theirs(model: Path, tasks: Path, samples: int) -> list[float]:
    """Seconds of each step of TRL's trainer on the same pairs."""
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import DPOConfig, DPOTrainer

    policy, tokenizer = load(model)
    codec = codec_for(tokenizer)
    rows = [
        {"prompt_ids": list(group.prompt), "chosen_ids": list(group.candidates[0]), "rejected_ids": list(group.candidates[other])}
        for batch in groups(tasks, codec, samples)
        for group in batch
        for other in range(1, samples)
    ]
    took: list[float] = []

    class Clock(TrainerCallback):
        started = 0.0

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            self.started = time.perf_counter()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            took.append(time.perf_counter() - self.started)

    pairs = TASKS * (samples - 1)
    arguments = DPOConfig(
        output_dir="/tmp/trl", per_device_train_batch_size=MICRO, gradient_accumulation_steps=pairs // MICRO, max_steps=STEPS + 1,
        learning_rate=1e-5, beta=0.1, use_cpu=True, bf16=torch.backends.mkldnn.is_available() and _bf16(policy), report_to="none",
        save_strategy="no", logging_steps=1000, disable_tqdm=True, max_length=None, activation_checkpointing=False,
        dataloader_pin_memory=False,
    )  # fmt: skip
    tokenizer.eos_token = tokenizer.eos_token or tokenizer.pad_token
    words = Dataset.from_list([{"prompt": "a", "chosen": "b", "rejected": "c"}] * len(rows))
    trainer = DPOTrainer(model=policy, ref_model=load(model)[0], args=arguments, train_dataset=words, processing_class=tokenizer,
                         callbacks=[Clock()])  # fmt: skip
    trainer.train_dataset = Dataset.from_list(rows)  # the same ids, not what its tokenizer would make of them
    trainer.train()
    return took


def _bf16(model: Any) -> bool:
    """Whether our own update computes in bfloat16 on this machine, so that both do."""
    from swefuse.policy.trie import autocast

    with autocast(model):
        return bool(torch.is_autocast_enabled("cpu"))


def measured(side: str, model: Path, tasks: Path, samples: int) -> dict[str, float]:
    """Pairs a second and the process's peak memory of one side."""
    command = [sys.executable, __file__, side, str(model), str(tasks), str(samples)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(f"{side}, {samples} candidates: {found}", file=sys.stderr)
    return found


def update_vs_trl(model: Path, tasks: Path) -> dict[str, float]:
    """Ratios of speed and of memory, at four candidates a task and at one pair a task."""
    found = {}
    for name, samples in (("", 4), ("_pair", 2)):
        own, other = (measured(side, model, tasks, samples) for side in ("ours", "theirs"))
        found[f"update_vs_trl{name}_x"] = own["pairs_s"] / other["pairs_s"]
        found[f"update_mem{name}_x"] = own["peak_mb"] / other["peak_mb"]
    return found


if __name__ == "__main__":
    steady(0, 2)
    kind, where, place, count = sys.argv[1:]
    seconds = (ours if kind == "ours" else theirs)(Path(where), Path(place), int(count))[1:]
    rate = TASKS * (int(count) - 1) * len(seconds) / sum(seconds)
    print(json.dumps({"pairs_s": rate, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
