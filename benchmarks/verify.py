"""How fast verification is, beside a cold ``python -m pytest`` without any isolation, in the same run.

``python benchmarks/verify.py --json`` prints one flat JSON object on its last line. Methods take turns in rounds; a ratio is the
median of the ratios of the rounds, because the speed of a shared machine drifts. Progress goes to stderr. A wrong verdict stops it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import repos
import trees

import swefuse
from swefuse.records import Outcome, Task
from swefuse.sandbox import environments, wire
from swefuse.sandbox.base import Job
from swefuse.sandbox.local import LocalSandbox, message
from swefuse.scale import ProcessExecutor
from swefuse.tasks import build, in_time
from swefuse.tasks.store import load_tasks
from swefuse.verify import Candidate, Verifier, init_worker, verify_many
from swefuse.verify.strength import mutants
from swefuse.verify.tests import Limits

ATTACKS = Path(__file__).resolve().parents[1] / "tests" / "attacks"
sys.path[:0] = [str(ATTACKS), str(ATTACKS.parent)]
import escapes  # noqa: E402 - the corpus ships with the tests
import forgeries  # noqa: E402

import plain_user  # noqa: E402

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

    def __init__(self, limits: Limits | None = None) -> None:
        self.executor = ProcessExecutor(SLOTS, init_worker, ("local", False, None, limits))
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


def failfast() -> dict[str, float]:
    """Wrong candidates, stopped at their first failure, against a cold run of everything."""
    task, warm, cpu = repos.broken(), Warm(), []
    right = task.model_copy(update={"files": task.reference})
    for number in range(6):
        slow = cold(right, 6)
        items = [Candidate(task, state(task, 100 * number + k), fail_fast=True) for k in range(24)]
        verdicts = list(verify_many(items, warm.executor))
        wrong = [v for v in verdicts if v.outcome is not Outcome.FAILED or v.parts.get("not_run", 0) < 32]
        assert not wrong, wrong[0]
        cpu.append(slow[1] / 6 / statistics.fmean(verdict.cpu_s for verdict in verdicts))
        print(f"stop at the first failure, round {number + 1}/6: CPU {cpu[-1]:.1f}x", file=sys.stderr)
    warm.executor.close()
    return {"failfast_cpu_x": statistics.median(cpu)}


def isolation() -> dict[str, float]:
    """Milliseconds that a job in the sandbox takes longer than the same work in a bare fork of a process as small, taking turns."""
    task = repos.calls()
    (suite,) = task.suites
    calls = tuple((call.id, call.args) for call in suite.calls)
    walls: dict[str, list[float]] = {"fork": [], "sandbox": []}
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-P", "-s", "-S", "-c", BARE, str(Path(swefuse.__file__).parents[1]), str(theirs.fileno())]
    with ours, theirs, LocalSandbox() as sandbox, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process:

        def bare(job: Job) -> None:
            wire.send(ours, message(job))
            reply = wire.receive(ours)
            assert reply is not None and reply["records"].endswith('{"end": 10}\n'), reply

        for number in range(600):
            job = Job("calls", state(task, number), ("m.py",), suite.entry, calls)
            for name, run in (("fork", bare), ("sandbox", sandbox.run)):
                started = time.perf_counter()
                run(job)
                walls[name].append(time.perf_counter() - started)
        process.terminate()
    return {"isolation_ms": 1000 * (statistics.median(walls["sandbox"][100:]) - statistics.median(walls["fork"][100:]))}


# a worker without limits and walls: reads a job, forks, hands back what the child wrote
BARE = """
import ast, gc, importlib, marshal, os, socket, sys
sys.path.insert(0, sys.argv[1])
from swefuse.sandbox import candidate, wire, worker
for name in worker._WARM:
    importlib.import_module(name)
channel = socket.socket(fileno=int(sys.argv[2]))
gc.collect()
gc.freeze()
while (job := wire.receive(channel)) is not None:
    packed = [(id_, marshal.dumps(ast.literal_eval(arguments))) for id_, arguments in job["calls"]]
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        candidate.run_calls(job, packed, candidate.emitter(theirs))
        os._exit(0)
    os.close(theirs)
    records = b""
    while part := os.read(ours, 1 << 16):
        records += part
    os.close(ours)
    os.waitpid(pid, 0)
    wire.send(channel, {"records": records.decode()})
