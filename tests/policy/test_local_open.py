"""Open requests through the local policy: what it writes freely, beside the closed ones in one batch."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch

from learn_samples import TASKS, episodes, model, tokenizer
from swefuse.collect import protocol
from swefuse.collect.dialects import Tools
from swefuse.errors import DataError, InfraError
from swefuse.learn.chat import ChatCodec
from swefuse.learn.tokens import OBS, Codec, NanoCodec, codec_for
from swefuse.policy.base import Choice, Freedom, Reply, Request
from swefuse.policy.local import LocalPolicy
from swefuse.records import Action, Step, TokenTrace

NANO = codec_for(tokenizer())
TEMPLATE = (
    "{% for m in messages %}<|task|>{{ m.role }} {{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|task|>assistant {% endif %}"
)
DIGITS = 'start: "@view " /[0-9]{1,2}/ "\\n"'


@cache
def chat() -> ChatCodec:
    own = copy.deepcopy(tokenizer())
    own.add_special_tokens({"additional_special_tokens": ["<|end|>"]})
    own.chat_template = TEMPLATE
    return ChatCodec(own)


@cache
def learner(codec: Codec = NANO) -> Any:
    """Sharper than a fresh model. It often ends a message, as one that was trained does."""
    made = model(layers=2)
    made.resize_token_embeddings(512)
    with torch.no_grad():
        made.base_model.norm.weight.mul_(4.0)
        head = made.get_output_embeddings()
        made.lm_head = torch.nn.Linear(64, 512, dtype=torch.float64)
        made.lm_head.weight.copy_(head.weight)
        made.lm_head.bias.zero_()
        made.lm_head.bias[sorted(codec.stops)] = 3.0
    return made


def policy(codec: Codec = NANO, batch: int = 0) -> LocalPolicy:
    return LocalPolicy(learner(codec), codec, "tiny", batch=batch)


def opened(count: int, freedom: Freedom | None = None, greedy: bool = False) -> list[Request]:
    """For each task ``count`` requests after its first two steps."""
    return [
        Request(task, episode.steps[:2], (), seed, greedy, freedom or Freedom((), 12))
        for task, episode in zip(TASKS, episodes(), strict=True)
        for seed in range(count)
    ]


def trace_of(reply: Reply) -> TokenTrace:
    assert reply.trace is not None
    return reply.trace


def without_time(replies: list[Reply]) -> list[Reply]:
    return [replace(reply, usage=replace(reply.usage, seconds=0.0)) for reply in replies]


def written(request: Request, reply: Reply) -> Step:
    return Step(thought="", action=None, raw=reply.text, observation="no action", before="a", after="a", trace=reply.trace)


def test_a_free_reply_is_what_was_sampled_and_enters_again_as_these_ids() -> None:
    requests = opened(8)
    replies = policy().act(requests)
    (stop,) = NANO.stops
    assert tokenizer().convert_ids_to_tokens(stop) == OBS
    for request, reply in zip(requests, replies, strict=True):
        prompt = NANO.row(request.task, request.steps, prompt=True).ids
        trace = trace_of(reply)
        assert reply.choice is None and not reply.problem and stop not in trace.token_ids
        assert reply.text == tokenizer().decode(trace.token_ids) == NANO.text((*trace.token_ids, stop))
        assert reply.usage.prompt_tokens == len(prompt) and reply.usage.seconds > 0
        assert reply.usage.completion_tokens == len(trace.token_ids) + (not reply.cut) <= 12
        row = NANO.row(request.task, (*request.steps, written(request, reply)))
        (start, end) = row.spans[-1]
        assert row.ids[:end] == (*prompt, *trace.token_ids) and row.ids[end] == stop and start == len(prompt)
        assert len(trace.token_ids) == len(trace.logprobs) == len(trace.raw_logprobs) == len(trace.entropies)
    assert {reply.cut for reply in replies} == {True, False}
    assert len({reply.text for reply in replies}) > 20, "it does sample"


def test_batching_and_order_change_nothing_and_a_seed_fixes_the_draw() -> None:
    requests = opened(3)
    whole = policy().act(requests)
    for other in (policy(batch=1).act(requests), policy().act(requests[::-1])[::-1], policy().act(requests)):
        assert [reply.text for reply in other] == [reply.text for reply in whole]
        for one, two in zip(other, whole, strict=True):
            assert trace_of(one).logprobs == pytest.approx(trace_of(two).logprobs, abs=1e-8)
    greedy = policy().act(opened(2, greedy=True))
    assert without_time(greedy[::2]) == without_time(greedy[1::2])
    cold = policy().act(opened(2, Freedom((), 12, temperature=0.0)))
    assert [reply.text for reply in cold] == [reply.text for reply in greedy]
    warm = policy().act(opened(3, Freedom((), 12, temperature=1.0)))
    assert [reply.text for reply in warm] == [reply.text for reply in whole], "None is the policy's own"


def test_open_closed_and_forced_requests_are_answered_in_order() -> None:
    free = opened(1)
    submit = (Choice("", Action(name="submit")),)
    closed = [replace(r, choices=protocol.choices(r.task, r.task.files, r.steps), freedom=None) for r in free]
    forced = replace(free[0], choices=submit, freedom=None)
    made = policy()
    replies = made.act([free[0], closed[0], forced, closed[1], free[1]])
    apart = made.act([free[0]]) + made.act([closed[0]]) + [Reply(submit[0])] + made.act([closed[1], free[1]])
    assert [(reply.choice, reply.text) for reply in replies] == [(reply.choice, reply.text) for reply in apart]
    assert [reply.choice is None for reply in replies] == [True, False, False, False, True]


def test_a_chat_message_holds_its_stop_and_the_template_says_the_rest() -> None:
    codec = chat()
    (end,) = codec.tokenizer.encode("<|end|>", add_special_tokens=False)
    assert end in codec.stops
    requests = opened(6)
    replies = policy(codec).act(requests)
    stopped = [(r, reply) for r, reply in zip(requests, replies, strict=True) if trace_of(reply).token_ids[-1:] == (end,)]
    cut = [(r, reply) for r, reply in zip(requests, replies, strict=True) if reply.cut]
    assert stopped and cut
    for request, reply in stopped[:2] + cut[:2]:
        assert "<|end|>" not in reply.text
        row = codec.row(request.task, (*request.steps, written(request, reply)), prompt=True)
        start, stop = row.spans[-1]
        assert row.ids[start:stop] == trace_of(reply).token_ids, "the ids that were sampled and none besides"
        behind = codec.tokenizer.decode(row.ids[start:])
        assert behind == f"{reply.text}<|end|>\n<|task|>user no action<|end|>\n<|task|>assistant "
        without = codec.row(request.task, (*request.steps, written(request, reply)))
        assert row.ids[: len(without.ids)] == without.ids, "rows only grow"


def test_a_reply_under_a_grammar_follows_it() -> None:
    requests = opened(3, Freedom((), 12, grammar=DIGITS))
    traces = []
    for reply in policy().act(requests):
        assert re.fullmatch(r"@view [0-9]{1,2}\n", reply.text) and not reply.cut
        traces.append(trace_of(reply))
        assert all(raw <= among + 1e-9 for raw, among in zip(traces[-1].raw_logprobs, traces[-1].logprobs, strict=True))
    found = [value for trace in traces for value in trace.logprobs]
    assert 0.0 in found and min(found) < -0.1, "some tokens are forced and some are not"
    unread = LocalPolicy(learner(), NanoCodec(lambda text: tokenizer().encode(text, add_special_tokens=False)), "tiny")
    with pytest.raises(InfraError, match="tokenizer"):
        unread.act(requests[:1])


def test_what_cannot_be_answered_says_why_and_the_others_are() -> None:
    free = opened(1)
    limit = learner().config.max_position_embeddings
    long = free[1].task.model_copy(update={"id": "long", "instruction": "much " * limit})
    room = limit - len(chat().row(TASKS[0], (), prompt=True).ids)
    requests = [
        free[0],
        replace(free[0], task=long),
        replace(free[0], freedom=Freedom((), 9, tools=({"name": "view"},))),
        replace(free[0], freedom=Freedom((), 12)),
    ]
    replies = policy(chat()).act(requests)
    assert [bool(reply.problem) for reply in replies] == [False, True, True, False] and room > 0
    assert "tokens" in replies[1].problem and "tools" in replies[2].problem
    assert without_time(replies)[0] == without_time(replies)[3]
    with pytest.raises(DataError, match="neither choices nor freedom"):
        policy().act([replace(free[0], freedom=None)])


def test_calls_of_tools_are_written_by_a_model_whose_rows_are_in_that_dialect() -> None:
    calling = ChatCodec(chat().tokenizer, "tools")
    wishes = [Freedom((), 12, tools=Tools().tools), Freedom((), 12)]
    replies = policy(calling).act([replace(opened(1)[0], freedom=wish) for wish in wishes])
    assert replies[0].text and not replies[0].problem
    assert replies[1].problem == "text without calls of tools is to be written, and this model's rows are in the dialect tools"
    shown = calling.tokenizer.decode(calling.row(TASKS[0], (), prompt=True).ids)
    assert "Tools that you may call" in shown and '"name": "edit"' in shown


def test_the_models_mode_is_left_as_it_was_even_after_an_error() -> None:
    made = copy.deepcopy(learner()).train()
    own = LocalPolicy(made, NANO, "tiny")
    own.act(opened(1)[:1])
    assert made.training
    with pytest.raises(DataError):
        own.act([replace(opened(1)[0], freedom=None)])
    assert made.training


def test_a_codec_without_a_tokenizer_cannot_read() -> None:
    with pytest.raises(DataError, match="no tokenizer"):
        NanoCodec(lambda text: list(text.encode())).text([1])
