"""Docker or Podman as the outer wall: one long-lived container for each slot and form, the same warm worker inside.

A container for each candidate would cost a quarter of a second before Python starts, and one that all share would let a candidate
meet what another left. So the container only holds the worker, as a user without rights and without network, and the worker builds
the walls of ``local`` around each candidate, in a user namespace. That needs the filters of the container switched off that forbid
new namespaces; the worker's own filter is in place before a candidate runs. The image is empty: the container sees this machine's
system folders and Python, read-only, so that both sides agree on every version.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from swefuse.errors import SandboxError
from swefuse.sandbox.local import BOOT, PACKAGE_ROOT, LocalSandbox, Walls, environment

_RUN_S = 60.0
_FIRST = {"podman": ((), ("--cgroup-manager", "cgroupfs"), ("--runtime", "runc", "--cgroup-manager", "cgroupfs")), "docker": ((),)}
_OPEN = {"podman": "unmask=ALL", "docker": "systempaths=unconfined"}  # a masked /proc forbids a new one in a user namespace
_count = itertools.count()


class ContainerSandbox(LocalSandbox):
    """Runs jobs in containers of ``program``, ``podman`` or ``docker``, which must be able to run them for the calling user.

    ``memory_mb``: what a container may use with all that runs in it. ``size_mb``, ``recycle``: as for ``LocalSandbox``. Raises
    SandboxError when the program is not there.
    """

    def __init__(self, program: str = "podman", memory_mb: int = 4096, recycle: int = 5000, size_mb: int = 128) -> None:
        super().__init__(recycle=recycle, size_mb=size_mb)
        if shutil.which(program) is None:
            raise SandboxError(f"the sandbox {program!r} needs the program {program}: install it, or use the sandbox 'local'")
        self._program, self._memory_mb = program, memory_mb
        self._before: Sequence[str] | None = None

    @property
    def identity(self) -> str:
        """``podman-full-python3.11.7``."""
        return f"{self._program}-full-python{platform.python_version()}"

    @property
    def remedy(self) -> str:
        """What to do where containers cannot be run."""
        return (
            f"See that '{self._program} run' works for this user and that user namespaces are allowed "
            "(sysctl kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu), or use the sandbox 'local'"
        )

    def _begin(
        self, settings: dict[str, Any], walls: Walls, channel: socket.socket
    ) -> tuple[subprocess.Popen[bytes], Callable[[], None]]:
        before = self.works()
        settings |= {"fd": None, "caller": 0, "user_namespace": True}
        name = f"swefuse-{os.getpid()}-{next(_count)}-{secrets.token_hex(4)}"
        inside = ["/usr/bin/env", "-i", *(f"{key}={value}" for key, value in environment(settings["box"]).items())]
        inside += [sys.executable, "-P", "-s", "-S", "-c", BOOT, PACKAGE_ROOT, json.dumps(settings)]
        outer = self._arguments([*settings["roots"], f"{PACKAGE_ROOT}/swefuse"])
        process = subprocess.Popen(  # noqa: S603 - our own program
            [self._program, *before, "run", "--rm", "-i", "--log-driver", "none", "--name", name, *outer, image_name(), *inside],
            stdin=channel.fileno(), stdout=channel.fileno(), stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

        def remove() -> None:
            self._call(before, "rm", "-f", name)

        return process, remove

    def works(self) -> Sequence[str]:
        """The options of the program with which it can run a container here; makes the empty image where it is missing.

        Raises SandboxError where it cannot.
        """
        if self._before is not None:
            return self._before
        problem = ""
        for before in _FIRST.get(self._program, ((),)):
            if self._call(before, "image", "inspect", image_name()).returncode:
                self._call(before, "import", "-", image_name(), given=empty_image())
            name = f"swefuse-{os.getpid()}-probe-{secrets.token_hex(4)}"
            probe = ["run", "--rm", "--name", name, *self._arguments(["/usr"]), image_name(), "/usr/bin/env", "true"]
            done = self._call(before, *probe)
            if done.returncode == 0:
                self._before = before
                return before
            self._call(before, "rm", "-f", name)  # one that was made and could not be started
            problem = problem or " ".join(done.stderr.decode(errors="replace").split()) or "no reason given"
        raise SandboxError(f"{self._program} cannot run a container: {problem[:300]}. {self.remedy}")

    def _call(self, before: Sequence[str], *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # noqa: S603 - our own program
                [self._program, *before, *arguments], input=given, capture_output=True, check=False, timeout=_RUN_S
            )
        except subprocess.TimeoutExpired as error:
            raise SandboxError(f"{self._program} {arguments[0]} gave no answer in {_RUN_S:.0f} s") from error

    def _arguments(self, roots: Sequence[str]) -> list[str]:
        """The walls of the container: no network, nothing to write, no capability, and this machine's folders to read."""
        made = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--hostname", "sandbox", "--workdir", "/"]
        for option in ("no-new-privileges", "seccomp=unconfined", "apparmor=unconfined", _OPEN.get(self._program, "")):
            made += ["--security-opt", option] if option else []
        made += ["--pids-limit", "256", "--memory", f"{self._memory_mb}m", "--memory-swap", f"{self._memory_mb}m"]
        made += ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", "--ulimit", "core=0:0"]
        if os.geteuid() == 0 or self._program == "docker":  # without root's help Podman's root is the caller
            made += ["--user", "65534:65534"]
        for path in roots:
            if os.path.exists(path) and not _link(path):
                made += ["--volume", f"{os.path.realpath(path)}:{path}:ro"]
        if os.path.exists("/etc/ld.so.cache"):
            made += ["--volume", "/etc/ld.so.cache:/etc/ld.so.cache:ro"]
        return made


def docker() -> ContainerSandbox:
    """The sandbox of the name ``docker``."""
    return ContainerSandbox("docker")


def empty_image() -> bytes:
    """An image as a tar file: empty folders to mount on, and the links between system folders as they are on this machine."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for name in ("tmp", "proc", "dev", "sys", "etc", "usr"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        for name in _linked():
            link = tarfile.TarInfo(name.lstrip("/"))
            link.type, link.linkname = tarfile.SYMTYPE, os.readlink(name)
            tar.addfile(link)
    return held.getvalue()


def image_name() -> str:
    """Name of the empty image; another one for another layout of the system."""
    return f"localhost/swefuse-empty:{sha256(empty_image()).hexdigest()[:12]}"


def _linked() -> list[str]:
    return [path for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64") if _link(path)]


def _link(path: str) -> bool:
    return os.path.islink(path) and path.count("/") == 1
