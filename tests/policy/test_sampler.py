from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM

from swefuse.errors import DataError, UserError
from swefuse.policy.attention import use_products
from swefuse.policy.sampler import Sampled, Sampling, sample

VOCABULARY = 300
KINDS: dict[str, tuple[Any, Any]] = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen2": (Qwen2Config, Qwen2ForCausalLM)}
SIZES = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96,
    "vocab_size": VOCABULARY, "max_position_embeddings": 256, "initializer_range": 0.3, "bos_token_id": None, "eos_token_id": None,
}  # fmt: skip


class Counted(LlamaForCausalLM):
    """Remembers the shapes of what it reads."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        shapes = self.__dict__.setdefault("shapes", [])
        shapes.append(tuple(kwargs["input_ids"].shape))
        return super().forward(*args, **kwargs)


@cache
def model(kind: str = "llama") -> Any:
    """A random model in float64, which autocast leaves alone: what is exact in theory is exact here too."""
    torch.manual_seed(1)
    config, made = KINDS[kind]
    return made(config(**SIZES)).double().eval()


def prompts(*lengths: int) -> list[list[int]]:
    rng = random.Random(0)
    return [[rng.randrange(VOCABULARY) for _ in range(length)] for length in lengths or (3, 17, 9, 5)]


def draws(count: int, each: int = 1, **settings: Any) -> list[Sampling]:
    """``each`` samples of ``count`` prompts, with streams of their own; they end at different lengths."""
    return [
        Sampling(prompt, random.Random(f"{prompt}-{k}"), **{"max_tokens": 12 - 2 * k, **settings})
        for prompt in range(count)
        for k in range(each)
    ]


def read(prompt: Sequence[int], ids: Sequence[int]) -> Tensor:
    """Logits [T, V] after the prompt and each of ``ids`` but the last, from one plain pass."""
    with torch.no_grad():
        logits: Tensor = model()(input_ids=torch.tensor([[*prompt, *ids]])).logits[0, len(prompt) - 1 : -1]
    return logits


class Fixed:
    """Allows the same tokens everywhere, as many as ``most`` of them; remembers what it is told."""

    def __init__(self, tokens: Sequence[int], most: int = 99, size: int = VOCABULARY) -> None:
        self.mask = torch.zeros(size, dtype=torch.bool)
        self.mask[list(tokens)] = True
        self.most = most
        self.told: list[int] = []

    def allowed(self) -> Tensor:
        return self.mask

    def accept(self, token: int) -> None:
        self.told.append(token)

    def rollback(self, count: int) -> None:
        del self.told[-count:]

    def is_done(self) -> bool:
        return len(self.told) >= self.most


def same(one: list[Sampled], other: list[Sampled]) -> None:
    assert [found.ids for found in one] == [found.ids for found in other]
    assert [found.finish for found in one] == [found.finish for found in other]
    for a, b in zip(one, other, strict=True):
        for name in ("logprobs", "raw_logprobs", "entropies"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), abs=1e-8)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("products", [False, True])
def test_greedy_equals_generate_token_for_token(kind: str, products: bool) -> None:
    made, asked = model(kind), prompts(3, 17, 9, 5, 40)
    expected = []
    for prompt in asked:
        ids = torch.tensor([prompt])
        whole = made.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=20, pad_token_id=0)
        expected.append(whole[0, len(prompt) :].tolist())
    if products:
        use_products(made)
    found = sample(made, asked, draws(5, greedy=True, max_tokens=20))
    made.set_attn_implementation("sdpa")
    assert [one.ids for one in found] == expected
    assert {one.finish for one in found} == {"length"} and all(one.seconds > 0 for one in found)


def test_batching_order_and_padding_change_nothing() -> None:
    whole = sample(model(), prompts(), draws(4, 6))
    assert len({tuple(found.ids[:1]) for found in whole}) > 8, "it does sample"
    for lanes in (1, 13):
        same(sample(model(), prompts(), draws(4, 6), lanes), whole)
    same(sample(model(), prompts(), draws(4, 6)[::-1])[::-1], whole)
    alone = [sample(model(), prompts(), [draw])[0] for draw in draws(4, 6)[::5]]
    same(alone, whole[::5])


def test_a_stream_fixes_what_is_drawn() -> None:
    same(sample(model(), prompts(), draws(4, 2)), sample(model(), prompts(), draws(4, 2)))
    other = [Sampling(0, random.Random(seed), 12) for seed in range(20)]
    assert len({tuple(found.ids) for found in sample(model(), prompts(), other)}) == 20


def test_log_probs_equal_those_of_a_plain_pass() -> None:
    asked = draws(4, 3, temperature=0.7)
    for draw, found in zip(asked, sample(model(), prompts(), asked), strict=True):
        logits = read(prompts()[draw.prompt], found.ids)
        chosen = torch.tensor(found.ids)[:, None]
        assert found.raw_logprobs == pytest.approx(logits.log_softmax(-1).gather(-1, chosen)[:, 0].tolist(), abs=1e-6)
        cold = (logits / 0.7).log_softmax(-1)
        assert found.logprobs == pytest.approx(cold.gather(-1, chosen)[:, 0].tolist(), abs=1e-6)
        assert found.entropies == pytest.approx((-cold.exp() * cold).sum(-1).tolist(), abs=1e-6)


def test_log_probs_under_a_mask_are_those_of_what_was_open() -> None:
    open_ones = [5, 8, 13, 21, 34]
    asked = [Sampling(0, random.Random(1), 10, 1.3, masker=Fixed(open_ones)), Sampling(0, random.Random(2), 10, 1.3)]
    masked, free = sample(model(), prompts(), asked)
    assert set(masked.ids) <= set(open_ones) and not set(free.ids) <= set(open_ones)
    logits = read(prompts()[0], masked.ids)
    among = (logits[:, open_ones] / 1.3).log_softmax(-1)
    picked = torch.tensor([open_ones.index(token) for token in masked.ids])[:, None]
    assert masked.logprobs == pytest.approx(among.gather(-1, picked)[:, 0].tolist(), abs=1e-6)
    assert masked.entropies == pytest.approx((-among.exp() * among).sum(-1).tolist(), abs=1e-6)
    whole = logits.log_softmax(-1).gather(-1, torch.tensor(masked.ids)[:, None])[:, 0]
    assert masked.raw_logprobs == pytest.approx(whole.tolist(), abs=1e-6)


class Constant(LlamaForCausalLM):
    """The same three probabilities everywhere."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        out = super().forward(*args, **kwargs)
        out.logits = torch.full_like(out.logits, -math.inf)
        out.logits[..., [2, 250, 299]] = torch.tensor([0.5, 0.25, 0.25], dtype=out.logits.dtype).log()
        return out


