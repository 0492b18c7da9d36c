"""The memory plan against real steps of a model of 100 million parameters, in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from swefuse.learn.losses import token_logprobs
from swefuse.learn.plan import GIB, PlanSettings, plan

ROWS, LENGTH, SHARE = 4, 1024, 0.25
# a block as wide against its feed-forward and its heads as in an 8B model
CONFIG = LlamaConfig(
    num_hidden_layers=12, hidden_size=768, intermediate_size=2688, num_attention_heads=12, num_key_value_heads=4, vocab_size=16_000,
    tie_word_embeddings=True, max_position_embeddings=4096,
)  # fmt: skip


def peak() -> float:
    """Bytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def real() -> float:
    """Bytes that two optimizer steps take beyond what the process held before there was a model."""
    torch.set_num_threads(2)
    small = LlamaConfig(hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=1, vocab_size=64)
    step(LlamaForCausalLM(small), 1, 8, 2)  # what torch itself takes at its first step
    before = peak()
    model = LlamaForCausalLM(CONFIG)
    for _ in range(2):
        step(model, ROWS, LENGTH, round(ROWS * LENGTH * SHARE))
    return peak() - before


def step(model: LlamaForCausalLM, rows: int, length: int, trained: int) -> None:
    """One step on made-up rows, with logits of what is trained alone, as both stages take it."""
    if not hasattr(model, "made_optimizer"):
        model.made_optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    ids = torch.randint(0, 60, (rows, length))
    hidden = model.base_model(input_ids=ids).last_hidden_state
    logits = model.lm_head(hidden.reshape(-1, hidden.shape[-1])[:trained])
    (-token_logprobs(logits, ids.flatten()[:trained]).mean()).backward()
    model.made_optimizer.step()
    model.made_optimizer.zero_grad()


def plan_error() -> dict[str, float]:
    """How far the plan is from what was really taken, as a share."""
    done = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True)
    taken = float(done.stdout.split()[-1])
    settings = PlanSettings(rows=ROWS, length=LENGTH, trained=SHARE, half=False, recompute=False, overhead=0.0)
    with tempfile.TemporaryDirectory() as folder:
        CONFIG.save_pretrained(folder)
        planned = plan(folder, settings, 1)
    print(f"planned {planned.total / GIB:.2f} GiB ({planned}), taken {taken / GIB:.2f} GiB", file=sys.stderr)
    return {"plan_error": abs(planned.total / taken - 1)}


if __name__ == "__main__":
    if sys.argv[1:] == ["--plan"]:
        print(json.dumps(plan_error()))
    else:
        print(real())
