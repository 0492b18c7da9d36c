"""How far tests can be trusted, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.records import Suite, Task
from swefuse.tasks.store import load_tasks

Capture = pytest.CaptureFixture[str]


def test_strength_names_what_slips_through_and_what_is_missing(task: Task, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "none.jsonl").write_text(task.model_dump_json() + "\n", encoding="utf-8")
    assert main(["tasks", "strength", str(tmp_path / "none.jsonl")]) == 1
    assert f"{task.id}  task {task.id} has no reference solution" in capsys.readouterr().out
    right = task.files["solution.py"].replace("x - x", "x + x")
    solved = task.model_copy(update={"reference": {**task.files, "solution.py": right}})
    (tmp_path / "tasks.jsonl").write_text(solved.model_dump_json() + "\n", encoding="utf-8")
    assert main(["tasks", "strength", str(tmp_path), task.id, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["task"] == task.id and found["killed"] + len(found["survivors"]) == found["judged"] == found["listed"] > 1
    assert main(["tasks", "strength", str(tmp_path), task.id]) == 0
    page = capsys.readouterr().out
    assert f"{found['killed']} of {found['judged']} mutants killed" in page
    assert page.count("survived: solution.py:3 double:") == len(found["survivors"])
    assert main(["tasks", "strength", str(tmp_path), "--form", "pytest"]) == 2
    assert f"--form: task {task.id} has no tests of the form pytest; valid: calls" in capsys.readouterr().err
    assert main(["tasks", "strength", str(tmp_path), "--add", "3"]) == 2
    assert main(["tasks", "strength", str(tmp_path), "--add", "3", "--form", "pytest", "--out", "x"]) == 2
    assert capsys.readouterr().err.count("--add") == 2


def test_tasks_leave_with_their_strength_and_with_more_tests(task: Task, tmp_path: Path, capsys: Capture) -> None:
    right = task.files["solution.py"].replace("x - x", "x + x")
    weak = task.suites[0].model_copy(update={"calls": task.suites[0].calls[:3], "fail_to_pass": ("t2",), "pass_to_pass": ("t0",)})
    suites = (weak.model_copy(update={"calls": (weak.calls[0], weak.calls[2])}),)
    solved = task.model_copy(
        update={"reference": {"solution.py": right}, "suites": suites, "id": Task.make_id(task.kind, task.files, suites)}
    )
    (tmp_path / "tasks.jsonl").write_text(solved.model_dump_json() + "\n", encoding="utf-8")
    out = tmp_path / "stronger.jsonl"
    assert main(["tasks", "strength", str(tmp_path), "--out", str(out)]) == 0
    (plain,) = load_tasks(out)
    assert plain.evidence is not None and plain.evidence.strength is not None and plain.evidence.strength < 1
    assert main(["tasks", "strength", str(tmp_path), "--add", "4", "--out", str(out)]) == 0
    (strong,) = load_tasks(out)
    assert strong.evidence is not None and strong.evidence.strength is not None
    assert strong.evidence.strength > plain.evidence.strength
    page = capsys.readouterr().out
    assert page.startswith(solved.id) or f"\n{solved.id}  " in page
    assert f"before {len(strong.suites[0].calls) - 2} more calls, now task {strong.id}" in page
    other = task.model_copy(
        update={"files": {**task.files, "x": ""}, "id": Task.make_id(task.kind, {**task.files, "x": ""}, task.suites)}
    )
    (tmp_path / "two.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in (other, solved)), encoding="utf-8")
    assert main(["tasks", "strength", str(tmp_path / "two.jsonl"), solved.id, "--out", str(out)]) == 0
    first, second = load_tasks(out)
    assert first == other and second.evidence is not None and second.evidence.mutants > 0, "a task not measured is not lost"
    assert main(["tasks", "strength", str(tmp_path), solved.id, "--first", "3"]) == 2
    assert main(["tasks", "strength", str(out), "--out", str(out)]) == 2


def test_flaky_tests_are_named_and_left_out(task: Task, tmp_path: Path, capsys: Capture) -> None:
    tests = "SEEN = []\ndef test_a():\n    pass\ndef test_b():\n    assert not SEEN\ndef test_c():\n    SEEN.append(1)\n"
    ids = tuple(f"test_x.py::test_{name}" for name in "abc")
    files = {**task.files, "test_x.py": tests}
    suites = (Suite(form="pytest", files=("test_x.py",), fail_to_pass=ids[:1], pass_to_pass=ids[1:]),)
    id_ = Task.make_id(task.kind, files, suites)
    shaky = task.model_copy(update={"id": id_, "files": files, "suites": suites, "reference": files})
    (tmp_path / "tasks.jsonl").write_text(shaky.model_dump_json() + "\n", encoding="utf-8")
    arguments = ["tasks", "flaky", str(tmp_path), "--repeat", "6", "--workers", "1"]
    assert main([*arguments, "--out", str(tmp_path / "steady.jsonl")]) == 1
    page = capsys.readouterr().out
    assert f"{shaky.id}  flaky tests left out" in page and "test_x.py::test_b: passed" in page
    assert "1 tasks, 0 steady, 1 with flaky tests left out, 0 refused" in page
    assert main(["tasks", "flaky", str(tmp_path / "steady.jsonl"), "--repeat", "6", "--workers", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"tasks": 1, "kept": 1, "flaky": []}
    assert main([*arguments, "--policy", "refuse"]) == 1
    assert f"{shaky.id}  refused: tests are flaky: test_x.py::test_b" in capsys.readouterr().out
