"""Tasks of templates, their proof and their statistics, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.tasks.store import load_tasks

Capture = pytest.CaptureFixture[str]


def test_a_new_template_works_and_is_not_written_over(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "mine.py"
    assert main(["tasks", "template", "new", str(file)]) == 0
    assert main(["tasks", "template", "new", str(file)]) == 2
    assert main(["tasks", "template", "new", str(tmp_path / "no name.py")]) == 2
    assert main(["tasks", "template", "check", str(file), "--draws", "3", "--workers", "1"]) == 0
    page = capsys.readouterr().out
    assert "mine: 3 draws proven; of 400 draws" in page and "--- " in page
    file.write_text(file.read_text().replace('"$bug_right"', '"$bug_wrong"'))
    assert main(["tasks", "template", "check", str(file), "--draws", "3", "--workers", "1", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["proven"] == 0 and "there is no solution" in row["refused"]


def test_tasks_are_made_counted_and_proven(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "made"
    command = ["tasks", "make", "--out", str(out), "--template", "bugfix_page_count", "--workers", "1"]
    assert main([*command, "--tasks", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tasks"], told["kinds"], told["templates"]) == (2, {"bugfix": 2}, {"bugfix_page_count": 2})
    assert main([*command, "--tasks", "3"]) == 0
    assert "3 tasks, in " in (page := capsys.readouterr().out) and "differ in more than names and values" in page
    made = load_tasks(out / "tasks.jsonl")
    assert len(made) == 3 and json.loads((out / "summary.json").read_text())["asked"] == 3
    assert main(["tasks", "prove", str(out), "--out", str(tmp_path / "proven"), "--repeat", "2", "--workers", "1"]) == 0
    assert "3 of 3 tasks are proven" in capsys.readouterr().out
    assert main(["tasks", "prove", str(out), "--out", str(out)]) == 2
    assert "is also what is read" in capsys.readouterr().err
    wrong = made[0].model_copy(update={"reference": dict(made[0].files)})
    (tmp_path / "wrong.jsonl").write_text(wrong.model_dump_json() + "\n")
    assert main(["tasks", "prove", str(tmp_path / "wrong.jsonl"), "--out", str(tmp_path / "w"), "--workers", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"tasks": 1, "proven": 0, "refused": {"the reference does not pass": 1}}
    assert main(["tasks", "stats", str(out), str(tmp_path / "w")]) == 0
    page = capsys.readouterr().out
    assert "3 tasks, 3 of them with evidence" in page and "the reference does not pass" in page and "licences: Apache-2.0 3" in page
    assert main(["tasks", "stats", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kinds"] == {"bugfix": 3}


def test_what_there_is_is_listed_and_what_there_is_not_is_told(capsys: Capture, tmp_path: Path) -> None:
    assert main(["tasks", "template", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"template": "bugfix_page_count", "kind": "bugfix", "domain": "web handlers"} in listed
    assert main(["tasks", "template", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(listed)
    assert main(["tasks", "kinds"]) == 0
    assert "scored" in capsys.readouterr().out
    assert main(["tasks", "kinds", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 8
    for command, told in (
        (["--kind", "bugfx"], "--kind bugfx: there is no such kind; did you mean 'bugfix'?"),
        (["--template", "bugfix_pages"], "there is no template 'bugfix_pages'; did you mean 'bugfix_page_count'?"),
        (["--from", str(tmp_path / "gone.py"), "--template", "gone"], "not a Python file"),
    ):
        assert main(["tasks", "make", "--out", str(tmp_path / "x"), *command]) == 2
        assert told in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
