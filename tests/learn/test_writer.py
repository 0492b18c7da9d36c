"""A chat model answers conversations through the server exactly as it samples, and our own client gets it all back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from swefuse.errors import DataError, UserError
from swefuse.learn.model import train_tokenizer
from swefuse.learn.writer import ChatWriter
from swefuse.policy.asked import Asked
from swefuse.policy.base import Freedom, Message, Request, ToolCall
from swefuse.policy.endpoint import EndpointPolicy, EndpointSettings
from swefuse.policy.serve import ChatServer
from swefuse.records import Kind, Provenance, Task

TEMPLATE = (
    "{% for m in messages %}{% if m['content'] == 'refuse' %}{{ raise_exception('not this') }}{% endif %}"
    "<|task|>{{ m['role'] }}\n{{ m['content'] }}{% for c in m.get('tool_calls', []) %}"
    "[{{ c['function']['name'] }} {{ c['function']['arguments']['path'] }}]{% endfor %}<|obs|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|task|>assistant\n{% endif %}"
)
TALK = (Message("system", "Be brief."), Message("user", "What is 2 + 2?"))
TASK = Task(
    id="x", kind=Kind.BUGFIX, instruction="", files={}, editable=(), suites=(), provenance=Provenance(source="t")
)  # fmt: skip


@pytest.fixture(scope="module")
def writer() -> ChatWriter:
    torch.manual_seed(0)
    tokenizer = train_tokenizer(["What is 2 + 2? Be brief. user assistant system yes no\n"] * 3, 300)
    tokenizer.chat_template = TEMPLATE
    config = LlamaConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, intermediate_size=64,
        vocab_size=len(tokenizer), max_position_embeddings=256,
    )  # fmt: skip
    return ChatWriter(LlamaForCausalLM(config).eval(), tokenizer)


def asked(seed: int = 0, **changes: object) -> Asked:
    fields: dict[str, object] = {"messages": TALK, "max_tokens": 12, "temperature": 1.0, "seed": seed, **changes}
    return Asked(**fields)  # type: ignore[arg-type]


def test_equal_questions_get_equal_answers_whatever_is_asked_beside_them(writer: ChatWriter) -> None:
    alone = writer.write([asked(1)])
    among = writer.write([asked(0), asked(1), asked(1, messages=TALK[1:]), asked(1)])
    assert among[1].token_ids == among[3].token_ids == alone[0].token_ids != among[0].token_ids
    assert all(len(one.token_ids) == len(one.logprobs) == len(one.entropies) == len(one.tokens) for one in among)
    assert among[0].prompt_tokens > among[2].prompt_tokens
    cold = writer.write([asked(1, temperature=0.0), asked(2, temperature=0.0)])
    assert cold[0].token_ids == cold[1].token_ids


def test_texts_that_stop_end_the_answer_before_them_and_grammars_hold(writer: ChatWriter) -> None:
    (free,) = writer.write([asked(3, max_tokens=40)])
    stop = free.text[4:6]
    (short,) = writer.write([asked(3, max_tokens=40, stop=(stop,))])
    assert short.text == free.text[: free.text.index(stop)] and short.finish == "stop"
    (held,) = writer.write([asked(0, grammar='start: "yes" | "no"')])
    assert held.text in ("yes", "no") and held.finish == "stop"
    (cut,) = writer.write([asked(0, grammar="start: /[a-z]{30,}/", max_tokens=3)])
    assert cut.finish == "length"


def test_what_cannot_be_written_is_refused_by_name(writer: ChatWriter) -> None:
    with pytest.raises(UserError, match=r"tokens, and with 12 more that is over the model's 256"):
        writer.write([asked(messages=(Message("user", "no " * 300),))])
    with pytest.raises(UserError, match="chat template does not take this conversation"):
        writer.write([asked(messages=(Message("user", "refuse"),))])
    calls = (
        Message("user", "Look."),
        Message("assistant", "", (ToolCall("a", "view", '{"path": "m.py"}'),)),
        Message("tool", "ok", call="a"),
    )
    assert writer.write([asked(messages=calls)])[0].prompt_tokens > 0
    with pytest.raises(DataError):
        writer.write([asked(grammar="start: nothing_of_this_name")])
    bare = train_tokenizer(["a"], 300)
    with pytest.raises(DataError, match="no chat template"):
        ChatWriter(writer.model, bare)


@pytest.fixture(scope="module")
def server(writer: ChatWriter) -> Iterator[ChatServer]:
    with ChatServer(writer, "tiny") as made:
        yield made


def test_our_client_gets_from_our_server_what_the_model_wrote(server: ChatServer, writer: ChatWriter) -> None:
    settings = EndpointSettings(base=server.url, model="tiny", structured="vllm", token_ids=True, key_env="SWEFUSE_NO_SUCH_KEY")
    requests = [Request(TASK, (), (), seed, freedom=Freedom(TALK, 12)) for seed in range(5)]
    requests.append(Request(TASK, (), (), 0, freedom=Freedom(TALK, 12, grammar='start: "yes" | "no"')))
    with EndpointPolicy(settings) as policy:
        replies = policy.act(requests)
    written = writer.write([*(asked(seed) for seed in range(5)), asked(0, grammar='start: "yes" | "no"')])
    for reply, one in zip(replies, written, strict=True):
        assert reply.problem == "" and reply.text == one.text and reply.trace is not None
        assert reply.trace.token_ids == one.token_ids and reply.trace.entropies == pytest.approx(one.entropies, abs=1e-4)
        assert reply.usage.completion_tokens == len(one.token_ids) and reply.cut == (one.finish == "length")
