"""Evaluate a policy on held-out tasks: greedy and sampled pass@1, pass@k, best of N by several judges; every episode is run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from swefuse.collect.agent import Verify, rollouts
from swefuse.collect.episode import Start
from swefuse.errors import DataError
from swefuse.evaluate.bestof import Sample, best_of
from swefuse.evaluate.passk import pass_at_k
from swefuse.evaluate.stats import Interval, cluster_bootstrap
from swefuse.policy.base import Policy
from swefuse.records import Outcome, Task, Trajectory
from swefuse.sandbox.choose import resolve
from swefuse.scale.executor import ProcessExecutor
from swefuse.tasks.store import load_tasks, save_lines
from swefuse.verify.many import init_worker, verify_many

Progress = Callable[[int, int], None]
Chooser = Callable[[Sequence[Task], Sequence[Sequence[Trajectory]]], list[list[float]]]
GROUP = 4


class EvalConfig(BaseModel):
    """Settings of an evaluation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    samples: int = Field(
        8, ge=4, description="sampled episodes a task, for pass@1, pass@4 and best-of-4; a multiple of 4 is used whole"
    )
    chunk: int = Field(128, ge=1, description="tasks run in step")
    workers: int = Field(2, ge=1, description="verifier processes")
    sandbox: str = Field("auto", description="where untrusted code runs; auto: the first that proves itself here")
    split: str = Field("", description="only tasks of this split; empty: every held-out task")
    seed: int = Field(0, ge=0, description="draws of the samples")


@dataclass(frozen=True)
class Result:
    """One task: the outcome of the greedy episode, how many of ``n`` graded samples passed, best-of-4 where a value model chose,
    and the samples themselves. ``kind`` is the operator that made the bug, ``source`` where the task comes from."""

    task_id: str
    split: str
    kind: str
    function: str
    greedy: bool | None
    passed: int
    n: int
    bestof4: float | None
    ungraded: int
    source: str = ""
    samples: tuple[Sample, ...] = ()

    @property
    def sampled(self) -> float:
        """Share of the graded samples that passed: the unbiased estimate of pass@1."""
        return self.passed / self.n if self.n else 0.0

    @property
    def pass4(self) -> float | None:
        """Unbiased pass@4, None with fewer than 4 graded samples."""
        return pass_at_k(self.n, self.passed, GROUP) if self.n >= GROUP else None


def passed(trajectory: Trajectory) -> bool:
    """Whether an episode ended in a state that passes all tests."""
    return trajectory.verdict is not None and trajectory.verdict.outcome is Outcome.PASSED


def graded(trajectory: Trajectory) -> bool:
    """Whether an episode's verdict counts."""
    return trajectory.verdict is not None and trajectory.verdict.outcome.graded


def evaluate(
    policy: Policy,
    tasks: Sequence[Task],
    verify: Verify,
    config: EvalConfig,
    chooser: Chooser | None = None,
    progress: Progress = lambda d, t: None,
) -> list[Result]:
    """Results in the order of ``tasks``. ``chooser`` scores every candidate of every task for best-of-4 (ties go to the first)."""
    found: list[Result] = []
    for at in range(0, len(tasks), config.chunk):
        part = tasks[at : at + config.chunk]
        starts = [Start(task, greedy=True) for task in part]
        starts += [Start(task, seed=config.seed * 1000 + 1 + k) for task in part for k in range(config.samples)]
        flat = rollouts(starts, policy, verify, "eval")
        greedy, rest = flat[: len(part)], flat[len(part) :]
        groups = [rest[n * config.samples : (n + 1) * config.samples] for n in range(len(part))]
        scores = chooser(part, groups) if chooser else [None] * len(part)
        found += [_result(*row) for row in zip(part, greedy, groups, scores, strict=True)]
        progress(len(found), len(tasks))
    return found


