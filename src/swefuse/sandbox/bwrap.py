"""A cold sandbox with walls that somebody else builds: bubblewrap. A new process for each job, many times slower than a warm one.

For tasks that must not meet a warm worker, and to check the built-in walls against. Linux with ``bwrap`` 0.5 or later; as root the
candidate runs as another user, as a plain user in a user namespace.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Self

from swefuse.errors import SandboxError
from swefuse.sandbox import environments, jail
from swefuse.sandbox.base import Job, Limit, Output
from swefuse.sandbox.image import images
from swefuse.sandbox.limits import RECORD_CAP, TEXT_CAP, marks, proportional, tree, usage
from swefuse.sandbox.local import environment, message, surroundings

REMEDY = "install bubblewrap (Debian and Ubuntu: apt install bubblewrap), or use the sandbox 'local'"
_HERE = Path(__file__).resolve().parent
_GRACE_S = 20.0  # until the candidate's turn has come


@dataclass
class _Taken:
    """What has come out of a process so far. ``base``: CPU seconds that were used when the candidate's turn came."""

    records: bytearray = field(default_factory=bytearray)
    text: bytearray = field(default_factory=bytearray)
    base: float | None = None


class BwrapSandbox:
    """Runs each job in a new interpreter behind bubblewrap. ``size_mb``: room for everything a job may write."""

    def __init__(self, size_mb: int = 128) -> None:
        found = shutil.which("bwrap")
        if found is None:
            raise SandboxError(f"the sandbox 'bwrap' needs the program bwrap: {REMEDY}")
        self._program, self._size_mb = found, size_mb
        self._root = jail.has_admin()
        self._uid = 20000 + os.getpid() % 40000

    @property
    def identity(self) -> str:
        """``bwrap-cold-python3.11.7``."""
        return f"bwrap-cold-python{platform.python_version()}"

    def run(self, job: Job) -> Output:
        """Run one job. Raises SandboxError when the candidate's turn never came."""
        if job.environment.startswith(environments.IMAGE):
            return images().run(job)
        started = time.monotonic()
        with _protected(job) as files:
            records = os.pipe()
            process = subprocess.Popen(  # noqa: S603 - our own program
                [self._program, *self._arguments(job, files), "--", *self._inside(records[1], job.environment)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={}, cwd="/", start_new_session=True,
                pass_fds=[*files.values(), records[1]],
            )  # fmt: skip
            os.close(records[1])
            assert process.stdin is not None and process.stdout is not None
            taken = _Taken()
            try:
                self._send(process.stdin, job)
                limit, used = _supervise(process, records[0], taken, job)
            finally:
                process.kill()
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                _drain(records[0], taken.records, RECORD_CAP)
                os.close(records[0])
                process.stdout.close()
        return self._output(job.kind, taken, limit, used, time.monotonic() - started)

    def close(self) -> None:
        """Nothing stays between jobs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _output(self, kind: str, taken: _Taken, limit: Limit, used: float, wall_s: float) -> Output:
        blob = bytes(taken.records[:RECORD_CAP])
        begin = marks(blob, kind, limit)
        if not begin:
            cause = blob.lstrip(b"+=").decode("utf-8", "replace") or taken.text.decode("utf-8", "replace").strip() or "it died"
            raise SandboxError(f"bubblewrap did not run a job: {cause[-500:]}")
        text = taken.text[-TEXT_CAP:].decode("utf-8", "replace")
        records = blob[begin:].decode("utf-8", "replace")
        return Output(records, limit, max(0.0, used - (taken.base or 0.0)), wall_s, text, "bubblewrap starts a new process")

    def _send(self, stream: IO[bytes], job: Job) -> None:
        own = {"size_mb": self._size_mb, "own_processes": 0 if self._root else 1000}
        with contextlib.suppress(BrokenPipeError), stream:
            stream.write(json.dumps({**message(job), **own}).encode("ascii"))

    def _arguments(self, job: Job, files: dict[str, int]) -> list[str]:
        """The walls: own namespaces, a read-only root of the same folders as ``local`` shows, a sized work tree."""
        box, folder, sized = jail.BOX, f"{jail.BOX}/repo", ["--perms", "1777", "--size", str(self._size_mb << 20), "--tmpfs"]
        made = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"]
        made += ["--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"]
        if self._root:
            made += [part for name in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP") for part in ("--cap-add", name)]
        else:
            made += ["--unshare-user"]
        roots = [*surroundings(job.environment)["roots"], str(_HERE.parent)]
        for parent in sorted({str(one) for path in roots for one in Path(path).parents if str(one) != "/"}):
            made += ["--perms", "0755", "--dir", parent]  # by itself it makes them for root's eyes alone
        for path in roots:
            if os.path.islink(path) and path.count("/") == 1:
                made += ["--symlink", os.readlink(path), path]
            elif os.path.exists(path):
                made += ["--ro-bind", os.path.realpath(path), path]
        home = f"{box}/tmp"  # noqa: S108 - inside
        made += ["--proc", "/proc", "--dev", "/dev", *sized, "/dev/shm"]  # noqa: S108 - inside
        made += ["--perms", "0755", "--dir", box, *sized, home, *sized, folder]
        above = {str(parent) for path in files for parent in Path(path).parents if str(parent) != "."}
        for name in sorted(above):  # mount points, which nobody inside can rename
            made += [*sized, f"{folder}/{name}"]
        for name, fd in files.items():
            made += ["--perms", "0444", "--ro-bind-data", str(fd), f"{folder}/{name}"]
        if not any(path.startswith("/tmp/") for path in roots):  # noqa: S108 - else an interpreter lives there
            made += ["--symlink", home, "/tmp"]  # noqa: S108 - inside
        made += ["--remount-ro", "/", "--clearenv", "--chdir", folder]
        for name, value in environment(box).items():
            made += ["--setenv", name, value]
        return made

    def _inside(self, records: int, environment: str) -> list[str]:
        """What bubblewrap starts: the runner, for root as a user without rights."""
        around = surroundings(environment)
        python = [sys.executable, "-P", "-s", "-S", "-B", str(_HERE / "cold.py")]
        run = [*python, str(_HERE.parents[1]), os.pathsep.join(around["site"]), jail.BOX, str(records)]
        run.append(around["python"] if around["foreign"] else "")
        if not self._root:
            return run
        become = (
            f"setpriv --reuid {self._uid} --regid {self._uid} --clear-groups --inh-caps -all --bounding-set -all --no-new-privs --"
        )
        return [*become.split(), *run]


@contextlib.contextmanager
def _protected(job: Job) -> Iterator[dict[str, int]]:
    """Descriptors from which bubblewrap reads the protected files."""
    with contextlib.ExitStack() as stack:
        found = {}
        for path in job.protected if job.kind == "pytest" else ():
            if path in job.files and os.path.normpath(path) == path and not path.startswith(("/", "..")):
                file = stack.enter_context(tempfile.TemporaryFile())
                file.write(job.files[path].encode("utf-8", "surrogateescape"))
                file.seek(0)
                found[path] = file.fileno()
        yield found


def _turn(records: bytearray, kind: str) -> bool:
    """Whether the candidate's turn has come: what is used before that is not held against it."""
    return marks(bytes(records[:3]), kind) == 3 or (records[:1] == b"+" and (kind == "calls" or records[1:2] == b"{"))


def _supervise(process: subprocess.Popen[bytes], records: int, taken: _Taken, job: Job) -> tuple[Limit, float]:
    """Collect what comes until the process has ended or a limit is met; the limit and the CPU seconds used."""
    assert process.stdout is not None
    started, begun, used = time.monotonic(), 0.0, 0.0
    pids = partial(tree, process.pid)
    poll = select.poll()
    child = os.pidfd_open(process.pid)
    streams = {records: taken.records, process.stdout.fileno(): taken.text}
    for fd in (*streams, child):
        poll.register(fd, select.POLLIN)
    try:
        while True:
            for fd, _ in poll.poll(20):
                if fd == child:
                    return "", max(used, usage(pids())[0])
                part = os.read(fd, 1 << 16)
                streams[fd] += part
                if not part:
                    poll.unregister(fd)
            del taken.text[: max(0, len(taken.text) - 2 * TEXT_CAP)]
            now, resident = usage(pids())
            used = max(used, now)
            if taken.base is None and _turn(taken.records, job.kind):
                taken.base, begun = used, time.monotonic()
            if len(taken.records) > RECORD_CAP:
                return "output", used
            if taken.base is None:
                if time.monotonic() - started > _GRACE_S:
                    return "wall", used
            elif used - taken.base >= job.cpu_s:
                return "cpu", used
            elif time.monotonic() >= (late := begun + job.wall_limit):
                return "wall", used
            elif (
                resident > job.memory_mb
                and job.kind == "pytest"
                and proportional(pids, taken.base + job.cpu_s, late) > job.memory_mb
            ):
                return "memory", used
    finally:
        os.close(child)


def _drain(fd: int, data: bytearray, most: int) -> None:
    os.set_blocking(fd, False)
    with contextlib.suppress(BlockingIOError):
        while len(data) <= most and (part := os.read(fd, 1 << 16)):
            data += part
