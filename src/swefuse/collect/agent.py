"""The agent loop: ask the policy, do what it says, show it what happened, until it submits.

Many episodes run in step, so that a model answers in batches and the verifier has work for every core. An episode is judged once,
on its final state, with all tests; what the agent's own ``test`` action shows are the visible tests of that same judgement, so a
state is never run twice. History is linear: what a policy is asked with is what is trained on later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Event

from swefuse.collect import protocol
from swefuse.collect.episode import Episode, How, Limits, Start, StopReason, begin, failed_step, finished, step
from swefuse.errors import InfraError, PatchError
from swefuse.policy.base import Freedom, Policy, Reply, Request
from swefuse.records import Trajectory, Verdict
from swefuse.scale.executor import ThreadExecutor
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

Verify = Callable[[Sequence[Candidate]], Iterable[Verdict]]
Beat = Callable[[int], None]
CLOSED = How()


def unheard(ended: int) -> None:
    """A beat that nobody listens to."""


class Judge:
    """Verdicts by state: one verification for each different state of a task, however many episodes reach it. Threads share it."""

    def __init__(self, verify: Verify) -> None:
        self._verify = verify
        self._known: dict[tuple[str, str], Verdict] = {}

    def verify(self, items: Sequence[Candidate]) -> Iterable[Verdict]:
        """The verifier that it asks."""
        return self._verify(items)

    def ensure(self, episodes: Sequence[Episode]) -> None:
        """Verify every state of ``episodes`` that has no verdict yet."""
        missing = {self.key(e): Candidate(e.task, e.files) for e in episodes if self.key(e) not in self._known}
        for key, verdict in zip(missing, self._verify(list(missing.values())) if missing else (), strict=True):
            self._known[key] = verdict

    def of(self, episode: Episode) -> Verdict:
        """The verdict on an episode's present state; ``ensure`` must have been called for it."""
        return self._known[self.key(episode)]

    @property
    def verified(self) -> int:
        """States that were verified."""
        return len(self._known)

    @staticmethod
    def key(episode: Episode) -> tuple[str, str]:
        """What a verdict is stored under."""
        return episode.task.id, ref(episode.files)


def rollouts(starts: Sequence[Start], policy: Policy, verify: Verify, source: str, how: How = CLOSED) -> list[Trajectory]:
    """Run an episode for every start and return the trajectories in that order, each with its verdict.

    A failure of the sandbox ends in a verdict INFRA, never in a lost episode; errors of the policy propagate.
    """
    return [finished(episode, policy.identity, source) for episode in play(starts, policy, Judge(verify), how)]


def play(starts: Sequence[Start], policy: Policy, judge: Judge, how: How = CLOSED, beat: Beat = unheard) -> list[Episode]:
    """The episodes of ``starts`` to their ends, each with a verdict on its final state.

    A policy that answers many requests at once by itself, such as an endpoint (``concurrent`` above 1), is asked for each episode
    apart, so that a slow answer delays that episode alone; others are asked for all that wait in one batch. ``beat`` is called
    before each question with how many episodes have ended; what it raises ends them all. Threads call it.
    """
    episodes = [begin(start, how.room) for start in starts]
    for episode in episodes:
        for action in how.opening(episode.task):
            if action.name in ("test", "submit"):
                judge.ensure([episode])
            step(episode, "", action, judge.of)
    at_once = min(getattr(policy, "concurrent", 1), len(episodes))
    over = Event()

    def tell() -> None:
        if over.is_set():
            raise InfraError("the other episodes of the batch were ended early")
        beat(sum(bool(episode.stop_reason) for episode in episodes))

    if at_once <= 1:
        _to_the_end(episodes, policy, judge, how, tell)
        return episodes
    with ThreadExecutor(at_once) as threads:
        try:
            for _ in threads.map(lambda episode: _to_the_end([episode], policy, judge, how, tell), episodes):
                pass
        except BaseException:
            over.set()  # before the threads are waited for: whole episodes would be played that nobody wants any more
            raise
    return episodes


def _to_the_end(episodes: Sequence[Episode], policy: Policy, judge: Judge, how: How, tell: Callable[[], None]) -> None:
    while opened := [(episode, request) for episode in episodes if (request := _request(episode, how)) is not None]:
        tell()
        if how.ahead and hasattr(policy, "parts"):
            _turn_ahead(opened, policy.parts([request for _, request in opened]), judge, how)
            continue
        replies, seconds = answers(policy, [request for _, request in opened])
        for (asked, _), took in zip(opened, seconds, strict=True):
            asked.took += took
        read = [_read(episode, reply, how) for (episode, _), reply in zip(opened, replies, strict=True)]
        judge.ensure([episode for episode in read if episode is not None and episode.next in ("test", "submit")])
        for episode in read:
            if episode is not None:
                _carry_out(episode, judge)
    judge.ensure(episodes)
    for episode in episodes:
        episode.verdict = judge.of(episode)


