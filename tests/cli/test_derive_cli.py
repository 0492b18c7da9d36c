"""``swefuse tasks derive`` makes tasks of several kinds of a work tree, says what it refused, and goes on where it was."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.tasks.store import load_tasks

Capture = pytest.CaptureFixture[str]
CODE = '''def grow(x, by=1, most=9):
    """Return x plus ``by``, and at most ``most``.

    >>> grow(3)
    4
    """
    found = x + by
    if found > most:
        raise OverflowError(found)
    return found
'''


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "small.py").write_text(CODE)
    (folder / "test_small.py").write_text("from small import grow\n\n\ndef test_grow():\n    assert grow(1) == 2\n")
    for command in (["init", "--quiet"], ["add", "--all"], ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def test_tasks_of_a_work_tree(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    words = ["tasks", "derive", str(repository), "--out", str(out), "--workers", "1", "--kind", "qa", "--kind", "docgen"]
    assert main([*words, "--tasks", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kinds"] == {"qa": {"tasks": 1, "tried": 1}, "docgen": {"tasks": 0, "tried": 1}}
    assert found["refused"] == {"the reference does not pass": 1}, "the docstring does not name the error"
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.out.startswith("4 tasks of 5 tried, in ") and "      4  qa, of 4 tried\n" in said.out
    assert "survey" not in said.err, "the survey is known"
    assert {task.provenance.operator for task in load_tasks(out / "tasks.jsonl")} == {"value", "raised", "defaults"}
    assert main(["tasks", "show", str(out)]) == 0
    assert "derived:grow" in capsys.readouterr().out


def test_what_the_caller_can_fix(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ["--out", str(tmp_path / "out"), "--workers", "1"]
    assert main(["tasks", "derive", str(tmp_path), *words]) == 2
    assert "is no git repository" in capsys.readouterr().err
    assert main(["tasks", "derive", str(repository), *words, "--revision", "v9"]) == 2
    assert "has no revision v9" in capsys.readouterr().err
    assert main(["tasks", "derive", str(repository), *words, "--kind", "poem"]) == 2
    assert main(["tasks", "derive", str(repository), *words, "--environment", "none-such"]) == 2
    assert "there is no environment 'none-such'" in capsys.readouterr().err
    assert main(["tasks", "derive", str(repository), *words, "--allow-licence", "BSD", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["refused"] == {"its licence is not among those allowed": 1}
