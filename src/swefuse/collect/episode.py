"""One episode: its state, how an action changes it and what the agent gets to see of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from swefuse.collect import actions, prompts
from swefuse.collect.dialects import Dialect
from swefuse.errors import PatchError
from swefuse.policy.base import Usage
from swefuse.records import Action, ActionName, PolicyIdentity, Step, Task, TokenTrace, Trajectory, Verdict, content_hash
from swefuse.verify.screen import protected_paths
from swefuse.workspace import apply_edit, ref


class StopReason(StrEnum):
    """Why an episode ended; there is no other reason."""

    SUBMIT = "submit"
    STEPS = "max_steps"
    TOKENS = "max_tokens"
    SECONDS = "max_seconds"
    COST = "max_cost"
    MALFORMED = "too many answers without an action"
    NOTHING = "no action is left to try"
    POLICY = "the policy gave no answer"


# why an attempt that ended so is not kept, for those whose name does not say it
WHY: Mapping[str, str] = {
    StopReason.STEPS: "it took all steps that it may (setting 'steps') and did not submit",
    StopReason.TOKENS: "it wrote all tokens that it may (setting 'tokens') and did not submit",
    StopReason.SECONDS: "it waited as long as it may (setting 'seconds') and did not submit",
    StopReason.COST: "it cost as much as it may (setting 'cost') and did not submit",
    StopReason.MALFORMED: "too many answers in a row held no action",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What an open episode may take.

    ``tokens``: written in all; ``reply_tokens``: in one answer; ``seconds``: waited for answers, 0 for no limit; ``cost``: as the
    policy counts it, 0 for none; ``malformed``: answers without an action, one after the other; ``observation_tokens``: shown of
    one observation, at three characters a token.
    """

    steps: int = 30
    tokens: int = 8192
    reply_tokens: int = 512
    seconds: float = 0.0
    cost: float = 0.0
    malformed: int = 3
    observation_tokens: int = 2000


def nothing(task: Task) -> tuple[Action, ...]:
    """No step before the policy's first."""
    return ()


@dataclass(frozen=True, slots=True)
class How:
    """How an episode runs. ``dialect`` None: the policy chooses among the messages of ``collect.protocol``; else it writes.

    ``grammar``: the grammar that an answer must follow in a state; ``check``: how much of one may stand. ``opening``: steps that
    are taken before the policy is asked. ``ahead``: what a part of the episodes led to is judged, in a thread, while the policy
    answers the others; of no effect with a policy that answers in one piece.
    """

    dialect: Dialect | None = None
    limits: Limits = Limits()
    grammar: Callable[[Task, Mapping[str, str]], str] | None = None
    opening: Callable[[Task], tuple[Action, ...]] = nothing
    temperature: float | None = None
    check: Callable[[Task, Mapping[str, str]], Callable[[str], int]] | None = None
    ahead: bool = False

    @property
    def room(self) -> int:
        """Characters that are shown of an observation."""
        return self.limits.observation_tokens * prompts.CHARACTERS_PER_TOKEN if self.dialect else prompts.MAX_OBSERVATION


@dataclass
class Episode:
    """One run of the loop in progress. ``files`` is the present state, ``history`` the states before each edit, for ``undo``.

    ``pending``: thought, action, text and trace of an answer that is yet to be carried out. ``malformed``: answers without an
    action, ``malformed_now``: since the last one with. ``problem``: why the policy gave no answer. ``room``: characters of an
    observation. ``usage.seconds`` is how long it waited, ``took`` what of that was the policy's time for it alone.
    """

    task: Task
    seed: int
    greedy: bool
    files: Mapping[str, str]
    steps: list[Step] = field(default_factory=list)
    history: list[Mapping[str, str]] = field(default_factory=list)
    verdict: Verdict | None = None
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    malformed: int = 0
    malformed_now: int = 0
    problem: str = ""
    pending: tuple[str, Action | None, str, TokenTrace | None] = ("", None, "", None)
    room: int = prompts.MAX_OBSERVATION
    took: float = 0.0

    @property
    def next(self) -> ActionName | None:
        """The name of the pending action."""
        return self.pending[1].name if self.pending[1] else None


@dataclass(frozen=True)
class Start:
    """An episode to run: a task and how the policy's draws are seeded."""

    task: Task
    seed: int = 0
    greedy: bool = False


def begin(start: Start, room: int = prompts.MAX_OBSERVATION) -> Episode:
    """An episode before its first step; ``room``: characters that are shown of an observation."""
    return Episode(start.task, start.seed, start.greedy, dict(start.task.files), room=room)


def step(
    episode: Episode,
    thought: str,
    action: Action,
    verdict: Callable[[Episode], Verdict],
    raw: str = "",
    trace: TokenTrace | None = None,
) -> None:
    """Carry out one action and append the step. One that does not apply changes nothing, says why and is not trained on.

    ``verdict`` tells that on the present state, which must be known for ``test`` and ``submit``. ``raw``: the text as it was
    written, where that is not the compact form.
    """
    before = ref(episode.files)
    try:
        observation, applies = _perform(episode, action, verdict), True
    except PatchError as error:
        observation, applies = f"error: {error}", False
    episode.steps.append(
        Step(
            thought=thought,
            action=action,
            raw=raw or actions.render(action, thought),
            observation=prompts.cut(observation, episode.room),
            before=before,
            after=ref(episode.files),
            keep=applies,
            trace=trace,
        )
    )


def failed_step(episode: Episode, raw: str, problem: str, trace: TokenTrace | None) -> None:
    """Append what was written and is no action: the agent is told why; nothing is carried out and nothing of it is trained on."""
    state = ref(episode.files)
    episode.malformed += 1
    episode.malformed_now += 1
    told = f"error: {problem}"
    episode.steps.append(
        Step(thought="", action=None, raw=raw, observation=told, before=state, after=state, keep=False, trace=trace)
    )


def _perform(episode: Episode, action: Action, verdict: Callable[[Episode], Verdict]) -> str:
    if action.name == "view":
        if action.path not in episode.files:
            raise PatchError(f"there is no file {action.path}; files: {_names(episode.files)}")
        return prompts.show_file(episode.files[action.path], action.line, episode.room)
    if action.name in ("edit", "create"):
        if action.path in protected_paths(episode.task):
            raise PatchError(f"{action.path} is protected")
        changed = apply_edit(episode.files, action)
        if changed == episode.files:
            raise PatchError("the edit changes nothing")
        episode.history.append(episode.files)
        episode.files = changed
        return "ok"
    if action.name == "test":
        return prompts.show_tests(episode.task, verdict(episode))
    if action.name == "undo":
        if not episode.history:
            raise PatchError("there is nothing to undo")
        episode.files = episode.history.pop()
        return "ok"
    if action.name == "submit":
        episode.verdict = verdict(episode)
        episode.stop_reason = StopReason.SUBMIT
        return "submitted"
    if action.name == "search":
        return "\n".join(_search(episode.files, action.text)) or "no match"
    raise PatchError(f"the action {action.name} is not open to this agent")


def _names(files: Mapping[str, str]) -> str:
    names = sorted(files)
    return ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")


def _search(files: Mapping[str, str], text: str) -> Iterator[str]:
    for path in sorted(files):
        for number, row in enumerate(files[path].split("\n"), 1):
            if text in row:
                yield f"{path}:{number}>{row}"


def finished(episode: Episode, identity: PolicyIdentity, source: str) -> Trajectory:
    """The record of an episode."""
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
