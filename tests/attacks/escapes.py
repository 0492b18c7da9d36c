"""Attacks on the machine: ways out, ways to use it up, ways to stay. ``attempt(sandbox, name)`` says what succeeded.

Each payload defines ``f()``, tries for real and returns the names of what worked, so that an empty list means held. They are
bounded, touch loopback and decoys only, and those that kill, fork or allocate refuse to run where they could meet processes that
are not the sandbox's own. Where the machine is of value, run them in a further cage all the same, as ``plain_user.caged`` does.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swefuse.sandbox.base import Job, Output, Sandbox
from swefuse.sandbox.local import surroundings

# system calls that no test needs, by their number on x86_64 and on aarch64
_CALLS: Mapping[str, tuple[int, int]] = {
    "ptrace": (101, 117), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "unshare": (272, 97),
    "setns": (308, 268), "bpf": (321, 280),
    "perf_event_open": (298, 241), "io_uring_setup": (425, 425), "keyctl": (250, 219), "add_key": (248, 217),
    "userfaultfd": (323, 282), "process_vm_readv": (310, 270), "kexec_load": (246, 104), "init_module": (175, 105),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "move_mount": (429, 429), "fsopen": (430, 430),
    "swapon": (167, 224), "reboot": (169, 142), "settimeofday": (164, 170), "acct": (163, 89), "quotactl": (179, 60),
}  # fmt: skip
_SYSTEM_CALLS = (
    f"CALLS = {dict(_CALLS)!r}\n"
    + """
import ctypes, errno, platform
def f():
    libc, done = ctypes.CDLL(None, use_errno=True), []
    column = 0 if platform.machine() == "x86_64" else 1
    for name, numbers in CALLS.items():
        # a user namespace, a mount; the others get arguments that do nothing
        first = {"unshare": 0x10000000, "mount": b"none", "umount2": b"/tmp"}.get(name, 0)
        rest = (b"/tmp", b"tmpfs", 0, b"") if name == "mount" else (0, 0, 0, 0)
        ctypes.set_errno(0)
        result = libc.syscall(numbers[column], first, *rest)
        if result >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            done.append(name + " " + errno.errorcode.get(ctypes.get_errno(), "worked"))
    return done
"""
)
_PEERS = """
import os
assert sum(name.isdigit() for name in os.listdir("/proc")) < 6, "other processes can be seen from here"
"""

# pytest form: at most 64 processes, files on disk
ESCAPES: dict[str, str] = {
    "system calls": _SYSTEM_CALLS,
    "loopback, abstract and packet sockets": """
import socket
def f():
    done = []
    tries = [(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PORT)), (socket.AF_INET6, socket.SOCK_STREAM, ("::1", PORT)),
             (socket.AF_UNIX, socket.SOCK_STREAM, f"\\0swefuse-decoy-{PORT}"), (40, socket.SOCK_STREAM, None),
             (17, socket.SOCK_RAW, None), (16, socket.SOCK_RAW, None), (socket.AF_INET, socket.SOCK_RAW, None),
             (38, socket.SOCK_SEQPACKET, None)]
    for family, kind, address in tries:
        try:
            with socket.socket(family, kind) as s:
                s.settimeout(0.3)
                if address: s.connect(address)
                done.append([family, kind])
        except OSError:
            pass
    return done
""",
    "datagrams to the host": """
import socket
def f():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for host in ("127.0.0.1", "255.255.255.255", "224.0.0.1"):
        try:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            s.sendto(b"swefuse-decoy", (host, PORT))
        except OSError:
            pass
    return []
""",
    "reads of secrets": """
import os
def f():
    done = []
    for path in [SECRET, "/etc/shadow", "/etc/gshadow", "/root", "/home", "/var", "/run", "/boot", "/proc/1/environ", "/proc/1/mem",
                 "/proc/1/maps", "/proc/1/fd", "/proc/1/root/etc/passwd", "/proc/1/cwd/etc", "/proc/kcore", "/proc/kallsyms",
                 "/dev/mem", "/dev/sda", "/dev/vda", "/dev/kmsg", "/sys/kernel"]:
        try:
            found = os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(64)
            if isinstance(found, list):  # the interpreter may lie below, and nothing beside it may be shown
                found = [name for name in found if not any(f"{one}/".startswith(f"{path}/{name}/") for one in SHOWN)]
            if path == "/proc/kallsyms" and found.startswith(b"0" * 16):
                continue  # names without addresses
            if found and bytes(found if isinstance(found, bytes) else b"x").strip(b"\\0"):
                done.append(path)
        except OSError:
            pass
    return done
