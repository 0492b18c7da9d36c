"""Other Pythons are found, asked who they are, and run the tests of environments that name them."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import old_python
from swefuse.errors import UserError
from swefuse.sandbox import environments, pythons, recorder
from swefuse.sandbox.base import Job, Sandbox
from swefuse.sandbox.bwrap import BwrapSandbox
from swefuse.sandbox.conformance import read
from swefuse.sandbox.local import LocalSandbox

TEST = "import os, calc\n\n\ndef test_old():\n    assert os.environ.get('OLD_PYTHON') == '1' and calc.f() == 1\n"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "SWEFUSE_ENVIRONMENTS"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("SWEFUSE_PYTHONS", raising=False)


def test_where_there_is_no_other_python_none_is_found() -> None:
    assert pythons.found() == {}
    with pytest.raises(UserError, match=r"no Python '3\.8' on this machine; those found .*: none"):
        pythons.named("3.8")


def test_pythons_are_found_where_people_keep_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old_python.program(tmp_path / "home" / "versions" / "3.8.9" / "bin", (3, 8, 9))
    old_python.program(tmp_path / "home" / "versions" / "3.8.18" / "bin")
    old_python.program(tmp_path / "home" / "versions" / "3.6.15" / "bin", (3, 6, 15))
    given = old_python.program(tmp_path / "mine", (3, 12, 1))
    monkeypatch.setenv("SWEFUSE_PYTHONS", f"{given}{os.pathsep}{shutil.which('true', path='/usr/bin:/bin')}")
    found = pythons.found()
    assert [python.version for python in found.values()] == ["3.8.18", "3.12.1"], "the newest of a series, none before 3.7"
    assert pythons.named("3.12").executable == str(given)
    with pytest.raises(UserError, match=r"did you mean '3\.12'"):
        pythons.named("3.13")


def test_this_python_knows_itself_and_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    own = pythons.asked(sys.executable)
    assert own is not None and own.series == f"3.{sys.version_info.minor}" and Path(own.prefix, "lib").is_dir()
    monkeypatch.setenv("SWEFUSE_PYTHONS", sys.executable)
    assert pythons.found() == {}
    assert pythons.asked("/no/such/python") is None


def test_the_runner_of_tests_is_written_for_old_pythons() -> None:
    ast.parse(Path(recorder.__file__).read_text(), feature_version=pythons.OLDEST)
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n    case 1: pass\n", feature_version=pythons.OLDEST)


def environment(tmp_path: Path) -> str:
    folder = old_python.runner(environments.home() / "old")
    python = pythons.asked(str(old_python.program(tmp_path / "old")))
    assert python is not None
    pythons.write(python, folder)
    for one in (folder, *folder.parents[:4]):
        one.chmod(0o755)
    assert environments.version("old") == "3.8.18" and environments.version("") != "3.8.18"
    return environments.folder("old")


def check(sandbox: Sandbox, place: str) -> None:
    good = {"calc.py": "def f():\n    return 1\n", "test_old.py": TEST}
    for changed, outcome in (({}, "passed"), ({"calc.py": "def f():\n    return 2\n"}, "failed")):
        job = Job("pytest", {**good, **changed}, ("calc.py",), tests=("test_old.py",), environment=place, cpu_s=10.0)
        output = sandbox.run(job)
        assert [row["outcome"] for row in read(output) if row.get("when") == "call"] == [outcome] and output.cold
    output = sandbox.run(
        Job("pytest", {**good, "calc.py": "def f(\n"}, ("calc.py",), tests=("test_old.py",), environment=place, cpu_s=10.0)
    )
    (row,) = map(json.loads, output.records.splitlines())
    assert row["unparsed"] == "calc.py" and row["message"].startswith("SyntaxError")


def test_an_environment_of_another_python_runs_its_tests_with_that(tmp_path: Path) -> None:
    with LocalSandbox() as sandbox:
        check(sandbox, environment(tmp_path))
        own = sandbox.run(Job("pytest", {"calc.py": "", "test_old.py": TEST}, tests=("test_old.py",), cpu_s=5.0))
        assert [row["outcome"] for row in read(own) if row.get("when") == "call"] == ["failed"]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_so_does_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = environment(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with BwrapSandbox() as sandbox:
        check(sandbox, place)
