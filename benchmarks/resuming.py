"""Stage 1 and stage 2 killed with ``kill -9`` at random moments and called again, against runs that were left alone."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from swefuse.library.store import Library
from swefuse.tasks.store import load_tasks, save_tasks

KILLS = 10
SFT = ("steps=24", "batch=8", "warmup=2", "save_every=4", "short_first=0.0")
RLVR = ("rounds=12", "tasks=8", "micro_batch=8", "save_every=2", "weight.warmup=1")


def _call(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("swefuse")), "train", *arguments]


def _whole(command: list[str]) -> float:
    started = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - started


def _killed(command: list[str], seconds: float, rng: random.Random, kills: int) -> int:
    """Call until it ends by itself, killing the first ``kills`` calls at a random moment; how many were killed."""
    done = 0
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(rng.uniform(0.3, 1.0) * seconds if done < kills else None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            done += 1
            continue
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}")
        return done


def _apart(one: Path, two: Path) -> float:
    """The largest difference of any weight and of any figure of any line of the logs."""
    from safetensors.torch import load_file

    left, right = (load_file(place / "model" / "model.safetensors") for place in (one, two))
    found = max(float((left[name] - right[name]).abs().max()) for name in left)
    rows = [[json.loads(line) for line in (place / "metrics.jsonl").read_text().splitlines()] for place in (one, two)]
    assert len(rows[0]) == len(rows[1]), "a line is lost or doubled"
    for a, b in zip(*rows, strict=True):
        for name, value in a.items():
            if isinstance(value, int | float) and not name.startswith(("train_", "epoch")):
                found = max(found, abs(float(value) - float(b[name])))
    return found


def resume_max_diff(run: Path) -> dict[str, float]:
    """On a quickstart's model, tasks and library, cut to a few tasks."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "tasks").mkdir()
        train = [task for task in load_tasks(run / "tasks" / "tasks.jsonl") if task.split == "train"][:64]
        save_tasks(place / "tasks" / "tasks.jsonl", train)
        ids = {task.id for task in train}
        with Library(run / "library.db") as old, Library(place / "library.db", create=True) as new:
            new.add_many(entry for entry in old.iter_accepted() if entry.task.id in ids)
        model = str(run / "models" / "sft")
        commands = {
            "sft": ["sft", "--model", model, "--library", str(place / "library.db"), *_sets(SFT)],
            "rlvr": ["rlvr", "--model", model, "--tasks", str(place / "tasks"), *_sets(RLVR)],
        }
        worst, killed = 0.0, 0
        for stage, arguments in commands.items():
            folders = [place / stage / which for which in ("whole", "again", "killed")]
            calls = [_call(*arguments, "--out", str(folder)) for folder in folders]
            seconds = _whole(calls[0])
            _whole(calls[1])
            killed += _killed(calls[2], seconds, rng, KILLS)
            parts = [_apart(folders[0], folder) for folder in folders[1:]]
            print(f"{stage}: same seed twice {parts[0]}, after kills {parts[1]}", file=sys.stderr)
            worst = max(worst, *parts)
            shutil.rmtree(place / stage)
        print(f"{killed} kills", file=sys.stderr)
        return {"resume_max_diff": worst, "resume_kills": killed}


def _sets(given: tuple[str, ...]) -> list[str]:
    return [part for one in given for part in ("--set", one)]
