"""How fast free sampling is, beside Hugging Face ``generate`` on the same model, in the same run.

``python benchmarks/sampling.py --json`` prints one flat JSON object on its last line. Methods take turns in rounds; a ratio of
tokens per second is the median of the ratios of the rounds, because the speed of a shared machine drifts. Progress goes to stderr.

The model is a random Llama of 34.6 M parameters with the vocabulary of SmolLM2 (49152) and its grouping of heads; prompts have 100
to 300 tokens, answers at most 64, and end earlier by chance. Every method samples from the full softmax at temperature 1.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from swefuse.policy.attention import use_products
from swefuse.policy.sampler import Sampling, sample

VOCABULARY, TASKS, SAMPLES, LONGEST = 49152, 16, 4, 64
STOPS = frozenset(range(0, VOCABULARY, 64))  # one token in 64 ends an answer: a third run to the limit


def model() -> Any:
    """Random weights; what they compute takes as long as what trained ones do."""
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=384, num_hidden_layers=10, num_attention_heads=6, num_key_value_heads=2, intermediate_size=1024,
        vocab_size=VOCABULARY, tie_word_embeddings=True, max_position_embeddings=2048, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


def prompts() -> list[list[int]]:
    rng = random.Random(0)
    return [[rng.randrange(VOCABULARY) for _ in range(rng.randrange(100, 301))] for _ in range(TASKS)]


def ours(made: Any, asked: Sequence[Sequence[int]], number: int) -> int:
    """Tokens sampled for all prompts at once."""
    draws = [
        Sampling(prompt, random.Random(f"{number}-{prompt}-{k}"), LONGEST, stops=STOPS)
        for prompt in range(len(asked))
        for k in range(SAMPLES)
    ]
    return sum(len(found.ids) for found in sample(made, asked, draws))


def generated(made: Any, asked: Sequence[Sequence[int]], number: int, samples: int) -> int:
    """Tokens sampled with one call of ``generate`` for each prompt."""
    torch.manual_seed(number)
    count = 0
    for prompt in asked:
        ids = torch.tensor([prompt])
        rows = made.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0, top_p=1.0, temperature=1.0, max_new_tokens=LONGEST,
            num_return_sequences=samples, eos_token_id=sorted(STOPS), pad_token_id=0,
        )  # fmt: skip
        for row in rows[:, len(prompt) :].tolist():
            count += next((at + 1 for at, token in enumerate(row) if token in STOPS), len(row))
    return count


def sampling(rounds: int = 3, threads: int = 1) -> dict[str, float]:
    """Tokens per second as multiples of those of ``generate``: one sample a call, and all samples of a prompt in one call."""
    torch.set_num_threads(threads)
    made, asked = model(), prompts()

    def turn(number: int) -> dict[str, float]:
        few = asked[number % 8 :: 8]  # one by one is slow, and two tasks with four samples each tell its speed
        methods: dict[str, Callable[[], int]] = {
            "single": lambda: sum(generated(made, few, number * SAMPLES + k, 1) for k in range(SAMPLES)),
            "batch": lambda: generated(made, asked[number % 4 :: 4], number, SAMPLES),
            "ours": lambda: ours(made, asked, number),
        }
        speeds = {}
        for name in random.Random(number).sample(sorted(methods), len(methods)):
            made.set_attn_implementation("sdpa")
            if name == "ours":
                use_products(made)  # as models are loaded here; generate is faster without
            started = time.perf_counter()
            speeds[name] = methods[name]() / (time.perf_counter() - started)
        print(f"round {number}: tokens/s", {name: round(value, 1) for name, value in speeds.items()}, file=sys.stderr, flush=True)
        return speeds

    ours(made, asked[:2], 0)  # kernels are made and memory is taken
    found = [turn(number) for number in range(rounds)]
    return {
        f"sample_x_{name}": round(statistics.median(speeds["ours"] / speeds[name] for speeds in found), 2)
        for name in ("single", "batch")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    figures = sampling(options.rounds, options.threads)
    print(json.dumps(figures) if options.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
