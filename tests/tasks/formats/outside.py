"""A repository with a repair, and the rows that other projects would make of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from history import CODE, HALVED, MIT, ODD, TEST, History

CUT = """

import pytest


@pytest.mark.parametrize("text", ["1 / 2", "3 / 2", "3 / 4"])
def test_half_of(text):
    assert half(int(text[0])) == int(text[0]) / 2
"""
ODD_ID, DOUBLE, HALF = (f"tests/test_calc.py::{name}" for name in ("test_odd", "test_double", "test_half"))
WINDOWS = "def one():\r\n    return 2\r\n"
WINDOWS_TEST = "from shop.win import one\r\n\r\n\r\ndef test_one():\r\n    assert one() == 1\r\n"
ONE_ID = "tests/test_win.py::test_one"


def repaired(folder: Path) -> History:
    """A history of two repairs; the files of the second have CRLF line ends."""
    made = History(folder)
    calc, tests, win = "src/shop/calc.py", "tests/test_calc.py", "src/shop/win.py"
    made.commit("begin", {"LICENSE": MIT, "src/shop/__init__.py": "", calc: CODE, tests: TEST, win: WINDOWS})
    made.commit("repair", {calc: HALVED, tests: TEST + ODD + CUT})
    made.commit("repair win", {win: WINDOWS.replace("2", "1"), "tests/test_win.py": WINDOWS_TEST})
    return made


def diff(made: History, before: str, after: str, *paths: str) -> str:
    """What git says; with carriage returns."""
    command = ["git", "-C", str(made.folder), "diff", made.sha[before], made.sha[after], "--", *paths]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode()


def row(made: History, **changes: Any) -> dict[str, Any]:
    """The first repair as a row of SWE-bench."""
    fields = {
        "repo": "acme/shop", "instance_id": "acme__shop-1", "base_commit": made.sha["begin"],
        "patch": diff(made, "begin", "repair", "src"), "test_patch": diff(made, "begin", "repair", "tests"),
        "problem_statement": "Half of odd numbers is wrong.\r\n", "hints_text": "", "created_at": 1609298073000, "version": "1.0",
        "FAIL_TO_PASS": json.dumps([ODD_ID]), "PASS_TO_PASS": [DOUBLE, HALF],
    }  # fmt: skip
    return {**fields, **changes}


def windows(made: History, **changes: Any) -> dict[str, Any]:
    """The second one, with CRLF in both patches."""
    fields = {
        "instance_id": "acme__shop-2", "base_commit": made.sha["repair"], "FAIL_TO_PASS": [ONE_ID], "PASS_TO_PASS": "[]",
        "patch": diff(made, "repair", "repair win", "src"), "test_patch": diff(made, "repair", "repair win", "tests"),
    }  # fmt: skip
    return row(made, **{**fields, **changes})


def smith(made: History, **changes: Any) -> dict[str, Any]:
    """The first repair as SWE-smith has bugs: the patch leads from the repaired state to the one with the bug."""
    fields = {
        "instance_id": "acme__shop.1.func__abc", "repo": f"swesmith/acme__shop.{made.sha['repair'][:8]}",
        "patch": diff(made, "repair", "begin", "src"), "FAIL_TO_PASS": [ODD_ID], "PASS_TO_PASS": [DOUBLE, HALF],
        "created_at": "2025-03-21T08:23:31.701599", "image_name": "swesmith.x86_64.acme__shop", "base_commit": "ab" * 20,
    }  # fmt: skip
    return {**fields, **changes}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    """The rows as JSON lines."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
    return path
