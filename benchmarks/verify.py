"""How fast verification is, beside a cold ``python -m pytest`` without any isolation, in the same run.

``python benchmarks/verify.py --json`` prints one flat JSON object on its last line. Methods take turns in rounds; a ratio is the
median of the ratios of the rounds, because the speed of a shared machine drifts. Progress goes to stderr. A wrong verdict stops it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import repos

from swefuse.records import Outcome, Task
from swefuse.scale import ProcessExecutor
from swefuse.verify import Candidate, Verifier, init_worker, verify_many

SLOTS = os.cpu_count() or 1
# without the plugins that happen to be installed, which a warm slot does not load either
ENVIRONMENT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def state(task: Task, number: int) -> dict[str, str]:
    """A candidate that differs from all others and passes."""
    (path,) = task.editable
    return {**task.files, path: f"{task.files[path]}# {number}\n"}


def cold(task: Task, count: int) -> tuple[float, float]:
    """Seconds and CPU seconds of ``count`` candidates, each in a new interpreter, as many at once as there are slots."""

    def one(number: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            repos.write(state(task, number), Path(folder))
            command = [sys.executable, "-m", "pytest", "-q"]
            done = subprocess.run(command, cwd=folder, capture_output=True, env=ENVIRONMENT, check=False)
            assert done.returncode == 0, done.stdout.decode()

    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with ThreadPoolExecutor(SLOTS) as pool:
        list(pool.map(one, range(count)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Warm:
    """Slots that stay open between rounds."""

    def __init__(self) -> None:
        self.executor = ProcessExecutor(SLOTS, init_worker, ("local", False))
        self.number = 0

    def __call__(self, task: Task, count: int) -> tuple[float, float]:
        """Seconds and CPU seconds of ``count`` new candidates; the CPU time is that of the candidates' processes."""
        items = [Candidate(task, state(task, self.number + k)) for k in range(count)]
        self.number += count
        started = time.perf_counter()
        verdicts = list(verify_many(items, self.executor))
        spent = time.perf_counter() - started
        wrong = [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASSED]
        assert not wrong, wrong[0]
        return spent, sum(verdict.cpu_s for verdict in verdicts)


def ratios(task: Task, rounds: int, few: int, many: int) -> tuple[float, float]:
    """How many times more candidates a second, and how many times less CPU each, a warm slot gives."""
    warm = Warm()
    warm(task, 2 * SLOTS)
    speed, cpu = [], []
    for number in range(rounds):
        slow, fast = cold(task, few), warm(task, many)
        speed.append(slow[0] / few / (fast[0] / many))
        cpu.append(slow[1] / few / (fast[1] / many))
        print(f"{task.editable[0]} round {number + 1}/{rounds}: {speed[-1]:.1f}x, CPU {cpu[-1]:.1f}x", file=sys.stderr)
    warm.executor.close()
    return statistics.median(speed), statistics.median(cpu)


def small() -> dict[str, float]:
    """A repository of the standard library alone with 35 tests."""
    speed, cpu = ratios(repos.small(), 6, 8, 24)
    name = "root" if os.geteuid() == 0 else "user"
    return {f"warm_{name}_x": speed, f"warm_{name}_cpu_x": cpu}


def heavy() -> dict[str, float]:
    """A repository that imports numpy and pandas."""
    speed, cpu = ratios(repos.heavy(), 5, 4, 40)
    return {"heavy_x": speed, "heavy_cpu_x": cpu}


def calls() -> dict[str, float]:
    """Distinct candidates of function tasks in the ``calls`` form."""
    warm, task = Warm(), repos.calls()
    warm(task, 200)
    return {"calls_per_s": statistics.median(1500 / warm(task, 1500)[0] for _ in range(3))}


def cache() -> dict[str, float]:
    """Verdicts that are known already, asked of one verifier."""
    task = repos.calls()
    with Verifier() as verifier:
        files = [state(task, number) for number in range(50)]
        for one in files:
            verifier.verify(task, one)
        started = time.perf_counter()
        for _ in range(200):
            for one in files:
                verifier.verify(task, one)
        return {"cache_hits_per_s": 200 * len(files) / (time.perf_counter() - started)}


PARTS: Mapping[str, Callable[[], dict[str, float]]] = {"small": small, "heavy": heavy, "calls": calls, "cache": cache}
NAMES = {
    "small": ("warm_root_x", "warm_root_cpu_x", "warm_user_x", "warm_user_cpu_x"), "heavy": ("heavy_x", "heavy_cpu_x"),
    "calls": ("calls_per_s",), "cache": ("cache_hits_per_s",),
}  # fmt: skip


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    parser.add_argument(
        "--only", choices=sorted(name for names in NAMES.values() for name in names), help="run what gives this figure"
    )
    options = parser.parse_args()
    found: dict[str, float] = {}
    for part, run in PARTS.items():
        if options.only is None or options.only in NAMES[part]:
            found |= {name: round(value, 2) for name, value in run().items()}
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:20} {value:12.2f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
