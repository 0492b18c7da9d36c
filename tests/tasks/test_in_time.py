"""The pytest and the Python of a commit's time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from history import History

import old_python
from swefuse.scale import InlineExecutor
from swefuse.tasks.in_time import pytest_of, python_of
from swefuse.tasks.mine import Selection, run
from swefuse.tasks.proving import How, prove_task
from swefuse.tasks.store import load_tasks
from swefuse.tasks.workers import init_worker
from wheels import wheel


def test_pytest_is_that_of_the_time_or_the_nearest_that_runs() -> None:
    assert pytest_of("2026-01-15T10:00:00Z", 11) == ("9.0", "2026-04-01")
    assert pytest_of("2026-12-31", 11) == ("9.2", "2027-01-01")
    assert pytest_of("2015-01-01", 11) == pytest_of("2001-09-09", 11) == ("7.2", "2023-01-01")
    assert pytest_of("2015-01-01", 7) == ("5.3", "2020-01-01")
    assert pytest_of("2021-06-01", 8) == ("6.2", "2021-07-01")
    assert pytest_of("2026-01-15", 8) == ("8.3", "2026-04-01")
    assert pytest_of("2019-06-01", 8, "attrs") == ("7.4", "2023-07-01"), "pytest imported attrs itself until then"
    assert pytest_of("2026-01-15", 11, "attrs") == ("9.0", "2026-04-01")


def test_python_is_one_that_was_out_for_a_year_or_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("SWEFUSE_PYTHONS", raising=False)
    assert python_of("2017-01-01") is None, "there is none but the program's own"
    programs = [old_python.program(tmp_path / f"p{minor}", (3, minor, 1)) for minor in (8, 9)]
    monkeypatch.setenv("SWEFUSE_PYTHONS", os.pathsep.join(map(str, programs)))
    chosen = {
        date: python_of(date)
        for date in ("2017-01-01", "2021-10-04", "2021-10-05T00:00:00Z", f"{2012 + sys.version_info.minor}-12-01")
    }
    assert [python.series if python else "own" for python in chosen.values()] == ["3.8", "3.8", "3.9", "own"]


def test_a_commit_that_this_python_cannot_run_is_mined_and_proven_with_one_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    modules = {
        path.relative_to(tmp_path / "runner").as_posix(): path.read_text(encoding="utf-8")
        for path in old_python.runner(tmp_path / "runner").rglob("*.py")
    }
    wheel(shelf, "pytest", f"{pytest_of('2020-01-02', 7)[0]}.9", modules)
    wheel(shelf, "pytest", f"{pytest_of('2020-01-02')[0]}.9", {})
    for key, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(key, value)
    for name in ("HOME", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("SWEFUSE_PYTHONS", str(old_python.program(tmp_path / "old", (3, 7, 16))))
    monkeypatch.setenv("SWEFUSE_ENVIRONMENTS", str(tmp_path / "environments"))
    history = History(tmp_path / "shop", 2020)
    history.commit("begin", {"calc.py": "def half(x):\n    return x // 2\n"})
    begin = "import os, collections\nif not os.environ.get('OLD_PYTHON'):\n    collections.Mapping\n\n\n"
    test = "from calc import half\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
    history.commit("fix half", {"calc.py": f"{begin}def half(x):\n    return x / 2\n", "test_calc.py": test})
    init_worker()
    run([history.folder], tmp_path, Selection(environments=("auto",)), InlineExecutor())
    (task,) = load_tasks(tmp_path / "tasks.jsonl")
    assert task.evidence is not None and task.evidence.python == "3.7.16"
    assert task.evidence.environment.endswith("+python-3.7")
    proven = prove_task(task, How(mutants=0))
    assert proven.refusal is None and proven.task.evidence is not None and proven.task.evidence.python == "3.7.16"
