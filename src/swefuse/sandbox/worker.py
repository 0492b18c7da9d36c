"""The trusted supervisor of one slot: process 1 inside the walls. Forks one child per job, watches it, cleans up after it.

It never runs a line of the candidate. CPU time is read from the kernel's clock of the child, not from a timer or signal that the
candidate could switch off. Standard library only; process start and imports are paid once, a job costs a fork.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import marshal
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NoReturn

from swefuse.sandbox import candidate, jail, landlock, limits, recorder, wire
from swefuse.sandbox.limits import RECORD_CAP, TEXT_CAP, all_but_first, marks, proportional, usage
from swefuse.sandbox.sweep import sweep

_FOLDERS = (".", "tmp", "repo")
# imported once, here, so that a candidate's own import of them costs nothing
_WARM = (
    "abc", "bisect", "collections", "collections.abc", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum",
    "fractions", "functools", "hashlib", "heapq", "io", "itertools", "json", "math", "operator", "random", "re", "statistics",
    "string", "textwrap", "time", "typing", "unicodedata",
)  # fmt: skip


@dataclass
class Slot:
    """What the worker knows about its own walls. ``uid`` None: the candidate keeps our user id and loses its capabilities."""

    box: str
    walls: str
    roots: list[str]
    uid: int | None
    own_processes: int
    size_mb: int
    python: str
    foreign: bool
    site: list[str]
    recorder: str
    clean: tuple[int, ...] = ()
    prepared: Any = None
    tried: set[str] = field(default_factory=set)  # modules of the environment that were imported ahead of the candidates

    @property
    def isolated(self) -> bool:
        """Whether it has namespaces of its own."""
        return self.walls == "namespaces"


def prepare(settings: Mapping[str, Any]) -> Slot:
    """Build the walls (or, in weak mode, none) and warm up. Raises OSError."""
    isolated, user = settings["walls"] == "namespaces", settings["user_namespace"]
    for name in _WARM:
        importlib.import_module(name)
    if isolated:
        jail.build_root(settings["roots"])
    root = os.geteuid() == 0 and not (isolated and user)
    # its own user id, so that the limit on processes counts this slot's alone; below 65536 for containers that map no more
    uid = 20000 + settings["caller"] % 40000 if root else None
    given = {name: settings[name] for name in ("box", "walls", "roots", "size_mb", "python", "foreign", "site", "recorder")}
    slot = Slot(uid=uid, own_processes=2 if isolated and user else 0, **given)
    if slot.walls == "landlock" and landlock.abi(jail.LIBC) < landlock.LEAST_ABI:
        raise OSError("this kernel has no Landlock of ABI 6 (Linux 6.12 or later, with landlock among its security modules)")
    if not isolated and uid is not None and (closed := _closed(slot.roots)):
        raise OSError(
            f"only root may enter {closed}, where the interpreter or its packages lie, and candidates run as another user"
        )
    _fresh(slot)
    sys.path[:] = [*sys.path[1:], *(slot.site if not slot.foreign else [])]
    if settings["kind"] == "pytest" and not slot.foreign:
        _rehearse(slot)
    if slot.walls != "none":
        jail.close_doors(network=isolated)
    if not isolated:
        jail.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: orphans come to us, so that they can be killed
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 ignores what it has no handler for
    return slot


def _closed(roots: Sequence[str]) -> str:
    """The first folder above or at ``roots`` that other users cannot enter; empty if there is none."""
    folders = [folder for path in roots for folder in (*reversed(Path(path).resolve().parents), Path(path).resolve())]
    return next((str(folder) for folder in folders if folder.exists() and not folder.stat().st_mode & 0o001), "")


def _rehearse(slot: Slot) -> None:
    """Import pytest and run it once on a test of ours, so that each candidate finds loaded what pytest loads on the way."""
    import pytest

    file = Path(f"{slot.box}/tmp/test_rehearsal.py")  # noqa: S108 - inside
    file.write_text("import pytest\n\n\n@pytest.mark.parametrize('x', [1])\ndef test_x(x, tmp_path):\n    assert x == 1\n")
    path = list(sys.path)
    pytest.main([*recorder.FIXED, f"--rootdir={file.parent}", str(file)])
    sys.modules.pop("test_rehearsal", None)
    sys.path[:] = path  # without the rehearsal's folder, from which candidates would import what no cold run finds
    tempfile.tempdir = None
    _fresh(slot)
    os.chdir(f"{slot.box}/repo")
    slot.prepared = recorder.prepare(f"{slot.box}/repo")
    os.chdir("/")


def _stage(job: Mapping[str, Any], slot: Slot) -> str:
    """Import what the task's own files import from the environment; returns why the job must run cold, or an empty text.

    Never a module that the work tree has itself: the candidate's version must be the one that is tested.
    """
    if slot.foreign:
        return "its environment is for another Python than the worker's"
    own = {candidate.module_name(path)[0].partition(".")[0] for path in job["files"]}
    new = [name for name in job["preload"] if name not in slot.tried and name.partition(".")[0] not in own]
    for name in new:
        slot.tried.add(name)
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    if new:
        gc.collect()
        gc.freeze()
    taken = sorted(own & {name.partition(".")[0] for name in sys.modules})
    return f"the work tree has its own {', '.join(taken)}, which pytest or the environment uses" if taken else ""


COLLECT_EVERY = 50


def serve(channel: wire.Channel, slot: Slot) -> None:
    """Answer jobs until the caller hangs up."""
    gc.collect()
    gc.freeze()
    gc.disable()
    wire.send(channel, {"ready": True})
    served = 0
    while (job := wire.receive(channel)) is not None:
        wire.send(channel, run(job, slot))
        served += 1
        if served % COLLECT_EVERY == 0:  # literal_eval leaves cycles behind; what lives here is frozen, so this is cheap
            gc.collect()


@lru_cache(maxsize=2048)
def _packed(text: str) -> bytes:
    return marshal.dumps(ast.literal_eval(text))


def run(job: Mapping[str, Any], slot: Slot) -> dict[str, Any]:
    """Run one job and leave nothing behind: no process, no file, no mount."""
    pytest, cold = job["kind"] == "pytest", ""
    try:
        packed = [(id_, _packed(args)) for id_, args in job["calls"]]
        if pytest:
            cold = _stage(job, slot) or ("a new process was asked for" if job["fresh_process"] else "")
            _lay_out(job, slot)
            for path in job["protected"] if slot.prepared and not cold else ():
                if path.endswith(".py"):
                    recorder.rewrite(slot.prepared, f"{slot.box}/repo/{path}")
    except (ValueError, SyntaxError, OSError) as error:
        _fresh(slot)
        return {"refused": f"{type(error).__name__}: {error}"[:500]}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    records, out = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        _child({**job, "cold": cold}, slot, packed, records[1], out[1] if pytest else None)
    os.close(records[1])
    os.close(out[1])
    taken = {records[0]: bytearray(), out[0]: bytearray()}
    limit = _supervise(pid, taken, records[0], job, None if slot.isolated else pid)
    _kill_all(pid, slot)
    for fd, data in taken.items():
        while (part := os.read(fd, 1 << 16)) and len(data) < RECORD_CAP:
            data += part
        os.close(fd)
    if pytest or _stamp(slot) != slot.clean:
        _fresh(slot)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    blob = bytes(taken[records[0]][:RECORD_CAP])
    begin = marks(blob, job["kind"], limit)
    if not begin:
        cause = blob.lstrip(b"+=").decode("utf-8", "replace")[:500] or (f"over the {limit} limit" if limit else "it died")
        return {"refused": f"the candidate's process could not be set up: {cause}"}
    return {
        "records": blob[begin:].decode("utf-8", "replace"),
        "limit": limit,
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall_s": time.monotonic() - started,
        "text": taken[out[0]][-TEXT_CAP:].decode("utf-8", "replace"),
        "cold": cold,
    }


def _supervise(pid: int, taken: dict[int, bytearray], records: int, job: Mapping[str, Any], session: int | None) -> str:
    """Collect what comes until the child has ended or a limit is met; returns the limit's name or an empty text."""
    deadline, whole_tree = time.monotonic() + job["wall_s"], job["kind"] == "pytest"
    memory_mb = job["memory_mb"] + (limits.own_memory()[1] >> 20 if whole_tree else 0)  # beside what is inherited from us
    clock = (~pid << 3) | 2  # the kernel's CPU clock of that process; it counts all its threads
    child = os.pidfd_open(pid)
    poll = select.poll()
    for fd in (*taken, child):
        poll.register(fd, select.POLLIN)
    used, pids = 0.0, partial(all_but_first, session)
    try:
        while True:
            wait = min(deadline - time.monotonic(), max(job["cpu_s"] - used, 0.001))
            ready = [fd for fd, _ in poll.poll(min(wait, 0.05 if whole_tree else 1.0) * 1000 + 0.5)]
            for fd in ready:
                if fd != child and not _take(fd, taken[fd]):
                    poll.unregister(fd)
            if ready == [child]:
                return ""
            if len(taken[records]) > RECORD_CAP:
                return "output"
            if not ready or whole_tree:
                used, resident = usage(pids()) if whole_tree else (time.clock_gettime(clock), 0.0)
                if used >= job["cpu_s"]:
                    return "cpu"
                if resident > memory_mb and proportional(pids, job["cpu_s"], deadline) > memory_mb:
                    return "memory"
            if time.monotonic() >= deadline:
                return "wall"
    finally:
        os.close(child)


