"""The store of the library: writers at once, writers that are killed, and questions to 100,000 trajectories.

``python benchmarks/library_store.py [--only NAME] [--trajectories N]`` prints one flat JSON object on its last line; progress goes
to stderr. Trajectories are eleven steps of text as agents meet it: what they see, edit and think are windows of the standard
library's source files; no two are equal, and four in a row are of one task. Bodies are of 50 KB where writing is timed, and of
10 KB in the large library, whose questions do not read them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import statistics
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from swefuse.library import Entry, Filter, Library
from swefuse.library.conformance import sound
from swefuse.records import Action, Decision, Evidence, Kind, Outcome, Provenance, Step, Task

WRITERS, KB, BATCH, EACH = 8, 50, 20, 250
LARGE, LARGE_KB = 100_000, 10
LIVES, AT_ONCE = 50, 4
RARE, COMMON, MANY = "zanzibar", "behaviour", "quixotic"  # in 1 of 5,000 instructions, in all of them, in 9 of 100


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


class Texts:
    """Lines of the standard library, the same for everyone with this Python."""

    def __init__(self) -> None:
        folder = Path(sysconfig.get_path("stdlib"))
        files = [path for path in sorted(folder.glob("*.py")) if path.stat().st_size > 20_000]
        self.paths = [path.name for path in files]
        self.lines = [path.read_text(encoding="utf-8", errors="ignore").split("\n") for path in files]

    def window(self, draw: random.Random, size: int) -> tuple[str, str]:
        """A file's name and about ``size`` characters of it."""
        at = draw.randrange(len(self.lines))
        lines = self.lines[at]
        start = draw.randrange(max(1, len(lines) - 200))
        taken, length = [], 0
        for number, line in enumerate(lines[start:], start + 1):
            taken.append(f"{number:5} {line}")
            length += len(line) + 7
            if length >= size:
                break
        return self.paths[at], "\n".join(taken)


TASK, WAY, VERDICT = sound()


def task(number: int, texts: Texts) -> Task:
    """The task of four trajectories."""
    draw = random.Random(number)
    word = f"{RARE} " if number % 5000 == 7 else f"{MANY} " if number % 100 < 9 else ""
    path, code = texts.window(draw, 2000)
    origin = Provenance(
        source=draw.choice(["commits", "mutation", "corpus"]), repo=f"owner{number % 40}/repo{number % 200}",
        operator=draw.choice(["guard", "return", "compare"]), function=f"f{number}", body_hash=f"{number % 9000:016x}",
    )  # fmt: skip
    fields = {
        "id": f"task{number:012}", "instruction": f"{word}The {COMMON} of {path} is wrong.\n{code[:300]}",
        "kind": draw.choice([Kind.BUGFIX, Kind.BUGFIX, Kind.REFACTOR]), "split": draw.choice(["train", "train", "unseen"]),
        "provenance": origin, "files": {**TASK.files, path: code},
        "evidence": Evidence(repeats=2, reference_passes=True, null_fails=True, strength=round(draw.random(), 3)),
    }  # fmt: skip
    return TASK.model_copy(update=fields)


