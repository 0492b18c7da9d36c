"""A round of stage 2 with verification while others are sampled, against the same round with one after the other.

The tasks' tests take ``MS`` each: they wait, as tests do that talk to a disk, a socket or a process; with ``busy`` they compute, so
that sampler and verifiers want the same cores. Both ways play the same rounds and must end with the same weights.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from swefuse.collect.agent import rollouts
from swefuse.collect.episode import Start
from swefuse.learn.model import make_nano, steady, train_tokenizer
from swefuse.learn.rlvr import train
from swefuse.learn.settings import RlvrSettings, SamplingSettings, WatchSettings, WeightSettings
from swefuse.learn.tokens import codec_for, nano_text
from swefuse.learn.update import Models
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Call, Kind, Outcome, Provenance, Suite, Task, Verdict
from swefuse.sandbox.choose import AUTO, resolve
from swefuse.scale.executor import ProcessExecutor
from swefuse.verify import init_worker, verify_many

MS, TASKS, ROUNDS, BATCH = 40, 16, 2, 2
WAITS = f"    time.sleep({MS / 1000})\n"
WORKS = f"    end = time.thread_time() + {MS / 1000}\n    while time.thread_time() < end:\n        pass\n"
TEXT = """import time


def slow():
{how}

def f{n}(items, low):
    \"\"\"The sum of those of items that are at least low, and {n}.\"\"\"
    slow()
    total = {n}
    for item in items:
        if item < low:
            total += item
    return total
"""


def make_task(n: int, busy: bool) -> Task:
    """A sum that takes the wrong items, with a test."""
    files = {"m.py": TEXT.format(n=n, how=WORKS if busy else WAITS)}
    wants = {"([1, 5, 3], 3)": 8 + n}
    calls = tuple(Call(id=f"t{k}", args=args, want=str(want), visible=True) for k, (args, want) in enumerate(wants.items()))
    suite = Suite(form="calls", entry=f"m.py:f{n}", calls=calls, fail_to_pass=tuple(call.id for call in calls))
    given = {"files": files, "editable": ("m.py",), "suites": (suite,), "split": "train", "provenance": Provenance(source="bench")}
    return Task.make(Kind.BUGFIX, instruction=f"Repair f{n}.", **given)


def played(
    tasks: list[Task], tokenizer: Any, executor: ProcessExecutor, overlap: bool
) -> tuple[list[dict[str, float]], torch.Tensor]:
    """Seconds of each round but the first, and the weights at the end."""
    steady(0, 1)
    # a policy that takes about as long to sample as its candidates take to verify, and a reference that costs little
    models = Models(make_nano(tokenizer, 384, 6), make_nano(tokenizer, 192, 3), codec_for(tokenizer))
    settings = RlvrSettings(
        rounds=ROUNDS, tasks=TASKS, micro_batch=16, optimizer="adamw", sampling=SamplingSettings(overlap=overlap, batch=BATCH),
        weight=WeightSettings(mode="off"), watch=WatchSettings(max_infra=0.0),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        train(models, tasks, lambda items: verify_many(items, executor), settings, Path(name))
        rows = [json.loads(line) for line in (Path(name) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row["seconds"] for row in rows[1:]], torch.cat([p.detach().flatten() for p in models.policy.parameters()])


def compared(busy: bool) -> tuple[float, float]:
    """Seconds of a round as a share of one after the other, and the share of the shorter phase that the other hides."""
    tasks = [make_task(n, busy) for n in range(TASKS * ROUNDS)]
    failed = Verdict(outcome=Outcome.FAILED, form="calls")
    shown = rollouts([Start(task) for task in tasks], ScriptedPolicy("random"), lambda items: [failed for _ in items], "bench")
    tokenizer = train_tokenizer([nano_text(task, one.steps) for task, one in zip(tasks, shown, strict=True)], 1000)
    with ProcessExecutor(2, init_worker, (resolve(AUTO), False), chunk=1) as executor:
        (after, weights), (meanwhile, same) = (played(tasks, tokenizer, executor, overlap) for overlap in (False, True))
    assert torch.equal(weights, same), "the result hangs on when was verified"
    mean = [{key: sum(row[key] for row in rows) / len(rows) for key in rows[0]} for rows in (after, meanwhile)]
    for name, row in zip(("one after the other", "meanwhile"), mean, strict=True):
        print(f"{'busy' if busy else 'waiting'} tests, {name}: { ({k: round(v, 2) for k, v in row.items()}) }", file=sys.stderr)
    return mean[1]["total"] / mean[0]["total"], mean[1]["overlap"]


def overlap() -> dict[str, float]:
    """The rows; ``overlap_busy_x`` where tests and sampler want the same cores."""
    waiting, share = compared(busy=False)
    return {"overlap_round_x": waiting, "overlap_share": share, "overlap_busy_x": compared(busy=True)[0]}


if __name__ == "__main__":
    print(json.dumps(overlap()))
