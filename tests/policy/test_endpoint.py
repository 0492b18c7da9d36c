from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faulty_server import FAULTS, MODEL, FaultyServer
from swefuse.cli.crash import write_bundle
from swefuse.errors import ConfigError, InfraError, UserError
from swefuse.policy import wire
from swefuse.policy.base import Choice, Freedom, Message, Reply, Request, ToolCall, Usage
from swefuse.policy.endpoint import EndpointPolicy, EndpointSettings
from swefuse.policy.journal import Journal
from swefuse.records import Action, Task, TokenTrace

KEY = "sk-live-0123456789abcdefghij"
TASK = Task.model_construct(id="a-task")  # nothing is asked about it: an endpoint is told messages
TOOL = {"name": "look", "description": "looks", "parameters": {"type": "object", "properties": {}}}


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


class Waits:
    """A sleeper that does not sleep."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def ask(text: str, seed: int = 0, **freedom: Any) -> Request:
    return Request(TASK, (), (), seed, freedom=Freedom((Message("user", text),), **freedom))


def policy(url: str, waits: Waits | None = None, journal: Path | None = None, wall: float = 0.0, **settings: Any) -> EndpointPolicy:
    made = EndpointSettings(**{"base": url, "model": MODEL, "attempt_seconds": 5.0, "backoff_seconds": 0.5} | settings)
    return EndpointPolicy(made, journal, sleeper=waits or Waits(), wall=lambda: wall, rng=random.Random(0))


def answers(replies: list[Reply]) -> list[str]:
    assert [reply.problem for reply in replies if reply.problem] == []
    return [reply.text for reply in replies]


def test_replies_come_in_order_with_usage_and_fingerprint() -> None:
    with FaultyServer() as server, policy(server.url) as asked:
        assert asked.identity.revision == ""
        replies = asked.act([ask(f"word {n}", seed=n) for n in range(20)])
        assert answers(replies) == [f"word {n} /{n}" for n in range(20)]
        assert {(r.usage.prompt_tokens, r.usage.completion_tokens, r.cut, r.choice, r.trace) for r in replies} == {
            (2, 3, False, None, None)
        }
        identity = asked.identity
        assert (identity.model, identity.revision) == (MODEL, "fp-1")
        assert identity.parameters["endpoint"] == server.url.removeprefix("http://")
        assert (asked.spent.tokens, asked.spent.attempts, asked.spent.answered) == (100, 20, 20)
        assert answers(asked.act([ask("again")])) == ["again /0"], "a second call uses the same loop and connections"


def test_what_is_sent() -> None:
    with FaultyServer() as server, policy(server.url, temperature=0.5, structured="vllm") as asked:
        asked.act([ask("a", 3, max_tokens=9, grammar="start: x"), ask("b", tools=(TOOL,), temperature=0.25)])
        greedy = ask("c")
        asked.act([Request(greedy.task, (), (), 0, True, greedy.freedom)])
        first, second, third = sorted(server.bodies, key=lambda body: body["messages"][0]["content"])
    assert first == {
        "model": MODEL,
        "messages": [{"role": "user", "content": "a"}],
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 3,
        "structured_outputs": {"grammar": "start: x"},
    }
    assert (second["temperature"], second["tools"]) == (0.25, [{"type": "function", "function": TOOL}])
    assert third["temperature"] == 0
    with FaultyServer() as server, policy(server.url, limit_field="max_completion_tokens") as asked:
        asked.act([ask("a", max_tokens=4)])
        assert server.bodies[0]["max_completion_tokens"] == 4 and "max_tokens" not in server.bodies[0]


def test_calls_of_tools_are_paired_with_their_answers() -> None:
    wrote = '<tool_call>{"name": "look", "arguments": {"at":  [1, 2]}}</tool_call>'
    with FaultyServer() as server, policy(server.url) as asked:
        (reply,) = asked.act([ask("see: " + wrote, tools=(TOOL,))])
        (call,) = reply.tool_calls
        assert (reply.text, call.name, call.arguments) == ("see:", "look", '{"at":  [1, 2]}'), "as it was written"
        turns = (Message("user", "see"), Message("assistant", reply.text, reply.tool_calls), Message("tool", "3", call=call.id))
        good = Request(TASK, (), (), freedom=Freedom((*turns, Message("user", "and?"))))
        stray = Request(TASK, (), (), freedom=Freedom((*turns[:2], Message("tool", "3", call="other"))))
        misplaced = Request(TASK, (), (), freedom=Freedom((Message("user", "x", reply.tool_calls),)))
        replies = asked.act([good, stray, misplaced])
        sent = server.bodies[-1]["messages"]
    assert replies[0].text == "and? /0"
    assert sent[1]["tool_calls"][0] == {
        "id": call.id,
        "type": "function",
        "function": {"name": "look", "arguments": '{"at":  [1, 2]}'},
    }
    assert sent[2] == {"role": "tool", "content": "3", "tool_call_id": call.id}
    assert "'other'" in replies[1].problem and "only the assistant's" in replies[2].problem
    assert len(server.bodies) == 2


def test_the_trace_is_exact_or_none() -> None:
    with FaultyServer() as server, policy(server.url, token_ids=True) as asked:
        (reply,) = asked.act([ask("a b")])
        assert server.bodies[0]["return_token_ids"] is True and server.bodies[0]["logprobs"] is True
        numbers = tuple(-0.125 * n - 0.1 for n in range(3))
        twice, thrice = tuple(2 * number for number in numbers), tuple(-3 * number for number in numbers)
        assert reply.trace == TokenTrace(token_ids=(7, 8, 9), logprobs=numbers, raw_logprobs=twice, entropies=thrice), "to the bit"
        assert asked.spent.untraced == 0
    said = "say:" + json.dumps({"choices": [{"message": {"content": "x"}, "token_ids": [1], "finish_reason": "stop"}]})
    with FaultyServer([said]) as server, policy(server.url, token_ids=True) as asked:
        assert asked.act([ask("a")])[0].trace is None and asked.spent.untraced == 1
    whole = {"token_ids": [1, 2], "logprobs": [-1.0, -2], "raw_logprobs": [-1.0, -2], "entropies": [0.5, 0.5]}
    base = {"message": {"content": "x"}, "finish_reason": "stop"}

    def trace(extension: Any) -> TokenTrace | None:
        found = wire.read_answer({"choices": [base | {"swefuse": extension}]})
        assert isinstance(found, wire.Answer)
        return found.trace

    assert trace(whole) is not None
    for name in whole:
        assert trace({key: value for key, value in whole.items() if key != name}) is None
        assert trace(whole | {name: [1]}) is None
        assert trace(whole | {name: [1, "2"]}) is None
    assert trace(whole | {"logprobs": [-1.0, float("nan")]}) is None
    assert trace(None) is None and trace([]) is None


def test_a_cut_reply_says_so() -> None:
    with FaultyServer() as server, policy(server.url) as asked:
        short, whole = asked.act([ask("one two three four", max_tokens=2), ask("one")])
    assert (short.text, short.cut, whole.cut) == ("one two ", True, False)


def patience(fault: str) -> float:
    """Seconds: short only where they have to pass."""
    return 0.7 if fault in ("slow", "trickle") else 20.0


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_survived_once(fault: str) -> None:
    waits = Waits()
    with FaultyServer([fault]) as server, policy(server.url, waits, attempt_seconds=patience(fault)) as asked:
        assert answers(asked.act([ask("hello")])) == ["hello /0"]
        assert (len(server.bodies), len(waits.seconds), sum(asked.spent.failures.values())) == (2, 1, 1)


CAUSES = {
    "busy": "429: slow down",
    "broken": "500: our fault",
    "slow": "no whole reply within 0.7 s",
    "trickle": "no whole reply within 0.7 s",
    "cut": "RemoteProtocolError",
    "drop": "RemoteProtocolError",
    "malformed": "cut off or no JSON",
    "no-choices": "holds no choices",
    "no-message": "holds no message",
    "list": "no JSON object",
    "empty": "the reply is empty",
    "error-200": "502: upstream is gone",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_lasting_fault_is_a_problem_with_its_cause_and_the_others_are_answered(fault: str) -> None:
    def choose(number: int, body: dict[str, Any]) -> str:
        return fault if body["messages"][0]["content"] == "bad" else ""

    with FaultyServer(choose) as server, policy(server.url, attempt_seconds=patience(fault), attempts=2) as asked:
        first, bad, last = asked.act([ask("first"), ask("bad"), ask("last")])
    assert CAUSES[fault] in bad.problem and "given up after 2 attempts" in bad.problem
    assert (bad.choice, bad.text, bad.usage) == (None, "", Usage())
    assert answers([first, last]) == ["first /0", "last /0"]


def test_a_dead_endpoint_is_a_problem() -> None:
    with FaultyServer() as server:
        url = server.url
    with policy(url, attempts=3) as asked:
        replies = asked.act([ask("a"), ask("b")])
        assert asked.spent.failures["ConnectError"] == 6
    assert all("ConnectError" in reply.problem and url.removeprefix("http://") in reply.problem for reply in replies)


def test_waits_double_at_most_and_vary() -> None:
    waits = Waits()
    with FaultyServer(["broken"] * 7) as server, policy(server.url, waits, attempts=8, backoff_most_seconds=8.0) as asked:
        assert answers(asked.act([ask("a")])) == ["a /0"]
    assert len(waits.seconds) == 7 and len(set(waits.seconds)) == 7
    assert all(0 <= wait <= bound for wait, bound in zip(waits.seconds, (0.5, 1, 2, 4, 8, 8, 8), strict=True))
    assert max(waits.seconds) > 2


def test_retry_after_is_honoured_as_seconds_and_as_date() -> None:
    date = email.utils.formatdate(1_000_030, usegmt=True)
    waits = Waits()
    faults = ["busy:7", f"busy:{date}", "busy:soon", f"busy:{email.utils.formatdate(5, usegmt=True)}"]
    with FaultyServer(faults) as server, policy(server.url, waits, wall=1_000_000.0) as asked:
        assert answers(asked.act([ask("a")])) == ["a /0"]
    assert 7 <= waits.seconds[0] <= 7.5 and 30 <= waits.seconds[1] <= 31
    assert waits.seconds[2] <= 2 and waits.seconds[3] <= 4, "nonsense and the past are no reason to wait"


def test_the_deadline_ends_it() -> None:
    waits = Waits()
    with FaultyServer(["busy:3600"] * 9) as server, policy(server.url, waits) as asked:
        (reply,) = asked.act([ask("a")])
    assert "asks to wait 3600 s" in reply.problem and "deadline of 600 s" in reply.problem and waits.seconds == []
    with FaultyServer(["broken"] * 99) as server, policy(server.url, waits, attempts=99, deadline_seconds=60.0) as asked:
        (reply,) = asked.act([ask("a")])
    assert "deadline of 60 s" in reply.problem and sum(waits.seconds) < 60 and len(server.bodies) > 3


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_wrong_request_is_not_sent_again(status: int) -> None:
    def choose(number: int, body: dict[str, Any]) -> str:
        return f"status:{status}" if body["messages"][0]["content"] == "bad" else ""

    with FaultyServer(choose) as server, policy(server.url) as asked:
        bad, good = asked.act([ask("bad"), ask("good")])
        assert f"answered {status}: refused" in bad.problem and good.text == "good /0"
        (alone,) = asked.act([ask("bad")])
        assert alone.problem == bad.problem, "it may be this one request, so nothing is raised"
        assert len(server.bodies) == 3


def test_a_refused_key_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer(lambda number, body: "status:401") as server, policy(server.url, concurrency=1) as asked:
        with pytest.raises(UserError, match=r"401.*variable OPENAI_API_KEY, which is not set"):
            asked.act([ask(f"a{n}") for n in range(30)])
        assert len(server.bodies) == 3, "once it is sure, the rest is not sent"
    monkeypatch.setenv("MY_KEY", KEY)
    refused = pytest.raises(UserError, match=r"401.*variable MY_KEY, which holds one")
    with FaultyServer(key=KEY + "x") as server, policy(server.url, key_env="MY_KEY") as asked, refused:
        asked.act([ask("a")])
    with FaultyServer(key=KEY) as server, policy(server.url, key_env="MY_KEY") as asked:
        assert answers(asked.act([ask("a")])) == ["a /0"]


def test_one_refusal_among_answers_is_a_problem() -> None:
    def choose(number: int, body: dict[str, Any]) -> str:
        return "status:403" if body["messages"][0]["content"] == "bad" else ""

    with FaultyServer(choose) as server, policy(server.url) as asked:
        good, bad = asked.act([ask("good"), ask("bad")])
        assert good.text and "403" in bad.problem
        assert "403" in asked.act([ask("bad", seed=1)])[0].problem, "the endpoint has answered before: it is about this request"


def test_a_wrong_model_names_the_nearest() -> None:
    with FaultyServer() as server:
        with (
            policy(server.url, model="ecko-1") as asked,
            pytest.raises(UserError, match=r"no model 'ecko-1'; did you mean 'echo-1'"),
        ):
            asked.act([ask("a")])
        with policy(server.url + "/x") as asked, pytest.raises(UserError, match=r"is the address .*/v1/x right"):
            asked.act([ask("a")])


@pytest.mark.parametrize("fault", ["status:402", "status:429/insufficient_quota"])
def test_an_empty_account_is_the_users(fault: str) -> None:
    with FaultyServer([fault]) as server, policy(server.url) as asked:
        with pytest.raises(UserError, match="topped up"):
            asked.act([ask("a")])
        assert len(server.bodies) == 1


def test_a_filter_is_a_problem_and_a_thought_without_text_is_an_answer() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 7}

    def say(reason: str, **more: Any) -> str:
        return "say:" + json.dumps({"choices": [{"message": {"content": None}, "finish_reason": reason}], **more})

    with FaultyServer([say("content_filter", usage=usage)]) as server, policy(server.url, prompt_price=1e6) as asked:
        (reply,) = asked.act([ask("a")])
        assert "filter" in reply.problem and reply.usage.cost == 5 and len(server.bodies) == 1
    thought = usage | {"completion_tokens_details": {"reasoning_tokens": 7}}
    with FaultyServer([say("length"), say("stop", usage=thought)]) as server, policy(server.url) as asked:
        cut, ended = asked.act([ask("a")]) + asked.act([ask("b")])
        assert (cut.cut, cut.problem, ended.text, ended.problem) == (True, "", "", "")


def test_odd_tool_calls() -> None:
    def read(calls: Any) -> Any:
        return wire.read_answer({"choices": [{"message": {"content": None, "tool_calls": calls}}]})

    found = read([{"function": {"name": "f", "arguments": {"a": 1}}}, {"id": "x", "function": {"name": "g"}}])
    assert found.tool_calls == (ToolCall("call_0", "f", '{"a": 1}'), ToolCall("x", "g", "{}"))
    assert (
        "names no function" in read([{"id": "x"}])
        and "no list" in read({"a": 1})
        and "no text" in wire.read_answer({"choices": [{"message": {"content": [1]}}]})
    )


def test_choices_are_for_others() -> None:
    moves = tuple(Choice(thought, Action(name="test")) for thought in "ab")
    with FaultyServer() as server, policy(server.url) as asked:
        assert asked.act([Request(TASK, (), moves[:1])]) == [Reply(moves[0])]
        mixed = asked.act([Request(TASK, (), moves[:1]), ask("x")])
        assert (mixed[0].choice, mixed[1].text) == (moves[0], "x /0")
        with pytest.raises(UserError, match="cannot be held to 2 choices"):
            asked.act([Request(TASK, (), moves)])
        with pytest.raises(UserError, match="set structured to 'vllm'"):
            asked.act([ask("x", grammar="start: x")])
        assert asked.act([]) == [] and len(server.bodies) == 1


def test_budget_of_tokens() -> None:
    with FaultyServer() as server, policy(server.url, concurrency=1, budget_tokens=10) as asked:
        replies = asked.act([ask(f"w {n}") for n in range(5)])
        assert [reply.problem for reply in replies] == ["", "", *["the budget of 10 tokens is spent"] * 3], "five tokens each"
        assert len(server.bodies) == 2
        assert "budget" in asked.act([ask("later")])[0].problem and len(server.bodies) == 2


def test_budget_of_money() -> None:
    prices = {"prompt_price": 1e5, "completion_price": 2e5}
    with FaultyServer() as server, policy(server.url, concurrency=1, budget_money=1.0, **prices) as asked:
        replies = asked.act([ask(f"w {n}") for n in range(3)])
        assert [reply.usage.cost for reply in replies] == pytest.approx([0.8, 0.8, 0])
        assert replies[2].problem == "the budget of 1 in money is spent"
        assert asked.spent.cost == pytest.approx(1.6)
    with pytest.raises(ConfigError, match="bounds nothing without prices"):
        policy("http://127.0.0.1:1/v1", budget_money=1.0)


def test_replies_without_counts_are_charged_to_the_budget() -> None:
    said = "say:" + json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]})
    with FaultyServer([said] * 9) as server, policy(server.url, concurrency=1, budget_tokens=100) as asked:
        first, second = asked.act([ask("a", max_tokens=90), ask("b", max_tokens=90)])
        assert (first.text, first.usage.completion_tokens, asked.spent.unmetered) == ("hi", 0, 1)
        assert "budget" in second.problem


def test_equal_requests_are_asked_once() -> None:
    with FaultyServer() as server, policy(server.url) as asked:
        replies = asked.act([ask("a", 1), ask("b", 1), ask("a", 1), ask("a", 2)])
        assert [reply.text for reply in replies] == ["a /1", "b /1", "a /1", "a /2"] and len(server.bodies) == 3
        assert [reply.usage.completion_tokens for reply in replies] == [2, 2, 0, 2]


def test_the_journal_pays_for_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    wrote = '\udce4 <tool_call>{"name": "look", "arguments": {}}</tool_call>'
    requests = [ask(f"w {n}", seed=n, max_tokens=2) for n in range(6)] + [ask(wrote, tools=(TOOL,))]
    with FaultyServer() as server:
        with policy(server.url, journal=path, token_ids=True) as asked:
            first = asked.act(requests)
            assert asked.act(requests) == first and len(server.bodies) == 7, "its own lines are found as well"
        tokens = asked.spent.tokens
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][:-9])  # a kill tore the last line
        with policy(server.url, journal=path, token_ids=True) as asked:
            second = asked.act(requests)
            assert asked.identity.revision == "fp-1"
            assert (len(server.bodies), asked.spent.replayed, asked.spent.answered, asked.spent.tokens) == (8, 6, 1, tokens)
        with policy(server.url, journal=path, token_ids=True) as asked:
            third = asked.act(requests)
            assert (len(server.bodies), asked.spent.replayed) == (8, 7), "the line after the torn one counts"
        with policy(server.url, journal=path, token_ids=True, temperature=0.5) as asked:
            asked.act(requests[:1])
            assert len(server.bodies) == 9, "another temperature is another question"
    assert third == second and sum(one == other for one, other in zip(first, second, strict=True)) >= 6
    assert [(one.text, one.tool_calls, one.trace) for one in second[:6]] == [(one.text, (), one.trace) for one in first[:6]]
    assert all(reply.trace for reply in third) and third[0].cut


def test_a_spent_budget_outlives_the_process_but_keeps_what_is_paid(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with FaultyServer() as server:
        with policy(server.url, journal=path, budget_tokens=4) as asked:
            assert answers(asked.act([ask("a a")])) == ["a a /0"]
        with policy(server.url, journal=path, budget_tokens=4) as asked:
            old, new = asked.act([ask("a a"), ask("b")])
    assert old.text == "a a /0" and "budget" in new.problem and len(server.bodies) == 1


def test_problems_are_not_journaled(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with FaultyServer(["broken"]) as server, policy(server.url, journal=path, attempts=1) as asked:
        assert asked.act([ask("a")])[0].problem and not path.exists()
        assert answers(asked.act([ask("a")])) == ["a /0"]


def test_a_journal_may_hold_nonsense(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'\n[]\n{"key": 3}\n\xff\xfe\n{"key": "k", "text": 1}\nnull\n' + b"[" * 100_000 + b"\n")
    journal = Journal(path)
    assert journal.get("k") is None and (journal.tokens, journal.cost) == (0, 0)
    journal.put("k", Reply(None, text="t", usage=Usage(1, 2, 0.5, 0.25)), "f")
    journal.close()
    again = Journal(path)
    assert again.get("k") == (Reply(None, text="t", usage=Usage(1, 2, 0.5, 0.25)), "f") and again.tokens == 3
    again.close()
    with pytest.raises(UserError, match="cannot be opened"):
        Journal(tmp_path / "none" / "j")


KILLED = """
import os, sys
from pathlib import Path
from swefuse.policy.base import Freedom, Message, Request
from swefuse.policy.endpoint import EndpointPolicy, EndpointSettings
policy = EndpointPolicy(EndpointSettings(base=sys.argv[1], model="echo-1", concurrency=1), Path(sys.argv[2]))
policy.act([Request(None, (), (), freedom=Freedom((Message("user", f"w {n}"),))) for n in range(10)])
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path, reached = tmp_path / "journal.jsonl", threading.Event()

    def choose(number: int, body: dict[str, Any]) -> str:
        if number == 4:
            reached.set()
        return "slow" if number == 4 else ""

    with FaultyServer(choose) as server:
        process = subprocess.Popen([sys.executable, "-c", KILLED, server.url, str(path)])
        try:
            assert reached.wait(60)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        with policy(server.url, journal=path) as asked:
            assert answers(asked.act([ask(f"w {n}") for n in range(10)])) == [f"w {n} /0" for n in range(10)]
            assert (asked.spent.replayed, asked.spent.answered) == (4, 6)


