"""The stage behind ``swefuse collect``: many different trajectories a task, by one of four methods, and what they took.

The work is cut into parts that are the same in every run. A part is logged as a whole, in one line, when it is done: after
``kill -9`` the same call goes on with the parts that are missing, and ends with the same trajectories.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from swefuse.collect import protocol
from swefuse.collect.actions import parse
from swefuse.collect.agent import Judge, play
from swefuse.collect.dialects import dialect
from swefuse.collect.diversity import diversity, normal
from swefuse.collect.episode import Episode, How, Limits, Start, finished, nothing
from swefuse.collect.replay import replays
from swefuse.collect.search import Search, climb
from swefuse.errors import DataError, PatchError, UserError, nearest
from swefuse.policy.action_syntax import State, action_grammar
from swefuse.policy.base import Policy
from swefuse.policy.syntax import problem_of
from swefuse.records import Action, Outcome, Task, Trajectory, content_hash, to_json
from swefuse.scale.executor import Executor, InlineExecutor, ThreadExecutor
from swefuse.tasks.store import load_tasks, save_lines, save_tasks
from swefuse.verify.many import verify_many, verify_one
from swefuse.workspace import apply_edit

Method = Literal["replay", "sample", "search", "free"]
METHODS: tuple[Method, ...] = ("replay", "sample", "search", "free")
Progress = Callable[[int, int], None]
MOST_VIEWED = 2  # files that are shown before the policy is asked
MOST_REPLAYED = 8  # tasks in a part, which shares nothing but its log
LOG = "parts.jsonl"
# what matters only where the policy writes
_WRITING = frozenset({"dialect", "temperature", "steps", "tokens", "reply_tokens", "seconds", "cost", "observation_tokens"})


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
    hide_instruction: float = Field(0.0, ge=0, le=1, description="share of tasks whose instruction is withheld")
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
    chunk: int = Field(32, ge=1, description="episodes that go in step")
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


@dataclass(slots=True)
class Row:
    """One attempt: what became of it and what it took. ``why`` is empty where its trajectory is kept."""

    task: str
    attempt: int
    why: str
    outcome: str = ""
    stop: str = ""
    trajectory: str = ""
    prompt_tokens: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    malformed: int = 0
    undone: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Part:
    """A piece of the work as it is logged."""

    number: int
    rows: list[Row]
    made: list[Trajectory]
    verified: int
    seconds: float


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


def run(
    config: GatherConfig, method: Method, given: tuple[Path, Path], policy: Policy | None, executor: Executor,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:  # fmt: skip
    """Collect for the tasks of ``given[0]`` into the folder ``given[1]``; the summary, which is in ``summary.json`` too.

    ``policy`` None is for replay alone. The executor's processes must have been started with ``verify.many.init_worker``. What is
    known is written also when the call is ended early. Raises UserError where the folder holds another collection, DataError
    where there is no task.
    """
    place, out = given
    _effective(config, method)
    tasks = _chosen(config, method, place)
    log = out / LOG
    size = _size(config, method, policy)
    parts = _known(log, {**_head(config, method, policy, tasks), "part": size})
    todo = list(_pieces(config, method, tasks, size))
    worker = _Worker(config, method, policy, executor, tasks)
    threads = getattr(policy, "concurrent", 1)
    fresh = [(number, piece) for number, piece in enumerate(todo) if number not in parts]
    try:
        with ThreadExecutor(threads) if threads > 1 else InlineExecutor() as crew, log.open("a", encoding="utf-8") as file:
            for part in crew.map(partial(_logged, worker, file), fresh):
                parts[part.number] = part
                progress(sum(len(todo[number]) for number in parts), sum(map(len, todo)))
    finally:
        summary = _written(out, tasks, [parts[number] for number in sorted(parts)], len(todo))
    return summary


def _effective(config: GatherConfig, method: Method) -> None:
    """Raises UserError for a setting that was given and would have no effect."""
    idle = set() if method == "search" else {"tries", "best", "heat", "dead"}
    if method == "replay":
        idle |= {"guide", *_WRITING, "chunk"}
    elif config.guide == "choices":
        idle |= _WRITING - ({"tokens"} if method == "search" else set()) - {"temperature"} | {"heat", "dead"}
    if given := sorted(idle & config.model_fields_set):
        raise UserError(f"{given[0]!r} has no effect with the method {method!r} and guide={config.guide!r}: leave it out")


def _chosen(config: GatherConfig, method: Method, place: Path) -> list[Task]:
    known = load_tasks(place / "tasks.jsonl" if place.is_dir() else place)
    chosen = [task for task in known if not config.split or task.split == config.split]
    if not chosen:
        raise DataError(f"{place} has no task of split {config.split!r}{nearest(config.split, {task.split for task in known})}")
    chosen = chosen[: config.first or None]
    if config.guide == "choices" and method != "replay":
        fit = [task for task in chosen if task.suite("calls") and protocol.choices(task, task.files, ())]
        if not fit:
            raise UserError(f"{place}: guide='choices' is for function tasks, and there is none among these; use another guide")
        chosen = fit
    hidden = [
        int(content_hash([config.seed, "hide", task.id])[:8], 16) / 0x1_0000_0000 < config.hide_instruction for task in chosen
    ]
    return [task.model_copy(update={"hide_instruction": True}) if hide else task for task, hide in zip(chosen, hidden, strict=True)]


def _size(config: GatherConfig, method: Method, policy: Policy | None) -> int:
    """Attempts in a part. A policy that is asked for several at once has one each: a slow answer then delays no other."""
    if getattr(policy, "concurrent", 1) > 1:
        return 1
    return min(config.chunk, MOST_REPLAYED) if method == "replay" else config.chunk


def _pieces(config: GatherConfig, method: Method, tasks: Sequence[Task], size: int) -> Iterator[list[tuple[int, int]]]:
    """Parts of the work: pairs of a task's number and the attempt's."""
    attempts = config.samples if method in ("sample", "free") else 1
    units = [(number, attempt) for number in range(len(tasks)) for attempt in range(attempts)]
    return (units[at : at + size] for at in range(0, len(units), size))


def _head(config: GatherConfig, method: Method, policy: Policy | None, tasks: Sequence[Task]) -> dict[str, Any]:
    """What must be the same for a call to go on with another's log."""
    settings = config.model_dump(exclude={"workers", "sandbox"})
    who = policy.identity.model_dump(exclude={"revision"}) if policy else {}  # which an endpoint tells with its first answer
    return {"method": method, "policy": who, "settings": settings, "tasks": content_hash([task.id for task in tasks])[:20]}


