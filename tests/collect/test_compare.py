"""What passes the tests and is wrong all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from written import Writing

from function_task import BUGGY, MENDED, PATH, function_task
from swefuse.collect.compare import DIFFERS, difference
from swefuse.collect.gather import GatherConfig, run
from swefuse.collect.stage import load_trajectories
from swefuse.policy.base import Reply, Request
from swefuse.records import Task, Trajectory
from swefuse.scale import InlineExecutor
from swefuse.tasks.store import save_tasks
from swefuse.verify import init_worker

HOLE = "2 * x if x < 4 else 0"  # the tests ask for 0 to 3


@pytest.fixture(scope="module", autouse=True)
def _worker() -> None:
    init_worker()


def task() -> Task:
    return function_task().model_copy(update={"reference": {PATH: MENDED}})


def made(body: str) -> Trajectory:
    text = BUGGY.replace("x - x", body)
    policy: dict[str, Any] = {"model": "m"}
    return Trajectory.model_validate({
        "id": "t", "task_id": task().id, "initial": "", "steps": (), "final": "", "files": {PATH: text}, "stop_reason": "submit",
        "policy": policy, "verdict": None, "source": "test",
    })  # fmt: skip


def test_a_hole_in_the_tests_is_shown_by_a_call() -> None:
    told = difference(48, (task(), made(HOLE)))
    assert told.startswith("double(") and "gives 0, not " in told
    assert difference(48, (task(), made("1 / (4 - x) and 2 * x if x != 4 else 1 / 0"))).endswith("gives ZeroDivisionError, not 8")


@pytest.mark.parametrize("body", ["x + x", "2 * x", "x * 2 if x else 0"])
def test_what_answers_alike_may_look_as_it_likes(body: str) -> None:
    assert difference(48, (task(), made(body))) == ""


def test_what_cannot_be_compared_is_let_through() -> None:
    assert difference(48, (function_task(), made(HOLE))) == "", "there is no reference"
    assert difference(48, (task().model_copy(update={"suites": ()}), made(HOLE))) == "", "there are no calls"
    shy = task().model_copy(update={"reference": {PATH: MENDED.replace("x + x", "x + x if x < 4 else [][0]")}})
    assert difference(48, (shy, made(HOLE))) == "", "where the reference gives no answer there is none to differ from"


def test_a_collection_refuses_it_and_tells_the_call(tmp_path: Path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [task()])

    def said(request: Request) -> str | Reply:
        edited = any(step.action and step.action.name == "edit" for step in request.steps)
        return "@submit\n" if edited else f"@edit {PATH}:3\n-x - x\n+{(HOLE, '2 * x')[request.seed % 2]}\n"

    def collected(name: str, **settings: Any) -> dict[str, Any]:
        return run(GatherConfig(samples=2, **settings), "free", (tmp_path, tmp_path / name), Writing(said), InlineExecutor())

    summary = collected("with")
    assert summary["accepted"] == 1 and summary["refused"] == {DIFFERS: 1}
    (kept,) = load_trajectories(tmp_path / "with" / "trajectories.jsonl")
    assert "2 * x\n" in kept.files[PATH] and HOLE not in kept.files[PATH]
    rows = [json.loads(line) for line in (tmp_path / "with" / "attempts.jsonl").read_text().splitlines()]
    assert [row["detail"].startswith("double(") for row in rows].count(True) == 1
    (lost,) = load_trajectories(tmp_path / "with" / "refused.jsonl")
    assert HOLE in lost.files[PATH]
    assert collected("without", compare=0)["accepted"] == 2
