from __future__ import annotations

import os
import subprocess
import sys

import pytest

from swefuse.recipes.memory import PeakMemory, tree_mb

HOLD = "import sys; held = bytearray(b'x') * (80 << 20); print('held', flush=True); sys.stdin.read()"


def test_a_child_counts_while_it_lives() -> None:
    with PeakMemory() as memory:
        before = tree_mb(os.getpid())
        with subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None and child.stdout.readline() == b"held\n"
            assert tree_mb(os.getpid()) > before + 75
            memory._look()
            child.communicate()
        assert tree_mb(os.getpid()) < before + 40
    assert memory.peak_mb > before + 75, "the most that was held at once is kept"


def test_the_figure_is_that_of_the_kernel() -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    assert tree_mb(os.getpid()) == pytest.approx(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, rel=0.2)
    assert tree_mb(2**22 + 1) == 0.0, "a process that is not there holds nothing"
