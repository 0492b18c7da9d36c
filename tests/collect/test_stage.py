"""Replay of reference edits, and its files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from function_task import MENDED, PATH, function_task
from swefuse.collect.stage import CollectConfig, load_trajectories, replay, run, save_trajectories
from swefuse.errors import DataError
from swefuse.records import Outcome, PolicyIdentity, Trajectory
from swefuse.scale import InlineExecutor
from swefuse.tasks.store import save_tasks
from swefuse.verify import init_worker


def plain(text: str) -> Trajectory:
    return Trajectory(
        id=text, task_id="", initial="", steps=(), final="", files={"a": text}, stop_reason="", policy=PolicyIdentity(model="m")
    )


def test_replay_is_real_ordered_and_counted() -> None:
    tasks = [function_task(), function_task(visible=1)]
    seen: list[tuple[int, int]] = []
    with InlineExecutor(init_worker, ("local",)) as executor:
        found = replay(tasks, executor, lambda done, total: seen.append((done, total)))
    assert [t.task_id for t in found] == [task.id for task in tasks]
    assert [t.verdict.outcome for t in found if t.verdict] == [Outcome.PASSED] * 2
    assert all(t.files == {PATH: MENDED} and t.source == "replay" for t in found)
    assert seen == [(1, 2), (2, 2)]


def test_trajectories_come_back_whatever_their_text(tmp_path: Path) -> None:
    made = [plain(text) for text in ("", "a\nb\r\x0b\x0c", "\x85\u2028\u2029\x1c\x1d\x1e", '"\\', "ü")]
    save_trajectories(tmp_path / "t.jsonl", made)
    assert load_trajectories(tmp_path / "t.jsonl") == made


def test_a_damaged_or_foreign_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    save_trajectories(path, [plain("a"), plain("b")])
    good = path.read_text()
    path.write_text(good[:-20] + "\n")
    with pytest.raises(DataError, match=r"t\.jsonl:2: not a trajectory"):
        load_trajectories(path)
    path.write_text(good.replace('"schema_version":1', '"schema_version":2', 1))
    with pytest.raises(DataError, match=r"t\.jsonl:1: schema_version 2, this version reads 1"):
        load_trajectories(path)


def test_a_split_without_tasks_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [function_task()])
    with pytest.raises(DataError, match="has no task of split 'trian'; did you mean 'train'"):
        run(CollectConfig(split="trian"), tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_stage_writes_trajectories_and_a_count_of_outcomes(tmp_path: Path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [function_task(), function_task(visible=1, split="unseen")])
    out = run(CollectConfig(workers=1), tmp_path, tmp_path / "out")
    assert [t.task_id for t in load_trajectories(out / "trajectories.jsonl")] == [function_task().id]
    assert json.loads((out / "summary.json").read_text()) == {"trajectories": 1, "outcomes": {"PASSED": 1}}


def test_files_that_are_no_utf8_are_read_back_as_they_were(tmp_path: Path) -> None:
    [made] = replay([function_task()], InlineExecutor(init_worker))
    odd = made.model_copy(update={"files": {**made.files, "logo.bin": "\udc89PNG\r\n\u2028"}})
    save_trajectories(tmp_path / "t.jsonl", [made, odd])
    assert load_trajectories(tmp_path / "t.jsonl") == [made, odd]
