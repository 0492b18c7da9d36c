"""QuixBugs: forty small programs with one bug each. A folder as it is published; those on graphs have no test cases in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from swefuse.errors import UserError
from swefuse.records import Kind, Task
from swefuse.tasks.datasets.common import Row, made, origin, read
from swefuse.tasks.spec import MODULE, TEST_MODULE

# cases that the dataset's own tests leave out: they take minutes even when all is right
_SLOW = (("knapsack", [6404180]), ("levenshtein", ["amanaplanacanalpanama"]))
_CLOSE = {"sqrt": "arguments[-1]"}  # how far off an answer may be, where the dataset's own tests allow it
_TESTS = '''"""Every case in a test of its own; a generator counts as the list of what it gives, a tuple as a list."""

import math

import pytest
from {module} import {name}

CASES = [
{cases}]


def plain(value):
    if hasattr(value, "__next__"):
        value = list(value)
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def same(got, want, off):
    if isinstance(want, list) and isinstance(got, list):
        return len(got) == len(want) and all(same(*pair, off) for pair in zip(got, want))
    if (off or isinstance(want, float)) and isinstance(got, int | float):
        return math.isclose(got, want, rel_tol=1e-6, abs_tol=off)
    return got == want


@pytest.mark.parametrize("number", range({count}))
def test_case(number):
    arguments, want = CASES[number]
    got = plain({name}(*arguments))
    assert same(got, want, {off}), f"{name}(*{{CASES[number][0]!r}}) gives {{got!r}}, not {{want!r}}"
'''


def rows(path: Path) -> Iterator[Row]:
    """One row for each program that has a repaired version. Raises UserError for a folder of another kind."""
    broken, repaired = path / "python_programs", path / "correct_python_programs"
    if not broken.is_dir() or not repaired.is_dir():
        raise UserError(f"{path}: not the folder of QuixBugs: it has python_programs, correct_python_programs and json_testcases")
    for file in sorted(broken.glob("*.py")):
        name, right = file.stem, repaired / file.name
        if name.endswith("_test") or name in ("node", "__init__") or not right.is_file():
            continue
        cases = path / "json_testcases" / f"{name}.json"
        yield {"name": name, "broken": read(file), "right": read(right), "cases": read(cases) if cases.is_file() else ""}


def tasks(row: Row) -> list[Task]:
    """The task of a program; one without cases can prove nothing."""
    name, broken, right = row["name"], row["broken"].rstrip() + "\n", row["right"].rstrip() + "\n"
    pairs = [json.loads(line, parse_constant=_refuse) for line in row["cases"].splitlines() if line.strip()]
    cases = [_case(*pair) for pair in pairs if not (isinstance(pair[0], list) and (name, pair[0][:1]) in _SLOW)]
    module, lines = MODULE.removesuffix(".py"), "".join(f"    {case},\n" for case in cases)
    text = _TESTS.format(module=module, name=name, cases=lines, count=len(cases), off=_CLOSE.get(name, "0"))
    names = [f"test_case[{number}]" for number in range(len(cases))]
    words = f"`{name}` in {MODULE} has a bug. Repair it; {TEST_MODULE} must stay as it is."
    made_by = origin("quixbugs", name, "MIT", right, name)
    return [made(Kind.BUGFIX, (broken, right), (text, names), words, made_by, "" if cases else "it has no test cases in JSON")]


def _case(arguments: object, want: object) -> str:
    return repr((arguments if isinstance(arguments, list) else [arguments], want))


def _refuse(name: str) -> None:
    raise ValueError(f"{name} has no literal")
