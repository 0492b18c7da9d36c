"""What a job may use and what it has used, for whoever supervises it. Standard library only: the worker imports this too."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

RECORD_CAP = 16 << 20  # ten thousand tests report some five megabytes
TEXT_CAP = 1 << 20
RESERVED = 4  # address space that a process of the pytest form may have, as a multiple of the memory that all may use
PAGE = os.sysconf("SC_PAGE_SIZE")
_LOOK_S = 0.05
_TICK = os.sysconf("SC_CLK_TCK")


def marks(records: bytes, kind: str, limit: str = "") -> int:
    """Length of the marks before the records if it was the candidate's turn at the end, else 0: then what went wrong is ours.

    ``+`` the process is set up, and the candidate's files are being compiled; in the ``pytest`` form then ``=`` they compile and
    pytest is started, ``+`` pytest is there. No line of the candidate runs before the last mark, but a file that takes nearly all
    of the CPU time to compile leaves none for pytest's start, and that is the candidate's doing.
    """
    if kind == "pytest" and records[1:2] == b"=":
        return 3 if records[:3] == b"+=+" else 2 * (limit == "cpu" and records[:1] == b"+")
    return int(records[:1] == b"+")


def usage(pids: Iterable[int]) -> tuple[float, float]:
    """CPU seconds (those of processes already waited for included) and resident megabytes of processes."""
    ticks = pages = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = _fields(pid)
            ticks += sum(map(int, fields[11:15]))  # own and waited-for children, user and system
            pages += int(fields[21])
    return ticks / _TICK, pages * PAGE / (1 << 20)


def proportional(pids: Callable[[], Iterable[int]], cpu_s: float, deadline: float) -> float:
    """Megabytes in use, shared pages counted once: dear to read, so only asked when the cheap sum is over the limit.

    The kernel lets a reader wait for a process that forks without pause, and sixty of those burnt seconds meanwhile. So the sum is
    given up, as 0, once they have used ``cpu_s`` or ``deadline`` (of ``time.monotonic``) has passed: that ends the job anyway.
    """
    total, looked = 0, 0.0
    for pid in pids():
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        if (now := time.monotonic()) > looked + _LOOK_S:
            looked = now
            if now >= deadline or usage(pids())[0] >= cpu_s:
                return 0.0
    return total / 1024


def own_memory() -> tuple[int, int]:
    """Bytes of address space and of resident memory of this process."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[0]) * PAGE, int(fields[1]) * PAGE


def all_but_first(session: int | None = None) -> Iterator[int]:
    """Every process that can be seen, number 1 excepted; with ``session`` only those of that session."""
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            with contextlib.suppress(OSError):
                if session in (None, int(_fields(int(name))[3])):
                    yield int(name)


def tree(pid: int) -> Iterator[int]:
    """A process and all below it."""
    new = [pid]
    while new:
        yield (one := new.pop())
        with contextlib.suppress(OSError):
            new += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())


def running(uid: int) -> int:
    """Processes and threads of a user."""
    count = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def apply(job: Mapping[str, Any], size_mb: int, processes: int, loaded: int = 0) -> None:
    """Limit this process and all that it will fork, for good.

    ``processes``: how many there may be beside the job's own; ``loaded``: bytes of address space that are not the candidate's.
    """
    whole = job["kind"] == "pytest"  # there allocators reserve far more than they use, and what is used is watched from outside
    for kind, value in (
        (resource.RLIMIT_CPU, int(job["cpu_s"]) + 3),  # whole seconds: only the second line of defence
        (resource.RLIMIT_AS, (job["memory_mb"] << 20) * (RESERVED if whole else 1) + loaded),
        (resource.RLIMIT_FSIZE, size_mb << 20),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, (64 if whole else 1) + processes),
    ):
        resource.setrlimit(kind, (value, value))


def _fields(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
