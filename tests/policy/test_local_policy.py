from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch

from learn_samples import TASKS, episodes, model, tokenizer
from swefuse.collect import protocol
from swefuse.learn.batch import Group, open_tokens, pack
from swefuse.learn.rollouts import read
from swefuse.learn.tokens import codec_for
from swefuse.policy.base import Choice, Reply, Request
from swefuse.policy.local import LocalPolicy
from swefuse.policy.trie import build_trie, draw_index
from swefuse.records import Action, TokenTrace

CODEC = codec_for(tokenizer())


@cache
def learner() -> Any:
    """Sharper than a fresh model, so that its choices differ by more than rounding."""
    made = model(layers=2)
    with torch.no_grad():
        made.base_model.norm.weight.mul_(4.0)
    return made


def policy(batch: int = 64, temperature: float = 1.0) -> LocalPolicy:
    return LocalPolicy(learner(), CODEC, "tiny", temperature, batch)


@cache
def opened() -> list[Request]:
    """For each task the request at its one real choice."""
    made = []
    for task, episode in zip(TASKS, episodes(), strict=True):
        steps = episode.steps[:2]
        made.append(Request(task, steps, protocol.choices(task, task.files, steps)))
    return made


def draws(count: int, greedy: bool = False) -> list[Request]:
    return [Request(r.task, r.steps, r.choices, seed, greedy) for r in opened() for seed in range(count)]


def trace_of(reply: Reply) -> TokenTrace:
    assert reply.trace is not None
    return reply.trace


def test_the_trie_branches_where_messages_part() -> None:
    root = build_trie([(1, 2), (1, 3), (4,), (1, 2)])
    assert list(root.children) == [1, 4] and list(root.children[1].children) == [2, 3]
    assert [root.children[1].children[2].choice, root.children[1].children[3].choice, root.children[4].choice] == [0, 1, 2]
    assert root.choice == -1, "of equal messages the first counts, and a branch is no choice"


def test_draw_index_at_the_edges() -> None:
    assert [draw_index([0.5, 0.5], uniform) for uniform in (0.0, 0.499, 0.5, 0.999)] == [0, 0, 1, 1]
    assert draw_index([0.0, 1.0], 0.0) == 1, "what cannot happen is not drawn"
    assert draw_index([0.3, 0.3, 0.3], 0.95) == 2, "sums that rounding left short end at the last"
    assert draw_index([1.0], 0.0) == 0


def test_a_sample_is_one_of_the_choices_in_the_ids_of_its_message() -> None:
    requests = draws(8)
    replies = policy().act(requests)
    for request, reply in zip(requests, replies, strict=True):
        messages = CODEC.messages(request.task, request.choices)
        assert trace_of(reply).token_ids == messages[request.choices.index(reply.choice)]
    assert len({reply.choice for reply in replies}) > 8, "it does explore"


def test_log_probs_and_entropies_equal_those_of_the_packed_forward_pass() -> None:
    """In float64, which autocast leaves alone; under bfloat16 the two ways to compute them differ by rounding."""
    requests = draws(3)
    traces = [trace_of(reply) for reply in policy().act(requests)]
    groups = []
    for number, request in enumerate(opened()):
        messages = CODEC.messages(request.task, request.choices)
        chosen = tuple(trace.token_ids for trace in traces[3 * number : 3 * number + 3])
        prompt = CODEC.row(request.task, request.steps, prompt=True).ids
        groups.append(Group(prompt, chosen, tuple(open_tokens(messages, ids) for ids in chosen)))
    with torch.no_grad():
        found = read(learner(), pack(groups, learner().config.vocab_size, 0))
    for name, values in (("logprobs", found.logprobs), ("entropies", found.entropies)):
        recorded = [value for trace in traces for value in getattr(trace, name)]
        assert values.tolist() == pytest.approx(recorded, abs=1e-4)
        assert max(map(abs, recorded)) > 0.1
    raw = [value for trace in traces for value in trace.raw_logprobs]
    assert all(low <= high + 1e-6 for low, high in zip(raw, found.logprobs.tolist(), strict=True)), "among fewer, each is likelier"


@pytest.mark.parametrize("greedy", [True, False])
def test_batching_and_order_change_nothing(greedy: bool) -> None:
    requests = draws(2, greedy)
    whole = policy().act(requests)
    for other in (policy(batch=1).act(requests), policy(batch=3).act(requests[::-1])[::-1]):
        assert [reply.choice for reply in other] == [reply.choice for reply in whole]
        for one, two in zip(other, whole, strict=True):
            assert trace_of(one).logprobs == pytest.approx(trace_of(two).logprobs, abs=1e-5)


def test_a_seed_fixes_the_draw_and_greedy_ignores_it() -> None:
    assert policy().act(draws(3)) == policy().act(draws(3))
    greedy = policy().act(draws(2, greedy=True))
    assert greedy[::2] == greedy[1::2]
    cold, coldest = policy(temperature=1e-3).act(draws(2)), policy(temperature=1e-3).act(draws(2, greedy=True))
    assert [reply.choice for reply in cold] == [reply.choice for reply in coldest], "cold sampling takes the likeliest"


def test_a_forced_move_is_answered_without_the_model() -> None:
    submit = (Choice("", Action(name="submit")),)
    mixed = [opened()[0], Request(TASKS[0], opened()[0].steps, submit), opened()[1]]
    replies = policy().act(mixed)
    assert replies[1] == Reply(submit[0]) and replies[0].trace and replies[2].trace
    assert policy().act([]) == []


def test_a_choice_in_the_first_turn_can_be_asked_for() -> None:
    choices = (Choice("", Action(name="test")), Choice("", Action(name="submit")))
    reply = policy().act([Request(TASKS[0], (), choices)])[0]
    assert reply.choice in choices and reply.trace is not None


def test_the_models_mode_is_left_as_it_was() -> None:
    made = model().train()
    LocalPolicy(made, CODEC, "tiny").act(opened()[:1])
    assert made.training
    LocalPolicy(made.eval(), CODEC, "tiny").act(opened()[:1])
    assert not made.training


def test_a_temperature_of_nought_is_refused() -> None:
    with pytest.raises(ValueError, match="greedy"):
        policy(temperature=0.0)
