"""The agent loop: ask the policy, do what it says, show it what happened, until it submits.

Many episodes run in step, so that a model answers in batches and the verifier has work for every core. An episode is judged once,
on its final state, with all tests; what the agent's own ``test`` action shows are the visible tests of that same judgement, so a
state is never run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swefuse.collect import actions, prompts, protocol
from swefuse.errors import PatchError
from swefuse.policy.base import Policy, Reply, Request
from swefuse.records import Action, PolicyIdentity, Step, Task, Trajectory, Verdict, content_hash
from swefuse.verify.many import Candidate
from swefuse.workspace import apply_edit, ref

Verify = Callable[[Sequence[Candidate]], Iterable[Verdict]]


@dataclass
class Episode:
    """One run of the loop in progress. ``files`` is the present state, ``history`` the states before each edit, for ``undo``."""

    task: Task
    seed: int
    greedy: bool
    files: Mapping[str, str]
    steps: list[Step] = field(default_factory=list)
    history: list[Mapping[str, str]] = field(default_factory=list)
    verdict: Verdict | None = None
    stop_reason: str = ""


@dataclass(frozen=True)
class Start:
    """An episode to run: a task and how the policy's draws are seeded."""

    task: Task
    seed: int = 0
    greedy: bool = False


class Judge:
    """Verdicts by state: one verification for each different state of a task, however many episodes reach it."""

    def __init__(self, verify: Verify) -> None:
        self._verify = verify
        self._known: dict[tuple[str, str], Verdict] = {}

    def ensure(self, episodes: Sequence[Episode]) -> None:
        """Verify every state of ``episodes`` that has no verdict yet."""
        missing = {(e.task.id, ref(e.files)): Candidate(e.task, e.files) for e in episodes if self.key(e) not in self._known}
        for key, verdict in zip(missing, self._verify(list(missing.values())), strict=True):
            self._known[key] = verdict

    def of(self, episode: Episode) -> Verdict:
        """The verdict on an episode's present state; ``ensure`` must have been called for it."""
        return self._known[self.key(episode)]

    @staticmethod
    def key(episode: Episode) -> tuple[str, str]:
        """What a verdict is stored under."""
        return episode.task.id, ref(episode.files)


def rollouts(starts: Sequence[Start], policy: Policy, verify: Verify, source: str) -> list[Trajectory]:
    """Run an episode for every start and return the trajectories in that order, each with its verdict.

    A failure of the sandbox ends in a verdict INFRA, never in a lost episode; errors of the policy propagate.
    """
    episodes = [Episode(start.task, start.seed, start.greedy, dict(start.task.files)) for start in starts]
    judge = Judge(verify)
    for _ in range(protocol.MAX_STEPS):
        opened = [(e, protocol.choices(e.task, e.files, e.steps)) for e in episodes if not e.stop_reason]
        opened = [(episode, choices) for episode, choices in opened if choices]
        if not opened:
            break
        requests = [Request(e.task, tuple(e.steps), choices, e.seed, e.greedy) for e, choices in opened]
        replies = policy.act(requests)
        testing = [e for (e, _), reply in zip(opened, replies, strict=True) if reply.choice.action.name in ("test", "submit")]
        judge.ensure(testing)
        for (episode, _), reply in zip(opened, replies, strict=True):
            step(episode, reply, judge)
    unfinished = [episode for episode in episodes if not episode.stop_reason]
    judge.ensure(unfinished)
    for episode in unfinished:
        episode.stop_reason = "max_steps" if len(episode.steps) == protocol.MAX_STEPS else "nothing is open"
        episode.verdict = judge.of(episode)
    return [_trajectory(episode, policy.identity, source) for episode in episodes]


def step(episode: Episode, reply: Reply, judge: Judge) -> None:
    """Carry out one reply and append the step. An action that does not apply changes nothing, says why and is not trained on."""
    action, before = reply.choice.action, ref(episode.files)
    try:
        observation, applies = _perform(episode, action, judge), True
    except PatchError as error:
        observation, applies = f"error: {error}", False
    episode.steps.append(
        Step(
            thought=reply.choice.thought,
            action=action,
            raw=actions.render(action, reply.choice.thought),
            observation=observation,
            before=before,
            after=ref(episode.files),
            keep=applies,
            trace=reply.trace,
        )
    )


def _perform(episode: Episode, action: Action, judge: Judge) -> str:
    if action.name == "view":
        if action.path not in episode.files:
            raise PatchError(f"there is no file {action.path}; files: {', '.join(sorted(episode.files))}")
        return prompts.show_file(episode.files[action.path])
    if action.name in ("edit", "create"):
        changed = apply_edit(episode.files, action)
        episode.history.append(episode.files)
        episode.files = changed
        return "ok"
    if action.name == "test":
        return prompts.show_tests(episode.task, judge.of(episode))
    if action.name == "undo":
        if not episode.history:
            raise PatchError("there is nothing to undo")
        episode.files = episode.history.pop()
        return "ok"
    if action.name == "submit":
        episode.verdict = judge.of(episode)
        episode.stop_reason = "submit"
        return "submitted"
    if action.name == "search":
        return "\n".join(_search(episode.files, action.text)) or "no match"
    raise PatchError(f"the action {action.name} is not open to this agent")


def _search(files: Mapping[str, str], text: str) -> Iterator[str]:
    for path in sorted(files):
        for number, row in enumerate(files[path].split("\n"), 1):
            if text in row:
                yield f"{path}:{number}>{row}"


def _trajectory(episode: Episode, identity: PolicyIdentity, source: str) -> Trajectory:
    changed = {path: text for path, text in episode.files.items() if episode.task.files.get(path) != text}
    steps = tuple(episode.steps)
    name = content_hash([episode.task.id, identity.model_dump(), episode.seed, episode.greedy, [s.raw for s in steps]])[:20]
    return Trajectory(
        id=name,
        task_id=episode.task.id,
        initial=ref(episode.task.files),
        steps=steps,
        final=ref(episode.files),
        files=changed,
        stop_reason=episode.stop_reason,
        policy=identity,
        verdict=episode.verdict,
        source=source,
    )
