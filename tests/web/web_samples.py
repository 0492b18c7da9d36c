"""A folder of runs for the tests of the app: one that is finished, one at work, a library that lies alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from function_task import BUGGY, MENDED, PATH, function_task
from swefuse.collect.agent import rollouts
from swefuse.collect.episode import Start
from swefuse.config import dump
from swefuse.evaluate.bestof import Sample
from swefuse.evaluate.run import Result
from swefuse.learn.entropy import normalised_entropy, verdict_probabilities
from swefuse.library.gate import gate
from swefuse.library.store import Entry, Library
from swefuse.policy.scripted import ScriptedPolicy, pick_reference
from swefuse.recipes.config import QuickstartConfig
from swefuse.records import Evidence, Outcome, Task, Verdict
from swefuse.scale import InlineExecutor
from swefuse.tasks.store import save_tasks
from swefuse.verify.cache import VerdictCache
from swefuse.verify.many import verify_many
from swefuse.web.progress import STAGES

PROOF = Evidence(repeats=3, reference_passes=True, null_fails=True, strength=0.75, mutants=8, flake_rate=0.125, sandbox="local")
DIFF = f"--- a/{PATH}\n+++ b/{PATH}\n@@ -3 +3 @@\n-    return x - x\n+    return x + x\n"


def tasks() -> list[Task]:
    """Three tasks of one function, told apart by the tests that they show; the first is proven."""
    made = [function_task(visible=visible) for visible in (2, 1, 0)]
    return [made[0].revised(reference={PATH: MENDED}, evidence=PROOF), *made[1:]]


def entries(of: Sequence[Task]) -> list[Entry]:
    """For each task a trajectory that mends it and one that does not, of the real loop in the real sandbox, gated."""
    policies = [
        ScriptedPolicy("reference"),
        ScriptedPolicy("wrong", lambda request, rng: next(c for c in request.choices if c != pick_reference(request, rng))),
    ]
    starts = [Start(task) for task in of]
    made = [
        t for policy in policies for t in rollouts(starts, policy, lambda items: verify_many(items, InlineExecutor()), "replay")
    ]
    batch = [(task, t, t.verdict) for task, t in zip([*of, *of], made, strict=True) if t.verdict is not None]
    return [Entry(*item, decision) for item, decision in zip(batch, gate(batch), strict=True)]


def lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows as a log of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rounds(count: int, shift: float = 0.0) -> list[dict[str, Any]]:
    """Metrics of so many rounds of stage 2."""
    return [
        {
            "round": n + 1, "pass_rate": 0.4 + 0.01 * n + shift, "policy_entropy": 1.5 - 0.05 * n,
            "mean_h": 0.4 + 0.02 * math.sin(n),
            "loss": 0.01 * math.cos(n), "head_loss": 0.3, "kl": 0.02 * n, "value_accuracy": 0.8, "value_majority": 0.7,
            "effective_share": 0.9, "decisive_share": 0.2, "h_bins": [8, 7, 6, 5, 4, 3, 2, 1, 1, n + 1],
            "outcomes": {"PASSED": 20 + n, "FAILED": 40 - n, "TAMPERED": 1}, "seconds": {"total": 2.0, "verify": 0.5},
        }
        for n in range(count)
    ]  # fmt: skip


def pairs(task: str, count: int = 24, noise: tuple[float, float] = (0.02, 0.1)) -> list[dict[str, Any]]:
    """Pairs as ``learn/pair_log`` writes them; every fifth was judged otherwise than its label says."""
    found = []
    for n in range(count):
        q = (0.1 - n / 1000, 0.9) if n % 5 == 0 else (0.05 + 0.9 * (n % 7) / 6, 0.05 + 0.9 * (n % 4) / 3)
        p = verdict_probabilities(*q)
        label = "A" if n % 5 == 0 else ("A", "B", "tie")[n % 3]
        outcomes = {"A": ("PASSED", "FAILED"), "B": ("FAILED", "PASSED"), "tie": ("FAILED", "FAILED")}[label]
        sides = {side: {"edit": "#x\n", "diff": DIFF, "outcome": one} for side, one in zip("ab", outcomes, strict=True)}
        h = normalised_entropy(p)
        how = {"mode": "soft", "lam": 2.0, "tau": 0.8, "noise": list(noise), "weight": math.exp(-2 * h)}
        found.append({"round": 1 + n // 8, "task": task, "label": label, "p": list(p), "q": list(q), "h": h, **how, **sides})
    mean = sum(row["weight"] for row in found) / len(found)
    return [{**row, "weight": row["weight"] / mean} for row in found]


def results(passed: int) -> list[dict[str, Any]]:
    """Results on twelve held-out tasks of twelve functions, of which so many were solved."""
    made = []
    for n in range(12):
        good = n < passed
        samples = tuple(Sample(passed=good, final="f", logprob=-1.0, value=0.5, tokens=9) for _ in range(4))
        made.append(
            Result(f"task{n}", "unseen", "guard", f"f{n}", good, 4 * good, 4, float(good), 0, "corpus", samples)
        )  # fmt: skip
    return [asdict(one) for one in made]


def state(done: Sequence[str]) -> dict[str, Any]:
    """``state.json`` after these stages."""
    verified = {"gate": {"candidates": 60, "runs": 60}, "rlvr": {"candidates": 400, "runs": 100, "known": 300}}
    return {"done": {name: 10.0 + n for n, name in enumerate(done)}, "peak_rss_mb": 900.0, "verified": verified}


def run(folder: Path, done: Sequence[str] = STAGES, seed: int = 0, of: Sequence[Task] = (), count: int = 12) -> Path:
    """The folder of a quickstart after these stages."""
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(dump(QuickstartConfig(budget="smoke", seed=seed)), encoding="utf-8")
    (folder / "state.json").write_text(json.dumps(state(done)), encoding="utf-8")
    lines(folder / "sft" / "metrics.jsonl", [{"step": n, "loss": 2.0 / n, "learning_rate": 1e-3} for n in range(1, 13)])
    lines(folder / "rlvr" / "metrics.jsonl", rounds(count, 0.02 * seed))
    lines(folder / "rlvr" / "events.jsonl", [{"round": 3, "event": "repeated", "value": 0.9, "limit": 0.8, "what": "w"}])
    if of:
        (folder / "tasks").mkdir()
        save_tasks(folder / "tasks" / "tasks.jsonl", of)
        lines(folder / "rlvr" / "pairs.jsonl", pairs(of[0].id))
        edit = {"path": PATH, "function": "double", "kind": "constant", "line": 3, "nth": 1, "old": "x", "new": "0"}
        (folder / "tasks" / "strength.json").write_text(json.dumps([{"task": of[0].id, "survivors": [edit]}]), encoding="utf-8")
    for name, passed in (("base", 2), ("sft", 5), ("rlvr", 9 if seed == 0 else 7)):
        lines(folder / "eval" / f"{name}.jsonl", results(passed))
    return folder


def cache(path: Path) -> None:
    """A cache of verdicts with one that caught an attack."""
    made = VerdictCache(path)
    for n in range(7):
        made.put(f"key{n}", Verdict(outcome=Outcome.PASSED if n % 2 else Outcome.FAILED, form="calls", cpu_s=0.5))
    made.put("key9", Verdict(outcome=Outcome.TAMPERED, form="calls", reason="a test file was changed: tests/test_x.py"))
    made.close()


def folder_of_runs(folder: Path) -> Path:
    """``demo`` is finished, ``group/second`` is in stage 2, ``alone.db`` is a library."""
    of = tasks()
    kept = entries(of)
    demo = run(folder / "demo", of=of)
    with Library(demo / "library.db", create=True) as library:
        library.add_many(kept)
    cache(demo / "verdicts.sqlite")
    run(folder / "group" / "second", STAGES[:6], seed=1, count=2)
    with Library(folder / "alone.db", create=True) as library:
        library.add_many(kept[:1])
    assert BUGGY in of[0].files.values()
    return folder
