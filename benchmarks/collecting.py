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
from dataclasses import replace
from pathlib import Path

import numpy as np

from swefuse.collect.agent import Judge, play
from swefuse.collect.diversity import normal
from swefuse.collect.episode import Episode, How, Start
from swefuse.collect.search import Search, climb
from swefuse.learn.model import load, steady
from swefuse.learn.tokens import codec_for
from swefuse.policy.base import Choice, Reply, Request, Usage
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


class Counting(LocalPolicy):
    """A policy whose forced moves cost what it would take to write them: only so is starting anew dearer than going back."""

    def length(self, task: Task, choice: Choice) -> int:
        """Tokens of a message."""
        return len(self.encoder.messages(task, [choice])[0])

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """See ``LocalPolicy``."""
        found = super().act(requests)
        return [
            replace(reply, usage=Usage(0, self.length(request.task, reply.choice))) if reply.choice else reply
            for request, reply in zip(requests, found, strict=True)
        ]


def rollback(tasks: Path, model: Path, workers: int, count: int = 100, tries: int = 4) -> dict[str, float]:
    """Distinct accepted trajectories with roll-back, as a multiple of the free agent's for as many written tokens; three samples.

    Both choose among the same edits, and what an agent writes is counted in all its messages. ``rollback_edits_x``: the same, if
    only the edits were counted.
    """
    steady(0, 2)
    every = [task for task in load_tasks(tasks / "tasks.jsonl") if task.split != "train"]
    loaded, tokenizer = load(model)
    policy = Counting(loaded, codec_for(tokenizer), model.name)
    searched = np.zeros(2)
    free = np.zeros(2)
    with ProcessExecutor(workers, init_worker) as executor:
        judge = Judge(lambda items: verify_many(items, executor))
        for seed in range(SEEDS):
            chosen = random.Random(seed).sample(every, min(count, len(every)))
            found = climb([Start(task, seed) for task in chosen], policy, judge, How(), Search(tries=tries))
            edits = sum(one.tokens - one.forced for one in found)
            budgets = [sum(one.tokens for one in found), edits]
            gained = sum(len(one.found) for one in found)
            alone = _freely(chosen, policy, judge, budgets, seed)
            print(f"seed {seed}: {len(chosen)} tasks, {budgets} tokens: {gained} with roll-back, {alone} without", file=sys.stderr)
            searched, free = searched + gained, free + np.array(alone)
    return {
        "rollback_yield_x": searched[0] / max(1, free[0]), "rollback_edits_x": searched[1] / max(1, free[1]),
        "rollback_accepted": searched[0] / SEEDS, "free_accepted": free[0] / SEEDS,
    }  # fmt: skip


def _freely(tasks: Sequence[Task], policy: Counting, judge: Judge, budgets: Sequence[int], seed: int) -> list[int]:
    """Distinct accepted trajectories of whole episodes, round after round over all tasks: for so many tokens of all messages, and
    for so many of edits."""
    found, kept, spent, rounds = set[tuple[str, str]](), [0, 0], [0, 0], 0
    while any(used < budget for used, budget in zip(spent, budgets, strict=True)):
        episodes = play([Start(task, 1000 * seed + rounds) for task in tasks], policy, judge)
        for episode in random.Random(rounds).sample(episodes, len(episodes)):  # the budget may end within a round
            spent[0] += episode.usage.completion_tokens
            spent[1] += sum(len(step.trace.token_ids) for step in episode.steps if step.trace)
            if _passed(episode):
                found.add((episode.task.id, normal(episode.task, episode.files)))
            kept = [len(found) if used <= budget else held for used, budget, held in zip(spent, budgets, kept, strict=True)]
        rounds += 1
    return kept


def _passed(episode: Episode) -> bool:
    return episode.verdict is not None and episode.verdict.outcome is Outcome.PASSED
