"""Verdicts are found again, across processes and restarts, and only those that will not come out differently."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from swefuse.records import Outcome, Verdict
from swefuse.verify.cache import VerdictCache

PASSED = Verdict(outcome=Outcome.PASSED, form="calls", score=1.0)


def test_a_file_is_shared_and_survives(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    first, second = VerdictCache(path), VerdictCache(path)
    first.put("k", PASSED)
    assert second.get("k") == PASSED
    assert second.get("other") is None
    first.close()
    second.close()
    third = VerdictCache(path)
    assert third.get("k") == PASSED
    third.close()


def open_together(barrier: Barrier, path: Path) -> None:
    barrier.wait()
    VerdictCache(path).close()


def test_workers_that_start_together_can_all_open_a_new_file(tmp_path: Path) -> None:
    """Without turns this fails in every tenth process or so."""
    context = multiprocessing.get_context("fork")
    for number in range(15):
        barrier = context.Barrier(4)
        workers = [context.Process(target=open_together, args=(barrier, tmp_path / f"{number}.sqlite")) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert [worker.exitcode for worker in workers] == [0] * 4


@pytest.mark.parametrize("outcome", [Outcome.INFRA, Outcome.FLAKY, Outcome.TIMEOUT])
def test_what_may_change_is_not_kept(outcome: Outcome) -> None:
    cache = VerdictCache()
    cache.put("k", PASSED.model_copy(update={"outcome": outcome}))
    assert cache.get("k") is None


def test_memory_keeps_the_most_recently_used() -> None:
    cache = VerdictCache(size=2)
    cache.put("a", PASSED)
    cache.put("b", PASSED)
    assert cache.get("a") is PASSED
    cache.put("c", PASSED)
    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]
