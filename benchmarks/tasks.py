"""How well tasks are made. Run from the repository's root; figures go to stdout, progress to stderr.

Rows that need what is not given are left out. ``--repos DIR`` is a folder of clones (bare or not), ``--known FILE`` JSON lines of
repairs known to be tasks: ``repo`` (its last part names the clone), ``fix`` (the commit), ``f2p`` and ``p2p`` (tests that fail
before and pass after, that pass in both). ``--inputs DIR`` holds mbpp_sanitized.json, humanevalfix.jsonl and cruxeval.jsonl.
Pairs of releases are downloaded with pip.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sources
import trees

from swefuse.scale import InlineExecutor, ProcessExecutor
from swefuse.tasks.attempts import Attempt, Order
from swefuse.tasks.commits import candidates
from swefuse.tasks.git import Repository
from swefuse.tasks.mine import AUTO, Selection, run, try_commit
from swefuse.tasks.workers import init_worker

SINCE = "2020-01-01"


def tried(orders: list[Order], workers: int) -> Iterator[Attempt]:
    """Attempts in order, with progress."""
    with ProcessExecutor(workers, init_worker) as executor:
        for number, attempt in enumerate(executor.map(try_commit, orders), 1):
            if number % 20 == 0 or number == len(orders):
                print(f"{number}/{len(orders)} commits", file=sys.stderr, flush=True)
            yield attempt


def recall(places: dict[str, Path], known: list[dict[str, Any]], workers: int) -> dict[str, float]:
    """Share of the known repairs, in per cent, that become tasks; and how many of these have the same counts of tests."""
    orders, rows = [], []
    for row in known:
        name = row["repo"].rpartition("/")[2]
        if name in places:
            rows.append((name, row))
    for name, path in places.items():
        found = {commit.sha: commit for commit in candidates(Repository(path).commits())}
        chosen = [row for place, row in rows if place == name]
        orders += [Order(path, found[row["fix"]], environments=(AUTO,)) for row in chosen if row["fix"] in found]
    by_fix = {row["fix"]: row for _, row in rows}
    made = same = 0
    for attempt in tried(orders, workers):
        row = by_fix[attempt.commit.sha]
        if attempt.task is None:
            print(f"refused: {row['repo']} {row['fix'][:10]} {attempt.refusal}: {attempt.detail[-120:]!r}", file=sys.stderr)
            continue
        made += 1
        (suite,) = attempt.task.suites
        same += (len(suite.fail_to_pass), len(suite.pass_to_pass)) == (row["f2p"], row["p2p"])
    print(f"{made} of {len(rows)} known repairs, {same} with the same numbers of tests", file=sys.stderr)
    return {"mine_recall": 100 * made / max(1, len(rows)), "mine_same_counts": same}


def made_of(places: dict[str, Path], workers: int, out: Path | None) -> dict[str, float]:
    """Share of the candidates since 2020, in per cent, that become tasks; they stay in ``out``."""

    def told(done: int, total: int) -> None:
        if done % 20 == 0 or done == total:
            print(f"{done}/{total} commits", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder, ProcessExecutor(workers, init_worker) as executor:
        place = (out or Path(folder)) / "mined"
        place.mkdir(parents=True, exist_ok=True)
        run([*places.values()], place, Selection(SINCE, environments=(AUTO,)), executor, told)
        wanted = {commit.sha for path in places.values() for commit in candidates(Repository(path).commits(SINCE))}
        rows = [json.loads(line) for line in (place / "attempts.jsonl").read_text(encoding="utf-8").splitlines()]
    refused = Counter(row["refusal"] for row in rows if row["commit"] in wanted)
    print(f"{refused.pop('', 0)} of {len(wanted)} candidates; refused: {dict(refused.most_common())}", file=sys.stderr)
    return {"mine_yield": 100 * (1 - refused.total() / max(1, len(wanted)))}


def scan(places: dict[str, Path]) -> dict[str, float]:
    """Seconds to list the candidates of 5,000 commits."""
    started, count = time.perf_counter(), 0
    for path in places.values():
        commits = list(Repository(path).commits())
        count += len(commits)
        list(candidates(commits))
    return {"scan_s_per_5k": 5000 * (time.perf_counter() - started) / max(1, count)}


def prove(places: dict[str, Path]) -> dict[str, float]:
    """CPU time of proving, of this process and all below it, as a multiple of that of the test runs alone."""
    name = "cachetools" if "cachetools" in places else next(iter(places))
    orders = [Order(places[name], commit) for commit in candidates(Repository(places[name]).commits(SINCE))]
    executor = InlineExecutor(init_worker)
    first, *rest = orders
    list(executor.map(try_commit, [first]))  # starts the worker
    before = _cpu()
    attempts = list(executor.map(try_commit, rest))
    spent = _cpu() - before
    return {"prove_cpu_x": spent / max(1e-9, sum(attempt.cpu_s for attempt in attempts))}


def _cpu() -> float:
    """CPU seconds of this process and of its sandbox, which is its child and still running."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = resource.getrusage(resource.RUSAGE_SELF)
    children = [os.getpid()]
    seconds = total.ru_utime + total.ru_stime
    for pid in children:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                seconds += sum(map(int, fields[11:15])) / ticks
                children.append(child)
    return seconds


NAMES = (
    "mine_recall", "mine_yield", "scan_s_per_5k", "scan_vs_pydriller_x", "prove_cpu_x", "release_pairs_ok", "datasets_ok",
    "template_tasks",
)  # fmt: skip


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    parser.add_argument("--only", choices=NAMES, help="run what gives this figure, and those that come with it")
    parser.add_argument("--repos", type=Path, metavar="DIR", help="a folder of clones")
    parser.add_argument("--known", type=Path, metavar="FILE", help="known repairs, for mine_recall")
    parser.add_argument("--inputs", type=Path, metavar="DIR", help="datasets, for datasets_ok")
    parser.add_argument("--tasks", type=int, default=10_000, help="how many, for template_tasks")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="keeps what was made for template_tasks and mine_yield, so that a call goes on"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    wanted = [options.only] if options.only else list(NAMES)
    found: dict[str, float] = {}
    for name, row in rows(options, trees.clones(options.repos) if options.repos else {}).items():
        if name in wanted:
            found |= row()
    found = {name: round(value, 2) for name, value in found.items()}
    print(json.dumps(found) if options.json else "\n".join(f"{name:20} {value:12.2f}" for name, value in found.items()))


def rows(options: argparse.Namespace, places: dict[str, Path]) -> dict[str, Callable[[], dict[str, float]]]:
    """What gives which figure, of those that can be had with what is given."""
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    made: dict[str, Callable[[], dict[str, float]]] = {
        "release_pairs_ok": sources.release_pairs,
        "datasets_ok": lambda: sources.datasets(options.inputs, options.workers),
        "template_tasks": lambda: sources.templates(options.tasks, options.workers, options.out),
    }
    if places:
        made |= {
            "scan_s_per_5k": lambda: scan(places),
            "scan_vs_pydriller_x": lambda: sources.pydriller(places),
            "prove_cpu_x": lambda: prove(places),
            "mine_yield": lambda: made_of(places, options.workers, options.out),
        }
    if places and options.known:
        lines = options.known.read_text(encoding="utf-8").splitlines()
        made["mine_recall"] = lambda: recall(places, [json.loads(line) for line in lines], options.workers)
    return made


if __name__ == "__main__":
    main()
