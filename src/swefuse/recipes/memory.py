"""How much memory a run holds at once, its helper processes included."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

EVERY_S = 0.5


def tree_mb(root: int) -> float:
    """Resident memory in MB of a process and all below it; pages that they share count once for each, so it is an upper bound."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name in brackets may hold anything; what follows the last bracket is plain.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(entry.name)] = int(fields[1])
        sizes[int(entry.name)] = int(fields[21])
    inside = {root}
    while more := {pid for pid, parent in parents.items() if parent in inside} - inside:
        inside |= more
    return sum(sizes.get(pid, 0) for pid in inside) * os.sysconf("SC_PAGE_SIZE") / 2**20


class PeakMemory:
    """Watches this process and all below it while the context is open; ``peak_mb`` is the most that was seen at once.

    ``getrusage`` cannot tell: for children it gives the largest single one, and a child that was started from a large process
    counts as that large.
    """

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        self._look()
        while not self._end.wait(EVERY_S):
            self._look()

    def _look(self) -> None:
        self.peak_mb = max(self.peak_mb, round(tree_mb(os.getpid()), 1))
