"""Functions of the standard library and of other installed packages, read as text and never imported: code to learn reading from.

They come without tests, so a bug in one of them is no task that could be proven; ``collect.pretext`` makes exercises of them.
"""

from __future__ import annotations

import ast
import importlib.util
import sysconfig
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from swefuse.code.functions import Source, body_hash, body_statements, function
from swefuse.errors import DataError
from swefuse.tasks.spec import FunctionSpec

STDLIB = "python"
FEWEST_LINES, MOST_LINES = 3, 30
_OUT = {"test", "tests", "site-packages", "dist-packages", "idlelib", "lib2to3", "turtledemo", "ensurepip", "__pycache__"}
_DECIDES = (ast.If, ast.For, ast.While, ast.Compare, ast.BinOp, ast.BoolOp, ast.AugAssign, ast.IfExp, ast.comprehension)


def source_files(package: str) -> list[Path]:
    """The source files of the standard library (``python``) or of an installed package, without tests, in stable order.

    Raises DataError for a package that is not installed as files.
    """
    if package == STDLIB:
        root = Path(sysconfig.get_path("stdlib"))
    else:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise DataError(f"the package {package} is not installed here; install it, or leave it out of packages")
        root = Path(spec.submodule_search_locations[0])
    return [path for path in sorted(root.rglob("*.py")) if not _OUT & set(path.relative_to(root).parts)]


def version(package: str) -> str:
    """The version that is read."""
    return sysconfig.get_python_version() if package == STDLIB else metadata.version(package)


def functions_of(package: str, path: Path, dropped: Counter[str]) -> Iterator[FunctionSpec]:
    """The functions and methods of a file that decide something and are neither tiny nor long; ``dropped`` counts the others.

    A method is a function whose first argument is ``self``; decorators are left out.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        dropped["the file does not parse"] += 1
        return
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found = _spec(package, path.stem, node, lines)
            if isinstance(found, str):
                dropped[found] += 1
            else:
                yield found


def _spec(package: str, module: str, node: ast.FunctionDef, lines: Sequence[str]) -> FunctionSpec | str:
    rows = body_statements(node)
    count = (rows[-1].end_lineno or 0) - rows[0].lineno + 1 if rows else 0
    if count < FEWEST_LINES or count > MOST_LINES:
        return "tiny" if count < FEWEST_LINES else "long"
    if not any(isinstance(inner, _DECIDES) for statement in rows for inner in ast.walk(statement)):
        return "decides nothing"
    text = textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno])) + "\n"
    try:
        alone = function(Source(text).tree, node.name)
    except DataError:
        return "does not stand alone"
    return FunctionSpec("text", f"{package}.{module}:{node.lineno}", node.name, text, body_hash(alone), "")