def _take(fd: int, data: bytearray) -> bool:
    part = os.read(fd, 1 << 16)
    data += part
    if len(data) > 2 * RECORD_CAP:
        del data[:-RECORD_CAP]
    return bool(part)


def _kill_all(pid: int, slot: Slot) -> None:
    """Kill and reap all but ourselves. In weak mode only the child's group and our orphans: -1 would be all that the user runs."""
    if slot.isolated:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    while True:
        if not slot.isolated:
            for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _stamp(slot: Slot) -> tuple[int, ...]:
    """Changes whenever something below the box was made, removed, renamed or given other rights."""
    with contextlib.suppress(OSError):
        return tuple(os.stat(f"{slot.box}/{name}").st_ctime_ns for name in _FOLDERS)
    return ()


def _fresh(slot: Slot) -> None:
    if slot.isolated:
        jail.fresh_box(slot.box, slot.size_mb)
    else:
        for name in ("tmp", "repo"):
            sweep(f"{slot.box}/{name}")
            os.makedirs(f"{slot.box}/{name}", exist_ok=True)
            os.chmod(f"{slot.box}/{name}", 0o1777)  # noqa: S103 - the candidate has another user id
    slot.clean = _stamp(slot)


def _lay_out(job: Mapping[str, Any], slot: Slot) -> None:
    """Write the work tree; protected files and the folders above them become mount points, which cannot be renamed or removed."""
    for path in job["files"]:
        if path.startswith("/") or path != os.path.normpath(path) or path.split("/")[0] == "..":
            raise ValueError(f"path {path!r} leaves the work tree")
    root = f"{slot.box}/repo"
    folders = {str(parent) for path in job["files"] for parent in Path(path).parents if str(parent) != "."}
    for folder in sorted(folders):
        os.mkdir(f"{root}/{folder}")
    for path, text in job["files"].items():
        with open(f"{root}/{path}", "x", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
    above = {str(parent) for path in job["protected"] for parent in Path(path).parents if str(parent) != "."}
    if slot.uid is not None:
        own = [f"{root}/{path}" for path in job["files"] if path not in job["protected"]]
        held = set() if slot.isolated else {root, *(f"{root}/{folder}" for folder in above)}
        for path in sorted(held):  # sticky, and not the candidate's: it may add files, and remove its own alone
            os.chmod(path, 0o1777)  # noqa: S103
        for path in {root, *(f"{root}/{folder}" for folder in folders), *own} - held:
            os.chown(path, slot.uid, slot.uid)
    if slot.isolated:
        for folder in sorted(above):
            jail.bind_self(f"{root}/{folder}", readonly=False)
        for path in job["protected"]:
            jail.bind_self(f"{root}/{path}", readonly=True)


def _child(job: Mapping[str, Any], slot: Slot, packed: list[tuple[str, bytes]], records: int, out: int | None) -> NoReturn:
    """The forked child. Never returns, whatever happens."""
    try:
        os.setsid()
        os.chdir(f"{slot.box}/repo")
        os.dup2(records, 3)  # 0, 1 and 2 are /dev/null
        if out is not None:
            os.dup2(out, 1)
            os.dup2(out, 2)
        os.closerange(4, 1024)
        _drop(job, slot)
        recorder.seed()
        gc.freeze()  # what was inherited is not the candidate's garbage: walking it cost more than the candidate
        gc.enable()
        os.write(3, b"+")
        emit = candidate.emitter(3)
        if job["kind"] == "calls":
            candidate.run_calls(job, packed, emit)
        elif slot.foreign or candidate.parse_all(candidate.MemoryFinder({}), job["files"], job["parse"], emit):
            os.write(3, b"=")
            if job["cold"]:
                _exec_pytest(job, slot)
            jail.prctl(4, 1)  # PR_SET_DUMPABLE, which the change of user took: the tests may look into their own /proc
            os.write(3, b"+")
            plain = not any(path.rpartition("/")[2] == "conftest.py" for path in job["files"])
            recorder.run(_wanted(job), f"{slot.box}/repo", slot.prepared if plain else None)
    except OSError as error:  # ours: the candidate's exceptions end up in records
        os.write(3, str(error).encode())
    except BaseException:  # noqa: BLE001 - of pytest itself, such as one for a conftest.py that it does not understand
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _wanted(job: Mapping[str, Any]) -> dict[str, Any]:
    return {name: job[name] for name in recorder.WANTED}


def _exec_pytest(job: Mapping[str, Any], slot: Slot) -> NoReturn:
    wanted = {**_wanted(job), "parse": job["parse"] if slot.foreign else ()}
    candidate.exec_pytest(wanted, slot.python, slot.recorder, slot.site, slot.box)


def _drop(job: Mapping[str, Any], slot: Slot) -> None:
    """Become nobody in particular, with limits. After this the candidate may run."""
    if slot.uid is not None:
        os.setgroups([])
        os.setresgid(slot.uid, slot.uid, slot.uid)
        os.setresuid(slot.uid, slot.uid, slot.uid)
    elif slot.isolated:
        jail.drop_capabilities()
    processes = slot.own_processes
    if slot.uid is None and not slot.isolated:  # a plain user without namespaces: the limit counts all of the user's processes
        processes = limits.running(os.getuid())
    # what the worker has loaded may alone be more than the limit
    warm = job["kind"] == "pytest" and not job["cold"]
    loaded = limits.own_memory()[0] if warm else 0
    limits.apply(job, slot.size_mb, processes, loaded)
    if slot.walls == "landlock":
        devices = [f"/dev/{name}" for name in jail.DEVICES]
        readable = [*slot.roots, "/etc/ld.so.cache", f"/proc/{os.getpid()}"]
        landlock.restrict(jail.LIBC, readable, [f"{slot.box}/tmp", f"{slot.box}/repo", *devices])  # noqa: S108
