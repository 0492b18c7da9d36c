"""Folders of Harbor: ours are the very task again and grade as the verifier does, others are read strictly."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.errors import DataError, UserError
from swefuse.records import Evidence, Kind, Provenance, Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.formats import harbor_export
from swefuse.tasks.formats.bring import Choices, Order, run
from swefuse.tasks.formats.convert import Refusal, Refused
from swefuse.tasks.formats.harbor import own_task, read_folder, read_folders, tree, tried, unknown_keys
from swefuse.tasks.store import load_tasks
from swefuse.tasks.workers import init_worker

TEST = """import pytest
from shop import half


@pytest.mark.parametrize("x", [1, 2])
def test_half(x):
    assert half(x) == x / 2
"""
FILES = {
    "src/shop.py": "def half(x):\n    return x // 2\n", "tests/test_shop.py": TEST, "win.txt": "a\r\nb", "logo.bin": "\udcff\0",
    "Ünï.md": "", "LICENSE": "MIT",
}  # fmt: skip
PATCH = "--- a/src/shop.py\n+++ b/src/shop.py\n@@ -1,2 +1,2 @@\n def half(x):\n-    return x // 2\n+    return x / 2\n"


def make(**changes: object) -> Task:
    fields = {
        "instruction": "Half is wrong.\r\nÄ", "files": FILES, "editable": ("src/shop.py",), "protected": ("tests/test_shop.py",),
        "suites": (Suite(form="pytest", files=("tests/test_shop.py",), fail_to_pass=("tests/test_shop.py::test_half[1]",),
                         pass_to_pass=("tests/test_shop.py::test_half[2]",)),),
        "reference": {"src/shop.py": "def half(x):\n    return x / 2\n", **{k: v for k, v in FILES.items() if k[:3] != "src"}},
        "provenance": Provenance(source="demo", repo='a/"b"\x7f', parameters={"x": "\u2028"}),
        "evidence": Evidence(repeats=2, reference_passes=True, null_fails=True, environment="pytest-7.4.4"), **changes,
    }  # fmt: skip
    return Task.make(Kind.BUGFIX, **fields)


def exported(task: Task, out: Path) -> Path:
    (folder,), refused = harbor_export.export([task], out)
    assert refused == []
    return folder


def test_a_task_of_ours_is_the_very_task_again(tmp_path: Path) -> None:
    task = make()
    folder = exported(task, tmp_path)
    again = own_task(read_folder(folder))
    assert again == task and isinstance(again, Task) and repr(again) == repr(task)
    whole = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    assert whole["schema_version"] == "1.4" and whole["metadata"]["swe_fuse"]["repo"] == 'a/"b"\x7f'
    assert (folder / "environment/repo/logo.bin").read_bytes() == b"\xff\0"
    assert "pytest==7.4.4" in (folder / "environment/Dockerfile").read_text()
    assert not list((folder / "environment").rglob("*solution*")), "the image must not hold the answer"


TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("\r\n\udc80"), max_size=30)
TREES = st.dictionaries(st.sampled_from(["a.py", "b/c.txt", "b/d e.py", "ü.md", ".hidden"]), TEXTS, max_size=4)


@given(TREES, TREES, st.text(st.characters(codec="utf-8"), max_size=30))
def test_whatever_can_be_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str], words: str
) -> None:
    task = make(files={**FILES, **before}, reference={**FILES, **after}, instruction=words)
    written, refused = harbor_export.export([task], tmp_path_factory.mktemp("h"))
    assert [own_task(read_folder(one)) for one in written] == [task] or [why for _, why in refused] == [harbor_export.NO_PATCH]


def graded(folder: Path, work: Path) -> str:
    places = {"APP_DIR": work, "TESTS_DIR": folder / "tests", "LOGS_DIR": work / "logs", "SOLUTION_DIR": folder / "solution"}
    environment = {**os.environ, **{name: str(path) for name, path in places.items()}, "PYTHON": sys.executable}
    subprocess.run(["bash", str(folder / "tests/test.sh")], env=environment, check=True, capture_output=True)
    reward = (work / "logs" / "reward.txt").read_text()
    (work / "tests/test_shop.py").write_text("def test_half():\n    pass\n")
    subprocess.run(["bash", str(folder / "solution/solve.sh")], env=environment, check=False, capture_output=True)
    return reward


def test_the_reward_is_one_with_the_solution_only(tmp_path: Path) -> None:
    folder = exported(make(), tmp_path)
    work = (folder / "environment/repo").rename(tmp_path / "work")
    assert [graded(folder, work), graded(folder, work)] == ["0\n", "1\n"], "tests that were weakened are laid over again"


def test_what_was_changed_after_the_export_is_refused(tmp_path: Path) -> None:
    folder = exported(make(), tmp_path)
    (folder / "instruction.md").write_text("Other words.")
    again = own_task(read_folder(folder))
    assert again == make(instruction="Other words."), "words may be changed"
    for path, text in {"environment/repo/src/shop.py": "", "environment/repo/new.py": "", "solution/solution.patch": PATCH}.items():
        before = (folder / path).read_bytes() if (folder / path).exists() else None
        (folder / path).write_text(text)
        changed = own_task(read_folder(folder))
        if path.startswith("solution"):
            assert changed == again, "another patch to the same state is the same"
            (folder / path).write_text(PATCH.replace("x / 2", "x / 3"))
            changed = own_task(read_folder(folder))
        assert isinstance(changed, Refused) and changed.reason is Refusal.CHANGED, path
        (folder / path).unlink() if before is None else (folder / path).write_bytes(before)
    record = json.loads((folder / "swe_fuse.json").read_text())
    record["task"]["suites"][0]["fail_to_pass"] = []
    (folder / "swe_fuse.json").write_text(json.dumps(record))
    assert own_task(read_folder(folder)) == Refused(Refusal.CHANGED, f"swe_fuse.json in {folder}")
    (folder / "swe_fuse.json").write_text("{}")
    with pytest.raises(DataError, match=r"swe_fuse.json: not what SWE-Fuse writes"):
        own_task(read_folder(folder))


def test_ours_must_prove_itself_here(tmp_path: Path) -> None:
    init_worker()
    good = make(evidence=None)
    idle = make(evidence=None, reference=FILES)
    none = make(evidence=None, suites=(make().suites[0].model_copy(update={"fail_to_pass": ()}),))
    harbor_export.export([good, none], tmp_path / "a")
    harbor_export.export([idle], tmp_path / "b")
    folders = [*read_folders(tmp_path / "a"), *read_folders(tmp_path / "b")]
    rows = [(dataclasses.replace(row, instance=row.where, text=row.where), found) for row, found in map(tried, folders)]
    summary = run([Order(row, Choices(), found) for row, found in rows], tmp_path, InlineExecutor())
    assert summary["refused"] == {Refusal.NO_TESTS.value: 1, Refusal.REFERENCE_FAILS.value: 1}
    assert load_tasks(tmp_path / "tasks.jsonl") == [good]


def test_what_cannot_lie_in_a_folder_is_told(tmp_path: Path) -> None:
    calls = make(suites=(Suite(form="calls", entry="m.py:f"),))
    tried_ = {
        calls.id: harbor_export.NO_PYTEST,
        (both := make(files={**FILES, "src": ""})).id: harbor_export.NO_FOLDER,
        (up := make(files={**FILES, "../x": ""})).id: harbor_export.NO_FOLDER,
        (half := make(files={**FILES, "x": "\ud800"})).id: harbor_export.NO_TEXT,
    }
    written, refused = harbor_export.export([calls, both, up, half], tmp_path)
    assert written == [] and {task.id: why for task, why in refused} == tried_ and list(tmp_path.iterdir()) == []
    exported(make(), tmp_path)
    with pytest.raises(UserError, match="is there already"):
        harbor_export.export([make(files={**FILES, "y": ""}), make()], tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def strange(folder: Path, toml: str = 'version = "1.0"\n', **files: str) -> Path:
    for path, text in {"task.toml": toml, "instruction.md": "Do.", **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_a_folder_of_others_is_an_image_unless_it_holds_a_tree_tests_and_a_patch(tmp_path: Path) -> None:
    init_worker()
    files = {"environment/repo/src/shop.py": FILES["src/shop.py"], "tests/test_shop.py": TEST, "solution/fix.patch": PATCH}
    strange(tmp_path / "in" / "good", **files)
    strange(tmp_path / "in" / "image", '[environment]\ndocker_image = "x:1"\n')
    strange(tmp_path / "in" / "steps", 'schema_version = "1.4"\n[[steps]]\nname = "a"\n')
    strange(tmp_path / "in" / "idle", **{**files, "solution/fix.patch": PATCH.replace("x / 2", "x // 2 ")})
    summary = run(
        [Order(row, Choices(), one) for row, one in map(tried, read_folders(tmp_path / "in"))], tmp_path, InlineExecutor()
    )
    assert summary["refused"] == {Refusal.IMAGE.value: 1, Refusal.STEPS.value: 1, Refusal.TESTS_AGREE.value: 1}
    details = {row["reason"]: row["detail"] for row in summary["which"]}
    assert details[Refusal.IMAGE] == "x:1: without environment/repo, tests/test_*.py, one patch in solution/"
    (task,) = load_tasks(tmp_path / "tasks.jsonl")
    assert task.instruction == "Do." and task.suites[0].fail_to_pass == ("tests/test_shop.py::test_half[1]",)
    assert task.suites[0].pass_to_pass == ("tests/test_shop.py::test_half[2]",) and task.provenance.source == "harbor"


def test_old_keys_are_read_and_unknown_ones_named(tmp_path: Path) -> None:
    old = strange(
        tmp_path / "a",
        'version = "1.0"\nmine = 1\n[environment]\nmemory = "4G"\nstorage = "512M"\ngpuz = 1\n[metadata]\nfree = 1\n',
    )
    found = read_folder(old)
    assert (found.schema_version, found.memory_mb, found.storage_mb) == ("1.0", 4096, 512)
    assert unknown_keys([found, found]) == {"mine": 2, "environment.gpuz": 2} and found.raw["environment"]["gpuz"] == 1
    assert read_folder(strange(tmp_path / "b", "[environment]\nmemory_mb = 100\n")).memory_mb == 100


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("= 1", "task.toml: cannot be read"),
        ("agent = 1", "'agent' must be a table"),
        ('[agent]\ntimeout_sec = "1"', "agent.timeout_sec must be a number of seconds above 0"),
        ("[verifier]\ntimeout_sec = 0", "verifier.timeout_sec must be a number"),
        ("schema_version = 1.4", "schema_version must be text"),
        ('[environment]\nmemory = "much"', "environment.memory must be a size such as 4G"),
        ('[environment]\nmemory = "infG"', "environment.memory must be a size such as 4G"),
        ("[environment]\nstorage_mb = true", "environment.storage_mb must be a whole number"),
    ],
)  # fmt: skip
def test_damaged_folders_are_named(toml: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read_folder(strange(tmp_path / "a", toml))


@pytest.mark.parametrize("part", ["task.toml", "environment/repo", "tests"])
def test_links_do_not_lead_out_of_a_folder(part: str, tmp_path: Path) -> None:
    folder = strange(tmp_path / "a", **{"environment/repo/a.py": "", "environment/repo/b/c.py": "", "tests/test_a.py": ""})
    (folder / part).rename(tmp_path / "outside")
    (folder / part).symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match=f"{part} is a link"):
        read_folder(folder)


def test_links_in_a_tree_are_left_out(tmp_path: Path) -> None:
    folder = strange(tmp_path / "a", **{"environment/repo/a.py": "", "environment/repo/.git/config": ""}) / "environment/repo"
    (folder / "b").symlink_to(tmp_path)
    (folder / "c.py").symlink_to(folder / "a.py")
    assert tree(folder) == {"a.py": ""}


def test_no_folder_and_no_words(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no task"):
        read_folders(tmp_path)
    (strange(tmp_path / "a") / "instruction.md").unlink()
    with pytest.raises(DataError, match=r"there is no instruction.md"):
        read_folders(tmp_path)
