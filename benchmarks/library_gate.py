"""Figures of the gate: wrong trajectories that it accepts, right ones that it refuses, and how many it decides a second.

Right ones are real: replays of built tasks and of templates of all eight kinds, and what the shipped nano model sampled; they are
made in a temporary folder, or come from a library (``--library``) and folders of ``swefuse collect`` (``--folder``, as of mined
tasks). Wrong ones are right ones with one fault of ``library_faults.py``. Each one is judged in the
sandbox first, but for those of a library, which were when they came into it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from library_faults import EVALUATION, FAULTS, Made, known_function, wrong

from swefuse.collect.stage import load_trajectories
from swefuse.library.checks.basic import Item
from swefuse.library.context import Context
from swefuse.library.evaluation import evaluation_set
from swefuse.library.gate import gate
from swefuse.library.settings import GateConfig
from swefuse.library.store import Library
from swefuse.records import Outcome
from swefuse.sandbox.choose import AUTO, resolve
from swefuse.scale import ProcessExecutor
from swefuse.tasks.store import load_tasks
from swefuse.verify import Candidate, init_worker, verify_many

NAMES = ("gate_wrong_accepted", "gate_right_refused", "gate_per_s")
EACH, RIGHT, SPEED = 10, 300, 2000
SMALL = ("train_tasks=170", "heldout_tasks=4", "real_tasks=4", "composed_functions=60", "unseen_functions=20",
         "recombined_functions=12", "agreement_sample=0")  # fmt: skip


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def swefuse(*words: object) -> None:
    say(f"swefuse {' '.join(map(str, words))}")
    program = Path(sys.executable).with_name("swefuse")
    subprocess.run([program, *map(str, words)], stdout=subprocess.DEVNULL, check=True)


def made(folder: Path) -> list[Path]:
    """Folders of trajectories that were collected now."""
    from swefuse.learn.model import pretrained_nano

    sets = [word for one in SMALL for word in ("--set", one)]
    swefuse("tasks", "build", "--out", folder / "built", *sets)
    swefuse("tasks", "make", "--tasks", 130, "--out", folder / "kinds")
    swefuse("collect", "--tasks", folder / "kinds", "--method", "replay", "--out", folder / "a")
    swefuse("collect", "--tasks", folder / "built", "--method", "replay", "--set", "first=80", "--out", folder / "b")
    nano = ("--policy", pretrained_nano(), "--set", "guide=choices", "--set", "first=120", "--set", "samples=2")
    swefuse("collect", "--tasks", folder / "built", "--method", "sample", *nano, "--out", folder / "c")
    return [folder / "a", folder / "b", folder / "c"]


def pool(options: argparse.Namespace, folder: Path) -> list[Item]:
    """Right items, each with a verdict of now."""
    found = []
    for place in [*options.folder, *(made(folder) if not options.library and not options.folder else [])]:
        tasks = {task.id: task for task in load_tasks(place / "tasks.jsonl")}
        found += [(tasks[one.task_id], one) for one in load_trajectories(place / "trajectories.jsonl")]
    found = list({one.id: (task, one) for task, one in found if task.split in ("", "train")}.values())
    say(f"{len(found)} trajectories are judged")
    states = [Candidate(task, {**task.files, **one.files}, one.verdict.form if one.verdict else None) for task, one in found]
    items: list[Item] = []
    if found:
        with ProcessExecutor(2, init_worker, (resolve(AUTO),), chunk=8) as executor:
            verdicts = list(verify_many(states, executor))
        items = [(*item, verdict) for item, verdict in zip(found, verdicts, strict=True)]
    for path in options.library:
        with Library(path) as library:
            items += [(entry.task, entry.trajectory, entry.verdict) for entry in islice(library.iter_accepted(), options.most)]
    held = evaluation_set("heldout", 13).bodies  # templates may draw such a function, and then are no right ones
    items = [item for item in items if item[0].provenance.body_hash not in held]
    one_each = {(task.id, one.source): (task, one, verdict) for task, one, verdict in items}  # several ways may be one to the gate
    passed = [item for item in one_each.values() if item[2].outcome is Outcome.PASSED]
    say(f"{len(passed)} passed: {dict(Counter(f'{t.kind} {t.provenance.source} {one.source}' for t, one, _ in passed))}")
    return passed


def settings(folder: Path, given: list[str]) -> GateConfig:
    own = folder / "bench.jsonl"
    own.write_text(json.dumps(EVALUATION) + "\n", encoding="utf-8")
    return GateConfig(evaluation=("heldout", str(own), *given))


def right_refused(items: list[Item], config: GateConfig) -> dict[str, float]:
    decisions = gate(items, context=Context.prepared(config))
    reasons = [reason for decision in decisions for reason in decision.reasons]
    for reason in reasons[:20]:
        say(f"right, and refused: {reason}")
    share = sum(not decision.accepted for decision in decisions) / len(items)
    return {"gate_right_refused": share, "gate_right": len(items)}


def wrong_accepted(items: list[Item], config: GateConfig, rng: random.Random) -> dict[str, float]:
    """Wrong ones that are accepted, and those that are refused, though not by the check that is meant to."""
    from importlib.resources import files

    row = json.loads(files("swefuse.library").joinpath("heldout.jsonl").read_text(encoding="utf-8").split("\n")[5])
    faults = {**FAULTS, "a function of an evaluation set": ("contamination", known_function(row["code"]))}
    accepted = otherwise = count = 0
    for name, (check, fault) in faults.items():
        batch: list[Made] = wrong(name, fault, items, rng, EACH)
        context = Context.prepared(config)
        before = [right for _, right in batch if right is not None]
        for one in before:
            context.held.add(*one[:2])
        decisions = gate([one for one, _ in batch], context=context)
        through = sum(decision.accepted for decision in decisions)
        other = sum(not any(r.startswith(f"{check}:") for r in decision.reasons) for decision in decisions) - through
        accepted, otherwise, count = accepted + through, otherwise + other, count + len(batch)
        if through or other or len(batch) < EACH:
            say(f"{name}: {len(batch)} made, {through} accepted, {other} refused by others: {[d.reasons for d in decisions][:2]}")
    ways = len(faults)
    return {"gate_wrong_accepted": accepted, "gate_wrong_other_check": otherwise, "gate_wrong": count, "gate_ways": ways}


def speed(items: list[Item], config: GateConfig) -> dict[str, float]:
    """Trajectories a second in two processes, each with a batch of its own, and the CPU time of one."""
    rows = (items * (SPEED // len(items) + 1))[:SPEED]
    parts = [rows[: SPEED // 2], rows[SPEED // 2 :]]
    context = Context.prepared(config)
    started, children = time.monotonic(), []
    for part in parts:
        child = os.fork()
        if child == 0:
            gate(part, context=context)
            os._exit(0)
        children.append(child)
    used = 0.0
    for child in children:
        _, _, spent = os.wait4(child, 0)
        used += spent.ru_utime + spent.ru_stime
    wall = time.monotonic() - started
    return {"gate_per_s": SPEED / wall, "gate_cpu_ms": 1000 * used / SPEED, "gate_load": os.getloadavg()[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("--library", type=Path, action="append", default=[], help="a library whose accepted entries are right")
    parser.add_argument("--folder", type=Path, action="append", default=[], help="a folder that 'swefuse collect' wrote")
    parser.add_argument("--evaluation", action="append", default=[], help="a further evaluation set")
    parser.add_argument("--most", type=int, default=400, help="of one library")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        config = settings(Path(name), options.evaluation)
        items = pool(options, Path(name))
        chosen = rng.sample(items, min(RIGHT, len(items)))
        if options.only in (None, "gate_right_refused"):
            figures |= right_refused(chosen, config)
        if options.only in (None, "gate_wrong_accepted"):
            figures |= wrong_accepted(chosen, config, rng)
        if options.only in (None, "gate_per_s"):
            figures |= speed(chosen, config)
    say(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    print(json.dumps({name: round(value, 6) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
