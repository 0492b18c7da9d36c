"""``swefuse collect`` and ``swefuse library add``: from tasks to a library, and what is refused on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from function_task import function_task
from swefuse.cli.main import main
from swefuse.tasks.store import save_tasks

Capture = pytest.CaptureFixture[str]
QUICK = ["--set", "workers=1", "--set", "guide=choices"]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    save_tasks(tmp_path / "tasks.jsonl", [function_task()])
    return tmp_path


def test_from_tasks_to_a_library(tasks: Path, capsys: Capture) -> None:
    out, library = tasks / "out", tasks / "library.db"
    assert main(["collect", "--tasks", str(tasks), "--out", str(out), *QUICK[:2], "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["accepted"] >= 1 and summary == json.loads((out / "summary.json").read_text())
    assert main(["collect", "--tasks", str(tasks), "--out", str(tasks / "found"), "--method", "search", "--policy", "random",
                 "--set", "tries=200", *QUICK]) == 0  # fmt: skip
    told = capsys.readouterr().out
    assert told.startswith("1 trajectories of 1 attempts (100.0 %)") and "taken back: it led nowhere" in told
    assert main(["library", "add", str(library), str(out), str(tasks / "found"), "--workers", "1"]) == 0
    assert "accepted" in capsys.readouterr().out
    assert main(["library", "add", str(library), str(tasks), "--workers", "1"]) == 2
    assert "holds no trajectories.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--out", "o"], "collect needs --tasks DIR"),
        (["--tasks", "."], "collect needs --out DIR"),
        (["--tasks", ".", "--out", "o", "--method", "serch"], "there is no method 'serch'; did you mean 'search'"),
        (["--tasks", ".", "--out", "o", "--policy", "random"], "replay plays the reference solution and asks no policy"),
        (["--tasks", ".", "--out", "o", "--method", "free"], "--method free needs --policy"),
        (["--tasks", ".", "--out", "o", "--method", "free", "--policy", "rule"], "--set guide=choices"),
        (["--tasks", ".", "--out", "o", "--method", "free", "--policy", "randm"], "did you mean 'random'"),
        (
            ["--tasks", ".", "--out", "o", "--method", "free", "--policy", "rule", "--endpoint", "model=x", *QUICK],
            "--endpoint is for",
        ),
        (["--tasks", ".", "--out", "o", "--method", "free", "--policy", "http://127.0.0.1:9/v1"], "model"),
        (["--tasks", ".", "--out", "o", "--method", "free", "--policy", "."], "has no tokenizer"),
        (["--tasks", "nowhere", "--out", "o"], "nowhere"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(arguments: list[str], problem: str, tmp_path: Path, capsys: Capture) -> None:
    places = {"o": str(tmp_path / "o"), ".": str(tmp_path)}
    assert main(["collect", *(places.get(one, one) for one in arguments)]) == 2
    assert problem in capsys.readouterr().err
