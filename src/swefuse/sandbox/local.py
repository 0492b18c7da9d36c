"""The built-in sandbox: Linux namespaces and a warm worker, no daemon, no container image, no root needed.

One ``LocalSandbox`` is one slot: it runs one job at a time (a lock holds that), in a worker for its kind of job that starts with
the first one.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import site
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

from swefuse.errors import SandboxError
from swefuse.sandbox import environments, jail, pythons, wire
from swefuse.sandbox.base import Job, Output
from swefuse.sandbox.sweep import sweep

BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from swefuse.sandbox.jail import main; main(sys.argv[2])"
_HERE = Path(__file__).resolve().parent
PACKAGE_ROOT = str(_HERE.parents[1])
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_GRACE_S = 20.0
MOST_WORKERS = 4  # of one slot: one for each form, and for the environments used last
# all that a candidate finds in its environment, beside HOME and TMPDIR
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "TZ": "UTC", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}  # fmt: skip
REMEDY = (
    "Isolation needs Linux 5.12 or later on x86_64 or aarch64 and either root or unprivileged user namespaces "
    "(sysctl kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu; in a container: --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined). To run without isolation, and only code that you trust, allow a weak sandbox explicitly."
)


Walls = Literal["namespaces", "landlock", "none"]  # from strong to weak
_LEVELS: dict[Walls, str] = {"namespaces": "full", "landlock": "weak-landlock", "none": "weak"}


def weak_sandbox() -> LocalSandbox:
    """A sandbox with the best walls that can be had, which may be none, for whoever asks for it by name."""
    return LocalSandbox(walls=("namespaces", "landlock", "none"))


def landlock_sandbox() -> LocalSandbox:
    """A sandbox without namespaces: Landlock, a system call filter, limits and, as root, another user. Weak."""
    return LocalSandbox(walls=("landlock",))


@dataclass(slots=True)
class _Worker:
    """A launcher with its worker inside, and the channel to it. ``stop`` ends both; also called when the sandbox is forgotten."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    stop: weakref.finalize[Any, Any]
    jobs: int = 0


class LocalSandbox:
    """Runs jobs behind walls of this machine's kernel, in one warm worker for each kind of job.

    ``walls``: those that may be used; where the first cannot be built the next are tried, and SandboxError is raised after the
    last. ``recycle``: jobs after which a worker is replaced. ``size_mb``: room for everything a job may write.
    """

    def __init__(self, walls: Sequence[Walls] = ("namespaces",), recycle: int = 5000, size_mb: int = 128) -> None:
        self._walls, self._recycle, self._size_mb = tuple(walls), recycle, size_mb
        self._lock = threading.Lock()
        self._workers: dict[str, _Worker] = {}
        self.level = _LEVELS[self._walls[0]]
        self.lack = ""

    @property
    def identity(self) -> str:
        """``local-full-python3.11.7``; the level is known once the first job has run."""
        return f"local-{self.level}-python{platform.python_version()}"

    @property
    def remedy(self) -> str:
        """What to do where it cannot be started."""
        return REMEDY

    @property
    def pids(self) -> dict[str, int]:
        """Process id of the launcher of each worker. Killing it ends the worker and all that it runs."""
        return {kind: worker.process.pid for kind, worker in self._workers.items()}

    def start(self, kind: str = "calls") -> None:
        """Start the worker for a kind of job if there is none; the first job does it by itself. Raises SandboxError."""
        with self._lock:
            self._ready(kind, "")

    def run(self, job: Job) -> Output:
        """Run one job. Raises SandboxError when there is no result; the next job then gets a new worker."""
        if job.environment.startswith(environments.IMAGE):
            from swefuse.sandbox.image import images  # which stands on this module

            return images().run(job)
        if job.kind == "pytest" and find_spec("pytest") is None:
            raise SandboxError("a task's tests are in pytest form and pytest is not installed: pip install pytest")
        with self._lock:
            worker, name = self._ready(job.kind, job.environment), job.kind + job.environment
            try:
                worker.channel.settimeout(job.wall_limit + _GRACE_S)
                wire.send(worker.channel, message(job))
                reply = wire.receive(worker.channel)
            except (OSError, ValueError) as error:
                self._end(name)
                raise SandboxError(f"the sandbox worker broke down during a job: {type(error).__name__}: {error}") from error
            except BaseException:
                self._end(name)  # an answer may still be on its way: this channel is no longer in step
                raise
            worker.jobs += 1
            if reply is None or "refused" in reply:
                self._end(name)
                cause = reply["refused"] if reply else "it was killed or ran out of memory"
                raise SandboxError(f"the sandbox worker did not run a job: {cause}")
            return Output(**reply)

    def close(self) -> None:
        """End the workers and everything in them."""
        with self._lock:
            for kind in list(self._workers):
                self._end(kind)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _end(self, kind: str) -> None:
        if kind in self._workers:
            self._workers.pop(kind).stop()

    def _ready(self, kind: str, environment: str) -> _Worker:
        name = kind + environment
        worker = self._workers.pop(name, None)
        if worker is not None and worker.jobs < self._recycle:
            self._workers[name] = worker  # the last one is the one used last
            return worker
        if worker is not None:
            worker.stop()
        while len(self._workers) >= MOST_WORKERS:
            self._end(next(iter(self._workers)))
        lacks = []
        for walls in self._walls:
            try:
                worker = self._launch(kind, environment, walls)
            except SandboxError as error:
                lacks.append(str(error))
                continue
            self.level, self.lack = _LEVELS[walls], "; ".join(lacks)
            self._workers[name] = worker
            return worker
        raise SandboxError(f"{'; '.join(lacks)}. {self.remedy}")

    def _launch(self, kind: str, environment: str, walls: Walls) -> _Worker:
        ours, theirs = socket.socketpair()
        box = jail.BOX if walls == "namespaces" else tempfile.mkdtemp(prefix="swefuse-weak-")
        settings = {"kind": kind, "walls": walls, "box": box, "size_mb": self._size_mb, **surroundings(environment)}
        if walls != "namespaces":
            os.chmod(box, 0o755)  # noqa: S103 - the candidate has another user id
        try:
            process, remove = self._begin(settings, walls, theirs)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        stop = weakref.finalize(self, _stop, process, ours, remove)
        try:
            ours.settimeout(_GRACE_S)
            hello = wire.receive(ours) or {}
        except (OSError, ValueError) as error:
            hello = {"error": f"no greeting: {error}"}
        if "ready" not in hello:
            detail = hello.get("error") or _last_line(process)
            stop()
            raise SandboxError(f"the sandbox cannot be started: {detail}")
        if process.stderr:
            process.stderr.close()
        return _Worker(process, ours, stop)

    def _begin(
        self, settings: dict[str, Any], walls: Walls, channel: socket.socket
    ) -> tuple[subprocess.Popen[bytes], Callable[[], None]]:
        """The process of the launcher, and what removes the rest once it has ended."""
        box, settings = settings["box"], {**settings, "fd": channel.fileno()}
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-s", "-S", "-c", BOOT, PACKAGE_ROOT, json.dumps(settings)],
            pass_fds=[channel.fileno()], env=environment(box), cwd="/", start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

        def remove() -> None:
            if walls != "namespaces":
                sweep(box)

        return process, remove


