"""Static analysis of many small files in one call of ruff. Pure: the text decides, never where a file lies or what surrounds it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path, PurePosixPath

from swefuse.errors import InfraError

RULES = "E9,F,B,S"
# ``assert`` is how tests are written; S603 and S607 are said of every call of a program, also of the safe form that mends S602;
# ``strict`` of B905 is not there before Python 3.10
IGNORED = "S101,S603,S607,B905"
ASSERTS = "S101"  # for who asks about S603 itself
Findings = Counter[str]
_TIMEOUT_S = 600
_CODE = re.compile(r"[A-Z]+\d+")


@lru_cache(maxsize=1)
def identity() -> str:
    """Which analyser with which rules, for the record."""
    return f"ruff {version('ruff')} {RULES} without {IGNORED}"


def lint(files: Sequence[tuple[str, str]], ignored: str = IGNORED) -> list[Findings]:
    """Findings of each ``(path, text)``: ``"CODE message"`` -> how often, without line numbers, so that code may move.

    ``# noqa`` is not obeyed; syntax errors are left to those who compile. Paths count only as far as rules look at them
    (``__init__.py``, ``.pyi``). Raises InfraError when ruff fails.
    """
    return analysed(files, partial(_ruff, ignored=ignored))


def analysed(files: Sequence[tuple[str, str]], run: Callable[[Path], Iterable[tuple[str, str]]]) -> list[Findings]:
    """The same by any analyser: ``run`` is given a folder with all files and tells ``(path, finding)`` of what it sees there."""
    names: dict[tuple[str, str], str] = {}
    for path, text in files:
        names.setdefault((_role(path), text), f"m{len(names)}{_role(path)}")
    found: dict[str, Findings] = {name: Counter() for name in names.values()}
    if names:
        with tempfile.TemporaryDirectory(prefix="swefuse-lint-") as folder:
            root = Path(folder).resolve()
            for (_, text), name in names.items():
                target = root / name
                if "/" in name:
                    target.parent.mkdir()
                target.write_bytes(text.encode("utf-8", "replace"))
            for place, finding in run(root):
                found[(root / place).relative_to(root).as_posix()][re.sub(r"\bline \d+", "line", finding)] += 1
    return [found[names[_role(path), text]] for path, text in files]


def _role(path: str) -> str:
    pure = PurePosixPath(path)
    return f"/{pure.name}" if pure.stem == "__init__" else pure.suffix


def _ruff(root: Path, ignored: str) -> Iterator[tuple[str, str]]:
    command = ["ruff", "check", "--isolated", "--no-cache", "--no-respect-gitignore", "--ignore-noqa", "--exit-zero", "--quiet"]
    for row in json.loads(output([*command, "--output-format", "json", "--select", RULES, "--ignore", ignored, str(root)], (0,))):
        # a row without such a code is a syntax error, which is not ours to report
        if row["code"] and _CODE.fullmatch(row["code"]):
            yield row["filename"], f"{row['code']} {row['message']}"


def output(command: Sequence[str], good: Sequence[int], folder: Path | None = None) -> bytes:
    """What a module of this Python prints that is run in a process of its own. Raises InfraError for another exit status."""
    # -P: nothing that lies in the current folder is imported; *_: the user's settings are not the gate's
    own = tuple(f"{command[0].upper()}{sign}" for sign in ("_", "PATH"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            [sys.executable, "-P", "-m", *command],
            capture_output=True,
            env=environment,
            timeout=_TIMEOUT_S,
            check=False,
            cwd=folder,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(f"static analysis could not run: {error}") from error
    if done.returncode not in good or (not done.stdout.strip() and done.returncode):
        told = (done.stderr or done.stdout).decode(errors="replace")[-500:].strip()
        raise InfraError(f"{command[0]} ended with {done.returncode}: {told}")
    return done.stdout
