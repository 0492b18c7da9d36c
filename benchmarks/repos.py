"""Small repositories to verify on: one of the standard library alone with 35 tests, and one that imports numpy and pandas."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from swefuse.code.imports import imported_modules
from swefuse.records import Call, Kind, Provenance, Suite, Task
from swefuse.sandbox.base import Job
from swefuse.tasks.environment import supplied
from swefuse.tasks.requirements import marker

_TEXT = '''"""Words."""
import re
from collections import Counter


def words(text):
    return re.findall(r"[a-z']+", text.lower())


def common(text, n):
    return [word for word, _ in Counter(words(text)).most_common(n)]


def title(text):
    return " ".join(part[:1].upper() + part[1:] for part in text.split(" "))
'''
_MONEY = '''"""Amounts."""
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal


@dataclass(frozen=True)
class Money:
    amount: Decimal
    currency: str = "EUR"

    def __add__(self, other):
        if other.currency != self.currency:
            raise ValueError("two currencies")
        return Money(self.amount + other.amount, self.currency)

    def times(self, factor):
        cents = (self.amount * Decimal(factor)).quantize(Decimal("0.01"), ROUND_HALF_UP)
        return Money(cents, self.currency)
'''
_DATES = '''"""Dates."""
from datetime import date, timedelta


def workdays(first, days):
    day, found = first, []
    while len(found) < days:
        if day.weekday() < 5:
            found.append(day)
        day += timedelta(days=1)
    return found


def quarter(day):
    return (day.month - 1) // 3 + 1


def first_of(year, number):
    return date(year, 3 * number - 2, 1)
'''
_STORE = '''"""A store of records as JSON lines."""
import json
from pathlib import Path


class Store:
    def __init__(self, path):
        self.path = Path(path)

    def add(self, **record):
        with self.path.open("a") as file:
            file.write(json.dumps(record, sort_keys=True) + "\\n")

    def find(self, **wanted):
        rows = map(json.loads, self.path.read_text().splitlines()) if self.path.exists() else ()
        return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]
'''
_TESTS = """import datetime
from decimal import Decimal

import pytest

from shop.dates import first_of, quarter, workdays
from shop.money import Money
from shop.store import Store
from shop.text import common, title, words


@pytest.mark.parametrize(("text", "want"), [("", []), ("A b", ["a", "b"]), ("it's", ["it's"]), ("x1y", ["x", "y"]), ("--", [])])
def test_words(text, want):
    assert words(text) == want


@pytest.mark.parametrize(("n", "want"), [(0, []), (1, ["b"]), (2, ["b", "a"]), (9, ["b", "a", "c"])])
def test_common(n, want):
    assert common("b a b c a b", n) == want


@pytest.mark.parametrize(("text", "want"), [("", ""), ("a b", "A B"), ("aB", "AB"), (" a", " A")])
def test_title(text, want):
    assert title(text) == want


@pytest.mark.parametrize(("a", "b", "want"), [("1", "2", "3"), ("0.1", "0.2", "0.3"), ("-1", "1", "0")])
def test_add(a, b, want):
    assert Money(Decimal(a)) + Money(Decimal(b)) == Money(Decimal(want))


@pytest.mark.parametrize(("factor", "want"), [("1", "1.01"), ("0.5", "0.51"), ("0", "0.00"), ("3", "3.03")])
def test_times(factor, want):
    assert Money(Decimal("1.01")).times(factor).amount == Decimal(want)


def test_two_currencies():
    with pytest.raises(ValueError, match="two"):
        Money(Decimal(1)) + Money(Decimal(1), "USD")


@pytest.mark.parametrize(("month", "want"), [(1, 1), (3, 1), (4, 2), (6, 2), (7, 3), (12, 4)])
def test_quarter(month, want):
    assert quarter(datetime.date(2026, month, 1)) == want


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_first_of(number):
    assert quarter(first_of(2026, number)) == number


def test_workdays():
    days = workdays(datetime.date(2026, 11, 27), 3)
    assert [day.day for day in days] == [27, 30, 1]


def test_find(tmp_path):
    store = Store(tmp_path / "rows")
    store.add(a=1, b=2)
    store.add(a=1, b=3)
    assert store.find(a=1, b=3) == [{"a": 1, "b": 3}]


def test_find_nothing(tmp_path):
    assert Store(tmp_path / "rows").find(a=1) == []


def test_two_stores(tmp_path):
    Store(tmp_path / "a").add(x=1)
    assert Store(tmp_path / "b").find() == []
"""
_FRAME = '''"""Tables."""
import numpy as np
import pandas as pd


def totals(rows):
    frame = pd.DataFrame(rows, columns=["key", "value"])
    return frame.groupby("key")["value"].sum().to_dict()


def scale(values):
    array = np.asarray(values, dtype=float)
    return ((array - array.mean()) / (array.std() or 1.0)).tolist()
'''
_FRAME_TESTS = """import pytest

