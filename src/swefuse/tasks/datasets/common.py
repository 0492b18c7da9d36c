"""What the layouts of datasets share: reading rows, and a task of one module with one test file."""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from swefuse.code.functions import body_hash, function
from swefuse.errors import DataError, UserError
from swefuse.records import Kind, Provenance, Suite, Task
from swefuse.tasks.spec import MODULE, TEST_MODULE

Row = dict[str, Any]
LACKS = "lacks"  # parameter of a task that can never prove itself: why; it has no suite


class Layout(NamedTuple):
    """How a dataset is read: the rows of a file or folder, and the tasks of a row, of which the first that proves itself counts.

    The tasks of a row differ in nothing but their reference.
    """

    rows: Callable[[Path], Iterator[Row]]
    tasks: Callable[[Row], list[Task]]


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file: JSON lines, maybe gzipped, or one JSON list. Raises UserError and DataError."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    try:
        if text.lstrip()[:1] == "[":
            whole = json.loads(text)
            yield from whole if isinstance(whole, list) else []
            return
        for line in text.splitlines():
            if line.strip():
                yield json.loads(line)
    except ValueError as error:
        raise DataError(f"{path}: no JSON: {error}") from error


def read(path: Path) -> str:
    """The text of one file of a folder. Raises UserError."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error


def made(
    kind: Kind, states: tuple[str, str], tests: tuple[str, Sequence[str]], words: str, origin: Provenance, lacks: str = ""
) -> Task:
    """``states``: text of the module before and after; ``tests``: text of the test file and the names of its tests.

    ``lacks``: why there is nothing that could prove it; empty where there is.
    """
    files = {MODULE: states[0], TEST_MODULE: tests[0]}
    ids = tuple(f"{TEST_MODULE}::{name}" for name in tests[1])
    suites = () if lacks else (Suite(form="pytest", files=(TEST_MODULE,), fail_to_pass=ids),)
    origin = origin.model_copy(update={"parameters": {**origin.parameters, LACKS: lacks}}) if lacks else origin
    return Task.make(
        kind, instruction=words, files=files, editable=(MODULE,),
        protected=(TEST_MODULE,), suites=suites, reference={**files, MODULE: states[1]}, provenance=origin,
    )  # fmt: skip


def origin(source: str, number: Any, licence: str, text: str, name: str, **parameters: str) -> Provenance:
    """Where a task of function ``name`` in the module ``text`` comes from."""
    node = function(ast.parse(text), name)
    return Provenance(
        source=source, topic=str(number), licence=licence, function=name, body_hash=body_hash(node), parameters=parameters
    )
