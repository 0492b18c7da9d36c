"""What ``swefuse train`` refuses before the first step: exit code 2 and a line that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.learn.manifest import read
from swefuse.learn.model import make_nano, save, train_tokenizer
from swefuse.learn.tokens import nano_text
from swefuse.library.store import Entry, Library
from swefuse.records import Decision, Task
from swefuse.tasks.store import save_tasks

Capture = pytest.CaptureFixture[str]


def saved(folder: Path, task: Task, vocabulary: int = 300) -> Path:
    tokenizer = train_tokenizer([nano_text(task, ())], vocabulary)
    return save(make_nano(tokenizer, 64, 1), tokenizer, folder)


@pytest.fixture
def given(task: Task, tmp_path: Path) -> list[str]:
    (tmp_path / "tasks").mkdir()
    save_tasks(tmp_path / "tasks" / "tasks.jsonl", [task])
    model = saved(tmp_path / "model", task)
    return ["--model", str(model), "--tasks", str(tmp_path / "tasks"), "--out", str(tmp_path / "out")]


def refused(capsys: Capture, words: list[str]) -> str:
    assert main(["train", *words]) == 2
    told = capsys.readouterr().err
    assert len(told.strip().splitlines()) == 1, "one line, no trace"
    return told


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("samples=1", "samples = 1: input should be greater than or equal to 2"),
        ("weight.lam=-0.5", "weight.lam = -0.5: input should be greater than or equal to 0"),
        ("tasks=3", "1 tasks are fewer than one round needs (3)"),
    ],
)
def test_settings_that_cannot_work(given: list[str], capsys: Capture, setting: str, told: str) -> None:
    assert told in refused(capsys, ["rlvr", *given, "--set", setting])


def test_a_reference_that_reads_other_ids(given: list[str], task: Task, tmp_path: Path, capsys: Capture) -> None:
    other = saved(tmp_path / "other", task, 264)
    told = refused(capsys, ["rlvr", *given, "--set", "tasks=1", "--reference", str(other)])
    assert f"--reference {other}: its tokenizer has " in told and "a reference must read what the policy writes" in told


def test_tasks_that_leave_no_choice(given: list[str], task: Task, tmp_path: Path, capsys: Capture) -> None:
    closed = task.revised(files={"solution.py": "def double():\n    pass\n"})
    save_tasks(tmp_path / "tasks" / "tasks.jsonl", [closed])
    assert "none of the 1 tasks leaves a choice" in refused(capsys, ["rlvr", *given, "--set", "tasks=1"])


def test_a_folder_of_other_settings(given: list[str], tmp_path: Path, capsys: Capture) -> None:
    least = ["--set", "tasks=1", "--set", "rounds=1", "--set", "samples=2"]
    assert main(["train", "rlvr", *given, *least, "--library", str(tmp_path / "grown.db")]) == 0
    assert "1 rounds took " in capsys.readouterr().err, "what each phase took"
    made = read(tmp_path / "out")
    assert made["stage"] == "rlvr" and made["settings"]["winners"] and made["figures"]["round"] == 1
    assert made["start"] == made["base"] and made["library"]["trajectories"] == made["library"]["accepted"]
    with Library(tmp_path / "grown.db") as store:
        assert store.fingerprint() == made["library"]["fingerprint"]
    told = refused(capsys, ["rlvr", *given, *least, "--set", "clip=0.3"])
    assert "state.pt was made with other settings (" in told and "clip was 0.2, is 0.3" in told


def test_a_library_from_which_nothing_can_be_learnt(given: list[str], library: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ["sft", *given[:2], "--out", str(tmp_path / "sft"), "--library"]
    with Library(tmp_path / "empty.db", create=True):
        pass
    assert "holds no accepted trajectory" in refused(capsys, [*words, str(tmp_path / "empty.db")])
    with Library(library) as store, Library(tmp_path / "idle.db", create=True) as idle:
        (one, *_) = store.iter_accepted()
        steps = tuple(step.model_copy(update={"keep": False}) for step in one.trajectory.steps)
        idle.add_many([Entry(one.task, one.trajectory.model_copy(update={"steps": steps}), one.verdict, Decision(accepted=True))])
    assert f"trajectory {one.trajectory.id} has no trained token" in refused(capsys, [*words, str(tmp_path / "idle.db")])
