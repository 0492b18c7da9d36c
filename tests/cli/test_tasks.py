"""``swefuse tasks show`` finds a task by the beginning of its id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.records import Task

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(task: Task, tmp_path: Path) -> Path:
    (tmp_path / "tasks.jsonl").write_text(task.model_dump_json() + "\n", encoding="utf-8")
    return tmp_path


def test_list_and_show(task: Task, folder: Path, capsys: Capture) -> None:
    assert main(["tasks", "show", str(folder)]) == 0
    assert capsys.readouterr().out.split() == [task.id, "bugfix", "train", "arithmetic", "demo:double"]
    assert main(["tasks", "show", str(folder / "tasks.jsonl"), task.id[:6]]) == 0
    page = capsys.readouterr().out
    assert "Repair double." in page and "3 tests must turn from fail to pass" in page and "return x - x" in page
    assert main(["tasks", "show", str(folder), task.id, "--json"]) == 0
    assert [Task.model_validate(item) for item in json.loads(capsys.readouterr().out)] == [task]


def test_unknown_and_ambiguous_ids_are_refused(folder: Path, task: Task, capsys: Capture) -> None:
    assert main(["tasks", "show", str(folder), "zz"]) == 2
    assert "no task has an id that starts with 'zz'" in capsys.readouterr().err
    (folder / "tasks.jsonl").write_text((task.model_dump_json() + "\n") * 2, encoding="utf-8")
    assert main(["tasks", "show", str(folder), task.id[:3]]) == 2
    assert "2 tasks have an id" in capsys.readouterr().err


def test_a_field_that_is_wrong_is_named(folder: Path, task: Task, capsys: Capture) -> None:
    data = json.loads(task.model_dump_json())
    data["instructions"] = data.pop("instruction")
    (folder / "tasks.jsonl").write_text(json.dumps(data), encoding="utf-8")
    assert main(["tasks", "show", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "tasks.jsonl:1" in said and said.count("\n") == 1


def test_text_of_a_task_cannot_drive_the_terminal(folder: Path, task: Task, capsys: Capture) -> None:
    hostile = task.model_copy(update={"instruction": "Repair\x1b[2J\x9b1m this\tnow"})
    (folder / "tasks.jsonl").write_text(hostile.model_dump_json() + "\n", encoding="utf-8")
    assert main(["tasks", "show", str(folder), task.id]) == 0
    assert "Repair\\x1b[2J\\x9b1m this\tnow" in capsys.readouterr().out