def _result(task: Task, greedy: Trajectory, group: Sequence[Trajectory], scores: Sequence[float] | None) -> Result:
    samples = tuple(_sample(t, None if scores is None else scores[n]) for n, t in enumerate(group))
    good = [one for one in samples if one.passed is not None]
    return Result(
        task_id=task.id,
        split=task.split,
        kind=task.provenance.operator,
        function=task.provenance.body_hash,
        greedy=passed(greedy) if graded(greedy) else None,
        passed=sum(bool(one.passed) for one in good),
        n=len(good),
        bestof4=best_of(samples, GROUP, "value"),
        ungraded=len(group) - len(good),
        source=task.provenance.source,
        samples=samples,
    )


def _sample(trajectory: Trajectory, value: float | None) -> Sample:
    written = [step.trace for step in trajectory.steps if step.trace is not None]
    return Sample(
        passed=passed(trajectory) if graded(trajectory) else None,
        final=trajectory.final,
        logprob=sum(sum(trace.raw_logprobs) for trace in written),
        value=value,
        tokens=sum(len(trace.token_ids) for trace in written),
    )


def summarise(results: Sequence[Result]) -> dict[str, float | int | None]:
    """The figures of one model on one split, as in report.json; None for what could not be measured."""
    greedy = [float(r.greedy) for r in results if r.greedy is not None]
    return {
        "greedy": _mean(greedy),
        "sampled": _mean([r.sampled for r in results if r.n]),
        "pass4": _mean([r.pass4 for r in results if r.pass4 is not None]),
        "bestof4": _mean([r.bestof4 for r in results if r.bestof4 is not None]),
        "n": len(results),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def difference(a: Sequence[Result], b: Sequence[Result], seed: int = 0) -> Interval:
    """Sampled pass@1 of ``a`` minus that of ``b`` on the same tasks, with the paired interval that resamples functions."""
    other = {r.task_id: r for r in b}
    both = [(r, other[r.task_id]) for r in a if r.n and other.get(r.task_id) and other[r.task_id].n]
    return cluster_bootstrap([x.sampled - y.sampled for x, y in both], [x.function for x, _ in both], seed)


def save_results(path: Path, results: Sequence[Result]) -> None:
    """One JSON object a line."""
    save_lines(path, (json.dumps(asdict(result)) for result in results))


def load_results(path: Path) -> list[Result]:
    """Read what ``save_results`` wrote. Raises DataError for a file that is missing or something else."""
    found = []
    try:
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                row = json.loads(line)
                found.append(Result(**{**row, "samples": tuple(Sample(**one) for one in row.get("samples", ()))}))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{path} holds no results of an evaluation: {error}") from error
    return found


def run(
    config: EvalConfig, model: Path, tasks: Path, out: Path, progress: Progress = lambda done, total: None,
    value: Path | None = None, reference: Path | None = None,
) -> Path:  # fmt: skip
    """Evaluate a model folder on held-out tasks; writes results.jsonl (by task) and results.json (by split).

    ``value``: the value model that stage 2 left, which then chooses among the samples; ``reference``: the model that it was trained
    beside, by default ``model``. Raises DataError when there is no such task.
    """
    from swefuse.evaluate.figures import figures
    from swefuse.learn.assess import Assessor
    from swefuse.learn.model import load, steady
    from swefuse.learn.settings import RlvrSettings
    from swefuse.learn.tokens import codec_for
    from swefuse.policy.local import LocalPolicy

    steady(config.seed, 1)
    chosen = [t for t in load_tasks(tasks / "tasks.jsonl") if (t.split == config.split if config.split else t.split != "train")]
    if not chosen:
        raise DataError(f"{tasks} has no held-out task{f' of split {config.split}' if config.split else ''}")
    loaded, tokenizer = load(model)
    chooser = Assessor.load(value, reference or model, RlvrSettings()).choose if value else None
    with ProcessExecutor(config.workers, init_worker, (resolve(config.sandbox),), chunk=8) as executor:
        policy = LocalPolicy(loaded, codec_for(tokenizer), str(model))
        results = evaluate(policy, chosen, lambda items: verify_many(items, executor), config, chooser, progress)
    out.mkdir(parents=True, exist_ok=True)
    save_results(out / "results.jsonl", results)
    by_split = {split: figures([r for r in results if r.split == split]) for split in sorted({r.split for r in results})}
    save_lines(out / "results.json", [json.dumps(by_split, indent=1)])
    return out
