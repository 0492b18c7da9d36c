"""``swefuse tasks import`` and ``export``: what comes in goes out again, and what does not is told in one line."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from swefuse.cli.main import main
from swefuse.records import Kind, Provenance, Suite, Task
from swefuse.tasks.store import load_tasks, save_tasks

Capture = pytest.CaptureFixture[str]
CODE = "def half(x):\n    return x // 2\n"
TEST = "from calc import half\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
MIT = "Permission is hereby granted, free of charge, to any person\n"
PATCH = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def half(x):\n-    return x // 2\n+    return x / 2\n"


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clones")
    work = folder / "acme__calc"
    work.mkdir()
    for name, text in {"calc.py": CODE, "test_calc.py": TEST, "LICENSE": MIT}.items():
        (work / name).write_text(text)
    person = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "begin"]):
        subprocess.run(["git", *command], cwd=work, env={**os.environ, **person}, check=True)
    return folder


def row(clones: Path, **changes: Any) -> dict[str, Any]:
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=clones / "acme__calc", capture_output=True, text=True, check=True
    ).stdout
    return {
        "repo": "acme/calc", "instance_id": "acme__calc-1", "base_commit": head.strip(), "patch": PATCH, "test_patch": "",
        "problem_statement": "Half is wrong.", "version": "1", "FAIL_TO_PASS": '["test_calc.py::test_half"]',
        "PASS_TO_PASS": [], "created_at": 7, "mine": 1.0, **changes,
    }  # fmt: skip


def lines(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    return str(path)


def test_in_and_out_again(clones: Path, tmp_path: Path, capsys: Capture) -> None:
    given = lines(tmp_path / "rows.jsonl", row(clones), row(clones, instance_id="acme__calc-2", repo="acme/none"))
    out = tmp_path / "out"
    assert main(["tasks", "import", "swebench", given, "--repos", str(clones), "--out", str(out), "--workers", "1"]) == 0
    said = capsys.readouterr()
    assert "kept, though swebench names no such field: mine (2)" in said.out and "import: 2/2" in said.err
    assert f"1 of 2 rows are proven tasks, in {out / 'tasks.jsonl'}" in said.out
    assert "      1  its repository is not here\n" in said.out
    assert json.loads((out / "refused.jsonl").read_text())["instance"] == "acme__calc-2"
    assert main(["tasks", "export", "swebench", str(out), "--out", str(tmp_path / "again.jsonl")]) == 0
    assert "1 of 1 tasks written" in (told := capsys.readouterr().out) and "1 of them exactly as they were read" in told
    assert (tmp_path / "again.jsonl").read_text() == Path(given).read_text().splitlines(keepends=True)[0]
    assert main(["tasks", "export", "harbor", str(out), "--out", str(tmp_path / "h"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"tasks": 1, "written": 1, "refused": {}, "which": []}
    back = ["tasks", "import", "harbor", str(tmp_path / "h"), "--out", str(tmp_path / "back"), "--json", "--workers", "1"]
    assert main([*back, "--allow-licence", "MIT", "--repeat", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == 1
    assert load_tasks(tmp_path / "back" / "tasks.jsonl") == load_tasks(out / "tasks.jsonl")
    assert main([*back, "--allow-licence", "BSD"]) == 0
    assert json.loads(capsys.readouterr().out)["refused"] == {"its licence is not among those allowed": 1}


def test_nothing_is_written_when_a_row_cannot_be_read(clones: Path, tmp_path: Path, capsys: Capture) -> None:
    given = lines(tmp_path / "rows.jsonl", row(clones), row(clones, patch=3))
    assert main(["tasks", "import", "swebench", given, "--out", str(tmp_path / "out")]) == 2
    assert f"{given}:2: field 'patch' must be text, not a whole number (3)" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "swebensh", "FILE", "--out", "OUT"], "there is no format 'swebensh'; did you mean 'swebench'?"),
        (["export", "r2e", "FILE", "--out", "OUT"], "there is no format 'r2e' to export"),
        (["import", "r2e", "FILE", "--out", "OUT", "--repos", "OUT"], "there is no such folder"),
        (["import", "r2e", "FILE", "--out", "OUT", "--environment", "none"], "there is no environment 'none'"),
        (["import", "harbor", "FILE", "--out", "OUT"], "holds no task"),
        (["export", "swebench", "FILE", "--out", "FILE"], "is also what is read"),
        (["export", "swebench", "FILE", "--out", "OUT"], "holds no task"),
        (["export", "swebench", "FULL", "--out", "OUT", "--repo", "a="], "give a name, or OLD=NAME"),
        (["export", "harbor", "FULL", "--out", "OUT", "--repo", "a"], "have no effect with harbor"),
    ],
)
def test_mistakes_end_in_one_line(words: list[str], said: str, task: Task, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").touch()
    save_tasks(tmp_path / "full", [task])
    places = {"FILE": str(tmp_path / "file"), "OUT": str(tmp_path / "out"), "FULL": str(tmp_path / "full")}
    assert main(["tasks", *(places.get(word, word) for word in words)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not (tmp_path / "out").exists()


def test_what_cannot_be_written_is_counted_and_the_call_ends_with_one(task: Task, tmp_path: Path, capsys: Capture) -> None:
    files = {"calc.py": CODE, "test_calc.py": TEST}
    suites = (Suite(form="pytest", files=("test_calc.py",), fail_to_pass=("test_calc.py::test_half",)),)
    small = Task.make(
        Kind.BUGFIX, instruction="Repair half.", files=files, editable=("calc.py",), protected=("test_calc.py",), suites=suites,
        reference={**files, "calc.py": CODE.replace("//", "/")}, provenance=Provenance(source="demo", repo="old"),
    )  # fmt: skip
    save_tasks(tmp_path / "tasks.jsonl", [task, small])
    out = tmp_path / "rows.jsonl"
    assert main(["tasks", "export", "swebench", str(tmp_path), "--out", str(out), "--repo", "old=acme/calc"]) == 1
    said = capsys.readouterr().out
    assert "1 of 2 tasks written" in said and "1 rows name no commit" in said
    assert "      1  it has no tests in the form pytest" in said
    assert json.loads(out.read_text())["repo"] == "acme/calc"
