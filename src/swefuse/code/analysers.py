"""Analysers beside ruff that a gate may ask for: mypy and bandit, many small files in one call (extra ``gate``)."""

from __future__ import annotations

import ast
import importlib.util
import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from swefuse.code.lint import Findings, analysed, output
from swefuse.errors import ConfigError

_ALONE = "import-not-found,import-untyped,attr-defined,name-defined,misc"  # what a file out of its project cannot help


def mypy(files: Sequence[tuple[str, str]]) -> list[Findings]:
    """Type errors of each ``(path, text)``, each file by itself: what it imports counts as of any type.

    Files that do not parse have none. Raises ConfigError where mypy is not installed, InfraError when it fails.
    """
    _needed("mypy", "types")
    good = [at for at, (_, text) in enumerate(files) if _parses(text)]
    found = iter(analysed([files[at] for at in good], _mypy))
    return [next(found) if at in set(good) else Counter() for at in range(len(files))]


def bandit(files: Sequence[tuple[str, str]]) -> list[Findings]:
    """What bandit holds for unsafe in each ``(path, text)``; ``# nosec`` is not obeyed, ``assert`` is allowed.

    Raises ConfigError where bandit is not installed, InfraError when it fails.
    """
    _needed("bandit", "bandit")
    return analysed(files, _bandit)


def _needed(package: str, check: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise ConfigError(f"the check {check!r} needs {package}, which is not installed: pip install 'swefuse[gate]'")


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _mypy(root: Path) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory(prefix="swefuse-mypy-") as cache:
        words = ["mypy", "--config-file=", f"--cache-dir={cache}", "--follow-imports=silent", "--ignore-missing-imports"]
        words += ["--check-untyped-defs", "--output=json", f"--disable-error-code={_ALONE.replace(',', ' --disable-error-code=')}"]
        text = output([*" ".join(words).split(), *sorted(str(path) for path in root.rglob("*.py*"))], (0, 1), root)
    for line in text.decode("utf-8", "replace").split("\n"):
        if line.strip():
            row = json.loads(line)
            if row["severity"] == "error":
                yield row["file"], f"{row['code']} {row['message']}"


def _bandit(root: Path) -> Iterator[tuple[str, str]]:
    words = ["bandit", "--recursive", "--quiet", "--exit-zero", "--ignore-nosec", "--skip", "B101", "--format", "json", str(root)]
    for row in json.loads(output(words, (0,), root))["results"]:
        yield row["filename"], f"{row['test_id']} {row['issue_text']}"