def test_the_key_is_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    path, seen = tmp_path / "journal.jsonl", []
    echo = json.dumps(
        {"choices": [{"message": {"content": f"your key is {KEY}"}, "finish_reason": "stop"}], "system_fingerprint": KEY}
    )
    said = json.dumps({"error": KEY})
    faults = ["status:400", "status:500", f"say:{echo}", f"say:{said}", f"say:{said}", "cut", "", "status:401", "status:404"]
    with FaultyServer(faults) as server, policy(server.url, journal=path, concurrency=1, attempts=2) as asked:
        seen += [repr(asked.act([ask(text)])) for text in ("bad request", "told in a reply", "told in an error", "cut")]
        assert "answered 400: refused; you sent Bearer [OPENAI_API_KEY]" in seen[0] and "[OPENAI_API_KEY]" in seen[2]
        for text in ("refused", "no model"):
            with pytest.raises(UserError) as caught:
                asked.act([ask(text)])
            seen.append(str(caught.value))
            bundle = write_bundle(caught.value, ["collect"], tmp_path)
            assert bundle is not None
            seen += [file.read_text() for file in bundle.iterdir()]
        seen += [repr(asked), repr(asked.identity), asked.identity.model_dump_json(), repr(vars(asked)), repr(asked.settings)]
        seen += [repr(vars(asked._channel)), repr(asked._channel._client.headers), repr(asked.spent)]
    assert server.script.headers[0]["authorization"] == f"Bearer {KEY}", "it was sent"
    seen += [path.read_text(), caplog.text, *capfd.readouterr()]
    assert "your key is [OPENAI_API_KEY]" in path.read_text()
    assert [text for text in seen if KEY in text or KEY[4:] in text] == []


