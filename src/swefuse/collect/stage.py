"""The stage that makes trajectories by replay: the reference edit of every task, carried out step by step for real."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from swefuse.collect.agent import rollouts
from swefuse.collect.episode import Start
from swefuse.errors import DataError, nearest
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import SCHEMA, Task, Trajectory, from_json, to_json
from swefuse.sandbox.choose import resolve
from swefuse.scale.executor import Executor, ProcessExecutor
from swefuse.tasks.store import load_tasks, save_lines
from swefuse.verify.many import init_worker, verify_one

Progress = Callable[[int, int], None]


class CollectConfig(BaseModel):
    """Settings of the stage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    split: str = Field("train", description="which tasks are replayed")
    workers: int = Field(2, ge=1, description="processes")
    sandbox: str = Field("auto", description="where untrusted code runs; auto: the first that proves itself here")


def replay_one(task: Task) -> Trajectory:
    """The reference trajectory of one task, every observation the real one; runs in this process's verifier."""
    start = [Start(task)]
    return rollouts(start, ScriptedPolicy("reference"), lambda items: [verify_one(item) for item in items], "replay")[0]


def replay(tasks: Sequence[Task], executor: Executor, progress: Progress = lambda done, total: None) -> list[Trajectory]:
    """Reference trajectories in the order of the tasks. The executor's processes must have been started with ``init_worker``."""
    found: list[Trajectory] = []
    for trajectory in executor.map(replay_one, tasks):
        found.append(trajectory)
        progress(len(found), len(tasks))
    return found


def save_trajectories(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """One JSON object a line; the file appears whole or not at all."""
    save_lines(path, (to_json(trajectory) for trajectory in trajectories))


def load_trajectories(path: Path) -> list[Trajectory]:
    """Read what ``save_trajectories`` wrote. Raises DataError naming the line that does not follow the schema."""
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):  # bytes: text may hold U+2028 and its like
        try:
            found.append(from_json(Trajectory, line))
        except ValidationError as error:
            raise DataError(f"{path}:{number}: not a trajectory: {error.errors()[0]['msg']}; collect them again") from error
        if found[-1].schema_version != SCHEMA:
            raise DataError(
                f"{path}:{number}: schema_version {found[-1].schema_version}, this version reads {SCHEMA}; collect them again"
            )
    return found


def run(config: CollectConfig, tasks: Path, out: Path, progress: Progress = lambda done, total: None) -> Path:
    """Replay the tasks of folder ``tasks`` into ``out/trajectories.jsonl``; returns ``out``.

    Raises DataError when the split has no task.
    """
    known = load_tasks(tasks / "tasks.jsonl")
    chosen = [task for task in known if task.split == config.split]
    if not chosen:
        raise DataError(f"{tasks} has no task of split {config.split!r}{nearest(config.split, {task.split for task in known})}")
    with ProcessExecutor(config.workers, init_worker, (resolve(config.sandbox),), chunk=8) as executor:
        found = replay(chosen, executor, progress)
    out.mkdir(parents=True, exist_ok=True)
    save_trajectories(out / "trajectories.jsonl", found)
    outcomes: dict[str, int] = {}
    for trajectory in found:
        name = trajectory.verdict.outcome.value if trajectory.verdict else "NONE"
        outcomes[name] = outcomes.get(name, 0) + 1
    save_lines(out / "summary.json", [json.dumps({"trajectories": len(found), "outcomes": outcomes}, indent=2)])
    return out
