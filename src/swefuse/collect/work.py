"""How a part of a collection is done by each of the methods, and what a row says of an attempt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock

from swefuse.collect.agent import Beat, Judge, play
from swefuse.collect.compare import DIFFERS, difference
from swefuse.collect.episode import WHY, Episode, How, Start, StopReason, finished
from swefuse.collect.parts import Part, Row
from swefuse.collect.plan import GatherConfig, Method, Unit
from swefuse.collect.replay import replays
from swefuse.collect.search import NO_ACTION, Climb, Search, climb
from swefuse.errors import DataError, InfraError
from swefuse.policy.base import Policy
from swefuse.records import Outcome, Task, Trajectory, Verdict
from swefuse.scale.executor import Executor
from swefuse.verify.many import verify_many, verify_one

Progress = Callable[[int, int], None]
Numbered = tuple[int, list[Unit]]
_PATIENCE_S = 3.0  # that answers under way have when a call is ended
_NO_REFERENCE = "its reference edit is not among the edits that apply"


@dataclass(slots=True)
class Clock:
    """Tells how many attempts have ended, also within parts, whatever thread they are in; and when it is over for all of them."""

    progress: Progress
    total: int
    ended: dict[int, int]
    over: Event = field(default_factory=Event)
    turn: Lock = field(default_factory=Lock)

    def tell(self, number: int, ended: int) -> None:
        """So many attempts of a part have ended."""
        with self.turn:
            self.ended[number] = ended
            self.progress(sum(self.ended.values()), self.total)

    def beat(self, number: int, ended: int) -> None:
        """The same, before more is asked. Raises InfraError when nothing more is to be asked."""
        if self.over.is_set():
            raise InfraError("the call is being ended")
        self.tell(number, ended)


@dataclass(frozen=True, slots=True)
class Worker:
    """Does parts of the work, for several threads at a time if the policy bears that."""

    config: GatherConfig
    method: Method
    policy: Policy | None
    executor: Executor
    tasks: Sequence[Task]
    clock: Clock

    def __call__(self, numbered: Numbered) -> Part:
        """Do a part. Raises what the policy raises, and InfraError when the call is being ended."""
        number, units = numbered
        judge = Judge(lambda items: verify_many(items, self.executor))
        self.clock.beat(number, 0)
        if self.policy is None:
            part = self._replayed(numbered)
        else:
            starts = [Start(self.tasks[at], self.config.seed * 100_003 + attempt) for at, attempt in units]
            work = self._searched if self.method == "search" else self._played
            part = work(number, starts, judge, partial(self.clock.beat, number))
            for row, (_, attempt) in zip(part.rows, units, strict=True):
                row.attempt = attempt
            self._compared(part)
        if not self.config.keep_refused:
            part.refused = []
        known = {one.id for one in (*part.made, *part.refused)}
        for row in part.rows:  # no row names what lies nowhere
            row.trajectory = " ".join(name for name in row.trajectory.split() if name in known)
        self.clock.tell(number, len(units))
        return part

    def halt(self) -> None:
        """Ask nothing more, and let the threads come to an end soon. For a call that is interrupted or has failed."""
        self.clock.over.set()
        abandon = getattr(self.policy, "abandon", None)
        if abandon is not None:
            abandon(_PATIENCE_S)

    def _replayed(self, numbered: Numbered) -> Part:
        number, units = numbered
        part = Part(number, [], [], [], 0)
        tasks = [self.tasks[at] for at, _ in units]
        for done, (rows, made, verified) in enumerate(self.executor.map(partial(_replay_one, self.config.samples), tasks), 1):
            part.rows += rows
            passed = {row.trajectory for row in rows if not row.why}
            part.made += [one for one in made if one.id in passed]
            part.refused += [one for one in made if one.id not in passed]
            part.verified += verified
            self.clock.tell(number, done)
        return part

    def _compared(self, part: Part) -> None:
        """Refuse what passes the tests and answers otherwise than the reference where no test asks."""
        if not self.config.compare or not part.made:
            return
        tasks = {task.id: task for task in self.tasks}
        items = [(tasks[one.task_id], one) for one in part.made]
        told = list(self.executor.map(partial(difference, self.config.compare), items))
        wrong = {one.id: why for (_, one), why in zip(items, told, strict=True) if why}
        part.refused += [one for one in part.made if one.id in wrong]
        part.made = [one for one in part.made if one.id not in wrong]
        for row in part.rows:
            ids = row.trajectory.split()
            if not row.why and ids and all(name in wrong for name in ids):
                row.why, row.detail = DIFFERS, wrong[ids[0]]

    def _played(self, number: int, starts: Sequence[Start], judge: Judge, beat: Beat) -> Part:
        assert self.policy is not None
        part = Part(number, [], [], [], 0)
        for episode in play(starts, self.policy, judge, self.config.how(self.method), beat):
            made = finished(episode, self.policy.identity, self.method)
            part.rows.append(_row(episode, made, self._certain))
            if not part.rows[-1].why:
                part.made.append(made)
            elif episode.steps:
                part.refused.append(made)
        part.verified = judge.verified
        return part

    def _searched(self, number: int, starts: Sequence[Start], judge: Judge, beat: Beat) -> Part:
        config, policy = self.config, self.policy
        assert policy is not None
        part = Part(number, [], [], [], 0)
        how: How = config.how(self.method)
        search = Search(config.tries, config.best, config.samples, config.heat, config.dead)
        for one in climb(starts, policy, judge, how, search, beat):
            every = (finished(episode, policy.identity, "search") for episode in one.found)
            found = list({made.id: made for made in every}.values())  # a policy that writes may go the same way twice
            lost = [] if found or one.lost is None else [finished(one.lost, policy.identity, "search")]
            part.made += found
            part.refused += lost
            part.rows.append(_climbed(one, found or lost, self._certain))
        part.verified = judge.verified
        return part

    @property
    def _certain(self) -> bool:
        """Whether the policy says the same when it is asked again, so that a problem is not worth another try."""
        return bool(getattr(self.policy, "certain", False))


def _row(episode: Episode, made: Trajectory, certain: bool) -> Row:
    outcome = episode.verdict.outcome if episode.verdict else Outcome.INFRA
    silent = episode.stop_reason == StopReason.POLICY
    passed = outcome is Outcome.PASSED and episode.stop_reason == StopReason.SUBMIT
    ended = (
        _ending(episode.verdict) if episode.stop_reason == StopReason.SUBMIT or outcome is Outcome.INFRA else episode.stop_reason
    )
    again = outcome is Outcome.INFRA or (silent and not certain)
    spent, written = episode.usage, sum(len(one.trace.token_ids) for one in episode.steps if one.trace)
    return Row(
        episode.task.id, 0, "" if passed else episode.problem or WHY.get(ended, ended), "" if silent else outcome,
        episode.stop_reason, made.id, spent.prompt_tokens, spent.completion_tokens or written, episode.took, spent.cost,
        episode.malformed, int(not again), again,
    )  # fmt: skip


def _ending(verdict: Verdict | None) -> str:
    if verdict is None or verdict.outcome is Outcome.INFRA:
        return f"the sandbox could not run it: {verdict.reason if verdict else 'no verdict'}"
    return f"it ends as {verdict.outcome}"


def _climbed(one: Climb, made: Sequence[Trajectory], certain: bool) -> Row:
    over = str(one.over or StopReason.POLICY)
    why = "" if one.found else one.problem or WHY.get(over, over)
    again = one.infra or (bool(one.problem) and not certain)
    outcome = Outcome.PASSED if one.found else Outcome.INFRA if one.infra else ""
    tried = max(one.ends, int(not again))
    return Row(
        one.start.task.id, 0, why, outcome, over, " ".join(each.id for each in made), one.prompt_tokens, one.tokens, one.took,
        one.cost, one.undone[NO_ACTION], tried, again, dict(one.undone),
    )  # fmt: skip


def _replay_one(count: int, task: Task) -> tuple[list[Row], list[Trajectory], int]:
    judge = Judge(lambda items: [verify_one(item) for item in items])
    try:
        made, problem = replays(task, judge, count)
    except DataError as error:
        made, problem = [], str(error)
    rows = [] if made else [Row(task.id, 0, problem)]
    for number, one in enumerate(made):
        outcome = one.verdict.outcome if one.verdict else Outcome.INFRA
        told = _NO_REFERENCE if one.stop_reason == StopReason.POLICY else _ending(one.verdict)
        failed = outcome is Outcome.INFRA
        row = Row(task.id, number, "" if outcome is Outcome.PASSED else told, outcome, one.stop_reason, one.id)
        row.tried, row.again = int(not failed), failed
        rows.append(row)
    return rows, made, judge.verified
