"""``swefuse verify`` judges patches and says in one line what is wrong with a call."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.records import Task
from swefuse.tasks.store import save_tasks
from swefuse.verify.cache import VerdictCache
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
    assert f"PASSED  {folder}/right: 4 of 4 tests pass in the first run, score 1.00" in capsys.readouterr().out
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
        (["--form", "pytest"], "has no such tests; valid: calls"),
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


def predictions(folder: Path, rows: list[object], lines: bool = True) -> Path:
    path = folder / "preds.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) if lines else json.dumps(rows))
    return path


def call(folder: Path, path: Path, *more: str) -> int:
    return main(["verify", "--task", str(folder), "--predictions", str(path), *more])


def test_predictions_of_a_harness_are_judged_and_known_the_next_time(folder: Path, task: Task, capsys: Capture) -> None:
    right, wrong = ((folder / name).read_text() for name in ("right", "wrong"))
    rows = [{"instance_id": task.id, "model_patch": patch, "model_name_or_path": "m"} for patch in (right, wrong, "prose", None)]
    path, out = predictions(folder, rows), folder / "verdicts.jsonl"
    kept = ("--out", str(out), "--cache", str(folder / "verdicts.sqlite"))
    assert call(folder, path, *kept) == 1
    shown = capsys.readouterr().out
    assert [line.split() for line in shown.splitlines()[:3]] == [["2", "FAILED"], ["1", "PASSED"], ["1", "UNPARSED"]]
    assert "4 candidates, 2 runs; 2 refused before any run" in shown
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["verdict"]["outcome"] for row in found] == ["PASSED", "FAILED", "UNPARSED", "FAILED"]
    assert not (folder / "verdicts.jsonl.part").exists()
    assert call(folder, path, *kept) == 1
    assert "4 candidates, 0 runs; 2 known already" in capsys.readouterr().out
    mapping = folder / "preds.json"
    mapping.write_text(json.dumps({task.id: {"model_patch": right}}))
    assert call(folder, mapping, "--json") == 0
    assert [row["task"] for row in json.loads(capsys.readouterr().out)] == [task.id]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"instance_id": "none", "model_patch": ""}, "preds.jsonl, entry 1: {folder} has no task 'none'"),
        ({"model_patch": ""}, "needs instance_id (text) and model_patch, not only model_patch"),
        ({"instance_id": "x", "model_patch": 3}, "model_patch must be text, not 3"),
        ([1], "a prediction is an object"),
    ],
)
def test_bad_predictions_are_refused_before_anything_runs(folder: Path, capsys: Capture, row: object, message: str) -> None:
    assert call(folder, predictions(folder, [row], lines=False), "--out", str(folder / "out")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message.format(folder=folder) in line
    assert not (folder / "out.part").exists()


def test_a_broken_line_of_predictions_is_named(folder: Path, task: Task, capsys: Capture) -> None:
    path = folder / "preds.jsonl"
    path.write_text(json.dumps({"instance_id": task.id, "model_patch": ""}) + "\n\n{broken\n")
    assert call(folder, path) == 2
    assert f"{path}:3: no JSON" in capsys.readouterr().err


def test_patches_come_one_way_and_predictions_name_their_task(folder: Path, task: Task, capsys: Capture) -> None:
    path = predictions(folder, [{"instance_id": task.id, "model_patch": ""}])
    assert main(["verify", "--task", str(folder)]) == 2 and call(folder, path, "--patch", "x") == 2
    assert capsys.readouterr().err.count("give either --patch") == 2
    assert call(folder, path, "--id", task.id) == 2
    assert "--id has no effect with --predictions" in capsys.readouterr().err


def test_ctrl_c_leaves_no_process_and_loses_no_verdict(folder: Path, task: Task) -> None:
    source = task.files["solution.py"]
    hang = make_patch(
        task.files, {"solution.py": source.replace("return x - x", "return x - x if x else [i for i in iter(int, 1)]")}
    )
    rows: list[object] = [{"instance_id": task.id, "model_patch": (folder / "right").read_text()}]
    rows += [{"instance_id": task.id, "model_patch": hang.decode()}] * 300  # hanging ones are not kept, so each costs its limit
    part, cache = folder / "verdicts.jsonl.part", folder / "verdicts.sqlite"
    command = [sys.executable, "-c", "from swefuse.cli.main import run; run()", "verify", "--task", str(folder)]
    command += ["--predictions", str(predictions(folder, rows)), "--out", str(folder / "verdicts.jsonl"), "--cache", str(cache)]
    before = mounts()
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (part.exists() and part.read_bytes().count(b"\n") > 2):
        assert time.monotonic() < deadline and started.poll() is None
    workers = descendants(started.pid)
    assert len(workers) > 2
    ends = {os.pidfd_open(pid): pid for pid in workers}
    os.killpg(started.pid, signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert started.returncode == 130 and f"verdicts so far are in {part}" in err
    left = [pid for fd, pid in ends.items() if not select.select([fd], [], [], 10)[0]]  # the last ones notice that they are alone
    assert left == [], "a process is left"
    for fd in ends:
        os.close(fd)
    assert mounts() == before
    assert VerdictCache(cache).get(next(iter(keys(cache)))) is not None


def descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for thread in Path(f"/proc/{one}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def mounts() -> str:
    return Path("/proc/self/mounts").read_text()


def keys(cache: Path) -> list[str]:
    with sqlite3.connect(cache) as file:
        return [row[0] for row in file.execute("SELECT key FROM verdict")]


def test_half_a_character_in_a_patch_is_the_fault_of_that_patch_alone(folder: Path, task: Task, capsys: Capture) -> None:
    bad = (folder / "right").read_text().replace("x + x", "'\ud800'")
    rows: list[object] = [{"instance_id": task.id, "model_patch": patch} for patch in (bad, (folder / "right").read_text())]
    assert call(folder, predictions(folder, rows), "--json") == 1
    found = [row["verdict"]["outcome"] for row in json.loads(capsys.readouterr().out)]
    assert found[1] == "PASSED" and found[0] in ("UNPARSED", "TAMPERED")


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("tasks.jsonl", "is also what is read"), ("preds.jsonl", "is also what is read"), ("folder", "is a folder"),
        ("none/x", "there is no folder"), ("pipe", "is no plain file"), ("", "is a folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_or_must_not_is_said_before_anything_runs(
    folder: Path, task: Task, capsys: Capture, out: str, why: str
) -> None:
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    path = predictions(folder, [{"instance_id": task.id, "model_patch": (folder / "right").read_text()}])
    before = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    assert call(folder, path, "--out", str(folder / out) if out else "") == 2
    assert why in capsys.readouterr().err
    assert {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()} == before


def test_a_link_is_written_through_and_another_call_is_kept_out(folder: Path, task: Task, capsys: Capture) -> None:
    path = predictions(folder, [{"instance_id": task.id, "model_patch": (folder / "right").read_text(), "model_name_or_path": "m"}])
    (folder / "link").symlink_to(folder / "real")
    assert call(folder, path, "--out", str(folder / "link")) == 0
    (row,) = [json.loads(line) for line in (folder / "real").read_text().splitlines()]
    assert (folder / "link").is_symlink() and (row["number"], row["model"], row["task"]) == (1, "m", task.id)
    with (folder / "real.part").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert call(folder, path, "--out", str(folder / "real")) == 2
    assert "another call is writing" in capsys.readouterr().err


@pytest.mark.parametrize("cache", [".", "right", "none/v.sqlite"])
def test_a_cache_that_cannot_be_one_is_said_in_a_line(folder: Path, task: Task, capsys: Capture, cache: str) -> None:
    path = predictions(folder, [{"instance_id": task.id, "model_patch": ""}])
    assert call(folder, path, "--cache", str(folder / cache)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--cache {folder / cache}: cannot be used" in line


def test_stdin_is_read_once_and_what_is_no_sandbox_is_told_so(folder: Path, capsys: Capture) -> None:
    assert main(["verify", "--task", str(folder), "--patch", "-", "--patch", "-"]) == 2
    assert "--patch - is given twice" in capsys.readouterr().err
    assert main(["verify", "--task", str(folder), "--patch", str(folder / "right"), "--sandbox", "json:JSONDecoder"]) == 2
    assert "'json:JSONDecoder' is no sandbox: it lacks run, close" in capsys.readouterr().err


def test_a_task_file_may_be_laid_out_for_people_and_holds_each_task_once(folder: Path, task: Task, capsys: Capture) -> None:
    pretty = folder / "pretty.json"
    arguments = ["verify", "--task", str(pretty), "--patch", str(folder / "right")]
    for shape in (task.model_dump(mode="json"), [task.model_dump(mode="json")]):
        pretty.write_text(json.dumps(shape, indent=2))
        assert main(arguments) == 0
    pretty.write_text("{\n")
    assert main(arguments) == 2 and "no JSON" in capsys.readouterr().err
    save_tasks(pretty, [task, task])
    assert main(arguments) == 2 and f"holds task {task.id} 2 times" in capsys.readouterr().err
