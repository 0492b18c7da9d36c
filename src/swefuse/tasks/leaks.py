"""Can the answer be found from inside a task? History that came along, copies of the repaired files, an installed later release.

What a look from outside cannot settle is tried: ``reachable`` asks git itself, inside the sandbox.
"""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

from swefuse.records import Task
from swefuse.sandbox import environments
from swefuse.sandbox.base import Job, Sandbox
from swefuse.sandbox.local import surroundings
from swefuse.verify.judge import judge_pytest

_HISTORY = {".git", ".hg", ".svn"}
_PACKED = (".bundle", ".pack", ".idx")
TELLING = 20  # characters of a line of the repair that is not written twice by chance
SHARE = 0.5  # of these lines: a release that holds so many has the repair
_PROBE = "test_swefuse_leak.py"
_CPU_S = 10.0


def leaks(task: Task) -> list[str]:
    """What gives the answer away, one line each; empty when nothing is found."""
    return [*_history(task), *_copies(task), *_releases(task)]


def _history(task: Task) -> Iterator[str]:
    for path in sorted(task.files):
        pure = PurePosixPath(path)
        if _HISTORY & set(pure.parts) or pure.suffix in _PACKED or pure.name == "packed-refs":
            yield f"{path}: a history came along"
            return


def _copies(task: Task) -> Iterator[str]:
    reference = task.reference or {}
    repaired = {text: path for path, text in reference.items() if text.strip() and task.files.get(path) != text}
    for path, text in sorted(task.files.items()):
        if text in repaired and len(text) >= TELLING:
            yield f"{path}: the repaired {repaired[text]} as a copy"


def added_lines(task: Task) -> set[str]:
    """Lines of code that the reference adds, long enough to be found again."""
    found: set[str] = set()
    for path, text in (task.reference or {}).items():
        before = task.files.get(path)
        if path.endswith(".py") and before != text and path not in task.protected:
            changes = difflib.unified_diff((before or "").splitlines(), text.splitlines(), lineterm="", n=0)
            found |= {line[1:].strip() for line in changes if line.startswith("+") and not line.startswith("+++")}
    return {line for line in found if len(line) >= TELLING and not line.startswith("#")}


def _releases(task: Task) -> Iterator[str]:
    lines = added_lines(task)
    tops = {
        _top(PurePosixPath(path)) for path in (task.reference or {}) if path.endswith(".py") and path not in task.protected
    } - {""}  # fmt: skip
    environment = task.evidence.environment if task.evidence else ""
    for top in sorted(tops) if lines and not environment.startswith(environments.IMAGE) else ():
        for folder in surroundings(environments.folder(environment))["site"]:
            held = sum(line in _installed(str(folder), top) for line in lines)
            if held and held >= SHARE * len(lines):
                yield f"{top} is installed where the tests run, and holds {held} of {len(lines)} lines of the repair"
                break


def _top(path: PurePosixPath) -> str:
    """Under which name a file of a package is imported; empty for what lies beside packages."""
    parts = path.parts[1:] if path.parts[0] in ("src", "lib") else path.parts
    return parts[0].removesuffix(".py") if parts[0] not in ("tests", "test", "docs") else ""


@lru_cache(maxsize=64)
def _installed(folder: str, top: str) -> str:
    """All source that is installed under a name."""
    root, single = Path(folder, top), Path(folder, f"{top}.py")
    paths = sorted(root.rglob("*.py")) if root.is_dir() else [single] if single.is_file() else []
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


_nothing: set[tuple[str, str]] = set()


def reachable(sandbox: Sandbox, task: Task) -> str:
    """Whether git finds a repository, or the commit of the repair, from inside the task's work tree; empty when it does not.

    What else the work tree holds makes no difference, so that one look is enough for all tasks of a commit.
    """
    key = (sandbox.identity, task.provenance.commit)
    if key in _nothing and not any(_HISTORY & set(PurePosixPath(path).parts) for path in task.files):
        return ""
    nonce, id_ = secrets.token_hex(16), f"{_PROBE}::test_nothing_is_found"
    text = _SEARCH.format(commit=task.provenance.commit)
    job = Job(
        "pytest", {**task.files, _PROBE: text}, tests=(id_,), protected=(_PROBE,), nonce=nonce, fresh_process=True, cpu_s=_CPU_S
    )
    result = judge_pytest((id_,), sandbox.run(job), nonce).tests[id_]
    if result.outcome == "passed":
        _nothing.add(key)
        return ""
    return f"from inside: {result.detail or result.outcome}"


_SEARCH = """
import os
import pathlib
import shutil
import subprocess


def test_nothing_is_found():
    here = pathlib.Path.cwd()
    found = [str(folder / name) for folder in (here, *here.parents) for name in (".git", ".hg") if (folder / name).exists()]
    if shutil.which("git"):
        for command in (["rev-parse", "--git-dir"], ["cat-file", "-e", "{commit}" or "HEAD"], ["tag"], ["reflog"]):
            asked = subprocess.run(["git", *command], capture_output=True, text=True)
            if asked.returncode == 0:
                found.append(f"git {{' '.join(command)}}: {{asked.stdout[:100]}}")
    assert found == []
"""