def made(number: int, texts: Texts, kb: int, name: str = "") -> Entry:
    """The entry of that number; its trajectory's body has about ``kb`` KB."""
    draw = random.Random(f"{name}{number}")
    steps = []
    for at in range(11):
        path, seen = texts.window(draw, kb * 80)
        thought = " ".join(texts.window(draw, 160)[1].split())
        action = (
            Action(name="view", path=path)
            if at % 4
            else Action(name="edit", path=path, line=at + 1, old=seen[:80], new=seen[80:150])
        )
        steps.append(
            Step(
                thought=thought, action=action, raw=f"#{thought}\n@{action.name} {path}\n", observation=seen, before="a", after="b"
            )
        )
    of = task(number // 4, texts)
    way = WAY.model_copy(update={"id": f"{name}{number:010}", "task_id": of.id, "steps": tuple(steps), "source": "sampling"})
    refused = draw.random() < 0.3
    why = ("verdict: the verdict is FAILED", "static: F821 undefined name") if refused else ()
    verdict = VERDICT.model_copy(update={"outcome": Outcome.FAILED}) if refused else VERDICT
    return Entry(of, way, verdict, Decision(accepted=not refused, reasons=why, gate_version="3"))


def batches(first: int, count: int, kb: int, name: str = "") -> Iterator[list[Entry]]:
    """Entries in batches."""
    texts = Texts()
    for at in range(first, first + count, BATCH):
        yield [made(number, texts, kb, name) for number in range(at, min(at + BATCH, first + count))]


def write(path: Path, first: int, count: int, ready: Any, done: Any) -> None:
    """One writer: its entries are made before the clock starts."""
    mine = list(batches(first, count, KB))
    with Library(path) as library:
        ready.wait()
        cpu, start = time.process_time(), time.monotonic()
        for batch in mine:
            library.add_many(batch)
        done.put((time.process_time() - cpu, start, time.monotonic()))


def writes(folder: Path) -> dict[str, float]:
    """Trajectories a second of all writers together, and what one costs."""
    path, context = folder / "writes.db", get_context("fork")
    Library(path, create=True).close()
    ready, done = context.Barrier(WRITERS), context.Queue()
    jobs = [context.Process(target=write, args=(path, number * EACH, EACH, ready, done)) for number in range(WRITERS)]
    for job in jobs:
        job.start()
    rows = [done.get() for _ in jobs]
    for job in jobs:
        job.join()
    total = WRITERS * EACH
    wall = max(end for _, _, end in rows) - min(start for _, start, _ in rows)
    with Library(path) as library:
        assert library.count() == total
        size = library._db().execute("SELECT avg(length(data)) FROM body JOIN entry ON sha = trajectory_sha").fetchone()[0]
    say(f"{total} trajectories in {wall:.2f} s by {WRITERS} writers, {BATCH} at a time; packed bodies have {size / 1000:.1f} KB")
    say("seconds of each writer: " + " ".join(f"{end - start:.2f}" for _, start, end in rows))
    return {"writes_per_s": total / wall, "write_cpu_ms": 1000 * sum(cpu for cpu, _, _ in rows) / total}


def endless(path: Path, life: int, told: int) -> None:
    """Write batches until killed, and name each on the pipe once it is stored."""
    ready = list(batches(0, 10 * BATCH, 5))
    library = Library(path)
    for number in range(10**9):
        batch = ready[number % len(ready)]
        ways = [one.trajectory.model_copy(update={"id": f"{life}-{number}-{at}"}) for at, one in enumerate(batch)]
        library.add_many(Entry(one.task, way, one.verdict, one.decision) for one, way in zip(batch, ways, strict=True))
        os.write(told, f"{life} {number}\n".encode())


def kills(folder: Path) -> dict[str, float]:
    """Batches lost, doubled or torn, and whatever verify finds, after writers were killed."""
    path, draw = folder / "kills.db", random.Random(0)
    Library(path, create=True).close()
    read, told = os.pipe()
    running: list[int] = []
    acknowledged: list[str] = []
    rest = ""

    def drain(wait: float) -> None:
        nonlocal rest
        until = time.monotonic() + wait
        os.set_blocking(read, False)
        while True:
            try:
                rest += os.read(read, 65536).decode()
            except BlockingIOError:
                if time.monotonic() >= until:
                    break
                time.sleep(0.002)
        *lines, rest = rest.split("\n")
        acknowledged.extend(lines)

    for life in range(LIVES + AT_ONCE):
        child = os.fork()
        if child == 0:
            endless(path, life, told)
        running.append(child)
        if len(running) < AT_ONCE:
            continue
        drain(1.5 if len(running) == life + 1 else draw.uniform(0, 0.4))
        if life < LIVES + AT_ONCE - 1:
            victim = running.pop(draw.randrange(len(running)))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    drain(0)
    with Library(path) as library:
        ids = [summary.trajectory_id.rsplit("-", 1)[0].replace("-", " ") for summary in library.query()]
        rows = library._db().execute("SELECT count(*) FROM entry").fetchone()[0]
        problems = library.verify()
    stored = Counter(ids)
    lost = len(set(acknowledged) - stored.keys())
    torn = sum(count != BATCH for count in stored.values())
    say(f"{LIVES} writers killed: {len(acknowledged)} batches acknowledged, {len(stored)} stored, {lost} lost, {torn} torn")
    return {"kill_lost": float(lost + torn + (rows - len(ids)) + len(problems))}


def fill(path: Path, first: int, count: int, kb: int) -> None:
    """Store entries, for one process of several."""
    with Library(path) as library:
        for number, batch in enumerate(batches(first, count, kb)):
            library.add_many(batch)
            if first == 0 and number % 100 == 0:
                say(f"filling: {100 * number * BATCH // count} %")


def large(folder: Path, count: int) -> Path:
    """A library of ``count`` trajectories."""
    path, context = folder / "large.db", get_context("fork")
    Library(path, create=True).close()
    parts = max(1, os.cpu_count() or 1)
    each = -(-count // parts)
    jobs = [context.Process(target=fill, args=(path, at, min(each, count - at), LARGE_KB)) for at in range(0, count, each)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    with Library(path) as library:
        library.tag("hard", Filter(min_steps=11, source="corpus", repo="owner1/repo1"))
        library.snapshot("v1", Filter(accepted=True))
        say(f"{library.count()} trajectories, {path.stat().st_size / 1e6:.0f} MB")
    return path


def timed(what: Callable[[], object]) -> float:
    """Median seconds of five times."""
    spent = []
    for _ in range(5):
        start = time.monotonic()
        what()
        spent.append(time.monotonic() - start)
    return statistics.median(spent)


def shown(path: Path, which: Filter, name: str = "") -> None:
    """What ``swefuse library list`` does."""
    with Library(path if not name else path.with_name(f"{path.name}@{name}")) as library:
        library.search(which, 100)
        library.count(which)


def lists(path: Path) -> dict[str, float]:
    """The slowest of several filtered lists."""
    asked = {
        "fields": Filter(accepted=True, kind="bugfix", source="commits", min_strength=0.8),
        "few": Filter(repo="owner7/repo7", max_steps=20),
        "none": Filter(operator="nothing"),
        "check": Filter(refused_by="static", split="unseen"),
        "tag": Filter(tag="hard"),
    }
    found = {name: timed(lambda which=which: shown(path, which)) for name, which in asked.items()}
    found["snapshot"] = timed(lambda: shown(path, asked["fields"], "v1"))
    say("lists: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in found.items()))
    return {"list_s": max(found.values())}


def stream(path: Path, out: Any) -> None:
    """Growth of a process in MB from the hundredth entry to the end of the stream."""
    before = 0
    with Library(path) as library:
        for number, _ in enumerate(library.iter_accepted()):
            if number == 100:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if number % 10_000 == 0:
                say(f"streamed {number}")
    out.put((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def streamed(path: Path) -> dict[str, float]:
    """Memory that streaming takes, in a fresh process."""
    context = get_context("spawn")
    out = context.Queue()
    job = context.Process(target=stream, args=(path, out))
    job.start()
    grown = out.get()
    job.join()
    return {"stream_mb": float(grown)}


def stats(path: Path) -> None:
    """What ``swefuse library stats`` counts."""
    with Library(path) as library:
        library.stats()


ALONE: dict[str, Callable[[Path], dict[str, float]]] = {"writes_per_s": writes, "write_cpu_ms": writes, "kill_lost": kills}
ASKED: dict[str, Callable[[Path], dict[str, float]]] = {
    "list_s": lists,
    "search_s": lambda path: {"search_s": timed(lambda: shown(path, Filter(query=RARE)))},
    "search_many_s": lambda path: {"search_many_s": timed(lambda: shown(path, Filter(query=MANY)))},
    "search_common_s": lambda path: {"search_common_s": timed(lambda: shown(path, Filter(query=COMMON)))},
    "stats_s": lambda path: {"stats_s": timed(lambda: stats(path))},
    "stream_mb": streamed,
}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[*ALONE, *ASKED], help="run this one")
    parser.add_argument("--trajectories", type=int, default=LARGE, help="of the large library")
    options = parser.parse_args()
    wanted = [name for name in (*ALONE, *ASKED) if options.only in (None, name)]
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for measure in dict.fromkeys(ALONE[name] for name in wanted if name in ALONE):
            found |= measure(folder)
        asked = [name for name in wanted if name in ASKED]
        path = large(folder, options.trajectories) if asked else folder
        for each in asked:
            found |= ASKED[each](path)
            say(f"{each}: {found[each]:.4f}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
