from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faulty_server import MODEL, EchoWriter
from swefuse.errors import DataError, UserError
from swefuse.policy.asked import Asked, Written, read_order, tool_calls
from swefuse.policy.base import Message, ToolCall
from swefuse.policy.serve import ChatServer, Limits, load_writer, server_key

HELLO = [{"role": "user", "content": "hello there"}]
TOOL = {"type": "function", "function": {"name": "look", "parameters": {}}}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(EchoWriter(), MODEL, revision="fp-1", limits=Limits(body=20_000, tokens=50)) as started:
        yield started


def post(server: ChatServer, body: Any = None, headers: dict[str, Any] | None = None, **fields: Any) -> httpx2.Response:
    told = {"model": MODEL, "messages": HELLO, "seed": 1} | fields if body is None else body
    return httpx2.post(f"{server.url}/chat/completions", json=told, headers=headers, timeout=20)


def order(**fields: Any) -> Any:
    return read_order({"model": MODEL, "messages": HELLO} | fields, 50)


def test_a_completion(server: ChatServer) -> None:
    reply = post(server)
    body = reply.json()
    assert reply.status_code == 200 and reply.headers["content-type"] == "application/json"
    assert re.fullmatch(r"chatcmpl-\w{24}", body.pop("id")) and body.pop("created") > 1e9
    choice = {"index": 0, "message": {"role": "assistant", "content": "hello there /1"}, "finish_reason": "stop", "logprobs": None}
    assert body == {
        "object": "chat.completion",
        "model": MODEL,
        "system_fingerprint": "fp-1",
        "choices": [choice],
        "usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5},
    }


def test_models_and_health(server: ChatServer) -> None:
    listed = httpx2.get(f"{server.url}/models").json()
    assert [one["id"] for one in listed["data"]] == [MODEL] and listed["object"] == "list"
    assert httpx2.get(f"{server.url}/models/{MODEL}").json() == listed["data"][0]
    assert httpx2.get(server.url.removesuffix("/v1") + "/health").json() == {"status": "ok"}
    assert httpx2.get(f"{server.url}/models/other").status_code == 404
    assert httpx2.post(f"{server.url}/completions", json={}).status_code == 404
    assert httpx2.put(f"{server.url}/models", json={}).status_code == 501


def test_many_samples_differ_and_repeat(server: ChatServer) -> None:
    first, again, other = (post(server, n=3, seed=seed).json() for seed in (1, 1, 2))
    texts = [choice["message"]["content"] for choice in first["choices"]]
    assert [choice["index"] for choice in first["choices"]] == [0, 1, 2] and len(set(texts)) == 3
    assert texts == [choice["message"]["content"] for choice in again["choices"]] and texts[0] == "hello there /1"
    assert set(texts) & {choice["message"]["content"] for choice in other["choices"]} == set()
    assert first["usage"] == {"prompt_tokens": 2, "completion_tokens": 9, "total_tokens": 11}
    assert post(server, seed=None).json()["choices"][0] != post(server, seed=None).json()["choices"][0]


def test_what_the_writer_is_asked(server: ChatServer) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    turns = [
        {"role": "developer", "content": [{"type": "text", "text": "be "}, {"type": "text", "text": "kind"}]},
        {"role": "user", "content": "see"},
        {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "3"},
    ]
    more = {"structured_outputs": {"grammar": "start: x", "json": None}, "tools": [TOOL], "stop": "x", "temperature": 0, "top_p": 1}
    assert post(server, messages=turns, max_completion_tokens=7, **more).status_code == 200
    writer = server.batcher.writer
    assert isinstance(writer, EchoWriter)
    messages = (
        Message("system", "be kind"),
        Message("user", "see"),
        Message("assistant", "", (ToolCall("c1", "look", "{}"),)),
        Message("tool", "3", call="c1"),
    )
    assert writer.batches == [[Asked(messages, 7, 0.0, 1, "start: x", (TOOL,), ("x",))]]
    assert order().samples[0].max_tokens == 50 and order().samples[0].temperature == 1.0


def test_stop_and_limit(server: ChatServer) -> None:
    assert post(server, stop=[" /", "zz"]).json()["choices"][0]["message"]["content"] == "hello there"
    cut = post(server, max_tokens=1).json()["choices"][0]
    assert (cut["finish_reason"], cut["message"]["content"]) == ("length", "hello ")


