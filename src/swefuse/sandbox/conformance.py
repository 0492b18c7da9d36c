"""What any sandbox must do, as checks that anyone can run against theirs: ``failures(MySandbox())`` must be empty.

A check returns an empty text when it holds, else what went wrong. ``SAFETY`` holds those about isolation, ``SERVICE`` the others.
The candidates below attack for real, within bounds that spare the machine when an attack succeeds.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swefuse.sandbox.base import Job, Output, Sandbox
from swefuse.sandbox.values import decode

Check = Callable[[Sandbox], str]
ALLOWED_ENVIRONMENT = frozenset(
    {"PATH", "HOME", "TMPDIR", "TZ", "PYTHONHASHSEED", "LC_ALL", "LC_CTYPE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    | {"PYTHONDONTWRITEBYTECODE", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
)
_DEAF = """
import signal, time
def f(busy):
    for number in (2, 14, 15, 26, 27):
        signal.signal(number, signal.SIG_IGN)
    while True:
        busy or time.sleep(9)
"""
_SABOTAGE = """
import os
def f():
    target, done = "tests/test_a.py", []
    attacks = [(open, target, "w"), (os.unlink, target), (os.chmod, target, 511), (os.rename, target, "x")]
    for act, *args in [*attacks, (os.rename, "tests", "y")]:
        try:
            act(*args)
            done.append(act.__name__)
        except OSError:
            pass
    open("own.txt", "w").close()
    open("tests/new.txt", "w").close()
    return done
"""
_CONNECT = """
import socket
def f(port):
    done = []
    for act, *args in (socket.create_connection, ("127.0.0.1", port), 0.2), (socket.socket, 40, socket.SOCK_STREAM):
        try:
            act(*args).close()
            done.append(act.__name__)
        except OSError:
            pass
    return done
"""
_READ = """
import os
def f(paths):
    seen = []
    for path in paths:
        try:
            os.listdir(path) if os.path.isdir(path) else open(path).close()
            seen.append(path)
        except OSError:
            pass
    try:
        return seen + [name for name in os.listdir("/") if os.path.exists("/" + name + paths[0])]
    except OSError:
        return seen
"""
_WRITE = """
import os
def f(folders):
    done = []
    for folder in folders:
        try:
            open(folder + "/swefuse-probe", "w").close()
            os.unlink(folder + "/swefuse-probe")
            done.append(folder)
        except OSError:
            pass
    return done
"""
_FORK = """
import os, time
def f():
    n = 0
    for _ in range(200):
        try:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            n += 1
        except OSError:
            pass
    return n <= 64
"""
_LITTER = """
import os, tempfile
def f():
    folder = tempfile.mkdtemp()
    open(folder + "/x", "w").close()
    os.chmod(folder, 0)
    open("y", "w").close()
"""


def ask(sandbox: Sandbox, body: str, args: str = "()", **limits: Any) -> Any:
    """Value that ``body`` (which defines ``f``) returns for one call, or the record or limit in its place."""
    output = sandbox.run(Job("calls", {"attack.py": body}, ("attack.py",), "attack.py:f", (("0", args),), **limits))
    records = read(output)
    if output.limit or not records:
        return {"limit": output.limit, "records": records}
    return decode(records[0]["value"]) if "value" in records[0] else records[0]


def read(output: Output) -> list[dict[str, Any]]:
    """The whole records of an output."""
    return [json.loads(line) for line in output.records.split("\n")[:-1]]


def run_pytest(sandbox: Sandbox, files: dict[str, str], tests: tuple[str, ...], protected: tuple[str, ...] = ()) -> dict[str, str]:
    """Outcome of every test's call phase."""
    output = sandbox.run(Job("pytest", files, tests=tests, protected=protected, nonce="n", cpu_s=20.0))
    return {record["id"]: record["outcome"] for record in read(output) if record.get("when") == "call"}


