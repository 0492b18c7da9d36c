"""Fan-out. One seam, ``Executor.map``: results in the order of the items, few items in flight, errors where they happened."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, Protocol, Self, TypeVar

from swefuse.errors import InfraError

T = TypeVar("T")
R = TypeVar("R")
Initializer = Callable[..., object]
_ORPHANED = 3


class Executor(Protocol):
    """Maps a function over items. A function's exception is raised where its result would have come, and ends the map."""

    def map(self, fn: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Results in the order of ``items``, which are drawn only as far ahead as is needed to keep the workers busy."""
        ...

    def close(self) -> None:
        """End the workers. Work in flight is dropped."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


class InlineExecutor:
    """Does the work in this process, one item at a time: for tests, debuggers and small work."""

    def __init__(self, initializer: Initializer | None = None, initargs: tuple[Any, ...] = ()) -> None:
        if initializer:
            initializer(*initargs)

    def map(self, fn: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """See ``Executor.map``."""
        return map(fn, items)

    def close(self) -> None:
        """Nothing to end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class ThreadExecutor:
    """Threads of this process, for work that waits for others: ``fn`` must bear being called by several at once."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers)

    def map(self, fn: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """See ``Executor.map``."""
        left, running = iter(items), deque[Future[R]]()
        try:
            while True:
                running.extend(self._pool.submit(fn, item) for item in islice(left, 2 * self._workers - len(running)))
                if not running:
                    return
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()

    def close(self) -> None:
        """Wait for the work that has begun."""
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class ProcessExecutor:
    """Worker processes of this machine, started fresh (``spawn``), so that no lock, thread or CUDA context is inherited.

    ``fn``, items and results must pickle. ``chunk`` items travel together: raise it when one item takes only milliseconds.
    Workers leave Ctrl-C to the caller and end when it dies, however it dies. Where there are as many as this process may use cores,
    each keeps to one core, with all that it starts: a verifier and its sandbox take turns, and to move between cores costs a fifth.
    """

    def __init__(
        self, workers: int, initializer: Initializer | None = None, initargs: tuple[Any, ...] = (), chunk: int = 1
    ) -> None:
        if workers < 1 or chunk < 1:
            raise ValueError(f"workers and chunk must be at least 1, not {workers} and {chunk}")
        self._chunk = chunk
        self._in_flight = 2 * workers + 1  # one running and one waiting for each worker, and one whose result is awaited
        context = multiprocessing.get_context("spawn")
        usable = sorted(os.sched_getaffinity(0))
        cores = context.SimpleQueue()
        if workers == len(usable):
            for core in usable:
                cores.put(core)
        arguments = (os.getpid(), cores if workers == len(usable) else None, initializer, initargs)
        self._pool = ProcessPoolExecutor(workers, context, initializer=_start, initargs=arguments)

    def map(self, fn: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """See ``Executor.map``. Raises InfraError, naming the item, when a worker process died; the executor is then spent."""
        source, waiting = iter(items), deque[tuple[int, list[T], Future[tuple[list[R], BaseException | None]]]]()
        position = 0
        try:
            while True:
                while len(waiting) < self._in_flight and (chunk := list(islice(source, self._chunk))):
                    waiting.append((position, chunk, self._pool.submit(_run_chunk, fn, chunk)))
                    position += len(chunk)
                if not waiting:
                    return
                start, chunk, future = waiting.popleft()
                results, error = future.result()
                yield from results
                if error is not None:
                    raise error
        except BrokenProcessPool as error:
            where = f"item {start}" if self._chunk == 1 else f"items {start} to {start + len(chunk) - 1}"
            raise InfraError(
                f"a worker process died (killed, out of memory, or failing to start) at or soon after {where}: {chunk[0]!r:.200}"
            ) from error
        finally:
            for _, _, future in waiting:
                future.cancel()

    def close(self) -> None:
        """End the workers; what is running is finished first, what waits is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _run_chunk(fn: Callable[[T], R], chunk: list[T]) -> tuple[list[R], BaseException | None]:
    """Results up to the first exception, and that exception."""
    results: list[R] = []
    for item in chunk:
        try:
            results.append(fn(item))
        except Exception as error:  # noqa: BLE001 - it is raised again in the caller
            return results, error
    return results, None


def _start(caller: int, cores: Any, initializer: Initializer | None, initargs: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watched = os.pidfd_open(caller)
    threading.Thread(target=_end_with, args=(watched,), daemon=True, name="swefuse-caller-watch").start()
    if cores is not None:
        os.sched_setaffinity(0, {cores.get()})
    if initializer:
        initializer(*initargs)


def _end_with(watched: int) -> None:
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.poll()
    os._exit(_ORPHANED)