"""


def fakes() -> dict[str, float]:
    """Fake passes: how many pass, and how many of those made in the process of the tests are not called tampering."""
    task = forgeries.task()
    with Verifier(cache=False) as verifier:
        found = {
            name: verifier.verify(task, forgeries.state(task, change), "pytest").outcome
            for name, change in forgeries.FORGERIES.items()
        }
    passed = [name for name, outcome in found.items() if outcome is Outcome.PASSED]
    missed = [name for name in forgeries.IN_PROCESS if found[name] is not Outcome.TAMPERED]
    print(f"{len(found)} fakes; passed: {passed}; in the process, not TAMPERED: {missed}", file=sys.stderr)
    return {"forgeries": len(passed), "forgeries_in_process_missed": len(missed)}


def attacks() -> dict[str, float]:
    """Attacks on the machine that succeed, as whoever calls and, for root, as a plain user too; in a further cage."""
    script = str(ATTACKS / "escapes.py")
    ways = {"caller": plain_user.caged([sys.executable, script])}
    if os.geteuid() == 0:
        ways["plain user"] = plain_user.as_user([sys.executable, script])
    escaped = 0
    for name, command in ways.items():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"the attacks as {name} could not be run: {done.stderr[-500:]}")
        found = json.loads(done.stdout.splitlines()[-1])
        print(f"as {name}: {len(escapes.CASES)} attacks; succeeded: {found}", file=sys.stderr)
        escaped += len(found)
    return {"escapes": escaped}


def soak() -> dict[str, float]:
    """A thousand jobs through one slot: right and wrong candidates, and 15 in 100 that cheat or attack."""
    task, rng = forgeries.task(), random.Random(0)
    hostile = [forgeries.state(task, changes) for changes in forgeries.FORGERIES.values()]
    named, called = "PORT, SECRET, DECOY = 9, '/etc/shadow', '/'\n", "\nattack = f\ndef f(x):\n    return attack() and None\n"
    hostile += [{**task.files, "m.py": f"{named}{text}{called}"} for text in escapes.ESCAPES.values()]
    wrong = 0
    with Verifier(cache=False) as verifier:
        verifier.verify(task, {**task.files, "m.py": forgeries.RIGHT}, "pytest")
        before = held(verifier)
        for number in range(1000):
            kind = rng.choices(("right", "wrong", "hostile"), (70, 15, 15))[0]
            source = f"{forgeries.RIGHT if kind == 'right' else forgeries.WRONG}# {number}\n"
            files = rng.choice(hostile) if kind == "hostile" else {**task.files, "m.py": source}
            outcome = verifier.verify(task, files, "pytest").outcome
            expected = {
                "right": outcome is Outcome.PASSED,
                "wrong": outcome is Outcome.FAILED,
                "hostile": outcome is not Outcome.PASSED,
            }
            wrong += not expected[kind]
            if number % 100 == 99:
                print(f"soak: {number + 1}/1000, {wrong} wrong", file=sys.stderr)
        after = held(verifier)
    leaks = sum(max(0, after[name] - before[name]) for name in ("processes", "mounts", "descriptors"))
    return {"soak_wrong": wrong, "soak_leaks": leaks, "soak_growth_mb": after["mb"] - before["mb"]}


def held(verifier: Verifier) -> dict[str, float]:
    """Processes below the sandbox's launchers, mounts that the first of them sees, our descriptors, resident megabytes of all."""
    assert isinstance(verifier.sandbox, LocalSandbox)
    tree, new = [os.getpid()], list(verifier.sandbox.pids.values())
    while new:
        tree += new
        new = [int(c) for pid in new for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in tree)
    return {
        "processes": len(tree), "mounts": len(Path(f"/proc/{tree[-1]}/mounts").read_text().splitlines()),
        "descriptors": len(os.listdir("/proc/self/fd")), "mb": pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
    }  # fmt: skip


def real(folder: Path | None) -> dict[str, float]:
    """Tests of real projects whose result in a warm worker is another than in a new interpreter."""
    different = 0
    for name, files, date in trees.newest(folder):
        place = environments.folder(in_time.environment(date, files))
        with LocalSandbox(size_mb=512) as sandbox:
            job = repos.whole_suite(files, place)
            warm, cold, again = (sandbox.run(replace(job, fresh_process=fresh)) for fresh in (False, True, True))
        one, other, third = (repos.results(output.records) for output in (warm, cold, again))
        # ids that hold a time or a random number are in one run alone, whatever it runs in
        passing = (other.keys() ^ third.keys()) | (one.keys() - other.keys() if other.keys() != third.keys() else set())
        wrong = sorted(id_ for id_ in (one.keys() | other.keys()) - passing if one.get(id_) != other.get(id_))
        passed = sum(phases.get("call") == "passed" for phases in other.values())
        ends = [f"cold because {warm.cold}" if warm.cold else "", f"over the {warm.limit} limit" if warm.limit else ""]
        ends += [f"ids that change: {sorted(passing)[:2]} and {len(passing) - 2} more" if passing else ""]
        said = f"{name}: {len(other)} tests, {passed} passed, {len(wrong)} different {wrong[:3]}"
        print(f"{said}; CPU {cold.cpu_s:.1f} s cold, {warm.cpu_s:.1f} s warm {' '.join(ends)}", file=sys.stderr)
        different += len(wrong) + (not other)
    return {"real_mismatches": different}


