from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from learn_samples import model
from swefuse.policy.trie import Draw, Node, build_trie, draw_index, likeliest, run_trie

MESSAGES = [(5, 6, 7, 9), (5, 6, 8, 9), (5, 8, 9), (6, 6, 6, 6, 9), (7, 5, 9)]


class Forwards:
    """Counts the forward passes of a model and remembers how many tokens each was given."""

    def __init__(self, made: Any) -> None:
        self.sizes: list[int] = []
        made.base_model.register_forward_pre_hook(self._see, with_kwargs=True)

    def _see(self, module: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self.sizes.append(kwargs["input_ids"].shape[1])


def sharp() -> Any:
    made = model(layers=2).eval()
    with torch.no_grad():
        made.base_model.norm.weight.mul_(4.0)
    return made


def walk(made: Any, prompts: list[tuple[int, ...]], samples: int, temperature: float = 1.0) -> list[Draw]:
    tries = [build_trie(MESSAGES) for _ in prompts]
    draws = [Draw(tries[n], random.Random(f"{n}-{k}"), n) for n in range(len(prompts)) for k in range(samples)]
    run_trie(made, prompts, draws, temperature)
    return draws


@torch.no_grad()
def alone(made: Any, prompt: tuple[int, ...], ids: list[int]) -> torch.Tensor:
    """Logits [N, V] that predict each of ``ids``, from one plain forward pass without cache or padding."""
    logits: torch.Tensor = made(torch.tensor([[*prompt, *ids]])).logits[0].float()
    return logits[len(prompt) - 1 : -1]


def test_every_figure_of_a_trace_equals_that_of_a_plain_forward_pass() -> None:
    made = sharp()
    prompts = [(1, 2, 3, 4), (9, 8), (3, 3, 3, 1, 2, 6, 7)]
    draws = walk(made, prompts, 12)
    assert len({tuple(draw.ids) for draw in draws}) == len(MESSAGES), "all messages came up, so all were checked"
    for draw in draws:
        node: Node = build_trie(MESSAGES)
        for place, (token, logits) in enumerate(zip(draw.ids, alone(made, prompts[draw.prompt], draw.ids), strict=True)):
            options = list(node.children)
            masked = torch.log_softmax(logits[options], -1)
            assert draw.raw[place] == pytest.approx(float(torch.log_softmax(logits, -1)[token]), abs=1e-4)
            assert draw.logprobs[place] == pytest.approx(float(masked[options.index(token)]), abs=1e-4)
            assert draw.entropies[place] == pytest.approx(float(-(masked.exp() * masked).sum()), abs=1e-4)
            node = node.children[token]
        assert draw.node.choice == MESSAGES.index(tuple(draw.ids))


def test_a_message_takes_as_many_passes_as_it_holds_decisions() -> None:
    made = sharp()
    seen = Forwards(made)
    draws = walk(made, [(1, 2, 3)], 20)
    longest = max(sum(entropy > 0 for entropy in draw.entropies) for draw in draws)
    assert longest == 3 and len(seen.sizes) == 1 + longest, "the prompt, then one pass a decision; the forced ends ride along"
    assert seen.sizes[0] == 3


def test_what_draws_chose_alike_is_read_once() -> None:
    made = sharp()
    seen = Forwards(made)
    walk(made, [(1, 2, 3)], 64)
    few = list(seen.sizes)
    seen.sizes.clear()
    walk(made, [(1, 2, 3)], 512)
    assert seen.sizes == few, "eight times the draws cost no token more once every message was drawn"


def test_a_temperature_scales_the_open_logits_and_leaves_the_raw_ones() -> None:
    made = sharp()
    hot = walk(made, [(1, 2, 3, 4)], 30, temperature=5.0)
    logits = alone(made, (1, 2, 3, 4), hot[0].ids)[0]
    options = [5, 6, 7]
    assert hot[0].logprobs[0] == pytest.approx(
        float(torch.log_softmax(logits[options] / 5, -1)[options.index(hot[0].ids[0])]), abs=1e-4
    )
    assert hot[0].raw[0] == pytest.approx(float(torch.log_softmax(logits, -1)[hot[0].ids[0]]), abs=1e-4)


def test_draws_follow_the_distribution() -> None:
    made = sharp()
    draws = walk(made, [(1, 2, 3, 4)], 4000)
    for message in MESSAGES:
        chance = torch.tensor(sum(next(draw.logprobs for draw in draws if tuple(draw.ids) == message))).exp().item()
        share = sum(tuple(draw.ids) == message for draw in draws) / len(draws)
        assert abs(share - chance) < 5 * (chance * (1 - chance) / len(draws)) ** 0.5 + 1e-3


def masked(made: Any, prompt: tuple[int, ...], message: tuple[int, ...]) -> list[float]:
    """Log-probs of a message's tokens among the open ones, from one plain forward pass."""
    node: Node = build_trie(MESSAGES)
    found = []
    for token, logits in zip(message, alone(made, prompt, list(message)), strict=True):
        options = list(node.children)
        found.append(float(torch.log_softmax(logits[options], -1)[options.index(token)]))
        node = node.children[token]
    return found


def test_a_greedy_draw_is_the_most_probable_message_even_where_its_first_token_is_not() -> None:
    made = sharp()
    prompts = [(a, b, c) for a in range(3) for b in range(4) for c in range(3)]
    trie = [build_trie(MESSAGES) for _ in prompts]
    draws = [Draw(trie[n], random.Random(0), n, greedy) for n in range(len(prompts)) for greedy in (True, False)]
    run_trie(made, prompts, draws, 1.0)
    against_the_first_token = 0
    for number, prompt in enumerate(prompts):
        all_of_them = [masked(made, prompt, message) for message in MESSAGES]
        best = max(range(len(MESSAGES)), key=lambda n: sum(all_of_them[n]))
        draw = draws[2 * number]
        assert draw.node.choice == best and tuple(draw.ids) == MESSAGES[best]
        assert draw.logprobs == pytest.approx(all_of_them[best], abs=1e-4)
        assert len(draw.raw) == len(draw.entropies) == len(draw.ids)
        likeliest = max(range(len(MESSAGES)), key=lambda n: all_of_them[n][0])
        against_the_first_token += MESSAGES[likeliest][0] != MESSAGES[best][0]
    assert against_the_first_token, "else following the most probable token would do as well"


def test_a_trie_with_one_message_needs_no_draw() -> None:
    made = sharp()
    trie = build_trie([(5, 6, 7)])
    draw = Draw(trie, random.Random(0), 0)
    run_trie(made, [(1, 2)], [draw], 1.0)
    assert draw.ids == [5, 6, 7] and draw.logprobs == [0.0] * 3 and draw.entropies == [0.0] * 3
    expected = torch.log_softmax(alone(made, (1, 2), [5, 6, 7]), -1)
    assert draw.raw == pytest.approx([float(expected[k, token]) for k, token in enumerate(draw.ids)], abs=1e-4)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple), min_size=1, max_size=12))
