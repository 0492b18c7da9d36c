"""``swefuse verify`` judges patches and says in one line what is wrong with a call."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.records import Task
from swefuse.tasks.store import save_tasks
from swefuse.verify.patch import make_patch

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(task: Task, tmp_path: Path) -> Path:
    source = task.files["solution.py"]
    save_tasks(tmp_path / "tasks.jsonl", [task])
    for name, new in (("right", "x + x"), ("wrong", "x * x")):
        (tmp_path / name).write_bytes(make_patch(task.files, {"solution.py": source.replace("x - x", new)}))
    return tmp_path


def test_a_patch_that_passes_and_one_that_does_not(folder: Path, capsys: Capture) -> None:
    arguments = ["verify", "--task", str(folder), "--patch", str(folder / "right")]
    assert main([*arguments, "--repeat", "2"]) == 0
    assert f"PASSED  {folder}/right: 4 of 4 tests pass, score 1.00" in capsys.readouterr().out
    assert main([*arguments, "--patch", str(folder / "wrong")]) == 1
    out = capsys.readouterr().out
    assert "FAILED" in out and "2 of 4 tests pass" in out and "  t3: failed: (3,) gave 9, expected 6" in out
    assert main([*arguments, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["verdict"]["outcome"] == "PASSED" and found["notes"] == []


def test_a_patch_from_a_pipe_with_other_line_ends_is_noted(folder: Path, task: Task) -> None:
    data = (folder / "right").read_bytes().replace(b"\n", b"\r\n")
    command = [
        sys.executable,
        "-c",
        "from swefuse.cli.main import run; run()",
        "verify",
        "--task",
        str(folder / "tasks.jsonl"),
        "--id",
        task.id[:6],
        "--patch",
        "-",
    ]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"  note: line 4: line ends of the patch differ from those of solution.py" in done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--patch", "none.diff"], "--patch none.diff: cannot be read: No such file"),
        (["--id", "zzz"], "--id zzz: none of the 1 tasks"),
        (["--form", "pytest"], "--form pytest: the task has no such tests; valid: calls"),
        (["--task", "none.jsonl"], "none.jsonl: cannot be read"),
        (["--sandbox", "bwarp"], "there is no sandbox 'bwarp'; did you mean 'bwrap'?"),
        (["--sandbox", "bwrap", "--allow-weak-sandbox"], "--allow-weak-sandbox has no effect with --sandbox bwrap"),
    ],
)
def test_bad_input_is_one_line(folder: Path, capsys: Capture, change: list[str], message: str) -> None:
    assert main(["verify", "--task", str(folder), "--patch", str(folder / "right"), *change]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and message in lines[0]


def test_a_file_of_many_tasks_asks_for_an_id(folder: Path, task: Task, capsys: Capture) -> None:
    files = {"solution.py": task.files["solution.py"] + "\n"}
    other = task.model_copy(update={"files": files, "id": Task.make_id(task.kind, files, task.suites)})
    save_tasks(folder / "tasks.jsonl", [task, other])
    assert main(["verify", "--task", str(folder), "--patch", str(folder / "right")]) == 2
    assert f"holds 2 tasks that this may be; choose one by --id, such as {task.id[:12]}" in capsys.readouterr().err


def test_fail_fast_and_repeats_exclude_each_other(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text("")
    code = main(["verify", "--task", str(tmp_path / "task.json"), "--patch", "-", "--fail-fast", "--repeat", "2"])
    assert code == 2 and "no effect with --repeat" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_another_sandbox_gives_the_same_verdict_and_is_named_in_it(folder: Path, capsys: Capture) -> None:
    arguments = ["verify", "--task", str(folder), "--patch", str(folder / "right"), "--json"]
    assert main([*arguments, "--sandbox", "bwrap"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["verdict"]["outcome"] == "PASSED" and found["verdict"]["sandbox"].startswith("bwrap-cold-python")
