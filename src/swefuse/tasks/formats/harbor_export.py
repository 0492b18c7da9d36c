"""Write tasks as Harbor's folders: an image with the work tree, tests with a reward, the reference as a patch, our own record."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path, PurePosixPath

from swefuse.errors import PatchError, UserError
from swefuse.records import SCHEMA, Suite, Task
from swefuse.sandbox import environments
from swefuse.tasks.formats.harbor import OWN, PATCH
from swefuse.verify.patch import apply_patch, make_patch
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files, blob_ref, check_path

NO_PYTEST = "it has no tests in the form pytest"
NO_PATCH = "its reference cannot be written as a patch"
NO_TEXT = "it holds half a character, which no file can"
NO_FOLDER = "its files cannot lie in one folder"
_TEST_SH = """#!/bin/bash
# Lays the tests over the work tree, runs them and writes the reward: 1 when every expected test passes, else 0.
app="${APP_DIR:-/app}" tests="${TESTS_DIR:-/tests}" logs="${LOGS_DIR:-/logs/verifier}"
mkdir -p "$logs"
echo 0 > "$logs/reward.txt"
cp -R "$tests/files/." "$app/" && cd "$app" && "${PYTHON:-python3}" "$tests/grade.py" "$tests/expected.json" "$logs/reward.txt"
exit 0
"""
_SOLVE_SH = """#!/bin/bash
# Applies the reference solution.
set -eu
cd "${APP_DIR:-/app}"
export GIT_CEILING_DIRECTORIES="$(dirname "$PWD")"
git apply --whitespace=nowarn "${SOLUTION_DIR:-/solution}/solution.patch"
"""
_DOCKERFILE = """FROM python:{python}-slim
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir {packages}
WORKDIR /app
COPY repo /app
"""
_IMAGE = """FROM {image}
WORKDIR /app
COPY repo /app
"""


def export(tasks: Sequence[Task], out: Path) -> tuple[list[Path], list[tuple[Task, str]]]:
    """Write each task into a folder of its own below ``out``; the folders, and the tasks that cannot be written with the reason.

    Raises UserError, before anything is written, when a folder is there already. A folder appears whole or not at all.
    """
    written: list[Path] = []
    refused: list[tuple[Task, str]] = []
    if taken := [out / task.id for task in tasks if (out / task.id).exists()]:
        raise UserError(f"{taken[0]} is there already; choose another --out")
    for task in {task.id: task for task in tasks}.values():
        if reason := _unfit(task):
            refused.append((task, reason))
            continue
        temporary = out / f".{task.id}.new"
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            _write(task, temporary)
            temporary.rename(out / task.id)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        written.append(out / task.id)
    return written, refused


def _patch(task: Task) -> bytes:
    return b"" if task.reference is None else make_patch(task.files, task.reference)


def _unfit(task: Task) -> str:
    if task.suite("pytest") is None:
        return NO_PYTEST
    folders = {str(parent) for path in task.files for parent in PurePosixPath(path).parents}
    try:
        if folders & task.files.keys() or any(str(PurePosixPath(check_path(path))) != path for path in task.files):
            return NO_FOLDER
    except PatchError:
        return NO_FOLDER
    try:
        for text in (task.instruction, *task.files.values()):
            text.encode("utf-8", "surrogateescape")
        patch = _patch(task)
        after = apply_patch(task.files, patch).files if patch else dict(task.files)
    except UnicodeEncodeError:
        return NO_TEXT
    except PatchError:
        return NO_PATCH
    return NO_PATCH if task.reference is not None and after != task.reference else ""


def _write(task: Task, folder: Path) -> None:
    suite, patch = task.suite("pytest"), _patch(task)
    assert suite is not None
    _lay(folder / "environment" / "repo", task.files)
    _lay(folder / "tests" / "files", {path: task.files[path] for path in protected_paths(task) if path in task.files})
    grade = Path(__file__).with_name("harbor_grade.py").read_text(encoding="utf-8")
    texts = {
        "task.toml": toml(task, suite),
        "instruction.md": task.instruction,
        "environment/Dockerfile": _dockerfile(task),
        "tests/test.sh": _TEST_SH,
        "tests/grade.py": grade,
        "tests/expected.json": json.dumps(suite.expected, indent=1),
        OWN: json.dumps(_record(task), indent=1),
    }
    if patch:
        texts["solution/solve.sh"] = _SOLVE_SH
        _lay(folder, {PATCH: patch.decode("utf-8", "surrogateescape")})
    _lay(folder, texts)
    for script in folder.glob("*/*.sh"):
        script.chmod(0o755)


def _record(task: Task) -> dict[str, object]:
    """The task without its words and the contents of its files, which lie in the folder; those are named by their hashes."""
    fields = task.model_dump(mode="json", exclude={"files", "reference", "instruction"})
    states = {"files": _hashes(task.files), "reference": None if task.reference is None else _hashes(task.reference)}
    return {"schema_version": SCHEMA, "task": fields, **states}


def _hashes(files: Files) -> dict[str, str]:
    return {path: blob_ref(text) for path, text in files.items()}


def _lay(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogateescape"))


def _dockerfile(task: Task) -> str:
    python = task.evidence.python if task.evidence and task.evidence.python else "3.11"
    named = task.evidence.environment if task.evidence else ""
    if named.startswith(environments.IMAGE):
        return _IMAGE.format(image=named.removeprefix(environments.IMAGE))
    packages = [shlex.quote(one) for one in environments.packages(named)]
    if not any(re.match(r"'?pytest\b(?!-)", one) for one in packages):
        packages.append(f"pytest=={metadata.version('pytest')}" if _installed("pytest") else "pytest")
    return _DOCKERFILE.format(python=".".join(python.split(".")[:2]), packages=" ".join(packages))


def _installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def toml(task: Task, suite: Suite) -> str:
    """The text of task.toml."""
    origin = task.provenance
    tables: dict[str, dict[str, str | int | float]] = {
        "task": {"name": f"swe-fuse/{task.id}", "description": f"{task.kind}, from {origin.source} {origin.repo}".strip()},
        "metadata.swe_fuse": {
            "task": task.id, "kind": task.kind.value, "source": origin.source, "repo": origin.repo, "commit": origin.commit,
            "licence": origin.licence, "fail_to_pass": len(suite.fail_to_pass), "pass_to_pass": len(suite.pass_to_pass),
            "record": OWN,
        },
        "agent": {"timeout_sec": 1800.0},
        "verifier": {"timeout_sec": 600.0},
        "environment": {"build_timeout_sec": 600.0, "cpus": 1, "memory_mb": 2048, "workdir": "/app"},
    }  # fmt: skip
    lines = ['schema_version = "1.4"']
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _value(value: str | int | float) -> str:
    """A value as TOML has it."""
    if not isinstance(value, str):
        return repr(value)
    shown = value.encode("utf-8", "backslashreplace").decode()
    return json.dumps(shown, ensure_ascii=False).replace("\x7f", "\\u007f")
