"""The working copy is read as it is, and written to only where it is still what was read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from swefuse.errors import UserError
from swefuse.evaluate.solve import copy


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def project(folder: Path) -> Path:
    for path, text in {"m.py": "x = 1\r\n", "pkg/a.py": "\ty = 2\n", "notes.txt": "n", "secret.log": "s"}.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(text.encode())
    (folder / "data.bin").write_bytes(b"\xff\x00\n")
    (folder / ".gitignore").write_text("*.log\n")
    return folder


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def test_of_a_git_work_tree_what_is_tracked_or_new_and_not_ignored(tmp_path: Path) -> None:
    project(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "m.py", "notes.txt")
    (tmp_path / "notes.txt").unlink()
    (tmp_path / "m.py").write_bytes(b"x = 3\r\n")
    before = contents(tmp_path)
    found = copy.take(tmp_path)
    assert found.git and set(found.files) == {"m.py", "pkg/a.py", "data.bin", ".gitignore"}
    assert found.files["m.py"] == "x = 3\r\n", "as it lies there, not as it was committed"
    assert found.files["data.bin"].encode("utf-8", "surrogateescape") == b"\xff\x00\n"
    assert contents(tmp_path) == before, "nothing is written, not in .git either"
    assert set(copy.take(tmp_path / "pkg").files) == {"a.py"}


def test_without_git_all_but_environments_and_caches(tmp_path: Path) -> None:
    project(tmp_path)
    for path in (".venv/lib.py", "env/pyvenv.cfg", "env/lib.py", "__pycache__/m.pyc", "p.egg-info/x.py", "node_modules/n.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("")
    found = copy.take(tmp_path)
    assert not found.git
    assert set(found.files) == {"m.py", "pkg/a.py", "notes.txt", "secret.log", "data.bin", ".gitignore"}


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    project(tmp_path)
    os.symlink("/etc/hostname", tmp_path / "link.py")
    (tmp_path / "big.py").write_bytes(b" " * ((1 << 20) + 1))
    assert copy.take(tmp_path).skipped == {"link.py": "a link", "big.py": "larger than 1 MB"}


def test_no_folder_and_no_python_are_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder"):
        copy.take(tmp_path / "none")
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(UserError, match="no Python file"):
        copy.take(tmp_path)


def test_a_state_is_written_whole_and_keeps_the_rights(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "m.py").chmod(0o755)
    found = copy.take(tmp_path)
    after = {path: text for path, text in found.files.items() if path != "notes.txt"}
    after |= {"m.py": "x = 2\r\n", "new/b.py": "z = 1\n"}
    assert copy.write(found, after) == ["m.py", "new/b.py", "notes.txt"]
    assert (tmp_path / "m.py").read_bytes() == b"x = 2\r\n" and (tmp_path / "m.py").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "new/b.py").read_text() == "z = 1\n" and not (tmp_path / "notes.txt").exists()
    assert copy.take(tmp_path).files == after, "and nothing else has come"


def test_nothing_is_written_where_something_has_changed_since(tmp_path: Path) -> None:
    found = copy.take(project(tmp_path))
    (tmp_path / "pkg/a.py").write_text("mine\n")
    before = contents(tmp_path)
    with pytest.raises(UserError, match=r"pkg/a\.py"):
        copy.write(found, {**found.files, "m.py": "x = 2\n"})
    assert contents(tmp_path) == before


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    found = copy.take(project(tmp_path))
    before = contents(tmp_path)
    with pytest.raises(UserError, match="cannot be written"):
        copy.write(found, {**found.files, "m.py": "x = 2\n", "notes.txt/inside.py": ""})
    assert contents(tmp_path) == before
