"""What no honest candidate does, seen before anything runs: touching tests or their runner, leaving the tree, planting imports."""

from __future__ import annotations

import io
import os
import sys
import tokenize
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from swefuse.errors import PatchError
from swefuse.records import Task
from swefuse.sandbox.local import surroundings
from swefuse.workspace import Files, check_path

MAX_BYTES = 1 << 20
MAX_FILES = 500
MAX_FOLDERS = 1000  # new ones
_RUNNER_FILES = frozenset(
    {"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "setup.cfg", "tox.ini", "pyproject.toml"}
    | {"sitecustomize.py", "usercustomize.py"}
)
_COMPILED = frozenset({".pth", ".pyc", ".pyo", ".pyd", ".so"})
_TAKEN = sys.stdlib_module_names | {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "swefuse"}


def changed_paths(task: Task, files: Files) -> tuple[str, ...]:
    """Paths that differ from the task's initial state, sorted: changed, new and deleted ones."""
    before = task.files
    return tuple(sorted(path for path in files.keys() | before.keys() if files.get(path) != before.get(path)))


def protected_paths(task: Task) -> tuple[str, ...]:
    """Paths that a candidate must leave as they are: the task's own list and all test files."""
    return tuple(dict.fromkeys([*task.protected, *(path for suite in task.suites for path in suite.files)]))


def screen(task: Task, files: Files, changed: tuple[str, ...]) -> tuple[str, ...]:
    """Reasons to refuse the candidate without running it; empty when there are none."""
    if not changed:
        return ()
    protected = frozenset(protected_paths(task))
    reasons = [f"{path}: protected, must stay as it is" for path in changed if path in protected]
    tops = frozenset(_top(PurePosixPath(path)) for path in task.files)
    for path in changed:
        if path not in task.editable and (reason := _bad_path(path, path not in task.files, tops)):
            reasons.append(f"{path[:200]}: {reason}")
    if len(changed) > MAX_FILES:
        reasons.append(f"{len(changed)} changed files, more than {MAX_FILES}")
    before = {parent for path in task.files for parent in PurePosixPath(path).parents}
    made = {parent for path in changed for parent in PurePosixPath(path).parents} - before
    if len(made) > MAX_FOLDERS:
        reasons.append(f"{len(made)} new folders, more than {MAX_FOLDERS}")
    reasons += _bad_content(files, changed)
    reasons += [
        f"{path}: another encoding than UTF-8, in which checks would read other code than Python runs"
        for path in changed
        if path.endswith(".py") and path in files and _encoding(files[path]) not in ("utf-8", _encoding(task.files.get(path, "")))
    ]
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    reasons += [f"{path}: both a file and a folder" for path in sorted(folders & files.keys())]
    return tuple(reasons)


def _bad_path(path: str, new: bool, tops: frozenset[str]) -> str:
    try:
        check_path(path)
        encoded = path.encode("utf-8")
    except (PatchError, UnicodeEncodeError):
        return "leaves the work tree"
    pure = PurePosixPath(path)
    if str(pure) != path or len(encoded) > 1000 or any(len(os.fsencode(part)) > 255 for part in pure.parts):
        return "not a plain relative path"
    if pure.name in _RUNNER_FILES or pure.suffix in _COMPILED or "__pycache__" in pure.parts:
        return "can change how tests run or what is imported"
    top = _top(pure)
    if new and (top in _TAKEN or (top not in tops and top in _installed())):
        return "would take the place of a module that tests, the standard library or the environment use"
    return ""


def _top(path: PurePosixPath) -> str:
    """The name under which a file, or the package it lies in, is imported."""
    return (path.parts[1] if path.parts[0] == "src" and len(path.parts) > 1 else path.parts[0]).removesuffix(".py")


@cache
def _installed() -> frozenset[str]:
    """Names of the modules and packages that are installed in this environment."""
    folders = [Path(folder) for folder in surroundings()["site"]]
    entries = [entry for folder in folders if folder.is_dir() for entry in folder.iterdir()]
    return frozenset(entry.name.removesuffix(".py") for entry in entries if entry.is_dir() or entry.suffix == ".py")


def _encoding(text: str) -> str:
    """The encoding that a module states, in small letters."""
    try:
        head = "".join(text.splitlines(keepends=True)[:2]).encode("utf-8", "replace")
        return tokenize.detect_encoding(io.BytesIO(head).readline)[0].removesuffix("-sig")
    except SyntaxError:
        return "unknown"


def _bad_content(files: Mapping[str, str], changed: tuple[str, ...]) -> list[str]:
    size = 0
    for path in changed:
        try:
            size += len(files.get(path, "").encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            return [f"{path}: not text that a file can hold"]
    return [f"{size} bytes of changed files, more than {MAX_BYTES}"] if size > MAX_BYTES else []
