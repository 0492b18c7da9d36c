"""What a collection is: its settings, the tasks it is about and the pieces of its work; and what is refused before any of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from swefuse.collect import protocol
from swefuse.collect.actions import parse
from swefuse.collect.dialects import dialect
from swefuse.collect.episode import How, Limits, nothing
from swefuse.errors import DataError, PatchError, UserError, nearest
from swefuse.policy.action_syntax import State, action_grammar
from swefuse.policy.base import Policy
from swefuse.policy.syntax import problem_of
from swefuse.records import Action, Kind, Task, content_hash
from swefuse.tasks.store import load_tasks
from swefuse.workspace import apply_edit

Method = Literal["replay", "sample", "search", "free"]
METHODS: tuple[Method, ...] = ("replay", "sample", "search", "free")
Unit = tuple[int, int]
FORMAT = 2  # of the log of parts
MOST_VIEWED = 2  # files that are shown before the policy is asked
MOST_REPLAYED = 8  # tasks in a part, which shares nothing but its log
# what matters only where the policy writes
_WRITING = frozenset({"dialect", "temperature", "steps", "tokens", "reply_tokens", "seconds", "cost", "observation_tokens"})
# kinds whose failing tests say what is to be done
_TOLD_BY_TESTS = (Kind.BUGFIX, Kind.VULNFIX, Kind.COMPLETE)


class GatherConfig(BaseModel):
    """Settings of ``swefuse collect``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    split: str = Field("", description="only tasks of this split; empty: all")
    first: int = Field(0, ge=0, description="at most so many tasks; 0: all")
    samples: int = Field(4, ge=1, description="attempts a task; of replay and search: trajectories that are kept of one")
    seed: int = Field(0, ge=0, description="of the draws")
    guide: Literal["none", "choices", "grammar"] = Field(
        "none", description="what an answer is held to: nothing, the edits that apply here, or a grammar of what applies here"
    )
    dialect: str = Field("compact", description="how actions are written: compact, or tools (calls of tools)")
    hide_instruction: float = Field(
        0.0, ge=0, le=1, description="share of tasks whose instruction is withheld, of those whose failing tests tell what to do"
    )
    temperature: float | None = Field(
        None, gt=0, description="of the draws, where the policy writes; the policy's own if not given"
    )
    steps: int = Field(30, ge=1, description="most steps of an episode")
    tokens: int = Field(8192, ge=1, description="most tokens that are written in an episode, or in the search of one task")
    reply_tokens: int = Field(512, ge=1, description="most tokens of one answer")
    seconds: float = Field(0.0, ge=0, description="most seconds that an episode waits for answers; 0: no limit")
    cost: float = Field(0.0, ge=0, description="most that an episode may cost, as the policy's prices say; 0: no limit")
    observation_tokens: int = Field(2000, ge=16, description="of one observation; what is longer is cut in the middle, and says so")
    tries: int = Field(4, ge=1, description="dead ends at one state before a search gives it up")
    best: int = Field(
        4, ge=0, description="answers at one state that are the most probable ones, where the policy chooses in a search"
    )
    heat: float = Field(0.2, ge=0, description="added to the temperature with each try of a search at one state")
    dead: Literal["out", "kept"] = Field(
        "out", description="dead ends of a search: left out, or kept in context and out of the loss"
    )
    compare: int = Field(
        48, ge=0, description="generated calls on which a policy's solution of a function must agree with the reference; 0: none"
    )
    keep_refused: bool = Field(True, description="write what refused attempts did to refused.jsonl; false: less on the disk")
    chunk: int = Field(32, ge=1, description="episodes that go in step, with a policy in this process")
    workers: int = Field(2, ge=1, description="verifier processes")
    sandbox: str = Field("auto", description="where untrusted code runs; auto: the first that proves itself here")

    def how(self, method: Method) -> How:
        """How episodes run. Raises UserError for an unknown dialect."""
        limits = Limits(self.steps, self.tokens, self.reply_tokens, self.seconds, self.cost, 3, self.observation_tokens)
        opening = nothing if method == "free" else shown_first
        if self.guide == "choices":
            return How(None, limits)
        held = self.guide == "grammar"
        if held and self.dialect != "compact":
            raise UserError("guide='grammar' is a grammar of the compact dialect; calls of tools are not held to it")
        return How(dialect(self.dialect), limits, _grammar if held else None, opening, self.temperature, _check if held else None)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tasks of a collection. ``hidden`` of them withhold their instruction; ``left_out``: how many others, by the reason."""

    tasks: list[Task]
    hidden: int
    left_out: dict[str, int]


def shown_first(task: Task) -> tuple[Action, ...]:
    """The tests and the files that may be edited are shown before the policy is asked."""
    known = [path for path in task.editable if path in task.files][:MOST_VIEWED]
    return (Action(name="test"), *(Action(name="view", path=path) for path in known))


def _grammar(task: Task, files: Mapping[str, str]) -> str:
    return action_grammar(State(files, tuple(path for path in files if path not in task.protected)))


def _check(task: Task, files: Mapping[str, str]) -> Callable[[str], int]:
    """How much of a message may stand: of an edit that leaves Python which does not parse, what comes before its new text."""

    def check(text: str) -> int:
        try:
            action = parse(text if text.endswith("\n") else f"{text}\n")[1]
            changed = apply_edit(files, action) if action.name in ("edit", "create") else {}
        except PatchError:
            return len(text)  # it is not complete, or the agent will be told
        broken = changed and action.path.endswith(".py") and problem_of(changed[action.path])
        return text.index("\n+") + 1 if broken and "\n+" in text else len(text)

    return check


def check(config: GatherConfig, method: Method) -> None:
    """Raises UserError for a setting that was given and would have no effect, and for settings that do not go together."""
    idle = set() if method == "search" else {"tries", "best", "heat", "dead"}
    if method == "replay":
        idle |= {"guide", *_WRITING, "chunk", "compare"}
    elif config.guide == "choices":
        idle |= _WRITING - ({"tokens"} if method == "search" else set()) - {"temperature"} | {"heat", "dead"}
    if given := sorted(idle & config.model_fields_set):
        raise UserError(f"{given[0]!r} has no effect with the method {method!r} and guide={config.guide!r}: leave it out")
    if method != "replay":
        config.how(method)


def check_policy(config: GatherConfig, policy: Policy | None) -> None:
    """Raises UserError for what this policy cannot do, as far as it tells by ``cannot``, ``priced`` and ``concurrent``."""
    refused = getattr(policy, "cannot", None)
    if refused is not None and (problem := refused(config.guide)):
        raise UserError(problem)
    if config.cost and not getattr(policy, "priced", True):
        raise UserError("'cost' bounds nothing without prices: --endpoint prompt_price=… and completion_price=…, or leave it out")
    if hasattr(policy, "concurrent") and "chunk" in config.model_fields_set:
        raise UserError("'chunk' has no effect at an endpoint, where every episode goes its own way: leave it out")


def choose(config: GatherConfig, method: Method, place: Path) -> Chosen:
    """The tasks of a folder or file that the collection is about.

    Raises DataError where there is none, UserError where none suits the settings.
    """
    known = load_tasks(place / "tasks.jsonl" if place.is_dir() else place)
    tasks = [task for task in known if not config.split or task.split == config.split]
    if not tasks:
        raise DataError(_no_task(config, place, known))
    tasks = tasks[: config.first or None]
    left_out: Counter[str] = Counter()
    if config.guide == "choices" and method != "replay":
        fit = [task for task in tasks if task.suite("calls") and protocol.choices(task, task.files, ())]
        if not fit:
            raise UserError(f"{place}: guide='choices' is for function tasks, and there is none among these; use another guide")
        left_out["guide='choices' is for tasks of one function with tests by calls"] = len(tasks) - len(fit)
        tasks = fit
    if config.hide_instruction and not any(map(tests_tell, tasks)):
        raise UserError(
            f"{place}: 'hide_instruction' has no effect, since only failing tests can stand for an instruction and no task here "
            f"({', '.join(sorted({task.kind for task in tasks}))}) has any that are shown: leave it out"
        )
    tasks = [task.model_copy(update={"hide_instruction": True}) if _hides(config, task) else task for task in tasks]
    return Chosen(tasks, sum(task.hide_instruction for task in tasks), dict(+left_out))


def _no_task(config: GatherConfig, place: Path, known: Sequence[Task]) -> str:
    if not known:
        return f"{place} holds no task"
    splits = {task.split for task in known} - {""}
    hint = nearest(config.split, splits) if splits else "; its tasks have no splits: leave 'split' out"
    return f"{place} has no task of split {config.split!r}{hint}"


def tests_tell(task: Task) -> bool:
    """Whether tests that fail, and are shown, say what is to be done."""
    calls = task.suite("calls")
    seen = {call.id for call in calls.calls if call.visible} if calls else None
    failing = {id_ for suite in task.suites for id_ in suite.fail_to_pass}
    return task.kind in _TOLD_BY_TESTS and bool(failing if seen is None else failing & seen)


def _hides(config: GatherConfig, task: Task) -> bool:
    drawn = int(content_hash([config.seed, "hide", task.id])[:8], 16) / 0x1_0000_0000
    return drawn < config.hide_instruction and tests_tell(task)


def pieces(config: GatherConfig, method: Method, policy: Policy | None, tasks: Sequence[Task]) -> list[list[Unit]]:
    """Parts of the work: pairs of a task's number and the attempt's.

    An endpoint has a part for each attempt: a slow answer then delays no other, and what is lost with a part is one attempt.
    """
    size = min(config.chunk, MOST_REPLAYED) if method == "replay" else config.chunk
    if hasattr(policy, "concurrent"):
        size = 1
    attempts = config.samples if method in ("sample", "free") else 1
    units = [(number, attempt) for number in range(len(tasks)) for attempt in range(attempts)]
    return [units[at : at + size] for at in range(0, len(units), size)]


def head(config: GatherConfig, method: Method, policy: Policy | None, tasks: Sequence[Task]) -> dict[str, Any]:
    """What must be the same for a call to go on with another's log: not where a model is served, nor what it may take there."""
    settings = config.model_dump(exclude={"workers", "sandbox"})
    who = policy.identity.model_dump(exclude={"revision": True, "parameters": {"endpoint"}}) if policy else {}
    named = f"{len(tasks)} of them ({content_hash([task.id for task in tasks])[:12]})"
    return {"format": FORMAT, "method": method, "policy": who, "settings": settings, "tasks": named}