def environment(box: str) -> dict[str, str]:
    """All variables that a worker, and so a candidate, finds."""
    return {**ENVIRONMENT, "HOME": f"{box}/tmp", "TMPDIR": f"{box}/tmp"}  # noqa: S108 - inside


def message(job: Job) -> dict[str, Any]:
    """A job as JSON can hold it."""
    return {
        "kind": job.kind, "files": dict(job.files), "parse": job.parse, "entry": job.entry, "calls": job.calls,
        "count_lines": job.count_lines, "markers": job.markers,
        "tests": job.tests, "fail_fast": job.fail_fast, "shuffle": job.shuffle,
        "fresh_process": job.fresh_process, "preload": job.preload, "protected": job.protected, "nonce": job.nonce,
        "cpu_s": job.cpu_s, "wall_s": job.wall_limit, "memory_mb": job.memory_mb,
    }  # fmt: skip


def surroundings(environment: str = "") -> dict[str, Any]:
    """Which folders the inside needs, those of ``environment`` first, and who we are."""
    pytest = find_spec("pytest")
    where = [str(Path(pytest.origin).parents[1])] if pytest and pytest.origin else []
    own = [environment] if environment else []
    folders = list(dict.fromkeys([*own, *site.getsitepackages(), sysconfig.get_path("purelib"), *where]))
    prefixes = [sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)]
    other = pythons.of(environment)
    if other:  # none of our packages is for it
        folders, prefixes = own, [*prefixes, other.prefix]
    return {
        "caller": os.getpid(),
        "user_namespace": not jail.has_admin(),
        "roots": list(dict.fromkeys([*_SYSTEM, *prefixes, *folders, str(_HERE)])),
        "python": other.executable if other else sys.executable,
        "foreign": other is not None,
        "site": folders,
        "recorder": str(_HERE / "recorder.py"),
    }


def _last_line(process: subprocess.Popen[bytes]) -> str:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)
        if process.stderr:
            return (process.stderr.read().decode(errors="replace").strip().splitlines() or ["it ended at once"])[-1]
    return "no answer"


def _stop(process: subprocess.Popen[bytes], channel: socket.socket, remove: Callable[[], None]) -> None:
    """Hang up, then make sure. Also runs when the sandbox is forgotten or the interpreter exits."""
    channel.close()
    process.kill()
    process.wait()
    if process.stderr:
        process.stderr.close()
    remove()
