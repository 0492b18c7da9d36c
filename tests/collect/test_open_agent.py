"""Episodes in which the policy writes: what is malformed is answered and counted, limits end them, nobody waits for the dead."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest
from written import Writing

from function_task import BUGGY, MENDED, PATH, function_task
from swefuse.collect.agent import Judge, play, rollouts
from swefuse.collect.dialects import dialect
from swefuse.collect.episode import Episode, How, Limits, Start
from swefuse.collect.gather import shown_first
from swefuse.errors import InfraError
from swefuse.policy.base import Policy, Reply, Request, ToolCall, Usage
from swefuse.records import Action, Outcome, PolicyIdentity, Verdict
from swefuse.records import TestResult as Result
from swefuse.verify import Candidate

RIGHT = f"@edit {PATH}:3\n-x - x\n+x + x\n"
LIMITS = Limits(steps=9, tokens=500)


def judged(items: Sequence[Candidate]) -> list[Verdict]:
    right = [item.files.get(PATH) == MENDED for item in items]
    return [
        Verdict(
            outcome=Outcome.PASSED if ok else Outcome.FAILED,
            form="calls",
            tests={"t1": Result(outcome="passed" if ok else "failed")},
        )
        for ok in right
    ]


def played(policy: Policy, limits: Limits = LIMITS, name: str = "compact", count: int = 1) -> list[Episode]:
    starts = [Start(function_task(), seed) for seed in range(count)]
    return play(starts, policy, Judge(judged), How(dialect(name), limits))


def saying(*texts: str | Reply) -> Writing:
    left = iter(texts)
    return Writing(lambda request: next(left))


def test_an_agent_that_writes_repairs_the_code_and_what_it_saw_is_in_the_conversation() -> None:
    policy = saying("@test\n", f"#It subtracts.\n{RIGHT}", "@test", "@submit\n")
    [made] = rollouts([Start(function_task())], policy, judged, "free", How(dialect("compact"), LIMITS))
    assert made.verdict is not None and made.verdict.outcome is Outcome.PASSED and made.stop_reason == "submit"
    assert [step.raw for step in made.steps] == ["@test\n", f"#It subtracts.\n{RIGHT}", "@test\n", "@submit\n"]
    last = policy.asked[-1].freedom
    assert last is not None and [message.content for message in last.messages[1:]] == [
        part for step in made.steps[:-1] for part in (step.raw.removesuffix("\n"), step.observation)
    ]


def test_calls_of_tools_do_the_same() -> None:
    fields = f'{{"path": "{PATH}", "line": 3, "old": "x - x", "new": "x + x"}}'
    policy = saying(
        Reply(None, text="Why?", tool_calls=(ToolCall("a", "test", ""),)), Reply(None, tool_calls=(ToolCall("b", "edit", fields),)),
        '<tool_call>{"name": "submit", "arguments": {}}</tool_call>',
    )  # fmt: skip
    [episode] = played(policy, name="tools")
    assert episode.stop_reason == "submit" and episode.files == {PATH: MENDED}
    asked = policy.asked[-1].freedom
    assert asked is not None and [m.call for m in asked.messages if m.role == "tool"] == ["a", "b"] and len(asked.tools) == 7


def test_what_is_no_action_is_answered_counted_and_out_of_the_loss() -> None:
    policy = saying("Let me think.\n", "@veiw m.py\n", Reply(None, text="@view ", cut=True), RIGHT)
    [episode] = played(policy)
    assert (episode.stop_reason, episode.malformed) == ("too many answers without an action", 3)
    assert [step.keep for step in episode.steps] == [False] * 3 and episode.files == {PATH: BUGGY}
    assert all(step.observation.startswith("error: ") for step in episode.steps) and "cut off" in episode.steps[2].observation
    assert episode.verdict is not None and episode.verdict.outcome is Outcome.FAILED
    [again] = played(saying("no\n", "@test\n", "no\n", "no\n", RIGHT, "@submit\n"))
    assert (again.stop_reason, again.malformed) == ("submit", 3), "only those one after the other end an episode"


@pytest.mark.parametrize(
    ("limits", "reason", "steps"),
    [
        (Limits(steps=2), "max_steps", 2),
        (Limits(tokens=30), "max_tokens", 3),
        (Limits(seconds=2.0), "max_seconds", 2),
        (Limits(cost=0.9), "max_cost", 2),
    ],
)
def test_limits_end_an_episode_with_their_name(limits: Limits, reason: str, steps: int) -> None:
    [episode] = played(Writing(lambda request: "@test\n"), limits)
    assert (episode.stop_reason, len(episode.steps)) == (reason, steps) and episode.verdict is not None


def test_an_answer_is_never_asked_to_be_longer_than_what_is_left() -> None:
    policy = Writing(lambda request: "@test\n", tokens=100)
    played(policy, Limits(tokens=250, reply_tokens=120))
    assert [request.freedom.max_tokens for request in policy.asked if request.freedom] == [120, 120, 50]


def test_tests_are_what_they_were_whatever_the_agent_writes() -> None:
    task = function_task().model_copy(update={"protected": (PATH,)})
    [episode] = play([Start(task)], saying(RIGHT, "@submit\n"), Judge(judged), How(dialect("compact"), LIMITS))
    assert episode.steps[0].observation == f"error: {PATH} is protected" and episode.files == {PATH: BUGGY}


def test_tests_and_files_can_be_shown_before_the_policy_is_asked() -> None:
    policy = saying(RIGHT, "@submit\n")
    how = How(dialect("compact"), Limits(observation_tokens=16), opening=shown_first)
    [episode] = play([Start(function_task())], policy, Judge(judged), how)
    assert [step.action.name for step in episode.steps if step.action] == ["test", "view", "edit", "submit"]
    assert episode.steps[1].observation.endswith("left out ...]") or "left out" in episode.steps[1].observation
    assert len(policy.asked[0].steps) == 2


def test_a_policy_without_an_answer_ends_its_episode_alone_and_says_why() -> None:
    def say(request: Request) -> str | Reply:
        return Reply(None, problem="no answer in 3 s") if request.seed == 1 else RIGHT if not request.steps else "@submit\n"

    ended = played(Writing(say), count=3)
    assert [episode.stop_reason for episode in ended] == ["submit", "the policy gave no answer", "submit"]
    assert ended[1].problem == "no answer in 3 s" and ended[1].verdict is not None


def test_the_time_of_a_batch_is_shared_out_and_that_of_an_endpoint_is_not() -> None:
    class Endpoint(Writing):
        concurrent = 1

    def say(request: Request) -> str:
        return "@submit\n"

    started = time.monotonic()
    ended = played(Writing(say), count=4)
    took = time.monotonic() - started
    assert 0 < sum(episode.took for episode in ended) <= took and len({episode.took for episode in ended}) == 1
    assert [episode.usage.seconds for episode in ended] == [1.0] * 4, "what each of them waited"
    assert [episode.took for episode in played(Endpoint(say), count=4)] == [1.0] * 4


def test_one_episode_that_fails_ends_the_others() -> None:
    both, never = threading.Barrier(2, timeout=30), threading.Event()

    class Failing:
        identity = PolicyIdentity(model="scripted/failing")
        concurrent = 2
        asked = 0

        def act(self, requests: Sequence[Request]) -> list[Reply]:
            self.asked += 1
            if requests[0].steps:
                never.wait(0.2)  # a slow answer
            else:
                both.wait()
            if requests[0].seed == 0:
                raise InfraError("out of order")
            return [Reply(None, text="@test\n", usage=Usage(1, 1, 0.1))]

    policy = Failing()
    with pytest.raises(InfraError, match="out of order"):
        played(policy, Limits(steps=60), count=2)
    assert policy.asked < 30, "a whole episode has sixty answers"


def test_a_slow_answer_delays_its_own_episode_alone() -> None:
    others, done = threading.Event(), []

    class Slow:
        identity = PolicyIdentity(model="scripted/slow")
        concurrent = 3

        def act(self, requests: Sequence[Request]) -> list[Reply]:
            [request] = requests
            if request.seed == 0:
                assert others.wait(30), "the others never got their turn"
            text = RIGHT if not request.steps else "@submit\n"
            if request.steps and request.seed:
                done.append(request.seed)
                if len(done) == 2:
                    others.set()
            return [Reply(None, text=text, usage=Usage(1, 1, 0.1))]

    ended = played(Slow(), count=3)
    assert [episode.stop_reason for episode in ended] == ["submit"] * 3 and sorted(done) == [1, 2]
    assert [episode.seed for episode in ended] == [0, 1, 2]


def test_a_grammar_is_made_for_the_state_that_is_there() -> None:
    policy = saying(RIGHT, "@submit\n")
    how = How(dialect("compact"), LIMITS, grammar=lambda task, files: f"grammar of {files[PATH].count('+')}", temperature=0.5)
    play([Start(function_task())], policy, Judge(judged), how)
    assert [request.freedom.grammar for request in policy.asked if request.freedom] == ["grammar of 0", "grammar of 1"]
    assert policy.asked[0].freedom is not None and policy.asked[0].freedom.temperature == 0.5
    assert Action(name="test") in how.opening(function_task()) or how.opening(function_task()) == ()