def test_every_message_is_reached_by_its_own_ids(messages: list[tuple[int, ...]]) -> None:
    ended = [(*message, 9) for message in messages]  # the terminator keeps one from being a prefix of another
    root = build_trie(ended)
    for message in ended:
        node = root
        for token in message:
            node = node.children[token]
        assert ended[node.choice] == message and not node.children


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=9), st.floats(0, 1, exclude_max=True))
def test_a_uniform_number_picks_an_index_in_range(weights: list[float], uniform: float) -> None:
    total = sum(weights)
    assert 0 <= draw_index([weight / total for weight in weights], uniform) < len(weights)


def test_the_most_probable_messages_come_in_their_order_with_exact_probabilities() -> None:
    made = sharp()
    prompts: list[tuple[int, ...]] = [(1, 2, 3, 4), (9, 8), (3, 3, 1), (5,), (2, 2), (4, 4, 4)]
    tries = [build_trie(MESSAGES if number % 2 else MESSAGES[number // 2 :]) for number in range(len(prompts))]
    every = likeliest(made, prompts, tries, 9, 1.0)
    for number, found in enumerate(every):
        totals = [sum(draw.logprobs) for draw in found]
        assert totals == sorted(totals, reverse=True) and sum(map(float, torch.tensor(totals).exp())) == pytest.approx(1, abs=1e-4)
        assert len({tuple(draw.ids) for draw in found}) == len(MESSAGES if number % 2 else MESSAGES[number // 2 :])
    few = likeliest(made, prompts, tries, 2, 1.0)
    assert [[draw.ids for draw in found] for found in few] == [[draw.ids for draw in found[:2]] for found in every]


def test_a_walk_that_goes_on_after_a_leaf_keeps_its_prompt_while_others_end() -> None:
    made, long = model(layers=2).eval(), [(n, 8, 9) for n in range(5, 25)]
    prompts: list[tuple[int, ...]] = [(1, 2), (3,), (4,), (5,), (6,)]
    tries = [build_trie([(5, 9), *long[1:]]), *[build_trie([(5, 9), (6, 9)]) for _ in prompts[1:]]]
    found = likeliest(made, prompts, tries, 40, 1.0)
    assert [len(one) for one in found] == [20, 2, 2, 2, 2]
