"""``swefuse solve`` with a tiny real model in the real sandbox, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from function_task import BUGGY
from learn_samples import model, tokenizer
from swefuse.cli.main import main
from swefuse.learn.model import save

Capture = pytest.CaptureFixture[str]
TEST = "from m import double\n\n\ndef test_double():\n    assert double(2) == 4\n\n\ndef test_none():\n    assert double(0) == 0\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(model().float(), tokenizer(), tmp_path_factory.mktemp("tiny") / "model")


def project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "m.py").write_text(BUGGY)
    (folder / "test_m.py").write_text(TEST)
    return folder


def state(folder: Path) -> dict[str, tuple[str, int]]:
    return {path.name: (path.read_text(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


@pytest.mark.slow
def test_the_best_of_all_edits_is_shown_and_written_only_when_asked(tiny: Path, tmp_path: Path, capsys: Capture) -> None:
    folder = project(tmp_path / "p")
    before = state(folder)
    words = ["solve", str(folder), "--model", str(tiny), "-n", "16", "--sandbox", "local", "--workers", "1", "--json"]
    code = main([*words, "-o", str(tmp_path / "p.diff")])
    found = json.loads(capsys.readouterr().out)
    assert state(folder) == before and found["applied"] == [], "nothing is written without --apply"
    assert found["tests"]["failing"] == ["test_m.py::test_double"] and found["tests"]["passing"] == 1
    assert found["functions"][0]["name"] == "double" and found["candidates"]
    assert (code == 0) == found["proven"] and (tmp_path / "p.diff").read_text() == found["patch"]
    levels = [one["level"] for one in found["candidates"]]
    assert found["proven"] == (levels[0] == "proven")
    assert main([*words, "--apply"]) == code
    written = json.loads(capsys.readouterr().out)["applied"]
    assert written == (["m.py"] if code == 0 else []), "what no test proves is not written"
    main([*words, "--apply", "--unproven"] if code else [*words])
    assert (state(folder) != before) and (folder / "test_m.py").read_text() == TEST


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "swefuse quickstart"),
        (["--model", "none", "--endpoint", "http://127.0.0.1:1/v1"], "two models"),
        (["--model", "none"], "no such folder"),
        (["--endpoint", "model=big"], "needs one address"),
        (["--endpoint", "http://127.0.0.1:1/v1", "--value", "v.pt"], "leave it out"),
        (["--unproven"], "without --apply"),
        (["--reference", "r"], "without --value"),
        (["--no-tests", "--tests", "pytest"], "--tests has no effect"),
        (["--no-tests", "--hide-tests"], "--hide-tests has no effect"),
        (["--issue", "gone.md"], "no such file"),
    ],
)
def test_what_cannot_be_asked_is_told_with_the_remedy(words: list[str], told: str, tmp_path: Path, capsys: Capture) -> None:
    folder = project(tmp_path / "p")
    before = state(folder)
    assert main(["solve", str(folder), *words]) == 2
    assert told in capsys.readouterr().err and state(folder) == before