def _turn_ahead(
    opened: Sequence[tuple[Episode, Request]], parts: Iterable[list[tuple[int, Reply]]], judge: Judge, how: How
) -> None:
    """One turn of all, in the parts in which the policy answers; the states of a part are judged while the next is answered.

    An edit is judged as soon as it is made. Where episodes choose, every edit is tested next, so nothing more is judged than else.
    """
    late: list[Episode] = []

    def states() -> Iterator[list[Episode]]:
        for part in parts:
            read = [episode for number, reply in part if (episode := _read(opened[number][0], reply, how)) is not None]
            for episode in read:
                if episode.next in ("test", "submit"):
                    late.append(episode)  # its verdict must be known first
                else:
                    _carry_out(episode, judge)
            yield [
                episode for episode in read if episode.next in ("test", "submit") or (episode.next == "edit" and not how.dialect)
            ]

    with ThreadExecutor(1) as thread:
        for _ in thread.map(judge.ensure, states()):
            pass
    for episode in late:
        _carry_out(episode, judge)


def answers(policy: Policy, requests: Sequence[Request]) -> tuple[list[Reply], list[float]]:
    """A policy's replies, and its seconds for each: where it answers a batch at once, an equal share of the batch's time.

    An endpoint tells the time of each by itself, also of those that its journal kept.
    """
    started = time.monotonic()
    replies = policy.act(requests)
    if hasattr(policy, "concurrent"):
        return replies, [reply.usage.seconds for reply in replies]
    asked = [len(request.choices) != 1 for request in requests]  # a forced move costs nothing
    share = (time.monotonic() - started) / max(1, sum(asked))
    return replies, [share * one for one in asked]


def _request(episode: Episode, how: How) -> Request | None:
    """What the policy is asked next; None where the episode has ended, and then its reason is set."""
    if episode.stop_reason:
        return None
    task, steps, limits = episode.task, tuple(episode.steps), how.limits
    if how.dialect is None:
        choices = protocol.choices(task, episode.files, steps) if len(steps) < protocol.MAX_STEPS else ()
        if not choices:
            episode.stop_reason = StopReason.STEPS if len(steps) == protocol.MAX_STEPS else StopReason.NOTHING
            return None
        return Request(task, steps, choices, episode.seed, episode.greedy)
    spent = episode.usage
    reached = enough(limits, spent.completion_tokens, spent.seconds, spent.cost)
    if reached is None and len(steps) >= limits.steps:
        reached = StopReason.STEPS
    if reached is None and episode.malformed_now >= limits.malformed:
        reached = StopReason.MALFORMED
    if reached is not None:
        episode.stop_reason = reached
        return None
    return ask(episode, how, episode.seed, limits.tokens - spent.completion_tokens)


def enough(limits: Limits, tokens: int, seconds: float, cost: float) -> StopReason | None:
    """Which limit of a whole episode is reached."""
    if tokens >= limits.tokens:
        return StopReason.TOKENS
    if 0 < limits.seconds <= seconds:
        return StopReason.SECONDS
    return StopReason.COST if 0 < limits.cost <= cost else None


def ask(episode: Episode, how: How, seed: int, left: int) -> Request:
    """The open request after an episode's steps, of which at most ``left`` tokens may be written."""
    assert how.dialect is not None, "a policy that chooses is not asked openly"
    grammar = how.grammar(episode.task, episode.files) if how.grammar else ""
    messages = how.dialect.messages(episode.task, episode.steps)
    most = min(how.limits.reply_tokens, left)
    check = how.check(episode.task, episode.files) if how.check else None
    freedom = Freedom(messages, most, how.dialect.tools, grammar, how.temperature, check)
    return Request(episode.task, tuple(episode.steps), (), seed, episode.greedy, freedom)


def _read(episode: Episode, reply: Reply, how: How) -> Episode | None:
    """Take a reply in; the episode if there is an action to carry out."""
    before, new = episode.usage, reply.usage
    episode.usage = replace(
        before, prompt_tokens=before.prompt_tokens + new.prompt_tokens, seconds=before.seconds + new.seconds,
        completion_tokens=before.completion_tokens + new.completion_tokens, cost=before.cost + new.cost,
    )  # fmt: skip
    if reply.problem:
        episode.stop_reason, episode.problem = StopReason.POLICY, reply.problem
        return None
    if reply.choice is not None:
        episode.pending = (reply.choice.thought, reply.choice.action, "", reply.trace)
        return episode
    assert how.dialect is not None, "only an open request has an answer without a choice"
    try:
        if reply.cut:
            raise PatchError("the answer was cut off: it was longer than an answer may be")
        thought, action, raw = how.dialect.read(reply)
    except PatchError as error:
        failed_step(episode, how.dialect.kept(reply), str(error), reply.trace)
        return None
    episode.malformed_now = 0
    episode.pending = (thought, action, raw, reply.trace)
    return episode


def _carry_out(episode: Episode, judge: Judge) -> None:
    thought, action, raw, trace = episode.pending
    assert action is not None
    step(episode, thought, action, judge.of, raw=raw, trace=trace)
