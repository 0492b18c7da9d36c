"""Tasks whose tests need other packages get them, in their own worker, and nobody else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swefuse.errors import DataError, InfraError, UserError
from swefuse.sandbox import environments
from swefuse.sandbox.base import Job
from swefuse.sandbox.conformance import read
from swefuse.sandbox.local import MOST_WORKERS, LocalSandbox
from wheels import wheel

TESTS = "import old_thing\ndef test_a():\n    assert old_thing.VALUE == %d\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEFUSE_ENVIRONMENTS", str(tmp_path / "environments"))


def made(name: str, value: int) -> str:
    folder = environments.home() / name
    folder.mkdir(parents=True)
    (folder / "old_thing.py").write_text(f"VALUE = {value}\n")
    for one in (folder, *folder.parents[:3]):
        os.chmod(one, 0o755)
    return environments.folder(name)


def outcome(sandbox: LocalSandbox, environment: str, value: int, fresh: bool = False) -> list[str]:
    files = {"test_a.py": TESTS % value}
    job = Job("pytest", files, tests=("test_a.py",), environment=environment, fresh_process=fresh, cpu_s=5.0)
    return [record["outcome"] for record in read(sandbox.run(job)) if record.get("when") == "call"]


def test_packages_of_an_environment_are_there_and_nowhere_else() -> None:
    one, two = made("one", 1), made("two", 2)
    with LocalSandbox() as sandbox:
        for fresh in (False, True):
            assert outcome(sandbox, one, 1, fresh) == outcome(sandbox, two, 2, fresh) == ["passed"]
        assert outcome(sandbox, "", 1) == [], "the program's own has no such module"
        assert outcome(sandbox, one, 2) == ["failed"]


def test_workers_are_few_however_many_environments_there_are() -> None:
    with LocalSandbox() as sandbox:
        for number in range(MOST_WORKERS + 2):
            assert outcome(sandbox, made(f"e{number}", number), number) == ["passed"]
        assert len(sandbox.pids) == MOST_WORKERS


def test_names_are_those_that_are_there_and_packages_have_versions() -> None:
    assert environments.known() == [] and environments.folder("") == ""
    made("pytest-7.4.4", 1)
    assert environments.known() == ["pytest-7.4.4"]
    with pytest.raises(DataError, match=r"no environment 'pytest-7' in .*did you mean 'pytest-7.4.4'"):
        environments.folder("pytest-7")
    with pytest.raises(DataError, match="no environment"):
        environments.folder("../environments/pytest-7.4.4")
    for wrong in (["pytest"], ["pytest>=7"], ["-r x"], []):
        with pytest.raises(UserError, match="packages with versions"):
            environments.make(wrong)
    assert environments.make(["PyTest==7.4.4"]) == "pytest-7.4.4", "it is there, and left as it is"


def test_what_is_required_is_installed_once_and_what_cannot_be_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheel(shelf, "old_thing", "1.0", {"old_thing.py": "VALUE = 1\n"})
    wheel(shelf, "old_thing", "2.0", {"old_thing.py": "VALUE = 2\n"})
    for key, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(key, value)
    name = environments.dated(["old_thing<2"], "2024-01-01")
    assert name.startswith("auto-2024-01-01-") and environments.known() == [name]
    assert "VALUE = 1" in Path(environments.folder(name), "old_thing.py").read_text()
    wheel(shelf, "old_thing", "1.5", {"old_thing.py": "VALUE = 5\n"})
    assert environments.dated(["old_thing<2"], "2024-01-01") == name, "it is not made again"
    assert "VALUE = 1" in Path(environments.folder(name), "old_thing.py").read_text()
    assert environments.dated(["old_thing<2"], "2025-01-01") != name
    with pytest.raises(InfraError, match="pip could not install no_such_thing"):
        environments.dated(["no_such_thing"], "2024-01-01")
    assert len(environments.known()) == 2