from table import scale, totals


def test_totals():
    assert totals([("a", 1), ("b", 2), ("a", 3)]) == {"a": 4, "b": 2}


@pytest.mark.parametrize(("values", "want"), [([1, 1], [0, 0]), ([0, 2], [-1, 1])])
def test_scale(values, want):
    assert scale(values) == want
"""


def write(files: Mapping[str, str], folder: Path) -> Path:
    """The state on disk."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def _ids(files: Mapping[str, str]) -> tuple[str, ...]:
    """Node ids as pytest gives them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(command, cwd=write(files, Path(folder)), capture_output=True, text=True, check=True)
    return tuple(line for line in done.stdout.splitlines() if "::" in line)


def _task(files: dict[str, str], test: str, editable: str) -> Task:
    suites = (Suite(form="pytest", files=(test,), fail_to_pass=_ids(files)),)
    return Task(
        id=Task.make_id(Kind.BUGFIX, files, suites), kind=Kind.BUGFIX, instruction="repair it", files=files, editable=(editable,),
        protected=(test,), suites=suites, provenance=Provenance(source="benchmark"),
    )  # fmt: skip


def small() -> Task:
    """Four modules that use the standard library alone, 35 tests; ``shop/text.py`` is what candidates change."""
    modules = {"text": _TEXT, "money": _MONEY, "dates": _DATES, "store": _STORE}
    files = {"shop/__init__.py": "", **{f"shop/{name}.py": text for name, text in modules.items()}, "test_shop.py": _TESTS}
    return _task(files, "test_shop.py", "shop/text.py")


def broken() -> Task:
    """``small`` with a bug in one of its functions, which 3 of the 35 tests notice, and with the reference solution."""
    task = small()
    (suite,) = task.suites
    failing = tuple(id_ for id_ in suite.expected if "test_title[" in id_ and not id_.endswith("[-]"))
    rest = tuple(id_ for id_ in suite.expected if id_ not in failing)
    parted = suite.model_copy(update={"fail_to_pass": failing, "pass_to_pass": rest})
    bug = {**task.files, "shop/text.py": _TEXT.replace("part[:1].upper()", "part[:1].lower()")}
    return task.model_copy(update={"files": bug, "suites": (parted,), "reference": task.files})


def heavy() -> Task:
    """One module that imports numpy and pandas; ``table.py`` is what candidates change."""
    return _task({"table.py": _FRAME, "test_table.py": _FRAME_TESTS}, "test_table.py", "table.py")


def whole_suite(files: Mapping[str, str], environment: str) -> Job:
    """Everything that a tree's own tests need, as one job, without its documentation."""
    kept = {name: text for name, text in files.items() if not name.startswith("docs/") and len(text) < 1 << 20}
    kept |= supplied(files)
    tests = tuple(name for name in kept if "tests" in name.split("/")[:-1] and re.search(r"(^|/)test_\w+\.py$|_test\.py$", name))
    modules = imported_modules(tuple(text for name, text in kept.items() if name.endswith(".py")))
    return Job(
        "pytest", kept, tests=tests, nonce="n", preload=modules, markers=marker(files), environment=environment,
        cpu_s=300.0, wall_s=900.0, memory_mb=2048,
    )  # fmt: skip


def results(records: str) -> dict[str, dict[str, str]]:
    """By test and phase the outcome."""
    found: dict[str, dict[str, str]] = {}
    for line in records.split("\n")[:-1]:  # what stands behind the last line feed was cut
        record = json.loads(line)
        if "when" in record:
            found.setdefault(record["id"], {})[record["when"]] = record["outcome"]
        elif "collect" in record:
            found.setdefault(record["collect"], {})["collect"] = "failed"
    return found


def calls() -> Task:
    """A function task of ten calls; ``m.py`` is what candidates change."""
    rows = [([n, 3, n * n], n) for n in range(10)]
    made = tuple(Call(id=f"c{n}", args=repr((xs, n)), want=repr([x for x in xs if x > n])) for xs, n in rows)
    body = "    found = []\n    for x in xs:\n        if x > n:\n            found.append(x)\n    return found\n"
    files = {"m.py": f"def f(xs, n):\n{body}"}
    suites = (Suite(form="calls", entry="m.py:f", calls=made, fail_to_pass=tuple(call.id for call in made)),)
    return Task(
        id=Task.make_id(Kind.BUGFIX, files, suites), kind=Kind.BUGFIX, instruction="repair it", files=files, editable=("m.py",),
        suites=suites, provenance=Provenance(source="benchmark"),
    )  # fmt: skip