def _known(log: Path, head: dict[str, Any]) -> dict[int, Part]:
    """Parts that the log holds whole; it is begun where there is none. A last line that was cut by a kill is dropped."""
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = log.read_bytes().split(b"\n") if log.exists() else []
    if lines and lines[-1]:
        with log.open("r+b") as file:
            file.truncate(sum(len(line) + 1 for line in lines[:-1]))
    whole = lines[:-1]
    if not whole:
        log.write_text(json.dumps(head) + "\n", encoding="utf-8")
        return {}
    held = json.loads(whole[0])
    if differing := [name for name in head if held.get(name) != head[name]]:
        other = next(iter(differing))
        raise UserError(f"{log.parent} holds another collection ({other} differs): choose another --out, or call as before")
    parts = {}
    for line in whole[1:]:
        raw = json.loads(line)
        made = [Trajectory.model_validate(one) for one in raw["made"]]
        parts[raw["number"]] = Part(raw["number"], [Row(**row) for row in raw["rows"]], made, raw["verified"], raw["seconds"])
    return parts


def _logged(worker: _Worker, file: Any, numbered: tuple[int, list[tuple[int, int]]]) -> Part:
    part = worker(numbered)
    body = {
        "number": part.number, "rows": [_plain(row) for row in part.rows], "verified": part.verified,
        "seconds": part.seconds, "made": [one.model_dump(mode="json") for one in part.made],
    }  # fmt: skip
    line = json.dumps(body) + "\n"
    with worker.lock:  # threads share the file
        file.write(line)
        file.flush()
    return part


def _plain(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Row.__slots__}


@dataclass(frozen=True, slots=True)
class _Worker:
    """Does a part of the work."""

    config: GatherConfig
    method: Method
    policy: Policy | None
    executor: Executor
    tasks: Sequence[Task]
    lock: Lock = field(default_factory=Lock)

    def __call__(self, numbered: tuple[int, list[tuple[int, int]]]) -> Part:
        number, units = numbered
        started = time.monotonic()
        if self.method == "replay":
            made = list(self.executor.map(partial(_replay_one, self.config.samples), [self.tasks[at] for at, _ in units]))
            rows = [row for found, _ in made for row in found[0]]
            kept = [one for found, _ in made for one in found[1]]
            return Part(number, rows, kept, sum(count for _, count in made), time.monotonic() - started)
        assert self.policy is not None
        judge = Judge(lambda items: verify_many(items, self.executor))
        starts = [Start(self.tasks[at], self.config.seed * 100_003 + attempt) for at, attempt in units]
        how = self.config.how(self.method)
        if self.method == "search":
            rows, kept = self._searched(starts, how, judge)
        else:
            episodes = play(starts, self.policy, judge, how)
            ended = [(unit[1], episode) for unit, episode in zip(units, episodes, strict=True)]
            made_rows = [_row(attempt, episode, self.policy, self.method) for attempt, episode in ended]
            rows, kept = [row for row, _ in made_rows], [one for _, one in made_rows if one is not None]
        return Part(number, rows, kept, judge.verified, time.monotonic() - started)

    def _searched(self, starts: Sequence[Start], how: How, judge: Judge) -> tuple[list[Row], list[Trajectory]]:
        config, policy = self.config, self.policy
        assert policy is not None
        search = Search(config.tries, config.best, config.samples, config.heat, config.dead)
        rows, kept = [], []
        for one in climb(starts, policy, judge, how, search):
            found = [finished(episode, policy.identity, "search") for episode in one.found]
            kept += found
            why = "" if found else one.problem or str(one.over)
            rows.append(
                Row(
                    one.start.task.id, 0, why, "PASSED" if found else "", str(one.over or ""), " ".join(t.id for t in found),
                    one.prompt_tokens, one.tokens, one.seconds, one.cost, 0, dict(one.undone),
                )
            )  # fmt: skip
        return rows, kept