""",
    "environment of the caller": """
import os
def f():
    known = {"PATH", "HOME", "TMPDIR", "TZ", "PYTHONHASHSEED", "LC_ALL", "LC_CTYPE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
             "PYTHONDONTWRITEBYTECODE", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"}
    text = open("/proc/self/environ", "rb").read().decode()
    return sorted(set(os.environ) - known) + [name for name in ("SWEFUSE_DECOY",) if name in text]
""",
    "writes outside": """
import os, sys
def f():
    done = []
    for folder in ["/", "/etc", "/usr", "/usr/local/lib", "/bin", "/lib", "/dev", "/proc/sys/kernel", "/sys", "/mnt", "/opt",
                   "/srv", sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), *sys.path[2:], DECOY]:
        try:
            with open(folder + "/swefuse-attack", "w"): pass
            done.append(folder)
        except OSError:
            pass
    for path, text in (("/proc/sysrq-trigger", "h"), ("/proc/sys/kernel/core_pattern", "|/bin/true"),
                       ("/proc/1/oom_score_adj", "1000"), ("/proc/self/uid_map", "0 0 1")):
        try:
            with open(path, "w") as file: file.write(text)
            done.append(path)
        except OSError:
            pass
    return done
""",
    "links out of the work tree": """
import os
def f():
    done = []
    for make, name in ((os.symlink, "soft"), (os.link, "hard")):
        try:
            make(DECOY + "/secret", name)
            with open(name, "a") as file: file.write("attacked")
            done.append(name)
        except OSError:
            pass
    return done
""",
    "protected tests": """
import os, shutil
def f():
    done = []
    for act in (lambda: open("tests/test_m.py", "w"), lambda: os.unlink("tests/test_m.py"), lambda: os.rename("tests", "old"),
                lambda: os.chmod("tests/test_m.py", 0o777), lambda: os.replace("m.py", "tests/test_m.py"),
                lambda: shutil.rmtree("tests"), lambda: os.truncate("tests/test_m.py", 0), lambda: os.utime("tests/test_m.py")):
        try:
            act()
            done.append(act.__code__.co_names)
        except OSError:
            pass
    return done
""",
    "becoming root": """
import os
def f():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    done = [name for name in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd") if int(status[name], 16)]
    done += [] if status["NoNewPrivs"].strip() == "1" else ["NoNewPrivs"]
    # in a user namespace of its own user 0 is the caller outside, without any rights: becoming that is nothing
    tries = () if os.getuid() == 0 else (("setuid", lambda: os.setuid(0)), ("setgid", lambda: os.setgid(0)))
    for name, act in (*tries, ("setgroups", lambda: os.setgroups([0])),
                      ("chroot", lambda: os.chroot("/tmp")), ("mknod", lambda: os.mknod("null", 0o20666, os.makedev(1, 3))),
                      ("nice", lambda: os.nice(-5)), ("hostname", lambda: __import__("socket").sethostname("x")),
                      ("priority", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))):
        try:
            act()
            done.append(name)
        except OSError:
            pass
    return done
""",
    "raising its own limits": """
import resource
def f():
    done = []
    for name in ("RLIMIT_NPROC", "RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_CORE"):
        kind = getattr(resource, name)
        soft, hard = resource.getrlimit(kind)
        for value in (hard + 1, resource.RLIM_INFINITY):
            try:
                resource.setrlimit(kind, (value, value))
                done.append(name)
            except (OSError, ValueError):
                pass
    return done
""",
    "killing everybody": _PEERS + """
import os, signal
def f():
    done, me = [], os.getpid()
    for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        try: os.kill(1, number)
        except OSError: pass
    for pid in range(2, 4000):
        if pid != me and pid != os.getppid():
            try:
                os.kill(pid, 0)
                done.append(pid)
            except OSError: pass
    return done