def user() -> dict[str, float]:
    """For root: ``small`` as a plain user, whose walls stand on a user namespace."""
    if os.geteuid() != 0:
        return {}
    command = plain_user.as_user([sys.executable, __file__, "--json", "--only", "warm_user_x"])
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


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


def agreement() -> dict[str, float]:
    """Candidates whose outcome in the ``calls`` form is another than in the ``pytest`` form: mutants of proven tasks, and fakes."""
    with tempfile.TemporaryDirectory() as folder:
        few = {"train_tasks": 90, "heldout_tasks": 1, "real_tasks": 1, "composed_functions": 120, "agreement_sample": 0}
        build.run(build.TasksConfig(**few, recombined_functions=20, workers=SLOTS), Path(folder))
        tasks = [task for task in load_tasks(Path(folder, "tasks.jsonl")) if task.split == "train"]
    rng = random.Random(0)
    pairs = [(task, mutant.files) for task in tasks for mutant in rng.sample(mutants(task), min(22, len(mutants(task))))][:1950]
    fake = forgeries.task()
    pairs += [(fake, forgeries.state(fake, changes)) for changes in forgeries.FORGERIES.values()]
    pairs += [(fake, {**fake.files, "m.py": f"{forgeries.RIGHT}# {n}\n"}) for n in range(2000 - len(pairs))]
    warm = Warm(Limits(pytest_cpu_s=1.0))  # mutants that hang would cost minutes
    found = [
        list(verify_many([Candidate(task, files, form) for task, files in pairs], warm.executor)) for form in ("calls", "pytest")
    ]
    warm.executor.close()
    different = [
        (task.id, one.outcome, other.outcome, other.reason)
        for (task, _), one, other in zip(pairs, *found, strict=True)
        if (one.outcome is Outcome.PASSED) != (other.outcome is Outcome.PASSED)
    ]
    passed = sum(verdict.outcome is Outcome.PASSED for verdict in found[1])
    print(f"{len(pairs)} candidates in both forms, {passed} passed; different: {different[:5]}", file=sys.stderr)
    return {"candidates_in_both_forms": len(pairs), "disagreements": len(different)}


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


PARTS: Mapping[str, Callable[[], dict[str, float]]] = {
    "small": small, "user": user, "heavy": heavy, "failfast": failfast, "calls": calls, "cache": cache, "isolation": isolation,
    "attacks": attacks, "fakes": fakes, "soak": soak, "agreement": agreement,
}  # fmt: skip
NAMES = {
    "small": ("warm_root_x", "warm_root_cpu_x") if os.geteuid() == 0 else ("warm_user_x", "warm_user_cpu_x"),
    "user": ("warm_user_x", "warm_user_cpu_x"), "heavy": ("heavy_x", "heavy_cpu_x"),
    "calls": ("calls_per_s",), "cache": ("cache_hits_per_s",), "failfast": ("failfast_cpu_x",), "isolation": ("isolation_ms",),
    "attacks": ("escapes",), "fakes": ("forgeries", "forgeries_in_process_missed"),
    "soak": ("soak_wrong", "soak_leaks", "soak_growth_mb"), "agreement": ("disagreements", "candidates_in_both_forms"),
}  # fmt: skip


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    parser.add_argument(
        "--only",
        choices=["real_mismatches", *sorted(name for names in NAMES.values() for name in names)],
        help="run what gives this figure",
    )
    parser.add_argument(
        "--repos",
        type=Path,
        metavar="DIR",
        help="clones, bare or not, whose own suites are run for real_mismatches; without it: source releases, downloaded",
    )
    options = parser.parse_args()
    found: dict[str, float] = {}
    if options.only in (None, "real_mismatches"):
        found |= real(options.repos)
    for part, run in PARTS.items():
        if options.only is None or options.only in NAMES[part]:
            found |= {name: round(value, 2) for name, value in run().items()}
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:20} {value:12.2f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
