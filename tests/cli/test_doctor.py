"""The doctor looks for real, and knows a remedy for each lack."""

from __future__ import annotations

import json
import sys

import pytest

from swefuse.cli import doctor
from swefuse.cli.main import main


def test_what_is_missing_comes_with_its_remedy() -> None:
    assert doctor.package("no-such-package", "train").remedy == "pip install 'swe-fuse[train]'"
    assert doctor.program("no-such-program", "install it", essential=True) == doctor.Finding(
        "no-such-program", "not found", "install it", essential=True
    )


def test_a_program_that_fails_is_a_lack() -> None:
    assert doctor.program("false", "mend it", essential=True).remedy == "mend it"
    assert doctor.program("python", "mend it", essential=True, path=sys.executable).value.startswith("Python 3")


def test_the_report_for_programs_and_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--json"])
    report = json.loads(capsys.readouterr().out)
    found = {item["name"]: item for item in report["findings"]}
    assert {"python", "cores", "memory", "disk", "git", "ruff", "sandbox", "torch", "transformers", "trl", "gpu", "ray"} <= set(
        found
    )
    assert report["ok"] is (code == 0) is not any(item["essential"] and item["remedy"] for item in found.values())
    assert found["sandbox"]["value"].endswith("attacks held")
