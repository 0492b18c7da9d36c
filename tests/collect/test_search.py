"""A bad step is taken back and another one sampled; every path that passes is kept, and it is one that can be followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from written import Writing

from function_task import BUGGY, MENDED, PATH, function_task
from swefuse.collect import protocol
from swefuse.collect.agent import Judge
from swefuse.collect.dialects import dialect
from swefuse.collect.episode import How, Limits, Start, finished
from swefuse.collect.search import Climb, Search, climb
from swefuse.errors import UserError
from swefuse.library.coherence import coherence
from swefuse.policy.base import Policy, Reply, Request
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Action, Outcome
from swefuse.verify import Verifier

OPEN = How(dialect("compact"), Limits(steps=12, tokens=1000), opening=lambda task: (Action(name="test"),))
PLAIN = Search()
WRONG = f"@edit {PATH}:3\n-x - x\n+0\n"
RIGHT = f"@edit {PATH}:3\n-x - x\n+x + x\n"
BROKEN = f"@edit {PATH}:3\n-x - x\n+x - (\n"
WORSE = f"@edit {PATH}:3\n-x - x\n+None\n"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Verifier() as made:
        yield Judge(lambda items: [made.verify(item.task, item.files) for item in items])


def searched(policy: Policy, judge: Judge, how: How = OPEN, search: Search = PLAIN) -> Climb:
    [one] = climb([Start(function_task())], policy, judge, how, search)
    for episode in one.found:
        made = finished(episode, policy.identity, "search")
        assert made.verdict is not None and made.verdict.outcome is Outcome.PASSED and made.stop_reason == "submit"
        assert coherence(episode.task, made, made.verdict) is None
    return one


def saying(*texts: str) -> Writing:
    left = iter(texts)
    return Writing(lambda request: next(left))


def test_a_policy_without_luck_gets_there_by_taking_steps_back(judge: Judge) -> None:
    edits = len(protocol.choices(function_task(), {PATH: BUGGY}, ()) and function_task().files)
    one = searched(ScriptedPolicy("random"), judge, How(), Search(tries=200))
    assert edits and len(one.found) == 1 and one.found[0].files == {PATH: MENDED}
    assert [s.action.name for s in one.found[0].steps if s.action] == ["view", "test", "edit", "test", "submit"]


def test_every_passing_path_is_kept_once(judge: Judge) -> None:
    one = searched(ScriptedPolicy("random"), judge, How(), Search(tries=400, paths=400))
    found = [tuple(s.raw for s in episode.steps) for episode in one.found]
    assert len(found) == len(set(found)) >= 1 and one.over == "no action is left to try"
    again = searched(ScriptedPolicy("random"), judge, How(), Search(tries=400, paths=400))
    assert found == [tuple(s.raw for s in episode.steps) for episode in again.found], "same seed, same search"
    edits = protocol.choices(function_task(), {PATH: BUGGY}, one.found[0].steps[:2])
    assert one.ends == len(edits), "each edit was one path"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("that is hard\n", "it is no action"),
        (f"@edit {PATH}:3\n-y\n+z\n", "it does not apply"),
        (BROKEN, "it does not parse"),
        (WORSE, "more tests fail than before"),
        ("@submit\n", "it submits what does not pass"),
        ("@test\n", "it repeats a step and learns nothing"),
        ("@edit t.py:1\n-a\n+b\n", "it does not apply"),
    ],
)
def test_bad_steps_are_taken_back_for_their_reason(text: str, reason: str, judge: Judge) -> None:
    policy = saying(text, RIGHT, "@submit\n")
    one = searched(policy, judge)
    assert one.undone == {reason: 1} and len(one.found) == 1
    judged = ("it does not parse", "more tests fail than before", "it submits what does not pass")
    assert one.ends == 1 + (reason in judged), "a path that the verifier ended was tried; an answer that is no step was not"
    assert [s.action.name for s in one.found[0].steps if s.action] == ["test", "edit", "submit"], "the dead branch is left out"
    assert policy.asked[1].freedom is not None and policy.asked[1].freedom.temperature == pytest.approx(1.2), "it gets warmer"
    assert policy.asked[2].freedom is not None and policy.asked[2].freedom.temperature is None, "and cold again further on"
    assert (one.tokens, one.asked, one.seconds, one.cost) == (30, 3, 3.0, 1.5)


def test_dead_ends_can_stay_in_the_context_and_out_of_the_loss(judge: Judge) -> None:
    policy = saying(WORSE, WRONG, "@test\n", *["@submit\n"] * 3, RIGHT, "@submit\n")
    one = searched(policy, judge, search=Search(tries=3, dead="kept"))
    steps = one.found[0].steps
    told = [(s.action.name, s.keep) for s in steps if s.action]
    assert told[:3] == [("test", True), ("edit", False), ("undo", False)] and told[-2:] == [("edit", True), ("submit", True)]
    assert told.count(("edit", False)) == 2 and one.undone["no step from there led to a pass"] == 1
    asked = policy.asked[1].freedom
    assert asked is not None and any("+None" in message.content for message in asked.messages), "the next answer sees the dead end"
    with pytest.raises(UserError, match="choose a dialect"):
        searched(ScriptedPolicy("random"), judge, How(), Search(dead="kept"))


def test_limits_end_a_search_and_a_silent_policy_is_no_failure_of_the_task(judge: Judge) -> None:
    endless = searched(Writing(lambda request: WRONG), judge, How(dialect("compact"), Limits(tokens=50)), Search(tries=99))
    assert (endless.over, endless.tokens, endless.found) == ("max_tokens", 50, [])
    silent = searched(Writing(lambda request: Reply(None, problem="it is out of order")), judge)
    assert silent.problem == "it is out of order" and silent.over is None


def test_many_searches_share_their_batches(judge: Judge) -> None:
    calls: list[int] = []

    class Counting(ScriptedPolicy):
        def act(self, requests: Sequence[Request]) -> list[Reply]:
            calls.append(len(requests))
            return super().act(requests)

    starts = [Start(function_task(), seed) for seed in range(4)]
    together = climb(starts, Counting("random"), judge, How(), Search(tries=200))
    assert calls[0] == 4 and all(len(one.found) == 1 for one in together)
    alone = [climb([start], ScriptedPolicy("random"), judge, How(), Search(tries=200))[0] for start in starts]
    assert [one.found[0].steps for one in alone] == [one.found[0].steps for one in together]