def test_logprobs_and_token_ids(server: ChatServer) -> None:
    choice = post(server, logprobs=True, return_token_ids=True).json()["choices"][0]
    assert choice["token_ids"] == [7, 8, 9]
    entries = choice["logprobs"]["content"]
    assert entries[0] == {"token": "hello ", "logprob": -0.1, "bytes": list(b"hello "), "top_logprobs": []} and len(entries) == 3
    extension = choice["swefuse"]
    assert sorted(extension) == ["entropies", "logprobs", "raw_logprobs", "token_ids"]
    assert extension["raw_logprobs"] == [2 * number for number in extension["logprobs"]]
    assert {"token_ids", "swefuse"} & set(post(server).json()["choices"][0]) == set()


def events(server: ChatServer, **fields: Any) -> list[dict[str, Any]]:
    reply = post(server, stream=True, **fields)
    assert reply.headers["content-type"] == "text/event-stream"
    lines = [line for line in reply.text.split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines) and lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


def test_a_stream_says_the_same(server: ChatServer) -> None:
    told = events(server, n=2, stream_options={"include_usage": True}, return_token_ids=True)
    whole = post(server, n=2, return_token_ids=True).json()
    assert {one["object"] for one in told} == {"chat.completion.chunk"} and len({one["id"] for one in told}) == 1
    assert told[-1]["usage"] == whole["usage"] and told[-1]["choices"] == []
    for number, choice in enumerate(whole["choices"]):
        mine = [one["choices"][0] for one in told[:-1] if one["choices"][0]["index"] == number]
        assert "".join(one["delta"].get("content", "") for one in mine) == choice["message"]["content"]
        assert mine[0]["delta"]["role"] == "assistant" and len(mine) == 5
        assert [one["finish_reason"] for one in mine] == [None] * 4 + ["stop"]
        assert mine[-1]["swefuse"] == choice["swefuse"]
    assert all("usage" not in one for one in events(server))


def test_a_stream_of_tool_calls(server: ChatServer) -> None:
    said = 'a <tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>'
    told = events(server, messages=[{"role": "user", "content": said}], tools=[TOOL])
    deltas = [one["choices"][0]["delta"] for one in told]
    assert "".join(delta.get("content") or "" for delta in deltas) == "a"
    (calls,) = [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]
    assert (calls[0]["index"], calls[0]["function"]) == (0, {"name": "look", "arguments": '{"at": 1}'})
    assert told[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_tool_calls_only_with_tools(server: ChatServer) -> None:
    said = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'
    turns = [{"role": "user", "content": said}]
    called = post(server, messages=turns, tools=[TOOL]).json()["choices"][0]
    assert (called["message"]["content"], called["finish_reason"]) == (None, "tool_calls")
    for fields in ({}, {"tools": []}, {"tools": [TOOL], "tool_choice": "none"}):
        plain = post(server, messages=turns, **fields).json()["choices"][0]
        assert plain["message"]["content"].startswith(said) and "tool_calls" not in plain["message"], fields
        assert plain["finish_reason"] == "stop"


CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "</tool_call>", "b" : 1}}\n</tool_call>'


def test_calls_are_read_as_they_were_written() -> None:
    assert tool_calls("plain") == ("plain", ())
    assert tool_calls(f"x {CALL} y{CALL}") == ("x  y", (("f", '{"a": "</tool_call>", "b" : 1}'),) * 2)
    assert tool_calls('<tool_call>{"arguments": "{\\"a\\": 1}", "name": "f"}</tool_call>') == ("", (("f", '{"a": 1}'),))
    inner = "<tool_call>{'name': 'g', 'arguments': 'x'}</tool_call>".replace("'", '\\"')
    nested = '<tool_call>{"name": "f", "arguments": {"a": "' + inner + '"}}</tool_call>'
    assert tool_calls(nested) == ("", (("f", '{"a": "' + inner + '"}'),))
    listed = '<tool_call>{"name": "f", "arguments": ["<tool_call>", {"name": "g", "arguments": {}}]}</tool_call>'
    assert tool_calls(listed)[1] == (("f", '["<tool_call>", {"name": "g", "arguments": {}}]'),)
    for broken in (
        '<tool_call>{"name": "f"}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {}, "more": 1}</tool_call>',
        '<tool_call>{"name": 1, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {}}',
        '<tool_call>{"name": "f", "arguments": {}</tool_call>',
        "<tool_call>{}</tool_call>",
        "<tool_call>[1]</tool_call>",
        "<tool_call>",
        "<tool_call>" + "[" * 100_000,
        "<tool_call>" + '{"a":' * 100_000,
    ):
        assert tool_calls(broken) == (broken, ()), broken
        assert tool_calls(broken + CALL)[1] in ((("f", '{"a": "</tool_call>", "b" : 1}'),), ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(max_size=8), st.dictionaries(st.text(max_size=6), json_values, max_size=4), st.sampled_from([None, 1, 4]))