def expect(name: str, got: Any, want: Any) -> str:
    """Empty if equal, else a sentence."""
    return "" if got == want else f"{name}: got {got!r:.300}, expected {want!r:.100}"


def values_come_back(sandbox: Sandbox) -> str:
    """Every type that has a literal survives the way out."""
    plain: list[Any] = [None, True, -3, 10**30, 1.5, float("inf"), "é\ud800\0", b"\xff"]
    value = [*plain, (), (1,), [[]], {}, {(1, "a"): [2]}, set(), {3, 1}]
    return expect("values", ask(sandbox, f"def f():\n    inf = 1e999\n    return {value!r}\n"), value)


def records_are_in_order(sandbox: Sandbox) -> str:
    """One record per call, in order, then the end; an exception is a record with its class names; odd values are marked."""
    body = "class L(list): pass\ndef f(x):\n    return L() if x == 2 else [1, 2][x]\n"
    calls = (("a", "(0,)"), ("b", "(5,)"), ("c", "(2,)"))
    records = read(sandbox.run(Job("calls", {"m.py": body}, ("m.py",), "m.py:f", calls)))
    shown = [record.get("id", "end") + "".join(sorted(record.keys() & {"value", "error", "odd"})) for record in records]
    return expect("records", shown, ["avalue", "berror", "codd", "end"]) or expect("class", records[1]["error"][0], "IndexError")


def arguments_are_fresh(sandbox: Sandbox) -> str:
    """A call that changes its arguments does not change those of another call."""
    calls = (("a", "([],)"), ("b", "([],)"))
    body = "def f(x):\n    x.append(1)\n    return x\n"
    records = read(sandbox.run(Job("calls", {"m.py": body}, (), "m.py:f", calls)))
    return expect("values", [record.get("value") for record in records], [[1], [1], None])


def unparsable_files_are_reported(sandbox: Sandbox) -> str:
    """A file that does not compile gives one record and nothing else, in both forms."""
    files, parse = {"m.py": "def f(:"}, ("m.py",)
    for job in (Job("calls", files, parse, "m.py:f"), Job("pytest", files, parse, tests=("m.py",))):
        records = read(sandbox.run(job))
        if [record.get("unparsed") for record in records] != ["m.py"]:
            return f"{job.kind}: {records!r:.300}"
    return ""


def vanishing_leaves_no_end(sandbox: Sandbox) -> str:
    """``os._exit`` leaves the records before it and no end."""
    body = "import os\ndef f(x):\n    if x: os._exit(0)\n    return x\n"
    records = read(sandbox.run(Job("calls", {"m.py": body}, (), "m.py:f", (("a", "(0,)"), ("b", "(1,)")))))
    return expect("records", [record.get("id", "end") for record in records], ["a"])


def limits_kill(sandbox: Sandbox) -> str:
    """A busy loop that ignores signals dies of its CPU limit, a sleeper of the wall limit, both promptly."""
    for busy, limit, wall_s in ((True, "cpu", 10.0), (False, "wall", 0.3)):
        job = Job("calls", {"m.py": _DEAF}, (), "m.py:f", (("0", f"({busy},)"),), cpu_s=0.1, wall_s=wall_s)
        output = sandbox.run(job)
        if output.limit != limit or max(output.cpu_s, output.wall_s - wall_s) > 1.0:
            return f"limit {output.limit!r} after {output.cpu_s:.1f} s of CPU, {output.wall_s:.1f} s elapsed; expected {limit!r}"
    return ""


def protected_files_stay(sandbox: Sandbox) -> str:
    """A protected test file cannot be rewritten, removed, renamed, nor swapped with its folder; other files can be written."""
    files = {"a.py": _SABOTAGE, "tests/test_a.py": "from a import f\ndef test_a():\n    assert f() == []\n"}
    got = run_pytest(sandbox, files, ("tests/test_a.py",), ("tests/test_a.py",))
    return expect("tests", got, {"tests/test_a.py::test_a": "passed"})


