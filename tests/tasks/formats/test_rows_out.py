"""Tasks that came from no row become rows which, brought in again, are the same work; what no row can say is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from history import History
from outside import repaired, written

from swefuse.records import Kind, Provenance, Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.formats import LAYOUTS, rows_export
from swefuse.tasks.formats.bring import Choices, Order, run
from swefuse.tasks.formats.rows import read_rows
from swefuse.tasks.mine import Selection
from swefuse.tasks.mine import run as mine
from swefuse.tasks.store import load_tasks
from swefuse.tasks.workers import init_worker

FILES = {"m.py": "def f():\n    return 1\n", "test_m.py": "from m import f\n\n\ndef test_f():\n    assert f() == 2\n"}
SUITE = Suite(form="pytest", files=("test_m.py",), fail_to_pass=("test_m.py::test_f",))
PROJECT = '[project]\nname = "shop"\n[tool.hatch.build.hooks.vcs]\nversion-file = "src/shop/_version.py"\n'
CALC = "def double(x):\n    return x + x\n\n\ndef half(x):\n    return x * 0.5\n\n\ndef third(x):\n    return x / 3\n"
CALC_TEST = """from shop import calc


def test_double():
    assert calc.double(2.5) == 5


def test_third():
    assert calc.third(6) == 2
"""
NAMES = {"shop": "acme/shop"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> History:
    history = repaired(tmp_path_factory.mktemp("clones") / "shop")
    history.commit("fix with a version", {"pyproject.toml": PROJECT, "src/shop/calc.py": CALC, "tests/test_calc.py": CALC_TEST})
    return history


@pytest.fixture(scope="module")
def mined(made: History, tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    init_worker()
    out = tmp_path_factory.mktemp("mined")
    mine([made.folder], out, Selection(), InlineExecutor())
    return load_tasks(out / "tasks.jsonl")


def small(**changes: object) -> Task:
    fields = {
        "instruction": "Repair f.", "files": FILES, "editable": ("m.py",), "protected": ("test_m.py",), "suites": (SUITE,),
        "reference": {**FILES, "m.py": "def f():\n    return 2\n"}, "provenance": Provenance(source="demo"), **changes,
    }  # fmt: skip
    return Task.make(Kind.BUGFIX, **fields)


def test_mined_tasks_become_rows_that_are_the_same_work(made: History, mined: list[Task], tmp_path: Path) -> None:
    assert len(mined) == 1, "the others do not speak of a repair"
    found = rows_export.export("swebench", mined, made.folder.parent, NAMES)
    assert (len(found.lines), found.refused, found.exact, found.without_commit) == (1, [], 0, 0)
    (row,) = map(json.loads, found.lines)
    assert row["repo"] == "acme/shop" and row["base_commit"] == made.sha["repair win"] == row["environment_setup_commit"]
    assert json.loads(row["FAIL_TO_PASS"]) == list(mined[0].suites[0].fail_to_pass)
    assert {"src/shop/_version.py", "shop-9999.0.dist-info/METADATA"} <= mined[0].files.keys()
    patches = row["patch"] + row["test_patch"]
    assert "dist-info" not in patches and "b/src/shop/_version.py" not in patches, "what an installation adds is in no commit"
    again = read_rows(LAYOUTS["swebench"], written(tmp_path / "rows.jsonl", row))
    init_worker()
    run([Order(one, Choices(made.folder.parent)) for one in again], tmp_path, InlineExecutor())
    (task,) = load_tasks(tmp_path / "tasks.jsonl")
    assert (task.id, task.files, task.reference) == (mined[0].id, mined[0].files, mined[0].reference)
    assert rows_export.export("swebench", [task]).lines == [json.dumps(row)]


def test_git_applies_the_patches_of_a_row(made: History, mined: list[Task], tmp_path: Path) -> None:
    (row,) = map(json.loads, rows_export.export("swebench", mined, made.folder.parent, NAMES).lines)
    made.git("clone", "--quiet", str(made.folder), str(tmp_path / "work"))
    subprocess.run(["git", "checkout", "--quiet", row["base_commit"]], cwd=tmp_path / "work", check=True)
    for patch in (row["test_patch"], row["patch"]):
        subprocess.run(["git", "apply"], input=patch.encode(), cwd=tmp_path / "work", check=True)
    (task,), reference = mined, mined[0].reference or {}
    for path in (*task.editable, *task.suites[0].files):
        assert (tmp_path / "work" / path).read_text() == reference[path]


def test_a_task_from_no_repository_has_its_tests_in_the_patch_and_no_commit() -> None:
    found = rows_export.export("swebench", [small()])
    (row,) = map(json.loads, found.lines)
    assert found.without_commit == 1 and row["base_commit"] == "" and row["instance_id"] == f"demo-{small().id}"
    assert "+++ b/test_m.py" in row["test_patch"] and "m.py" in row["patch"] and "test_m.py" not in row["patch"]


def test_what_cannot_be_a_row_is_told(made: History, mined: list[Task]) -> None:
    calls = small(suites=(Suite(form="calls", entry="m.py:f"),))
    latin = small(reference={**FILES, "m.py": "# \udce9\ndef f():\n    return 2\n"})
    bug = mined[0].revised(files={**mined[0].files, "src/shop/__init__.py": "BUG = 1\n"})
    tried = [
        (calls, None, rows_export.NO_PYTEST),
        (small(reference=None), None, rows_export.NO_REFERENCE),
        (latin, None, rows_export.NO_TEXT),
        (mined[0], None, rows_export.NO_CLONE),
        (bug, made.folder.parent, rows_export.OTHER_STATE),
    ]
    for task, repos, reason in tried:
        assert rows_export.export("swebench", [task], repos, NAMES).refused == [(task, reason)]
    assert rows_export.export("swegym", [small()]).refused == [(small(), rows_export.NOT_FROM_IT)]


def test_a_task_that_was_changed_is_no_longer_its_row() -> None:
    task = small()
    origin = Provenance(source="swebench", parameters={"row": "{}", "row_of": task.id})
    same = task.model_copy(update={"provenance": origin})
    assert rows_export.export("swebench", [same]).lines == ["{}"]
    other = same.revised(suites=(SUITE.model_copy(update={"pass_to_pass": ("test_m.py::test_g",)}),))
    found = rows_export.export("swebench", [other])
    assert found.exact == 0 and json.loads(found.lines[0])["PASS_TO_PASS"] == '["test_m.py::test_g"]'