@pytest.mark.parametrize("value", ["a\nb", "a b", "sk-\u00e9"])
def test_a_key_that_is_none_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(ConfigError) as caught:
        policy("http://127.0.0.1:1/v1")
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "base", ["http://me:pw1@h/v1", "http://h/v1?key=pw1", "ftp://h", "h/v1", "", "http://", "http://h:pw1/v1", "http://[::1/pw1"]
)
def test_an_address_that_is_none_or_holds_a_secret(base: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy(base)
    assert "pw1" not in str(caught.value)


def test_a_batch_of_fifty_with_a_fifth_of_faults_is_accounted_for() -> None:
    rng = random.Random(1)
    faults = {number: rng.choice(FAULTS) for number in range(400) if rng.random() < 0.2}
    with FaultyServer(lambda number, body: faults.get(number, "")) as server:
        with policy(server.url, attempt_seconds=1.0, concurrency=16) as asked:
            replies = asked.act([ask(f"w {n}", seed=n) for n in range(50)])
            spent = asked.spent
        sent = len(server.bodies)
    assert [reply.text for reply in replies] == [f"w {n} /{n}" for n in range(50)]
    assert (spent.answered, spent.attempts) == (50, sent) and spent.attempts == 50 + sum(spent.failures.values()) > 50
    assert sum(reply.usage.completion_tokens for reply in replies) == 150


def test_a_lost_one_does_not_hold_up_the_others() -> None:
    others, all_came = [], threading.Event()

    def choose(number: int, body: dict[str, Any]) -> str:
        text = body["messages"][0]["content"]
        if text == "dead":
            return "drop" if all_came.wait(20) else "status:400"
        others.append(text)
        if len(others) == 20:
            all_came.set()
        return ""

    with FaultyServer(choose) as server, policy(server.url, concurrency=2, attempts=1, attempt_seconds=30.0) as asked:
        replies = asked.act([ask("dead"), *[ask(f"w {n}") for n in range(20)]])
    assert "RemoteProtocolError" in replies[0].problem, "it was held until all the others had come"
    assert answers(replies[1:]) == [f"w {n} /0" for n in range(20)]


def test_no_more_than_concurrency_are_under_way() -> None:
    lock, now, most = threading.Lock(), [0], [0]
    meet = threading.Barrier(3, timeout=10)

    def choose(number: int, body: dict[str, Any]) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        meet.wait()  # three are here at once, or this breaks
        with lock:
            now[0] -= 1
        return ""

    with FaultyServer(choose) as server, policy(server.url, concurrency=3) as asked:
        assert len(answers(asked.act([ask(f"w {n}") for n in range(9)]))) == 9
    assert most[0] == 3


def test_it_works_from_threads_and_within_a_loop() -> None:
    with FaultyServer() as server, policy(server.url) as asked:
        found: dict[int, list[str]] = {}

        def work(number: int) -> None:
            found[number] = answers(asked.act([ask(f"t {number} {n}") for n in range(5)]))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {number: [f"t {number} {n} /0" for n in range(5)] for number in range(4)}

        async def within() -> list[str]:
            return answers(asked.act([ask("in a loop")]))

        assert asyncio.run(within()) == ["in a loop /0"]


def test_closing_ends_what_is_asked() -> None:
    reached = threading.Event()

    def choose(number: int, body: dict[str, Any]) -> str:
        reached.set()
        return "slow"

    def attempt(call: Callable[[], Any], into: list[Exception]) -> None:
        try:
            call()
        except InfraError as error:
            into.append(error)

    with FaultyServer(choose) as server:
        asked, errors = policy(server.url), []
        thread = threading.Thread(target=attempt, args=(lambda: asked.act([ask("a")]), errors))
        thread.start()
        assert reached.wait(10)
        asked.close()
        thread.join(10)
        assert not thread.is_alive() and re.search("closed while it was asked", str(errors[0]))
        with pytest.raises(InfraError, match="is closed"):
            asked.act([ask("b")])
        asked.close()
