"""A call that is ended early asks nothing more, keeps what ends soon and throws nothing away that is done."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from written import Writing

from function_task import BUGGY, PATH, function_task
from swefuse.collect.gather import GatherConfig, run
from swefuse.collect.stage import load_trajectories
from swefuse.errors import InfraError
from swefuse.policy.base import Reply, Request, Usage
from swefuse.scale import InlineExecutor
from swefuse.tasks.store import save_tasks
from swefuse.verify import init_worker

RIGHT = f"@edit {PATH}:3\n-x - x\n+x + x\n"


@pytest.fixture(autouse=True)
def _interrupts() -> Iterator[None]:
    """As on a terminal: a shell in the background starts programs that ignore Ctrl-C."""
    init_worker()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Waiting(Writing):
    """Of three tasks one is about to submit and one about to test, when the third is where the user ends the call."""

    concurrent = 3

    def __init__(self) -> None:
        super().__init__(lambda request: "")
        self.meet = threading.Barrier(3, timeout=30)
        self.left = threading.Event()

    def abandon(self, seconds: float) -> None:
        """See ``EndpointPolicy``."""
        assert seconds < 10
        self.left.set()

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """See ``Policy``."""
        [request] = requests
        self.asked.append(request)
        if not any(step.action and step.action.name == "edit" for step in request.steps):
            return [Reply(None, text=RIGHT, usage=Usage(1, 1, 0.1))]
        number = int(request.task.files[PATH][-2])
        self.meet.wait()
        if number == 2:
            os.kill(os.getpid(), signal.SIGINT)
        assert self.left.wait(30), "the call was waited for"
        return [Reply(None, text="@submit\n" if number == 0 else "@test\n", usage=Usage(1, 1, 0.1))]


def test_ctrl_c_asks_nothing_more_and_keeps_what_ends(tmp_path: Path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [function_task(f"{BUGGY}# {n}\n") for n in range(3)])
    policy = Waiting()
    with pytest.raises(KeyboardInterrupt):
        run(GatherConfig(samples=1), "free", (tmp_path, tmp_path / "o"), policy, InlineExecutor())
    assert len(policy.asked) == 6, "an edit and the next question for each, and no more"
    assert [one.stop_reason for one in load_trajectories(tmp_path / "o" / "trajectories.jsonl")] == ["submit"]

    class Again(Writing):
        concurrent = 3

    again = Again(lambda request: RIGHT if not request.steps else "@submit\n")
    summary = run(GatherConfig(samples=1), "free", (tmp_path, tmp_path / "o"), again, InlineExecutor())
    assert summary["accepted"] == 3 and len(again.asked) == 4, "only two were left to do"


def test_a_call_that_fails_leaves_nothing_running(tmp_path: Path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [function_task(f"{BUGGY}# {n}\n") for n in range(3)])

    class Failing(Waiting):
        def act(self, requests: Sequence[Request]) -> list[Reply]:
            """See ``Policy``."""
            self.asked += requests
            if len(self.asked) <= 3:
                self.meet.wait()
            if requests[0].seed == 0:
                raise InfraError("the machine is on fire")
            assert self.left.wait(30)
            return [Reply(None, text="@test\n")]

    policy = Failing()
    with pytest.raises(InfraError, match="on fire"):
        run(GatherConfig(samples=5), "free", (tmp_path, tmp_path / "o"), policy, InlineExecutor())
    assert 3 <= len(policy.asked) <= 5, "a thread may have taken one more before the failure was heard of"