def test_frequencies_log_probs_and_entropy_of_a_distribution_made_by_hand() -> None:
    made = Constant(LlamaConfig(**SIZES)).double().eval()
    asked = [Sampling(0, random.Random(seed), 20) for seed in range(100)]
    found = sample(made, [[1]], asked)
    tokens = [token for one in found for token in one.ids]
    shares = [tokens.count(token) / len(tokens) for token in (2, 250, 299)]
    assert len(tokens) == 2000 and shares == pytest.approx([0.5, 0.25, 0.25], abs=0.04) and sum(shares) == 1
    for one in found:
        assert one.entropies == pytest.approx([1.5 * math.log(2)] * 20)
        assert one.logprobs == pytest.approx([math.log(0.5 if token == 2 else 0.25) for token in one.ids])
        assert one.raw_logprobs == one.logprobs
    cold = sample(made, [[1]], [Sampling(0, random.Random(0), 4, 0.01), Sampling(0, random.Random(0), 4, greedy=True)])
    assert [one.ids for one in cold] == [[2] * 4] * 2


def test_it_ends_with_a_stop_id_a_stop_string_or_the_limit() -> None:
    free = sample(model(), prompts(), draws(1, max_tokens=12))[0]
    stop = free.ids[4]
    first = free.ids.index(stop) + 1
    found = sample(model(), prompts(), draws(1, max_tokens=12, stops=frozenset({stop})))[0]
    assert found.ids == free.ids[:first] and found.finish == "stop", "the token that ends it is part of it"
    text = " ".join(map(str, free.ids[2:4]))
    ended: Callable[[Sequence[int]], bool] = lambda ids: " ".join(map(str, ids)).endswith(text)  # noqa: E731
    found = sample(model(), prompts(), draws(1, max_tokens=12, ended=ended))[0]
    assert found.ids == free.ids[:4] and found.finish == "stop"
    assert free.finish == "length" and len(free.ids) == 12


def test_samples_of_equal_prompts_share_one_reading_and_ended_ones_are_dropped() -> None:
    made = Counted(LlamaConfig(**SIZES)).double().eval()
    prompt = prompts(30)[0]
    asked = [Sampling(n % 2, random.Random(n), 10 if n < 2 else 4) for n in range(8)]
    found = sample(made, [prompt, list(prompt)], asked)
    shapes = made.__dict__["shapes"]
    assert shapes[0] == (1, 30) and len(shapes) == 10, "one reading, and one pass for each token but the last"
    assert [math.prod(shape) for shape in shapes[1:]] == [8] * 3 + [2] * 6, "eight places, and two where two go on"
    assert [len(one.ids) for one in found] == [10] * 2 + [4] * 6
    with torch.no_grad():
        again = [Sampling(0, random.Random(n), 10 if n < 2 else 4) for n in range(8)]
        same(found, [sample(made, [prompt], [draw])[0] for draw in again])