def test_whatever_is_called_comes_back(name: str, arguments: dict[str, Any], indent: int | None) -> None:
    spelt = json.dumps(arguments, indent=indent)
    text = '<tool_call>{ "name" :' + json.dumps(name) + ' , "arguments":' + spelt + "} </tool_call>"
    assert tool_calls(text) == ("", ((name, spelt),))


REFUSED = [
    ({"top_p": 0.5}, "top_p is not supported.*give 1"),
    ({"top_k": 5}, "top_k"),
    ({"presence_penalty": 0.1}, "presence_penalty"),
    ({"frequency_penalty": 1}, "frequency_penalty"),
    ({"logit_bias": {"5": 1}}, "logit_bias"),
    ({"top_logprobs": 3}, "top_logprobs"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
    ({"tool_choice": "required"}, 'tool_choice.*"auto" or "none"'),
    ({"parallel_tool_calls": False}, "parallel_tool_calls"),
    ({"guided_grammar": "x"}, "guided_grammar is not supported"),
    ({"temprature": 1}, "did you mean 'temperature'"),
    ({"temperature": 3}, "temperature must be"),
    ({"temperature": True}, "temperature must be"),
    ({"temperature": "1"}, "temperature must be"),
    ({"max_tokens": 0}, "max_tokens must be"),
    ({"max_tokens": 1.5}, "max_tokens must be"),
    ({"max_tokens": 1, "max_completion_tokens": 2}, "differ"),
    ({"n": 0}, "n must be"),
    ({"n": 65}, "n must be a whole number from 1 to 64"),
    ({"seed": 1 << 63}, "seed must be"),
    ({"seed": "1"}, "seed must be"),
    ({"stop": [""]}, "stop must be"),
    ({"stop": 3}, "stop must be"),
    ({"stream": 1}, "stream must be true or false"),
    ({"stream_options": {"chunk": 1}}, "stream_options"),
    ({"stream_options": {"include_usage": 1}}, "stream_options"),
    ({"logprobs": 5}, "logprobs must be"),
    ({"structured_outputs": {"json": {}}}, "structured_outputs takes"),
    ({"structured_outputs": {"grammar": 1}}, "structured_outputs takes"),
    ({"structured_outputs": []}, "structured_outputs must be"),
    ({"tools": {}}, "tools must be"),
    ({"tools": [{"name": "look"}]}, "each of the tools"),
    ({"messages": []}, "messages must be"),
    ({"messages": None}, "messages must be"),
    ({"messages": ["x"]}, r"messages\[0\] is no JSON object"),
    ({"messages": [{"role": "robot", "content": "x"}]}, r"messages\[0\]: role"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "parts of the type text"),
    ({"messages": [{"role": "user", "content": 3}]}, "content must be"),
    ({"messages": [{"role": "user", "content": "x", "name": "bob"}]}, "name is not supported in a message of the role user"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "needs tool_call_id"),
    ({"messages": [{"role": "assistant", "tool_calls": [{"id": "x"}]}]}, "a tool call needs id"),
    ({"messages": [{"role": "assistant", "tool_calls": "x"}]}, "tool_calls must be a list"),
    ({"model": 3}, "model must be"),
    ({"model": None}, "model must be"),
]


@pytest.mark.parametrize(("fields", "says"), REFUSED, ids=[f"{next(iter(fields))}-{n}" for n, (fields, _) in enumerate(REFUSED)])
def test_nothing_is_ignored_in_silence(server: ChatServer, fields: dict[str, Any], says: str) -> None:
    reply = post(server, **fields)
    error = reply.json()["error"]
    assert reply.status_code == 400 and re.search(says, error["message"]), error
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", None, None)
    assert isinstance(server.batcher.writer, EchoWriter) and server.batcher.writer.batches == []


def test_what_changes_nothing_is_taken(server: ChatServer) -> None:
    idle = {"top_p": 1.0, "top_k": -1, "presence_penalty": 0, "logit_bias": {}, "response_format": {"type": "text"}, "user": "me"}
    nulls = dict.fromkeys(("stop", "tools", "max_tokens", "logprobs", "stream", "made_up"))
    assert post(server, **idle, **nulls).json()["choices"] == post(server).json()["choices"]


@given(json_values)
def test_any_body_is_read_or_refused(value: Any) -> None:
    for body in (value, {"model": MODEL, "messages": value}, {"messages": HELLO, "tools": value, "stop": value}):
        try:
            assert read_order(body, 5).samples
        except DataError as error:
            assert str(error)


def raw(server: ChatServer, lines: str, body: bytes = b"") -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(*server._http.server_address[:2], timeout=20)
    try:
        connection.connect()
        connection.sock.sendall(("POST /v1/chat/completions HTTP/1.1\r\n" + lines + "\r\n").encode() + body)
        reply = http.client.HTTPResponse(connection.sock)
        reply.begin()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def test_bodies_that_cannot_be_taken(server: ChatServer) -> None:
    head = "Host: localhost\r\nContent-Type: application/json\r\n"
    status, body = raw(server, head + "Content-Length: 20001\r\n")
    assert status == 413 and "at most 20000" in body["error"]["message"], "nothing of it was sent, and it answers all the same"
    for length in ("", "Content-Length: -1\r\n", "Content-Length: x\r\n", "Transfer-Encoding: chunked\r\n"):
        assert raw(server, head + length)[0] == 411
    for bad in (b"{", b"\xff", b"[" * 10_000, b""):
        status, body = raw(server, f"{head}Content-Length: {len(bad)}\r\n", bad)
        assert status == 400 and "no JSON" in body["error"]["message"]
    assert raw(server, head + "Content-Length: 2\r\n", b"[]")[0] == 400
    assert post(server).status_code == 200


def test_another_model_is_named(server: ChatServer) -> None:
    reply = post(server, model="echo-2")
    assert reply.status_code == 404 and reply.json()["error"]["code"] == "model_not_found"
    assert "did you mean 'echo-1'" in reply.json()["error"]["message"]


def test_pages_in_a_browser_cannot_ask(server: ChatServer) -> None:
    assert post(server, headers={"host": "evil.example:80"}).status_code == 403
    assert post(server, headers={"content-type": "text/plain"}).status_code == 415
    assert httpx2.get(f"{server.url}/models", headers={"host": "evil.example"}).status_code == 403
    for host in ("localhost", "LOCALHOST:80", "[::1]:80", "127.0.0.1"):
        assert post(server, headers={"host": host}).status_code == 200, host


def test_a_key_is_asked_for(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("SERVE_KEY", " the-secret-1 \n")
    monkeypatch.delenv("NO_KEY", raising=False)
    with pytest.raises(UserError, match="NO_KEY is not set"):
        server_key("NO_KEY")
    assert server_key("") == ""
    with ChatServer(EchoWriter(), MODEL, key=server_key("SERVE_KEY")) as server:
        for said in ("", "Bearer wrong", "the-secret-1", "Bearer the-secret-12", "Bearer \u00e9"):
            reply = post(server, headers={"authorization": said.encode()} if said else None)
            assert reply.status_code == 401 and reply.json()["error"]["code"] == "invalid_api_key"
        assert httpx2.get(f"{server.url}/models").status_code == 401
        assert httpx2.get(server.url.removesuffix("/v1") + "/health").status_code == 200
        good = {"authorization": "Bearer the-secret-1", "host": "other.example"}
        assert post(server, headers=good).status_code == 200
    assert "the-secret-1" not in caplog.text


def test_other_machines_need_a_key_and_a_port_is_free() -> None:
    with pytest.raises(UserError, match="set a key"):
        ChatServer(EchoWriter(), MODEL, ("0.0.0.0", 0))
    with ChatServer(EchoWriter(), MODEL) as server, pytest.raises(UserError, match=r"cannot listen on 127\.0\.0\.1, port"):
        ChatServer(EchoWriter(), MODEL, ("127.0.0.1", int(server.url.rpartition(":")[2].partition("/")[0])))
    with pytest.raises(UserError, match="cannot listen"):
        ChatServer(EchoWriter(), MODEL, ("127.0.0.1", 99999))


def test_errors_of_the_writer(server: ChatServer) -> None:
    def said(text: str, **fields: Any) -> tuple[int, str]:
        reply = post(server, messages=[{"role": "user", "content": text}], **fields)
        return reply.status_code, reply.json()["error"]["message"]

    assert said("too long") == (400, "cannot be written: too long")
    assert said("x", structured_outputs={"grammar": "bad one"}) == (400, "cannot be written: bad one")
    assert said("crash") == (500, "the reply could not be written: RuntimeError"), "and no word of what broke"
    assert post(server).status_code == 200


class Gate(EchoWriter):
    """Writes when it is let; says when it was reached."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.open = threading.Event(), threading.Event()

    def write(self, asked: Sequence[Asked]) -> list[Written]:
        self.reached.set()
        assert self.open.wait(20)
        return super().write(asked)


def together(server: ChatServer, texts: Sequence[str]) -> tuple[list[threading.Thread], dict[str, httpx2.Response]]:
    found: dict[str, httpx2.Response] = {}

    def work(text: str) -> None:
        found[text] = post(server, messages=[{"role": "user", "content": text}])

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    return threads, found


def until_waiting(server: ChatServer, count: int) -> None:
    """Return once so many samples wait; the accepting threads need a moment."""
    tick = threading.Event()
    for _ in range(1000):
        if server.batcher._waiting >= count:
            return
        tick.wait(0.01)
    raise AssertionError("they never came")


def test_requests_that_wait_are_written_together_and_one_spoils_no_other() -> None:
    gate = Gate()
    with ChatServer(gate, MODEL, limits=Limits(batch=4)) as server:
        first, found = together(server, ["first"])
        assert gate.reached.wait(10)
        texts = [f"w{n}" for n in range(5)] + ["crash", "too long"]
        threads, more = together(server, texts)
        until_waiting(server, 7)
        gate.open.set()
        for thread in first + threads:
            thread.join(20)
    assert found["first"].status_code == 200
    assert {text: reply.status_code for text, reply in more.items()} == {**dict.fromkeys(texts, 200), "crash": 500, "too long": 400}
    assert all(more[f"w{n}"].json()["choices"][0]["message"]["content"].startswith(f"w{n} /") for n in range(5))
    sizes = [len(batch) for batch in gate.batches]
    assert sizes[:2] == [1, 4] and max(sizes) == 4 and len({asked.messages for batch in gate.batches for asked in batch}) == 8


def test_too_many_waiting_and_stopping_are_503() -> None:
    gate = Gate()
    server = ChatServer(gate, MODEL, limits=Limits(batch=1, waiting=2))
    server.start()
    first, found = together(server, ["first"])
    assert gate.reached.wait(10)
    threads, more = together(server, ["w0", "w1"])
    until_waiting(server, 2)
    full = post(server)
    assert full.status_code == 503 and full.headers["retry-after"] == "1" and "too many" in full.json()["error"]["message"]
    closer = threading.Thread(target=server.close)
    closer.start()
    tick = threading.Event()
    for _ in range(1000):
        if server.stopping and server.batcher._stopping:
            break
        tick.wait(0.01)
    late = post(server)
    assert late.status_code == 503 and "stopping" in late.json()["error"]["message"]
    assert httpx2.get(server.url.removesuffix("/v1") + "/health").status_code == 503
    gate.open.set()
    for thread in [*first, *threads, closer]:
        thread.join(20)
        assert not thread.is_alive()
    assert found["first"].status_code == 200, "what was being written is told to the end"
    assert {text: reply.status_code for text, reply in more.items()} == {"w0": 503, "w1": 503}
    server.wait()
    with pytest.raises(httpx2.ConnectError):
        post(server)


def test_what_was_written_waits_no_more() -> None:
    with ChatServer(EchoWriter(), MODEL, limits=Limits(waiting=2)) as server:
        assert [post(server).status_code for _ in range(5)] == [200] * 5


def test_the_end_waits_until_replies_are_told() -> None:
    class Long(EchoWriter):
        def write(self, asked: Sequence[Asked]) -> list[Written]:
            return [replace(one, text="x" * 40_000_000) for one in super().write(asked)]

    server = ChatServer(Long(), MODEL)
    server.start()
    connection = http.client.HTTPConnection(*server._http.server_address[:2], timeout=20)
    body = json.dumps({"model": MODEL, "messages": HELLO})
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    closer = threading.Thread(target=server.close)
    closer.start()
    closer.join(0.5)
    assert closer.is_alive(), "a reader that is behind is waited for"
    assert len(reply.read()) > 40_000_000
    closer.join(20)
    assert not closer.is_alive()
    connection.close()


def test_a_writer_that_lies_is_an_error_of_ours() -> None:
    class Short(EchoWriter):
        def write(self, asked: Sequence[Asked]) -> list[Written]:
            return []

    class Uneven(EchoWriter):
        def write(self, asked: Sequence[Asked]) -> list[Written]:
            return [replace(one, logprobs=(float("nan"),)) for one in super().write(asked)]

    with ChatServer(Short(), MODEL) as server:
        reply = post(server)
        assert reply.status_code == 500 and "0 replies to 1 requests" in reply.json()["error"]["message"]
    with ChatServer(Uneven(), MODEL) as server:
        assert post(server, logprobs=True).status_code == 500
        assert post(server, return_token_ids=True, stream=True).status_code == 500


def test_a_client_that_goes_away_harms_nobody() -> None:
    gate = Gate()
    with ChatServer(gate, MODEL) as server:
        connection = http.client.HTTPConnection(*server._http.server_address[:2])
        body = json.dumps({"model": MODEL, "messages": HELLO})
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        assert gate.reached.wait(10)
        connection.close()
        gate.open.set()
        assert post(server).status_code == 200


def test_writers_are_found_by_name(tmp_path: Path) -> None:
    assert isinstance(load_writer("faulty_server:load", tmp_path), EchoWriter)
    for spec in ("faulty_server:none", "no_such_module_here:x", "faulty_server", "", ":x"):
        with pytest.raises(UserError, match=r"package\.module:function"):
            load_writer(spec, tmp_path)
    (tmp_path / "lacking_one.py").write_text("import no_such_module_here\n")
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(ModuleNotFoundError, match="no_such_module_here"):
            load_writer("lacking_one:x", tmp_path)
    finally:
        sys.path.remove(str(tmp_path))


SERVE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import typer
from swefuse.cli import policy
from swefuse.cli.main import main
program = typer.Typer()
program.add_typer(policy.app)
sys.exit(main(sys.argv[1:], program))
"""


def serve(*options: str, model: str = "my-model") -> subprocess.Popen[str]:
    command = ["policy", "serve", "--model", model, "--writer", "faulty_server:load", "--port", "0", *options]
    return subprocess.Popen(
        [sys.executable, "-c", SERVE, str(Path(__file__).parents[1]), *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"SERVE_KEY": "k-1"},
    )  # fmt: skip


def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    process = serve("--key-env", "SERVE_KEY", "--max-tokens", "1", model=str(tmp_path / "nano"))
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = re.search(r"serving nano at (http://127\.0\.0\.1:\d+/v1);", line)
        assert url, process.communicate()
        body = {"model": "nano", "messages": HELLO}
        reply = httpx2.post(f"{url[1]}/chat/completions", json=body, headers={"authorization": "Bearer k-1"})
        assert reply.json()["choices"][0]["message"]["content"] == "hello "
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "stopping\n", "")
    finally:
        process.kill()
        process.wait()


def test_the_command_says_what_is_wrong() -> None:
    for options, says in (
        (("--key-env", "NO_SUCH_KEY"), "the variable NO_SUCH_KEY is not set"),
        (("--host", "0.0.0.0"), "set a key"),
        (("--writer", "faulty_server:none"), "cannot be loaded"),
    ):
        _, err = (process := serve(*options)).communicate(timeout=60)
        assert process.returncode == 2 and says in err, err
