"""The laws that every executor keeps, and what becomes of worker processes."""

from __future__ import annotations

import operator
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swefuse.errors import DataError, InfraError
from swefuse.scale import Executor, InlineExecutor, ProcessExecutor

given_to_initializer = ""


def remember(text: str) -> None:
    global given_to_initializer
    given_to_initializer = text


def recall(item: int) -> str:
    return f"{given_to_initializer}{item}"


def picky(item: int) -> int:
    if item == 5:
        raise DataError("five is refused")
    return item * 10


def die_at(item: int) -> int:
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def interrupted(item: int) -> int:
    os.kill(os.getpid(), signal.SIGINT)
    return item


def own_pid(_: int) -> int:
    return os.getpid()


def own_cores(_: int) -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0)))


MAKERS: dict[str, Callable[[], Executor]] = {
    "inline": lambda: InlineExecutor(remember, ("a",)),
    "one process": lambda: ProcessExecutor(1, remember, ("a",)),
    "two processes in chunks": lambda: ProcessExecutor(2, remember, ("a",), chunk=3),
}


@pytest.fixture(scope="module", params=MAKERS)
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with MAKERS[request.param]() as made:
        yield made


def test_results_come_in_order_for_any_number_of_items(executor: Executor) -> None:
    for size in (0, 1, 7, 50):
        assert list(executor.map(operator.neg, range(size))) == [-item for item in range(size)]


def test_initializer_has_run_where_the_work_is_done(executor: Executor) -> None:
    assert list(executor.map(recall, [1, 2])) == ["a1", "a2"]


def test_an_exception_comes_in_its_place_and_the_executor_lives_on(executor: Executor) -> None:
    results = executor.map(picky, range(9))
    assert [next(results) for _ in range(5)] == [0, 10, 20, 30, 40]
    with pytest.raises(DataError, match="five is refused"):
        next(results)
    assert list(executor.map(picky, [1])) == [10]


def test_items_are_drawn_as_they_are_needed(executor: Executor) -> None:
    drawn: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            drawn.append(len(drawn))
            yield drawn[-1]

    results = executor.map(operator.neg, endless())
    assert [next(results) for _ in range(4)] == [0, -1, -2, -3]
    assert len(drawn) <= 4 + 3 * 5


def test_workers_leave_ctrl_c_to_the_caller() -> None:
    with ProcessExecutor(1) as executor:
        assert list(executor.map(interrupted, [1, 2])) == [1, 2]


@pytest.mark.parametrize("chunk", [1, 2])
def test_a_killed_worker_is_an_infra_error_that_names_the_item(chunk: int) -> None:
    with ProcessExecutor(1, chunk=chunk) as executor, pytest.raises(InfraError, match="item") as caught:
        list(executor.map(die_at, range(6)))
    assert "died" in str(caught.value)


def test_workers_keep_to_a_core_each_only_where_they_use_all_cores() -> None:
    mine = tuple(sorted(os.sched_getaffinity(0)))
    with ProcessExecutor(len(mine)) as executor:
        found = set(executor.map(own_cores, range(8 * len(mine))))
    assert all(len(cores) == 1 for cores in found) and {core for cores in found for core in cores} <= set(mine)
    with ProcessExecutor(len(mine) + 1) as executor:
        assert set(executor.map(own_cores, range(8))) == {mine}


def test_bad_sizes_are_refused() -> None:
    for workers, chunk in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            ProcessExecutor(workers, chunk=chunk)


CALLER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background starts programs that ignore it
sys.path.insert(0, sys.argv[1])
from test_executor import own_pid
from swefuse.scale import ProcessExecutor
if __name__ == "__main__":
    executor = ProcessExecutor(1)
    print(*executor.map(own_pid, [0]), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_caller(number: int, tmp_path: Path) -> None:
    script = tmp_path / "caller.py"
    script.write_text(CALLER)
    command = [sys.executable, str(script), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as caller:
        assert caller.stdout is not None
        watched = os.pidfd_open(int(caller.stdout.readline()))
        caller.send_signal(number)
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        ended = poll.poll(20_000)
        caller.kill()
    os.close(watched)
    assert ended
