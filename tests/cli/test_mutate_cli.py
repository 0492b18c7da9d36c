"""``swefuse tasks mutate`` makes tasks of a work tree, says what it refused, and goes on where it was."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.tasks.store import load_tasks

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "small.py").write_text("def grow(x):\n    return x + 1\n\n\ndef shrink(x):\n    return x - 1\n")
    (folder / "test_small.py").write_text(
        "from small import grow, shrink\n\n\ndef test_grow():\n    assert grow(1) == 2\n\n\n"
        "def test_shrink():\n    assert shrink(1) == 0\n"
    )
    for command in (["init", "--quiet"], ["add", "--all"], ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def test_tasks_of_a_work_tree(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    words = ["tasks", "mutate", str(repository), "--out", str(out), "--workers", "1", "--per-function", "1"]
    assert main([*words, "--tasks", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == 1
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.out.startswith("2 tasks of ") and "survey" not in said.err, "the survey is known"
    tasks = load_tasks(out / "tasks.jsonl")
    assert {task.provenance.function for task in tasks} == {"grow", "shrink"}
    assert main(["tasks", "show", str(out)]) == 0
    assert "mutation:grow" in capsys.readouterr().out


def test_two_bugs_and_none_allowed(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ["tasks", "mutate", str(repository), "--workers", "1", "--json"]
    assert main([*words, "--out", str(tmp_path / "a"), "--bugs", "2", "--tasks", "1"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["tasks"] == 0 and set(found["refused"]) == {"with the bug all tests fail"}
    assert main([*words, "--out", str(tmp_path / "b"), "--allow-licence", "MIT"]) == 1
    assert json.loads(capsys.readouterr().out)["refused"] == {"its licence is not among those allowed": 1}


def test_what_the_caller_can_fix(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ["--out", str(tmp_path / "out"), "--workers", "1"]
    assert main(["tasks", "mutate", str(tmp_path), *words]) == 2
    assert "is no git repository" in capsys.readouterr().err
    assert main(["tasks", "mutate", str(repository), *words, "--revision", "v9"]) == 2
    assert "has no revision v9" in capsys.readouterr().err
    assert main(["tasks", "mutate", str(repository), *words, "--bugs", "4"]) == 2
    assert main(["tasks", "mutate", str(repository), *words, "--environment", "none-such"]) == 2
    assert "there is no environment 'none-such'" in capsys.readouterr().err
