"""Life and death of the worker; what happens where the walls cannot be built."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import plain_user
from swefuse.errors import ConfigError, SandboxError
from swefuse.sandbox import open_sandbox
from swefuse.sandbox.base import Job
from swefuse.sandbox.conformance import ask
from swefuse.sandbox.limits import marks
from swefuse.sandbox.local import LocalSandbox

SIX = "def f():\n    return 6\n"


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    with LocalSandbox() as made:
        yield made


def inner_pid(launcher: int) -> int:
    return int(Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()[0])


def has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(10_000))


@pytest.mark.parametrize("inner", [False, True])
def test_a_killed_worker_is_an_error_and_then_replaced(sandbox: LocalSandbox, inner: bool) -> None:
    assert ask(sandbox, SIX) == 6
    launcher = sandbox.pids["calls"]
    assert launcher is not None
    worker = inner_pid(launcher)
    watched = os.pidfd_open(worker)
    os.kill(worker if inner else launcher, signal.SIGKILL)
    assert has_ended(watched)
    os.close(watched)
    with pytest.raises(SandboxError, match="worker"):
        ask(sandbox, SIX)
    assert ask(sandbox, SIX) == 6
    assert sandbox.pids["calls"] != launcher


def test_a_worker_killed_during_a_job_is_an_error(sandbox: LocalSandbox) -> None:
    sandbox.start()
    launcher = sandbox.pids["calls"]
    assert launcher is not None
    killer = threading.Timer(0.2, os.kill, (launcher, signal.SIGKILL))
    killer.start()
    with pytest.raises(SandboxError):
        ask(sandbox, "import time\ndef f():\n    time.sleep(30)\n", wall_s=20.0)
    killer.join()


def test_close_ends_worker_and_everything_in_it(sandbox: LocalSandbox) -> None:
    sandbox.start()
    assert sandbox.pids
    watched = os.pidfd_open(inner_pid(sandbox.pids["calls"]))
    sandbox.close()
    assert has_ended(watched)
    os.close(watched)
    assert not sandbox.pids
    assert ask(sandbox, SIX) == 6


@pytest.mark.parametrize("forked", [False, True])
def test_a_killed_caller_leaves_nothing_behind(forked: bool) -> None:
    """Also when a forked child of the caller still holds our channel open."""
    script = "import os, sys\nfrom swefuse.sandbox.local import LocalSandbox\ns = LocalSandbox()\ns.start()\n"
    script += f"if {forked} and os.fork() == 0:\n    sys.stdin.read()\n    os._exit(0)\n"
    script += "print(s.pids['calls'], flush=True)\nsys.stdin.read()\n"
    caller = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with caller:
        assert caller.stdout is not None
        launcher = int(caller.stdout.readline())
        watched = [os.pidfd_open(launcher), os.pidfd_open(inner_pid(launcher))]
        caller.kill()
        assert all([has_ended(fd) for fd in watched])
    for fd in watched:
        os.close(fd)


def test_an_interrupted_job_does_not_answer_for_the_next(sandbox: LocalSandbox) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background starts programs that ignore it
    sandbox.start()
    interrupt = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        ask(sandbox, "import time\ndef f():\n    time.sleep(15)\n    return 5\n", wall_s=20.0)
    interrupt.join()
    signal.signal(signal.SIGINT, before)
    assert ask(sandbox, SIX) == 6


def test_worker_outlives_the_thread_that_started_it(sandbox: LocalSandbox) -> None:
    starter = threading.Thread(target=sandbox.start)
    starter.start()
    starter.join()
    launcher = sandbox.pids["calls"]
    assert ask(sandbox, SIX) == 6
    assert sandbox.pids["calls"] == launcher


def test_worker_is_replaced_after_its_share_of_jobs() -> None:
    with LocalSandbox(recycle=2) as sandbox:
        pids = []
        for _ in range(4):
            assert ask(sandbox, SIX) == 6
            pids.append(sandbox.pids["calls"])
    assert pids[0] == pids[1] != pids[2] == pids[3]


@pytest.mark.parametrize("path", ["../x.py", "/x.py", "a/../../x.py"])
def test_a_path_that_leaves_the_tree_is_refused(sandbox: LocalSandbox, path: str) -> None:
    with pytest.raises(SandboxError, match="leaves the work tree"):
        sandbox.run(Job("pytest", {path: ""}, tests=("x.py",)))


def test_what_goes_wrong_before_the_candidates_turn_is_not_its_fault(sandbox: LocalSandbox) -> None:
    """Too little memory to start pytest cold, or a limit that cannot be set: an error, not an output without results."""
    with pytest.raises(SandboxError, match="set up"):
        sandbox.run(Job("pytest", {"test_a.py": "def test_a(): pass\n", "iniconfig.py": ""}, tests=("test_a.py",), memory_mb=3))
    with pytest.raises(SandboxError, match="set up"):
        ask(sandbox, SIX, memory_mb=1 << 50)


def test_memory_of_all_processes_together_is_bounded(sandbox: LocalSandbox) -> None:
    hog = "import os, time\ndef test_a():\n    for _ in range(4):\n        if os.fork() == 0:\n"
    hog += "            data = bytearray(os.urandom(1)) * (60 << 20)\n            time.sleep(30)\n    time.sleep(30)\n"
    output = sandbox.run(Job("pytest", {"test_a.py": hog}, tests=("test_a.py",), cpu_s=10.0, wall_s=20.0, memory_mb=200))
    assert output.limit == "memory"
    assert output.wall_s < 15


def test_cpu_of_all_processes_together_is_bounded(sandbox: LocalSandbox) -> None:
    busy = "import os\ndef test_a():\n    os.fork(); os.fork()\n    while True: pass\n"
    output = sandbox.run(Job("pytest", {"test_a.py": busy}, tests=("test_a.py",), cpu_s=1.0, wall_s=30.0))
    assert output.limit == "cpu"
    assert output.cpu_s < 2.5


# installing the filter makes the namespaces unreachable, as on a machine that forbids them
WALLESS = """
import sys
from swefuse.errors import SandboxError
from swefuse.sandbox import jail, open_sandbox, seccomp
from swefuse.sandbox.conformance import limits_kill
jail.prctl(38, 1)
seccomp.install(jail.LIBC)
try:
    open_sandbox("local").start()
