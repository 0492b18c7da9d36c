"""What is measured of processes, against what the kernel says of this one."""

from __future__ import annotations

import os
import time

from swefuse.sandbox.limits import own_memory, proportional, usage


def _own() -> list[int]:
    return [os.getpid()]


def test_shared_pages_count_once() -> None:
    found = proportional(_own, cpu_s=1e9, deadline=time.monotonic() + 60)
    assert 1 < found <= own_memory()[1] / (1 << 20) + 16


def test_a_sum_that_takes_too_long_is_given_up() -> None:
    assert proportional(_own, cpu_s=1e9, deadline=0.0) == 0
    assert proportional(_own, cpu_s=usage(_own())[0] / 2, deadline=time.monotonic() + 60) == 0
