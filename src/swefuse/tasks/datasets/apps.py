"""APPS: programming problems with many solutions, of which the first that passes becomes the reference.

A folder with one folder a problem (question.txt, solutions.json, input_output.json, maybe starter_code.py), or JSON lines with the
same keys. A problem either wants a program that reads and writes, or (``fn_name``) a function or a method of ``Solution``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swefuse.errors import UserError
from swefuse.records import Kind, Provenance, Task
from swefuse.tasks.datasets import common
from swefuse.tasks.datasets.common import Row, made
from swefuse.tasks.spec import MODULE, TEST_MODULE

MOST_SOLUTIONS = 5  # that are tried
MOST_CASES, MOST_TEXT = 50, 100_000  # cases of a problem, and characters in them: some have megabytes
_FILES = {"question": "question.txt", "solutions": "solutions.json", "input_output": "input_output.json"}

_PROGRAM = '''"""Every case runs the program from its beginning; lines of its output are compared without the space around them."""

import io
import os
import runpy
import sys

import pytest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), {module!r})
CASES = [
{cases}]


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


def run(given):
    kept = sys.stdin, sys.stdout
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        runpy.run_path(PROGRAM, run_name="__main__")
    except SystemExit:
        pass
    finally:
        written = sys.stdout
        sys.stdin, sys.stdout = kept
    written.flush()
    return written.buffer.getvalue().decode()


@pytest.mark.parametrize("number", range({count}))
def test_case(number):
    given, want = CASES[number]
    assert lines(run(given)) == lines(want)
'''

_FUNCTION = '''"""Every case is one call; a tuple counts as a list."""

import pytest
import {stem} as solution

CASES = [
{cases}]


def plain(value):
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("number", range({count}))
def test_case(number):
    arguments, wants = CASES[number]
    owner = solution.Solution() if hasattr(solution, "Solution") else solution
    assert plain(getattr(owner, {name!r})(*arguments)) in wants
'''


def rows(path: Path) -> Iterator[Row]:
    """The problems of a folder in the order of their paths, or the lines of a file."""
    if not path.is_dir():
        yield from common.rows(path)
        return
    questions = sorted(path.rglob("question.txt"))
    if not questions:
        raise UserError(f"{path}: no folder of it holds a question.txt")
    for question in questions:
        folder = question.parent
        row = {key: common.read(folder / name) if (folder / name).is_file() else "" for key, name in _FILES.items()}
        starter = folder / "starter_code.py"
        yield {**row, "problem_id": folder.name, "starter_code": common.read(starter) if starter.is_file() else ""}


def tasks(row: Row) -> list[Task]:
    """One task for each of a problem's first solutions."""
    found, solutions = _json(row.get("input_output"), {}), _json(row.get("solutions"), [])
    pairs = list(zip(found.get("inputs", []), found.get("outputs", []), strict=True))
    name = found.get("fn_name") or ""
    cases = _few([_call(*pair) if name else _text(*pair) for pair in pairs])
    lacks = "it has no solution" if not solutions else "it has no test cases" if not cases else ""
    layout = _FUNCTION if name else _PROGRAM
    tests = layout.format(
        module=MODULE,
        stem=MODULE.removesuffix(".py"),
        name=name,
        count=len(cases),
        cases="".join(f"    {case},\n" for case in cases),
    )
    names = [f"test_case[{number}]" for number in range(len(cases))]
    wanted = f"Write `{name}` in {MODULE}." if name else f"Write {MODULE}: it reads standard input and writes standard output."
    words = f"{row['question'].strip()}\n\n{wanted} {TEST_MODULE} must stay as it is."
    start = row.get("starter_code") or ""
    origin = Provenance(
        source="apps", topic=str(row.get("problem_id", row.get("id", ""))), licence="MIT", function=name,
        parameters={"cases": f"{len(cases)} of {len(pairs)}"},
    )  # fmt: skip
    texts = [text.replace("\r\n", "\n").rstrip() + "\n" for text in solutions[:MOST_SOLUTIONS]] or [""]
    return [made(Kind.COMPLETE, (start, text), (tests, names), words, origin, lacks) for text in texts]


def _json(given: Any, empty: Any) -> Any:
    """What is there as JSON text in a folder, and as either in the rows of a file."""
    return (json.loads(given) if given.strip() else empty) if isinstance(given, str) else given or empty


def _text(given: Any, want: Any) -> str:
    return repr(tuple("\n".join(map(str, part)) if isinstance(part, list) else str(part) for part in (given, want)))


def _call(arguments: Any, want: Any) -> str:
    """Outputs stand in a list of one in some problems and plainly in others, so that both count."""
    wants = [want, want[0]] if isinstance(want, list) and len(want) == 1 else [want]
    return repr((arguments if isinstance(arguments, list) else [arguments], wants))


def _few(cases: list[str]) -> list[str]:
    """The first cases, as many as are no burden."""
    kept, left = list[str](), MOST_TEXT
    for case in cases[:MOST_CASES]:
        left -= len(case)
        if left < 0:
            break
        kept.append(case)
    return kept