except SandboxError as error:
    print("refused" if "user namespaces" in str(error) else error)
with open_sandbox("local-weak") as sandbox:
    print(repr(limits_kill(sandbox)), sandbox.level in ("weak-landlock", "weak"), "unshare" in sandbox.lack)
"""


def test_without_walls_it_refuses_unless_asked_by_name() -> None:
    done = subprocess.run(plain_user.plainly([sys.executable, "-c", WALLESS]), capture_output=True, text=True)
    assert done.stdout.splitlines() == ["refused", "'' True True"], done.stderr


def test_names_are_looked_up_in_the_table_or_as_a_dotted_path() -> None:
    assert isinstance(open_sandbox("swefuse.sandbox.local:LocalSandbox"), LocalSandbox)
    with pytest.raises(ConfigError, match="did you mean 'local'"):
        open_sandbox("locl")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        open_sandbox("swefuse.sandbox.local:Nothing")


def test_a_candidate_is_not_slowed_by_the_jobs_before_it(sandbox: LocalSandbox) -> None:
    """What the worker leaves behind by a job is collected, and what a candidate inherits is frozen, out of its collector's way."""
    inherited = "import gc\ndef f(*_):\n    return gc.get_freeze_count()\n"
    tracked = "import gc\ndef f(*_):\n    return len(gc.get_objects())\n"
    counts = [ask(sandbox, inherited, f"([[{n}, [{n}]]], {n})") for n in range(300)]
    assert min(counts) > 1000, "the worker is frozen into the candidate"
    assert max(counts[60:]) < 1.05 * max(counts[:60]), "nothing piles up with age"
    own = {ask(sandbox, tracked, f"([[{n}, [{n}]]], -1)") for n in range(30)}
    assert len(own) == 1, "the candidate's collector walks what is its own, whatever was left since the worker last collected"


def test_sets_and_random_numbers_are_the_same_in_every_worker_and_form() -> None:
    source = "import random\ndef f():\n    return '-'.join({'a', 'b', 'c', 'd', 'e', 'f', 'g'}) + str(random.random())[2:]\n"
    test = "from m import f\ndef test_f():\n    assert f() == 0\n"
    found = set()
    for other in ({}, {"iniconfig.py": ""}):  # the second is run cold
        with LocalSandbox() as sandbox:
            calls = sandbox.run(Job("calls", {"m.py": source}, ("m.py",), "m.py:f", (("t", "()"),))).records
            record = json.loads(calls.split("\n")[0])
            job = Job("pytest", {"m.py": source, "test_m.py": test, **other}, tests=("test_m.py::test_f",), nonce="n", cpu_s=20)
            shown = sandbox.run(job).records
            found |= {record["value"], re.search(r"assert '([a-g0-9-]+)' == 0", shown)[1]}  # type: ignore[index]
    assert len(found) == 1


def test_what_the_worker_has_loaded_is_not_held_against_a_candidate(sandbox: LocalSandbox) -> None:
    output = sandbox.run(Job("pytest", {"test_a.py": "def test_a(): pass\n"}, tests=("test_a.py",), cpu_s=5.0, memory_mb=8))
    assert (output.limit, '"outcome": "passed"' in output.records) == ("", True)


@pytest.mark.parametrize(
    ("records", "kind", "limit", "length"),
    [
        (b"+", "pytest", "", 1), (b"+{", "pytest", "", 1), (b"+=+", "pytest", "", 3), (b"", "pytest", "", 0),
        (b"no", "pytest", "", 0),
        (b"+=", "pytest", "", 0), (b"+=", "pytest", "memory", 0), (b"+=", "pytest", "cpu", 2), (b"+={", "calls", "", 1),
    ],
)  # fmt: skip
def test_the_marks_tell_whose_turn_it_was(records: bytes, kind: str, limit: str, length: int) -> None:
    assert marks(records, kind, limit) == length


def test_a_candidate_that_writes_a_mark_of_ours_has_still_had_its_turn(sandbox: LocalSandbox) -> None:
    output = sandbox.run(Job("calls", {"m.py": 'import os\nos.write(3, b"=")\n'}, ("m.py",), "m.py:f", (("0", "()"),)))
    assert output.records.startswith("={")


def test_memory_cannot_be_taken_where_nobody_counts_it(sandbox: LocalSandbox) -> None:
    body = "import os\ndef f():\n    try: os.memfd_create('x')\n    except OSError as error: return error.errno\n"
    assert ask(sandbox, body) == 1