def no_network(sandbox: Sandbox) -> str:
    """No way to a listener on the host's loopback, nor to a socket of the hypervisor."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return expect("network", ask(sandbox, _CONNECT, f"({server.getsockname()[1]},)", cpu_s=1.0), [])


def no_host_files(sandbox: Sandbox) -> str:
    """Files that anybody on the host may read are not there, nor the system's, nor another process's memory."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - readable on purpose
        secret = Path(folder, "secret")
        secret.write_text("secret")
        paths = [
            str(secret),
            "/etc/shadow",
            "/etc/hostname",
            "/var/log",
            "/sys",
            "/proc/1/environ",
            "/proc/1/mem",
            "/proc/1/root/etc",
        ]
        return expect("readable", ask(sandbox, _READ, f"({paths!r},)"), [])


def no_write_outside(sandbox: Sandbox) -> str:
    """Nothing outside the box can be written: not the root, the system, the interpreter or the modules that judge."""
    folders = ["/", "/usr/lib", "/etc", "/dev", sys.prefix, sys.base_prefix, str(Path(__file__).parent)]
    return expect("writable", ask(sandbox, _WRITE, f"({folders!r},)"), [])


def forks_are_bounded(sandbox: Sandbox) -> str:
    """At most 64 of 200 attempts to fork succeed, and the children, which would sleep for a minute, are ended, not waited for."""
    started = time.monotonic()
    files = {"a.py": _FORK, "test_a.py": "from a import f\ndef test_a():\n    assert f()\n"}
    alive = "import os\ndef f():\n    try: return len([p for p in os.listdir('/proc') if p.isdigit()]) <= 2\n"
    alive += "    except PermissionError: return True\n"
    return (
        expect("calls", ask(sandbox, _FORK, cpu_s=2.0), True)
        or expect("pytest", run_pytest(sandbox, files, ("test_a.py",)), {"test_a.py::test_a": "passed"})
        or expect("alone", ask(sandbox, alive), True)  # but for the worker
        or expect("prompt", time.monotonic() - started < 30, True)
    )


def memory_is_bounded(sandbox: Sandbox) -> str:
    """An allocation beyond the limit fails inside the candidate."""
    body = "def f():\n    try: len(bytearray(2 << 30))\n    except MemoryError: return 'refused'\n    return 'granted'\n"
    return expect("2 GB", ask(sandbox, body, cpu_s=2.0), "refused")


def environment_is_clean(sandbox: Sandbox) -> str:
    """Nothing of the caller's environment is visible."""
    seen = ask(sandbox, "import os\ndef f():\n    return sorted(os.environ)\n")
    return expect("variables", sorted(set(seen) - ALLOWED_ENVIRONMENT) if isinstance(seen, list) else seen, [])


def jobs_leave_nothing(sandbox: Sandbox) -> str:
    """Files of one job, also in a folder without rights, are gone in the next."""
    look = "import os, tempfile\ndef f():\n    return os.listdir(tempfile.gettempdir()) + os.listdir('.')\n"
    return expect("writing", ask(sandbox, _LITTER), None) or expect("left", ask(sandbox, look), [])


SERVICE: tuple[Check, ...] = (
    values_come_back, records_are_in_order, arguments_are_fresh, unparsable_files_are_reported, vanishing_leaves_no_end,
)  # fmt: skip
SAFETY: tuple[Check, ...] = (
    limits_kill, forks_are_bounded, memory_is_bounded, environment_is_clean, jobs_leave_nothing, no_network, no_host_files,
    no_write_outside, protected_files_stay,
)  # fmt: skip


def failures(sandbox: Sandbox, checks: tuple[Check, ...] = SERVICE + SAFETY) -> dict[str, str]:
    """Run checks; maps the names of those that do not hold to what went wrong."""
    found = {check.__name__: check(sandbox) for check in checks}
    return {name: problem for name, problem in found.items() if problem}
