"""An endpoint that is down ends the work soon, one that says nothing is asked again, and an interrupted caller is let go."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from faulty_server import MODEL, FaultyServer
from swefuse.errors import InfraError
from swefuse.policy.base import Freedom, Message, Request
from swefuse.policy.endpoint import EndpointPolicy, EndpointSettings
from swefuse.records import Task

TASK = Task.model_construct(id="a-task")


async def at_once(seconds: float) -> None:
    """A sleeper that does not sleep."""


def ask(text: str) -> Request:
    return Request(TASK, (), (), freedom=Freedom((Message("user", text),)))


def policy(url: str, journal: Path | None = None, **settings: Any) -> EndpointPolicy:
    made = EndpointSettings(**{"base": url, "model": MODEL, "attempt_seconds": 20.0, "attempts": 2} | settings)
    return EndpointPolicy(made, journal, sleeper=at_once)


def dead_url() -> str:
    with FaultyServer() as server:
        return server.url


def test_after_three_requests_that_reached_no_server_the_rest_is_not_sent() -> None:
    with policy(dead_url(), concurrency=1) as asked:
        with pytest.raises(InfraError, match=r"no server answers at 127.0.0.1.*did not reach it.*is it running") as caught:
            asked.act([ask(f"w {n}") for n in range(1000)])
        assert asked.spent.attempts == 6 and isinstance(caught.value.__cause__, ConnectionError)
        assert "ConnectError" in asked.act([ask("later")])[0].problem, "who asks again later tries again"


def test_a_server_that_goes_away_is_noticed_and_one_request_at_a_time_as_well() -> None:
    with FaultyServer() as server:
        asked = policy(server.url)
        assert asked.act([ask("a")])[0].text
    with asked:
        assert all(asked.act([ask(f"w {n}")])[0].problem for n in range(2))
        with pytest.raises(InfraError, match="no server answers"):
            asked.act([ask("w 2")])


def test_answers_between_show_that_the_endpoint_works() -> None:
    def choose(number: int, body: dict[str, Any]) -> str:
        return "broken" if body["messages"][0]["content"].startswith("bad") else ""

    with FaultyServer(choose) as server, policy(server.url, concurrency=1, attempts=1) as asked:
        replies = asked.act([ask(f"{'good' if n % 10 == 9 else 'bad'} {n}") for n in range(40)])
        assert sum(bool(reply.problem) for reply in replies) == 36
        with pytest.raises(InfraError, match=r"does not work: 10 requests in a row were given up, the last with: answered 500"):
            asked.act([ask(f"bad {n}") for n in range(40, 80)])
        assert len(server.bodies) == 50


def say(content: str, **message: Any) -> str:
    usage = {"prompt_tokens": 5, "completion_tokens": 1}
    return "say:" + json.dumps({"choices": [{"message": {"content": content, **message}, "finish_reason": "stop"}], "usage": usage})


def test_an_empty_reply_is_asked_again_whatever_its_count_says_and_is_charged() -> None:
    with FaultyServer([say(""), say(" \n")]) as server, policy(server.url, attempts=3, prompt_price=1e6) as asked:
        assert asked.act([ask("a")])[0].text == "a /0" and len(server.bodies) == 3
        assert asked.spent.failures == {"empty": 2} and asked.spent.tokens == 2 * 6 + 3 and asked.spent.cost == 11
    with FaultyServer([say("", reasoning_content="hm")]) as server, policy(server.url) as asked:
        (reply,) = asked.act([ask("a")])
        assert (reply.text, reply.problem) == ("", "") and len(server.bodies) == 1, "it thought, and then had nothing to say"
    with FaultyServer(lambda number, body: say("")) as server, policy(server.url) as asked:
        replies = asked.act([ask(f"a {n}") for n in range(30)])
        assert {reply.problem.partition(": ")[2] for reply in replies} == {"the reply is empty; given up after 2 attempts"}


def test_an_interrupted_caller_gets_what_is_under_way_and_nothing_is_sent_any_more(tmp_path: Path) -> None:
    here, go, found = threading.Barrier(2, timeout=20), threading.Event(), dict[str, Any]()

    def choose(number: int, body: dict[str, Any]) -> str:
        here.wait()
        go.wait(20)
        return ""

    def work(text: str) -> None:
        try:
            found[text] = asked.act([ask(text), ask(f"{text} again")])
        except InfraError as error:
            found[text] = error

    with FaultyServer(choose) as server, policy(server.url, tmp_path / "j", concurrency=1) as asked:
        thread = threading.Thread(target=work, args=("soon",))
        thread.start()
        here.wait()
        threading.Timer(0.2, go.set).start()
        asked.abandon(10)
        thread.join(10)
        first, second = found["soon"]
        assert first.text == "soon /0" and second.problem == "not sent, because the call was ended" and len(server.bodies) == 1
        go.clear()
        thread = threading.Thread(target=work, args=("late",))
        thread.start()
        here.wait()
        asked.abandon(0.1)
        thread.join(10)
        assert isinstance(found["late"], InfraError) and len(server.bodies) == 2
        go.set()
    asked.abandon(1)