""",
    "System V and POSIX leftovers": """
import ctypes
def f():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmget(0x5EFE, 4096, 0o1666), libc.semget(0x5EFE, 1, 0o1666), libc.msgget(0x5EFE, 0o1666)
    return []
""",
    "a daemon that stays": _PEERS + """
import os, time
def f():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 3)
            while True: time.sleep(0.2)
        os._exit(0)
    return []
""",
    "files that stay": """
import os, sys, tempfile
def f():
    for folder in {tempfile.gettempdir(), ".", os.environ["HOME"], "/dev/shm", "/var/tmp"}:
        try:
            os.makedirs(folder + "/stays/deep", exist_ok=True)
            open(folder + "/stays/deep/file", "w").close()
            os.chmod(folder + "/stays", 0)
        except OSError: pass
    return []
""",
    "changing the worker's modules": """
import json, os, pytest, ast
def f():
    ast.literal_eval = json.dumps = os.fork = pytest.main = lambda *a, **k: None
    os.environ["SWEFUSE_STAYS"] = "1"
    return []
""",
}  # fmt: skip

# what uses the machine up: held when the job ends promptly, within its bounds, and is not passed off as a result
DRAINS: dict[str, str] = {
    "fork bomb": _PEERS + "import os\ndef f():\n    while True:\n        try: os.fork()\n        except OSError: pass\n",
    "busy for ever": "def f():\n    while True: pass\n",
    "busy and deaf": (
        "import signal\ndef f():\n    for n in (1, 2, 14, 15, 24, 26, 27): signal.signal(n, signal.SIG_IGN)\n    while True: pass\n"
    ),
    "asleep for ever": "import time\ndef f():\n    while True: time.sleep(9)\n",
    "one large allocation": _PEERS + "def f():\n    x = bytearray(10 << 30)\n    x[::4096] = b'x' * len(x[::4096])\n",
    "allocations in twelve children": _PEERS + (
        "import os, time\ndef f():\n    for _ in range(12):\n        if os.fork() == 0:\n"
        "            x = [bytearray(b'x') * (50 << 20) for _ in range(14)]\n            time.sleep(60)\n            os._exit(0)\n"
        "    time.sleep(60)\n"
    ),
    "a full disk": "def f():\n    n = 0\n    while True:\n        n += 1\n        open(f'f{n}', 'wb').write(b'x' * (8 << 20))\n",
    "many files": "def f():\n    n = 0\n    while True:\n        n += 1\n        open(f'n{n}', 'w').close()\n",
    "a gigabyte of output": "import os\ndef f():\n    for _ in range(16384): os.write(1, b'x' * 65536)\n",
    "a gigabyte of records": "import os\ndef f():\n    for _ in range(16384): os.write(3, b'x' * 65536)\n",
    "an archive that swells": (
        "import zlib\ndef f():\n    small = zlib.compress(b'0' * (64 << 20))\n"
        "    open('big', 'wb').write(b''.join(zlib.decompress(small) for _ in range(40)))\n"
    ),
    "endless recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    return max([1], key=lambda x: f())\n",
    "descriptors": "import os\nheld = []\ndef f():\n    while True: held.append(os.open('/dev/null', 0))\n",
    "threads": "import threading, time\ndef f():\n    while True: threading.Thread(target=time.sleep, args=(60,)).start()\n",
}  # fmt: skip
CASES = (*ESCAPES, *DRAINS)
HONEST = "def f():\n    return []\n"
TEST = "from m import f\n\n\ndef test_f():\n    assert f() == []\n"
CPU_S, WALL_S, LATE_S = 3.0, 6.0, 6.0


@contextmanager
def _decoys() -> Iterator[tuple[dict[str, Any], Callable[[], list[str]]]]:
    """Names for the payloads, and what was done to what they stand for."""
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        os.chmod(folder, 0o777)
        secret = Path(folder, "secret")
        secret.write_text("secret")
        secret.chmod(0o666)
        port = server.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        abstract.bind(f"\0swefuse-decoy-{port}")  # another run beside this one has its own
        abstract.listen()
        for one in (server, datagrams, abstract):
            one.setblocking(False)

        def harm() -> list[str]:
            found = [] if os.listdir(folder) == ["secret"] else ["wrote into a folder of the host"]
            found += [] if secret.read_text() == "secret" else ["changed a file of the host"]
            for name, receive in (
                ("tcp", lambda: server.accept()[0].close()),
                ("unix", lambda: abstract.accept()[0].close()),
                ("udp", lambda: datagrams.recv(64)),
            ):
                try:
                    receive()
                    found.append(f"reached a listener of the host by {name}")
                except BlockingIOError:
                    pass
            return found

        yield {"PORT": port, "SECRET": str(secret), "DECOY": folder, "SHOWN": surroundings()["roots"]}, harm


def run(sandbox: Sandbox, source: str, **limits: Any) -> tuple[Output, str]:
    """One job in the pytest form; the output, and the outcome of its test's call phase with what it says."""
    files = {"m.py": source, "tests/test_m.py": TEST}
    bounds = {"cpu_s": CPU_S, "wall_s": WALL_S, "memory_mb": 1024, **limits}
    output = sandbox.run(Job("pytest", files, tests=("tests/test_m.py",), protected=("tests/test_m.py",), nonce="n", **bounds))
    outcome = "nothing"
    for line in output.records.split("\n")[:-1]:
        try:
            record = json.loads(line)
        except ValueError:
            return output, "no record"
        if isinstance(record, dict) and record.get("when") == "call":
            outcome = f"{record['outcome']} {record['detail']}".strip()
    return output, outcome