def _replay_one(count: int, task: Task) -> tuple[tuple[list[Row], list[Trajectory]], int]:
    judge = Judge(lambda items: [verify_one(item) for item in items])
    try:
        made, problem = replays(task, judge, count)
    except DataError as error:
        made, problem = [], str(error)
    rows = [Row(task.id, 0, problem)] if not made else []
    kept = []
    for number, one in enumerate(made):
        outcome = one.verdict.outcome if one.verdict else Outcome.INFRA
        passed = outcome is Outcome.PASSED
        rows.append(Row(task.id, number, "" if passed else f"it ends as {outcome}", outcome, one.stop_reason, one.id))
        kept += [one] if passed else []
    return (rows, kept), judge.verified


def _row(attempt: int, episode: Episode, policy: Policy, method: Method) -> tuple[Row, Trajectory | None]:
    outcome = episode.verdict.outcome if episode.verdict else Outcome.INFRA
    passed = outcome is Outcome.PASSED and episode.stop_reason == "submit"
    made = finished(episode, policy.identity, method)
    why = "" if passed else episode.problem or (f"it ends as {outcome}" if episode.stop_reason == "submit" else episode.stop_reason)
    spent, written = episode.usage, sum(len(one.trace.token_ids) for one in episode.steps if one.trace)
    row = Row(
        episode.task.id, attempt, why, outcome, episode.stop_reason, made.id, spent.prompt_tokens,
        spent.completion_tokens or written, spent.seconds, spent.cost, episode.malformed,
    )  # fmt: skip
    return row, made if passed else None


def _written(out: Path, tasks: Sequence[Task], parts: Sequence[Part], total: int) -> dict[str, Any]:
    """Write what is known; of trajectories of one task that lead to the same program the first is kept. Returns the summary."""
    known = {task.id: task for task in tasks}
    rows = [row for part in parts for row in part.rows]
    kept: dict[tuple[str, str], Trajectory] = {}
    doubled: set[str] = set()
    replayed = bool(parts) and all(one.source == "replay" for part in parts for one in part.made)
    for one in (one for part in parts for one in part.made):
        key = (one.task_id, one.id if replayed else normal(known[one.task_id], one.files))
        if key in kept:
            doubled.add(one.id)
        kept.setdefault(key, one)
    for row in rows:
        row.why = "another attempt gave the same program" if row.trajectory in doubled else row.why
    made = list(kept.values())
    save_tasks(out / "tasks.jsonl", tasks)
    save_lines(out / "trajectories.jsonl", (to_json(one) for one in made))
    save_lines(out / "attempts.jsonl", (json.dumps(_plain(row)) for row in rows))
    summary = summarise(rows, made, parts, known) | {"parts": len(parts), "parts_in_all": total}
    save_lines(out / "summary.json", [json.dumps(summary, indent=2)])
    return summary


def summarise(rows: Sequence[Row], made: Sequence[Trajectory], parts: Sequence[Part], known: dict[str, Task]) -> dict[str, Any]:
    """Figures of a collection: yield, what an accepted trajectory took, why others were not, how different those of a task are."""
    spent = {"tokens": sum(row.tokens for row in rows), "seconds": sum(part.seconds for part in parts)}
    spent["verifications"] = sum(part.verified for part in parts)
    each = {f"{name}_per_accepted": value / len(made) if made else None for name, value in spent.items()}
    by_task: dict[str, list[Any]] = {}
    for one in made:
        by_task.setdefault(one.task_id, []).append(one.files)
    spread = [diversity(known[id_], files) for id_, files in by_task.items()]
    several = [one.distance for one in spread if one.distinct > 1]
    return {
        "tried": len(rows), "accepted": len(made), "yield": len(made) / max(1, len(rows)), "tasks": len(known),
        "tasks_with_one": len(by_task), **each,
        "prompt_tokens": sum(row.prompt_tokens for row in rows), **spent,
        "cost": sum(row.cost for row in rows), "malformed": sum(row.malformed for row in rows),
        "distinct_per_task": sum(one.distinct for one in spread) / max(1, len(spread)),
        "distance": sum(several) / max(1, len(several)),
        "refused": dict(Counter(row.why for row in rows if row.why).most_common()),
        "undone": dict(sum((Counter(row.undone) for row in rows), Counter())),
        "infra": sum(row.outcome == Outcome.INFRA for row in rows),
    }  # fmt: skip
