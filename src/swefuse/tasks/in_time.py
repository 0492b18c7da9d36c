"""The environment of a source tree's time: the pytest, the libraries and, where it must be, the Python that it was written for."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Sequence

from swefuse.errors import InfraError
from swefuse.sandbox import environments, pythons
from swefuse.sandbox.pythons import Python
from swefuse.tasks.environment import distribution
from swefuse.tasks.requirements import needs
from swefuse.workspace import Files

# first day of each series, as the package index has it
_PYTESTS = (
    ("2019-11-19", "5.3"), ("2020-03-12", "5.4"), ("2020-07-28", "6.0"), ("2020-09-26", "6.1"),
    ("2020-12-12", "6.2"), ("2022-02-04", "7.0"), ("2022-03-13", "7.1"), ("2022-10-25", "7.2"), ("2023-04-08", "7.3"),
    ("2023-06-23", "7.4"), ("2024-01-27", "8.0"), ("2024-03-03", "8.1"), ("2024-04-27", "8.2"), ("2024-07-20", "8.3"),
    ("2025-06-02", "8.4"), ("2025-11-08", "9.0"), ("2026-06-13", "9.1"), ("2026-10-27", "9.2"),
)  # fmt: skip
# that works with Python 3.N, and, as the pip of an old Python knows no dates, with what came after
_OLDEST = {7: "5.3", 8: "5.3", 9: "6.1", 10: "6.2", 11: "7.2", 12: "7.4", 13: "8.2"}
_NEWEST = {7: "7.4", 8: "8.3", 9: "8.4"}
_IMPORTED = {"attrs": "7.4"}  # by pytest itself until then, so that a work tree's own would never be the one that is tested
# first day of each Python, and how long projects take until their tests pass with it
_PYTHONS = (
    ("2018-06-27", 7), ("2019-10-14", 8), ("2020-10-05", 9), ("2021-10-04", 10), ("2022-10-24", 11), ("2023-10-02", 12),
    ("2024-10-07", 13), ("2025-10-07", 14), ("2026-10-01", 15),
)  # fmt: skip
_GRACE_YEARS = 1


def python_of(date: str) -> Python | None:
    """The Python of this machine that fits a date: the newest that was out for a year then, else the oldest there is.

    None where that is the program's own.
    """
    before = f"{int(date[:4]) - _GRACE_YEARS}{date[4:10]}"
    had = {**pythons.found(), f"3.{sys.version_info.minor}": None}
    series = [f"3.{minor}" for start, minor in _PYTHONS if start <= before and f"3.{minor}" in had]
    oldest = min(had, key=lambda one: int(one.split(".")[1]))
    return had[series[-1] if series else oldest]


def pytest_of(date: str, minor: int = sys.version_info.minor, own: str = "") -> tuple[str, str]:
    """The series of pytest, such as ``7.4``, that was the newest on a date, and the first day of the quarter after.

    Where that series does not run with Python 3.``minor``, or imports the project ``own`` itself, it is the nearest one that will
    do, and the quarter after its start.
    """
    starts = {series: day for day, series in _PYTESTS}
    oldest, newest = starts[_OLDEST.get(minor, "8.4" if minor > 13 else "5.3")], starts[_NEWEST.get(minor, _PYTESTS[-1][1])]
    day = max(date[:10], oldest, starts.get(_IMPORTED.get(own, ""), ""))
    quarters = 4 * int(day[:4]) + (int(day[5:7]) - 1) // 3 + 1
    return [series for start, series in _PYTESTS if start <= min(day, newest)][-1], f"{quarters // 4}-{quarters % 4 * 3 + 1:02}-01"


def environment(date: str, files: Files, missing: Sequence[str] = (), python: Python | None = None) -> str:
    """Name of the environment with what the tests of a tree need, as it was in the quarter after a date, and ``missing``."""
    series, day = pytest_of(date, int(python.series.split(".")[1]) if python else sys.version_info.minor, distribution(files)[0])
    runner, wanted = f"pytest=={series}.*", [*needs(files), *missing]
    names = [re.split(r"[^\w.-]", one)[0] for one in wanted]
    for packages in (wanted, names):  # what is pinned may be too old for this Python
        with contextlib.suppress(InfraError):
            return environments.dated([runner, *packages], day, python)
    return environments.dated([runner], day, python)
