"""Inside a container of somebody else's image: process 1. Lays out one job, runs its tests as another user, tells what came.

Standard library of Python 3.7 and later, because the interpreter is the image's own. Reads one JSON object on standard input,
``{"do": "files" | "run", ...}``, and writes one on standard output.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, NoReturn

UID = 20001
LARGEST = 1 << 20  # bytes of a file that belongs to a state
RECORD_CAP, TEXT_CAP = 32 << 20, 1 << 20
TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Answer what is asked."""
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    asked = json.load(sys.stdin)
    os.dup2(null, 0)
    root = "/testbed" if os.path.isdir("/testbed") else os.getcwd()
    if asked["do"] == "files":
        reply = {"files": {path: read(os.path.join(root, path)) for path in tracked(root) or walked(root)}, "python": sys.version}
    else:
        lay_out(asked, root)
        reply = run(asked, root)
    data = json.dumps(reply).encode("ascii") + b"\n"
    while data:
        data = data[os.write(out, data) :]


def read(path: str) -> str:
    """Text of a file, bytes that are no UTF-8 as surrogates."""
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")


def plain(path: str) -> bool:
    """Whether a file is one that belongs to a state."""
    return os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) <= LARGEST


def tracked(root: str) -> list[str]:
    """Files that the image's repository knows; empty where there is none, or no git."""
    command = ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return []
    names = (name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0") if name)
    return [name for name in names if plain(os.path.join(root, name))]


def walked(root: str) -> list[str]:
    """All files below a folder, without those of tools."""
    found: list[str] = []
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("node_modules", "__pycache__")]
        paths = [os.path.join(place, name) for name in names]
        found += [os.path.relpath(path, root) for path in paths if plain(path)]
    return sorted(found)


def lay_out(job: dict[str, Any], root: str) -> None:
    """Make the work tree that of the job: what it lacks goes, and so does the history. What others built stays."""
    files = job["files"]
    for path in files:
        if path.startswith("/") or path != os.path.normpath(path) or path.split("/")[0] == "..":
            raise SystemExit(f"path {path!r} leaves the work tree")
    for path in tracked(root):
        if path not in files:
            os.remove(os.path.join(root, path))
    shutil.rmtree(os.path.join(root, ".git"), ignore_errors=True)
    for path, text in files.items():
        place = os.path.join(root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.remove(place)  # perhaps a link
        with open(place, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
    held = set(job["protected"])
    above = {root} | {os.path.join(root, part) for path in held for part in parents(path)}
    for place, _, names in os.walk(root):
        for name in names:
            path = os.path.join(place, name)
            if not os.path.islink(path) and os.path.relpath(path, root) not in held:
                os.chown(path, UID, UID)
        if place in above:  # sticky, and not the candidate's: it may add files, and remove its own alone
            os.chmod(place, 0o1777)  # noqa: S103
        else:
            os.chown(place, UID, UID)
    for path in held:
        os.chmod(os.path.join(root, path), 0o444)
    for folder in parents(sys.executable) + parents(root.lstrip("/")):
        with contextlib.suppress(OSError):
            os.chmod(os.path.join("/", folder), os.stat(os.path.join("/", folder)).st_mode | 0o555)  # noqa: S103 - nobody must be kept out of the interpreter


def parents(path: str) -> list[str]:
    """Folders above a path, the nearest first."""
    found = []
    while os.path.dirname(path) not in ("", path):
        path = os.path.dirname(path)
        found.append(path)
    return found


def run(job: dict[str, Any], root: str) -> dict[str, Any]:
    """Run the tests to their end or to the first limit."""
    records, text = os.pipe(), os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if not pid:
        become(job, root, records[1], text[1])
    os.close(records[1])
    os.close(text[1])
    taken = {records[0]: bytearray(), text[0]: bytearray()}
    limit = supervise(pid, taken, records[0], job, started)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # all but this one, which is process 1
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    for fd, data in taken.items():
        while len(data) < RECORD_CAP:
            part = os.read(fd, 1 << 16)
            if not part:
                break
            data += part
    spent = os.times()
    return {
        "records": bytes(taken[records[0]][:RECORD_CAP]).decode("utf-8", "replace"), "limit": limit,
        "text": bytes(taken[text[0]][-TEXT_CAP:]).decode("utf-8", "replace"),
        "cpu_s": spent.children_user + spent.children_system, "wall_s": time.monotonic() - started,
    }  # fmt: skip


def become(job: dict[str, Any], root: str, records: int, text: int) -> NoReturn:
    """The forked child: nobody in particular, with limits, then a new interpreter. Never returns."""
    try:
        os.setsid()
        os.chdir(root)
        os.dup2(text, 1)
        os.dup2(text, 2)
        wanted = os.memfd_create("wanted") if hasattr(os, "memfd_create") else os.open("/tmp", os.O_TMPFILE | os.O_RDWR)  # noqa: S108
        os.write(wanted, json.dumps(job["wanted"]).encode("ascii"))
        os.lseek(wanted, 0, os.SEEK_SET)
        os.dup2(wanted, 0)
        os.dup2(records, 3)
        os.closerange(4, 1024)
        for name, value in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, int(job["cpu_s"]) + 2),
            (resource.RLIMIT_FSIZE, 64 << 20),
        ):
            resource.setrlimit(name, (value, value))
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
        os.write(3, b"+=")
        os.execve(sys.executable, [sys.executable, "-s", "-B", job["recorder"], root, root], {**os.environ, "HOME": "/tmp"})  # noqa: S108, S606
    except OSError as error:
        os.write(3, str(error).encode())
    finally:
        os._exit(1)


def supervise(pid: int, taken: dict[int, bytearray], records: int, job: dict[str, Any], started: float) -> str:
    """Collect what comes until the child has ended or a limit is met; the limit's name or an empty text."""
    poll = select.poll()
    for fd in taken:
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll(50):
            part = os.read(fd, 1 << 16)
            if part:
                taken[fd] += part
            else:
                poll.unregister(fd)
            if fd != records:
                del taken[fd][:-TEXT_CAP]
        if len(taken[records]) > RECORD_CAP:
            return "output"
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return ""
        cpu, memory = usage()
        if cpu >= job["cpu_s"]:
            return "cpu"
        if memory > job["memory_mb"]:
            return "memory"
        if time.monotonic() - started >= job["wall_s"]:
            return "wall"


def usage() -> tuple[float, float]:
    """CPU seconds of all other processes, those that have ended included, and their resident megabytes."""
    spent = os.times()
    cpu, pages = spent.children_user + spent.children_system, 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = read(f"/proc/{name}/stat").rpartition(")")[2].split()
                cpu += sum(map(int, fields[11:15])) / TICKS
                pages += int(fields[21])
    return cpu, pages * PAGE / (1 << 20)


if __name__ == "__main__":
    main()
