"""Step-verify with roll-back: after each action it is checked where it led, and a bad step is taken back and another one sampled.

A climb is a stack of good states. From the last one the policy is asked; what leads nowhere is remembered there as dead, and when a
state has seen too many dead ends it is dead itself and the one before it is gone on from. Every path that ends in a pass is kept.
Climbs of many tasks go in step, so that a model answers in batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from swefuse.collect import protocol
from swefuse.collect.agent import Beat, Judge, answers, ask, enough, unheard
from swefuse.collect.episode import Episode, How, Start, StopReason, begin, failed_step, step
from swefuse.errors import PatchError, UserError
from swefuse.policy.base import Choice, Policy, Reply, Request
from swefuse.records import Action, Outcome, Step, TokenTrace, Verdict

Dead = Literal["out", "kept"]
NO_ACTION = "it is no action"
NO_WAY = "no step from there led to a pass"
FAILS = "it submits what does not pass"
BROKEN, TAMPERED, WORSE = "it does not parse", "it tampers with the tests", "more tests fail than before"
_JUDGED = frozenset({FAILS, BROKEN, TAMPERED, WORSE})  # reasons that the verifier gave: the path was tried to its end


@dataclass(frozen=True, slots=True)
class Search:
    """``tries``: dead ends at one state before it is given up. ``paths``: passing ones that are kept of a task.

    ``best``: so many answers at a state are the policy's most probable ones, where it chooses; those behind them are drawn.

    ``heat``: added to the temperature with each try at a state, where the policy writes. ``dead``: whether dead ends stay in the
    context of what comes after them, marked as not to be trained on, or are left out. ``How.limits`` bounds depth and tokens.
    """

    tries: int = 4
    best: int = 4
    paths: int = 1
    heat: float = 0.2
    dead: Dead = "out"


@dataclass(slots=True)
class _Place:
    """A good state: the episode there, by copies of what changes, and the actions that lead nowhere from it."""

    steps: tuple[Step, ...]
    episode: Episode
    dead: dict[tuple[str, ...], Action] = field(default_factory=dict)
    tries: int = 0
    written: list[tuple[int, ...]] = field(default_factory=list)

    def anew(self, trace: TokenTrace) -> int:
        """Tokens of an answer behind what it has in common with an earlier one here: up to there it was taken back, not written."""
        known = max((_common(trace.token_ids, other) for other in self.written), default=0)
        self.written.append(trace.token_ids)
        return len(trace.token_ids) - known


@dataclass
class Climb:
    """The search of one task. ``found``: episodes that passed. ``undone`` counts why steps were taken back. ``tokens`` that were
    written, ``forced`` of them where there was no choice. ``seconds`` were waited, ``took`` is the policy's own time for it.

    ``ends``: paths that came to an end with a verdict: those that passed, those that the verifier had taken back, and those from
    which there was no way on; ``lost`` is the last of them that did not pass. ``infra``: whether the ``problem`` is the sandbox's.
    """

    start: Start
    stack: list[_Place]
    found: list[Episode] = field(default_factory=list)
    undone: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    prompt_tokens: int = 0
    tokens: int = 0
    forced: int = 0
    seconds: float = 0.0
    took: float = 0.0
    cost: float = 0.0
    ends: int = 0
    problem: str = ""
    infra: bool = False
    lost: Episode | None = None
    over: StopReason | None = None


def climb(starts: Sequence[Start], policy: Policy, judge: Judge, how: How, search: Search, beat: Beat = unheard) -> list[Climb]:
    """Search for passing paths of every start. ``beat``: see ``agent.play``; here it is told how many searches are over.

    Raises UserError where dead ends are to stay in a context without words for them.
    """
    if search.dead == "kept" and how.dialect is None:
        raise UserError("dead ends can be kept in the context only where the policy writes: choose a dialect, or leave them out")
    climbs = [_begun(start, judge, how) for start in starts]
    while opened := [(one, request) for one in climbs if (request := _request(one, how, search, judge)) is not None]:
        beat(sum(one.over is not None or bool(one.problem) for one in climbs))
        replies, seconds = answers(policy, [request for _, request in opened])
        for (one, _), took in zip(opened, seconds, strict=True):
            one.took += took
        taken = [(one, _tried(one, request, reply, how)) for (one, request), reply in zip(opened, replies, strict=True)]
        judge.ensure([episode for _, episode in taken if episode is not None])
        for one, episode in taken:
            if episode is not None:
                _judged(one, episode, judge, search)
    return climbs


def _begun(start: Start, judge: Judge, how: How) -> Climb:
    episode = begin(start, how.room)
    judge.ensure([episode])
    for action in how.opening(episode.task):
        step(episode, "", action, judge.of)
    return Climb(start, [_Place(tuple(episode.steps), episode)])


def _request(one: Climb, how: How, search: Search, judge: Judge) -> Request | None:
    """What is asked from the last good state; None where the search is over."""
    while one.over is None and not one.problem:
        if len(one.found) == search.paths:
            one.over = StopReason.SUBMIT
        elif not one.stack:
            one.over = StopReason.NOTHING
        elif reached := enough(how.limits, one.tokens, one.seconds, one.cost):
            one.over = reached
        else:
            request = _from(one, how, search, judge)
            if request is not None:
                one.asked += 1
                return request
            place = one.stack[-1]
            if not place.dead and not place.tries:  # else its dead ends are counted already
                _ended(one, place.episode, judge)
            _give_up(one, NO_WAY, search)
    return None


def _from(one: Climb, how: How, search: Search, judge: Judge) -> Request | None:
    """The request at the last good state; None where that has no more to give."""
    place = one.stack[-1]
    steps, task, seed = tuple(place.episode.steps), one.start.task, one.start.seed * 10_007 + one.asked
    if place.tries >= search.tries or len(steps) >= (how.limits.steps if how.dialect else protocol.MAX_STEPS):
        return None
    if how.dialect is None:
        every = protocol.choices(task, place.episode.files, steps)
        fails = judge.of(place.episode).outcome is not Outcome.PASSED  # then nobody has to write that it is submitted
        choices = tuple(
            choice for choice in every if _key(choice.action) not in place.dead and not (fails and choice.action.name == "submit")
        )
        return Request(task, steps, choices, seed, place.tries < search.best) if choices else None
    heat = None if place.tries == 0 else (1.0 if how.temperature is None else how.temperature) + search.heat * place.tries
    warmer = replace(how, temperature=how.temperature if heat is None else heat)
    return ask(place.episode, warmer, seed, how.limits.tokens - one.tokens)


def _key(action: Action) -> tuple[str, ...]:
    return tuple(map(str, action.model_dump().values()))


def _tried(one: Climb, request: Request, reply: Reply, how: How) -> Episode | None:
    """The episode behind the answer, not yet judged; None where there is none, and then the answer is dead."""
    place = one.stack[-1]
    one.tokens += place.anew(reply.trace) if reply.choice and reply.trace else reply.usage.completion_tokens
    one.forced += 0 if reply.trace else reply.usage.completion_tokens
    one.prompt_tokens += reply.usage.prompt_tokens
    one.seconds += reply.usage.seconds
    one.cost += reply.usage.cost
    if reply.problem:
        one.problem = reply.problem
        return None
    episode = _copy(place.episode)
    raw = ""
    try:
        if reply.choice is not None:
            choice = reply.choice
        else:
            assert how.dialect is not None
            if reply.cut:
                raise PatchError("the answer was cut off")
            thought, action, raw = how.dialect.read(reply)
            choice = Choice(thought, action)
    except PatchError as error:
        assert how.dialect is not None
        failed_step(episode, how.dialect.kept(reply), str(error), reply.trace)
        return episode
    episode.pending = (choice.thought, choice.action, raw, reply.trace)
    if choice.action.name not in ("test", "submit"):  # these two need the verdict, which comes for all climbs at once
        _take(episode, _unasked)
    return episode


def _unasked(episode: Episode) -> Verdict:
    return Verdict(outcome=Outcome.INFRA, form="")


def _take(episode: Episode, judged: Callable[[Episode], Verdict]) -> None:
    thought, action, raw, trace = episode.pending
    assert action is not None
    step(episode, thought, action, judged, raw=raw, trace=trace)
    episode.pending = ("", None, "", None)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _copy(episode: Episode) -> Episode:
    return replace(episode, steps=[*episode.steps], history=[*episode.history])


def _judged(one: Climb, episode: Episode, judge: Judge, search: Search) -> None:
    """Go on from where an answer led, or take it back."""
    place = one.stack[-1]
    if episode.pending[1] is not None:
        _take(episode, judge.of)
    last = episode.steps[-1]
    if judge.of(episode).outcome is Outcome.INFRA:
        one.problem, one.infra = f"the sandbox could not run it: {judge.of(episode).reason}", True
        return
    if bad := _wrong(place.episode, episode, judge):
        one.undone[bad] += 1
        if bad in _JUDGED:
            _ended(one, episode, judge)
        place.tries += 1
        if last.action is not None:
            place.dead[_key(last.action)] = last.action
        if search.dead == "kept" and episode.stop_reason == "":
            _bury(place, episode, len(place.episode.steps))
        return
    if episode.stop_reason == StopReason.SUBMIT:
        one.found.append(episode)
        one.ends += 1
        _give_up(one, "it has passed", search)
        return
    one.stack.append(_Place(tuple(episode.steps), episode))


def _ended(one: Climb, episode: Episode, judge: Judge) -> None:
    """A path came to its end and does not pass."""
    one.ends += 1
    stop = episode.stop_reason or StopReason.NOTHING
    one.lost = replace(episode, verdict=judge.of(episode), stop_reason=stop, steps=[*episode.steps])


def _wrong(before: Episode, after: Episode, judge: Judge) -> str:
    """What is bad about the last step; empty where it may stay."""
    last = after.steps[-1]
    if last.action is None:
        return NO_ACTION
    if not last.keep:
        return "it does not apply"
    if last.action.name == "submit":
        return "" if judge.of(after).outcome is Outcome.PASSED else FAILS
    if after.files is before.files or last.action.name == "undo":
        known = any(one.action == last.action and one.before == last.before and one.keep for one in before.steps)
        return "it repeats a step and learns nothing" if known else ""
    now, then = judge.of(after), judge.of(before)
    if now.outcome is Outcome.UNPARSED:
        return BROKEN
    if now.outcome is Outcome.TAMPERED:
        return TAMPERED
    return WORSE if failing(now) > failing(then) else ""


def failing(verdict: Verdict) -> int:
    """How many tests do not pass; more than any number where none was run."""
    return sum(result.outcome != "passed" for result in verdict.tests.values()) if verdict.tests else 1_000_000


def _give_up(one: Climb, why: str, search: Search) -> None:
    """Leave the last good state for the one before the last edit, from which what was tried is dead."""
    left = one.stack.pop()
    if why != "it has passed":
        one.undone[why] += 1
    while one.stack:
        place = one.stack[-1]
        taken = left.episode.steps[len(place.episode.steps)]
        if taken.action is not None and taken.action.name in ("edit", "create"):
            place.dead[_key(taken.action)] = taken.action
            place.tries += why != "it has passed"
            if search.dead == "kept" and why != "it has passed":
                _bury(place, left.episode, len(place.episode.steps))
            return
        left = one.stack.pop()


def _bury(place: _Place, episode: Episode, since: int) -> None:
    """Leave what led nowhere in the context of the good state, not to be trained on, with what takes it back."""
    dead = [taken.model_copy(update={"keep": False}) for taken in episode.steps[since:]]
    kept = _copy(place.episode)
    kept.steps += dead
    kept.files, kept.history = episode.files, [*episode.history]
    changed = sum(taken.before != taken.after for taken in dead if taken.action and taken.action.name in ("edit", "create"))
    changed -= sum(taken.before != taken.after for taken in dead if taken.action and taken.action.name == "undo")
    for _ in range(changed):
        step(kept, "", Action(name="undo"), _unasked)
        kept.steps[-1] = kept.steps[-1].model_copy(update={"keep": False})
    place.episode = replace(kept, files=place.episode.files, history=[*place.episode.history])