def attempt(sandbox: Sandbox, name: str) -> str:
    """Run one attack, then an honest candidate; returns what succeeded or was damaged, or an empty text."""
    with _decoys() as (names, harm):
        source = "".join(f"{key} = {value!r}\n" for key, value in names.items()) + (ESCAPES.get(name) or DRAINS[name])
        started = time.monotonic()
        output, outcome = run(sandbox, source)
        problems = harm()
        if time.monotonic() - started > WALL_S + LATE_S:
            problems.append(f"took {time.monotonic() - started:.0f} s")
        if output.cpu_s > 2 * CPU_S + 1:
            problems.append(f"used {output.cpu_s:.0f} s of CPU")
        if name in ESCAPES and outcome != "passed":
            problems.append(f"{outcome or output.limit or 'ended'} {output.limit}".strip()[:300])
        if name in DRAINS and outcome == "passed":
            problems.append("ran to its end")
        problems += _left(sandbox)
    return "; ".join(problems)


_LOOK = """
import ctypes, os, tempfile
def f():
    left = [p for p in os.listdir("/proc") if p.isdigit() and p not in ("1", str(os.getpid()))] if WALLS else []
    left += [n for n in os.listdir(tempfile.gettempdir()) + os.listdir(".") if n == "stays" or n.startswith(("f1", "n1"))]
    left += [n for n in os.environ if n == "SWEFUSE_STAYS"]
    libc = ctypes.CDLL(None)
    kept = ("shm", libc.shmget(0x5EFE, 0, 0)), ("sem", libc.semget(0x5EFE, 0, 0)), ("msg", libc.msgget(0x5EFE, 0))
    left += [n for n, found in kept if found >= 0]
    return left
"""


def _left(sandbox: Sandbox) -> list[str]:
    """What the next candidate finds of the one before, and whether it is judged as it should be."""
    _, looked = run(sandbox, f"WALLS = {'weak' not in sandbox.identity}\n{_LOOK}")
    found = [] if looked == "passed" else [f"left behind: {looked}"[:300]]
    _, honest = run(sandbox, HONEST)
    return found if honest == "passed" else [*found, f"the next honest candidate: {honest}"[:300]]


def main() -> None:
    """``python tests/attacks/escapes.py``: all of them as the user that calls, one JSON object of what succeeded."""
    from swefuse.sandbox.local import LocalSandbox

    os.environ["SWEFUSE_DECOY"] = "of the caller"
    with LocalSandbox() as sandbox:
        found = {name: attempt(sandbox, name) for name in CASES}
    print(json.dumps({name: problem for name, problem in found.items() if problem}))
    sys.exit(any(found.values()))


if __name__ == "__main__":
    main()
