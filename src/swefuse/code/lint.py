"""Static analysis of many small files in one call of ruff. Pure: the text decides, never where a file lies or what surrounds it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from swefuse.errors import InfraError

RULES = "E9,F,B,S"
IGNORED = "S101"  # ``assert`` is how tests are written
Findings = Counter[str]
_TIMEOUT_S = 600
_CODE = re.compile(r"[A-Z]+\d+")


@lru_cache(maxsize=1)
def identity() -> str:
    """Which analyser with which rules, for the record."""
    return f"ruff {version('ruff')} {RULES} without {IGNORED}"


def lint(files: Sequence[tuple[str, str]]) -> list[Findings]:
    """Findings of each ``(path, text)``: ``"CODE message"`` -> how often, without line numbers, so that code may move.

    ``# noqa`` is not obeyed; syntax errors are left to those who compile. Paths count only as far as rules look at them
    (``__init__.py``, ``.pyi``). Raises InfraError when ruff fails.
    """
    names: dict[tuple[str, str], str] = {}
    for path, text in files:
        names.setdefault((_role(path), text), f"{len(names)}{_role(path)}")
    found: dict[str, Findings] = {name: Counter() for name in names.values()}
    if names:
        with tempfile.TemporaryDirectory(prefix="swefuse-lint-") as folder:
            root = Path(folder).resolve()
            for (_, text), name in names.items():
                target = root / name
                if "/" in name:
                    target.parent.mkdir()
                target.write_bytes(text.encode("utf-8", "replace"))
            for row in _ruff(root):
                # a row without such a code is a syntax error, which is not ours to report
                if row["code"] and _CODE.fullmatch(row["code"]):
                    message = re.sub(r"\bline \d+", "line", row["message"])
                    found[Path(row["filename"]).relative_to(root).as_posix()][f"{row['code']} {message}"] += 1
    return [found[names[_role(path), text]] for path, text in files]


def _role(path: str) -> str:
    pure = PurePosixPath(path)
    return f"/{pure.name}" if pure.stem == "__init__" else pure.suffix


def _ruff(root: Path) -> list[dict[str, Any]]:
    # -P: nothing that lies in the current folder is imported; RUFF_*: the user's settings are not the gate's
    command = [sys.executable, "-P", "-m", "ruff", "check", "--isolated", "--no-cache", "--no-respect-gitignore", "--ignore-noqa"]
    command += ["--exit-zero", "--quiet", "--output-format", "json", "--select", RULES, "--ignore", IGNORED, str(root)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUFF_")}
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=_TIMEOUT_S, check=False)  # noqa: S603 - fixed words
        rows: list[dict[str, Any]] = json.loads(done.stdout) if done.returncode == 0 else []
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InfraError(f"static analysis could not run: {error}") from error
    if done.returncode != 0:
        raise InfraError(f"ruff ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:].strip()}")
    return rows
