"""Rows of ``collect.py`` about whole collections: what a kill loses, and what roll-back buys."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from swefuse.collect.agent import Judge, play
from swefuse.collect.diversity import normal
from swefuse.collect.episode import Episode, How, Start
from swefuse.collect.search import Search, climb
from swefuse.learn.model import load, steady
from swefuse.learn.tokens import codec_for
from swefuse.policy.local import LocalPolicy
from swefuse.records import Outcome, Task
from swefuse.scale import ProcessExecutor
from swefuse.tasks.store import load_tasks
from swefuse.verify import init_worker, verify_many

KILLS = 20
SEEDS = 3


def kills(tasks: Path) -> dict[str, float]:
    """Trajectories that are lost or doubled by 20 kills at random moments of one collection, against one that was not killed."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        settings = ["--set", "guide=choices", "--set", "first=60", "--set", "samples=6", "--set", "chunk=4"]
        program = str(Path(sys.executable).with_name("swefuse"))
        command = [program, "collect", "--tasks", str(tasks), "--method", "sample", "--policy", "rule"]
        whole, killed = [*command, *settings, "--out", f"{folder}/whole"], [*command, *settings, "--out", f"{folder}/killed"]
        started = time.monotonic()
        _wait(whole)
        length = time.monotonic() - started
        for number in range(KILLS):
            process = subprocess.Popen(killed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(rng.uniform(0.2, 0.6) * length)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            log = Path(folder, "killed", "parts.jsonl")
            print(f"kill {number + 1}/{KILLS}: {len(log.read_bytes().splitlines()) if log.exists() else 0} lines", file=sys.stderr)
        _wait(killed)
        one, other = (_made(Path(folder, name)) for name in ("whole", "killed"))
    print(f"{len(one)} trajectories without a kill, {len(other)} with {KILLS}", file=sys.stderr)
    return {"kill_lost": len(set(one) ^ set(other)) + len(other) - len(set(other)) + (one != other), "kill_trajectories": len(one)}


def _wait(command: Sequence[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def _made(folder: Path) -> list[str]:
    """The trajectories as texts, without what the clock says."""
    found = [json.loads(line) for line in (folder / "trajectories.jsonl").read_text(encoding="utf-8").splitlines()]
    for one in found:
        one["verdict"] |= {"cpu_s": 0, "wall_s": 0}
    return [json.dumps(one, sort_keys=True) for one in found]


def rollback(tasks: Path, model: Path, workers: int, count: int = 100, tries: int = 3) -> dict[str, float]:
    """Distinct accepted trajectories with roll-back, as a multiple of the free agent's for as many written tokens; three
    samples of held-out tasks."""
    steady(0, 2)
    every = [task for task in load_tasks(tasks / "tasks.jsonl") if task.split != "train"]
    loaded, tokenizer = load(model)
    policy = LocalPolicy(loaded, codec_for(tokenizer), model.name)
    searched = free = 0
    with ProcessExecutor(workers, init_worker) as executor:
        judge = Judge(lambda items: verify_many(items, executor))
        for seed in range(SEEDS):
            chosen = random.Random(seed).sample(every, min(count, len(every)))
            found = climb([Start(task, seed) for task in chosen], policy, judge, How(), Search(tries=tries))
            budget, gained = sum(one.tokens for one in found), sum(len(one.found) for one in found)
            alone = _freely(chosen, policy, judge, budget, seed)
            print(f"seed {seed}: {len(chosen)} tasks, {budget} tokens: {gained} with roll-back, {alone} without", file=sys.stderr)
            searched, free = searched + gained, free + alone
    return {"rollback_yield_x": searched / max(1, free), "rollback_accepted": searched / SEEDS, "free_accepted": free / SEEDS}


def _freely(tasks: Sequence[Task], policy: LocalPolicy, judge: Judge, budget: int, seed: int) -> int:
    """Distinct accepted trajectories of whole episodes, round after round over all tasks, for so many written tokens."""
    found, spent, rounds = set[tuple[str, str]](), 0, 0
    while spent < budget:
        episodes = play([Start(task, 1000 * seed + rounds) for task in tasks], policy, judge)
        for episode in random.Random(rounds).sample(episodes, len(episodes)):  # the budget may end within a round
            spent += _written(episode)
            if spent <= budget and _passed(episode):
                found.add((episode.task.id, normal(episode.task, episode.files)))
        rounds += 1
    return len(found)


def _written(episode: Episode) -> int:
    return sum(len(step.trace.token_ids) for step in episode.steps if step.trace)


def _passed(episode: Episode) -> bool:
    return episode.verdict is not None and episode.verdict.outcome is Outcome.PASSED


def held_out(tasks: Path, split: str, count: int) -> list[Task]:
    """So many tasks of a split, the same ones each time."""
    every = [task for task in load_tasks(tasks / "tasks.jsonl") if task.split == split]
    return random.Random(0).sample(every, min(count, len(every)))