def test_a_mask_that_allows_one_token_forces_it() -> None:
    masker = Fixed([7], most=3)
    found = sample(model(), prompts(), [Sampling(1, random.Random(0), 10, masker=masker)])[0]
    assert found.ids == masker.told == [7, 7, 7] and found.finish == "stop", "the masker said that it is complete"
    assert found.logprobs == [0.0] * 3 == found.entropies and all(value < 0 for value in found.raw_logprobs)


def test_where_nothing_is_allowed_it_ends_and_the_others_go_on() -> None:
    short = Fixed([9], size=40)  # a mask that knows fewer tokens than the model
    asked = [
        Sampling(0, random.Random(0), 3),
        Sampling(0, random.Random(1), 3, masker=Fixed([])),
        Sampling(1, random.Random(2), 3, masker=short),
    ]
    found = sample(model(), prompts(), asked)
    assert [(len(one.ids), one.finish) for one in found] == [(3, "length"), (0, "masked"), (3, "length")]
    assert found[2].ids == [9, 9, 9]
    same(sample(model(), prompts(), [Sampling(0, random.Random(0), 3)]), found[:1])


class Refusing:
    """Wants ``back`` tokens back at each of ``lengths``, once each."""

    def __init__(self, lengths: Sequence[int], back: int) -> None:
        self.lengths, self.back = list(lengths), back
        self.seen: list[list[int]] = []

    def __call__(self, ids: Sequence[int]) -> int:
        self.seen.append(list(ids))
        if self.lengths and len(ids) == self.lengths[0]:
            self.lengths.pop(0)
            return min(self.back, len(ids))
        return 0


@pytest.mark.parametrize(("lengths", "back"), [([1], 1), ([2, 2], 2), ([5], 2), ([6, 4, 6], 3), ([4], 4)])
def test_what_a_guard_takes_back_leaves_no_trace(lengths: list[int], back: int) -> None:
    """After each roll-back the model is where it would be had it never read those tokens."""
    guards = [Refusing(lengths, back) for _ in range(5)]
    maskers = [Fixed(range(VOCABULARY)) for _ in range(5)]
    asked = [Sampling(n % 2, random.Random(n), 8, guard=guards[n], masker=maskers[n]) for n in range(5)]
    asked += [Sampling(1, random.Random(9), 8)]
    found = sample(model(), prompts(), asked)
    same(sample(model(), prompts(), [Sampling(1, random.Random(9), 8)]), found[-1:])
    for draw, one, guard, masker in zip(asked, found, guards, maskers, strict=False):
        assert one.rollbacks == len(lengths) and not guard.lengths and len(one.ids) == 8 and not one.gave_up
        assert masker.told == one.ids
        logits = read(prompts()[draw.prompt], one.ids).log_softmax(-1)
        assert one.logprobs == pytest.approx(logits.gather(-1, torch.tensor(one.ids)[:, None])[:, 0].tolist(), abs=1e-6)
    refused = [next(ids for ids in guard.seen if len(ids) == lengths[0]) for guard in guards]
    assert any(ids != one.ids[: len(ids)] for ids, one in zip(refused, found, strict=False)), "another draw"


def test_a_guard_that_is_never_content_ends_it() -> None:
    asked = [Sampling(0, random.Random(0), 30, guard=lambda ids: int(len(ids) == 3), rollbacks=4), *draws(1)]
    stuck, free = sample(model(), prompts(), asked)
    assert stuck.gave_up and stuck.rollbacks == 4 and len(stuck.ids) == 3 and stuck.finish == "length"
    assert not free.gave_up and len(free.ids) == 12


def test_what_cannot_be_sampled_is_refused() -> None:
    assert sample(model(), [], []) == []
    with pytest.raises(UserError, match="empty"):
        sample(model(), [[]], draws(1))
    with pytest.raises(UserError, match="above 0"):
        sample(model(), prompts(), draws(1, temperature=0.0))
    with pytest.raises(UserError, match="above 0"):
        sample(model(), prompts(), draws(1, max_tokens=0))
    narrow = MistralForCausalLM(MistralConfig(**SIZES, sliding_window=16)).double().eval()
    with pytest.raises(DataError, match="last 16 tokens"):
        sample(narrow, prompts(9), draws(1, max_tokens=8))
    found = sample(narrow, prompts(9), draws(1, max_tokens=7, greedy=True))[0]
    ids = torch.tensor(prompts(9))
    whole = narrow.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=7, pad_token_id=0)
    assert found.ids == whole[0, 9:].tolist(), "inside its window it sees everything"
