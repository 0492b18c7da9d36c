"""Requests that wait are written together: one thread gathers them and calls the writer, which is what a server serves."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from swefuse.errors import InfraError
from swefuse.policy.asked import Asked, Written

STOPPING = "the server is stopping"


class Writer(Protocol):
    """What is served. Called by one thread, never twice at a time."""

    def write(self, asked: Sequence[Asked]) -> list[Written]:
        """One sample for each; samples of equal content and seed are equal. The text ends before any of ``stop``.

        Raises UserError for what it cannot do, such as a prompt that is too long or a grammar; the asker is told its text.
        """
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """``batch``: samples written together. ``gather``: seconds that a batch waits for more. ``waiting``: samples that may wait.

    ``body``: bytes of a request. ``tokens``: limit of a reply where a request names none. ``idle``: seconds after which a silent
    connection is closed. ``drain``: seconds that the end waits for what is being written.
    """

    batch: int = 16
    gather: float = 0.005
    waiting: int = 512
    body: int = 8 << 20
    tokens: int = 1024
    idle: float = 60.0
    drain: float = 30.0


class Batcher:
    """Gathers samples and has them written by one thread."""

    def __init__(self, writer: Writer, limits: Limits) -> None:
        self.writer, self.limits = writer, limits
        self._queue: queue.Queue[tuple[Asked, Future[Written]] | None] = queue.Queue()
        self._lock = threading.Lock()
        self._waiting, self._stopping = 0, False
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, samples: Sequence[Asked]) -> list[Future[Written]] | str:
        """A promise for each, or why there is no room."""
        with self._lock:
            if self._stopping:
                return STOPPING
            if self._waiting + len(samples) > self.limits.waiting:
                return "too many requests are waiting"
            self._waiting += len(samples)
            futures: list[Future[Written]] = [Future() for _ in samples]
            for pair in zip(samples, futures, strict=True):
                self._queue.put(pair)
        return futures

    def stop(self) -> None:
        """Refuse what waits, and wait for what is being written, though not for ever."""
        with self._lock:
            self._stopping = True
            self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(self.limits.drain)

    def _work(self) -> None:
        while True:
            batch = self._gather()
            if self._stopping:
                for _, future in batch:
                    future.set_exception(InfraError(STOPPING))
                if not batch:
                    return
                continue
            self._write(batch)

    def _gather(self) -> list[tuple[Asked, Future[Written]]]:
        """What waits, at most a batch; empty only at the end."""
        batch: list[tuple[Asked, Future[Written]]] = []
        until = 0.0
        while len(batch) < self.limits.batch:
            try:
                item = self._queue.get(timeout=max(0.0, until - time.monotonic()) if batch else None)
            except queue.Empty:
                break
            if item is None:
                self._queue.put(None)  # the end stays in sight after this batch
                break
            until = until or time.monotonic() + self.limits.gather
            batch.append(item)
        with self._lock:
            self._waiting -= len(batch)
        return batch

    def _write(self, batch: Sequence[tuple[Asked, Future[Written]]]) -> None:
        try:
            written = self.writer.write([asked for asked, _ in batch])
            if len(written) != len(batch):
                raise InfraError(f"the writer gave {len(written)} replies to {len(batch)} requests")
        except Exception as error:  # noqa: BLE001 - whatever it is, the askers are told and the thread lives on
            if len(batch) == 1:
                batch[0][1].set_exception(error)
            for pair in batch if len(batch) > 1 else ():  # one that cannot be written must not spoil the others
                self._write([pair])
            return
        for (_, future), one in zip(batch, written, strict=True):
            future.set_result(one)
