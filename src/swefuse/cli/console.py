"""What the user sees while a stage works, on stderr, so that stdout holds the result alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

Progress = Callable[[int, int], None]
EVERY_S = 10.0
SURE = 100  # the time left is told once one step in so many is done


@contextmanager
def stage_progress(title: str, quiet: bool = False, stream: TextIO | None = None, rate: str = "") -> Iterator[Progress]:
    """A callback ``progress(done, total)``: a live bar on a terminal, a line every ten seconds elsewhere, nothing if ``quiet``.

    ``rate``: what a step is called, where people want to know how many are done in a second.
    """
    stream = stream or sys.stderr
    if quiet:
        yield lambda done, total: None
    elif stream.isatty():
        yield from _bar(title, stream, rate)
    else:
        yield PlainProgress(title, stream, rate=rate)


def _bar(title: str, stream: TextIO, rate: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    shown = (*columns, TextColumn("{task.fields[rate]}")) if rate else columns
    with Progress(*shown, console=Console(file=stream)) as live:
        task, started = live.add_task(title, total=None, rate=""), time.monotonic()
        yield lambda done, total: live.update(
            task, completed=done, total=total, rate=f"{done / max(1e-9, time.monotonic() - started):,.1f} {rate}/s"
        )


class PlainProgress:
    """Progress as lines of text, at most one every ``EVERY_S`` seconds, and one for the end. ``clock`` gives seconds."""

    def __init__(self, title: str, stream: TextIO, clock: Callable[[], float] = time.monotonic, rate: str = "") -> None:
        self._title, self._stream, self._clock, self._rate = title, stream, clock, rate
        self._start = self._last = clock()

    def __call__(self, done: int, total: int) -> None:
        """Tell that ``done`` of ``total`` steps are finished."""
        now = self._clock()
        if done < total and now - self._last < EVERY_S:
            return
        self._last = now
        elapsed = now - self._start
        known = total <= SURE * done and done < total  # what the first steps took says little: processes had to start
        left = f", about {duration(elapsed * (total - done) / done)} left" if known else ""
        speed = f", {done / elapsed:,.1f} {self._rate}/s" if self._rate and elapsed > 0 else ""
        print(f"{self._title}: {done}/{total}, {duration(elapsed)} elapsed{left}{speed}", file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """``8 s``, ``3 min 05 s`` or ``2 h 10 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
