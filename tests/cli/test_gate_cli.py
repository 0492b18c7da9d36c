"""``swefuse library gate``: decide anew, only what another gate decided, and say why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from swefuse.cli.main import main
from swefuse.library import CHECKS, GATE_VERSION, Library

Capture = pytest.CaptureFixture[str]


def result(capsys: Capture, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--workers", "1", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_only_what_another_version_decided_is_decided_anew(library: Path, tmp_path: Path, capsys: Capture) -> None:
    copy = Path(shutil.copy(library, tmp_path))
    assert result(capsys, "library", "gate", copy, "--only-old") == {}
    strict = ("--set", "steps=1")
    assert result(capsys, "library", "gate", copy, "--only-old", *strict) == {"accepted -> refused": 1, "refused -> refused": 1}
    assert result(capsys, "library", "gate", copy, "--only-old", *strict) == {}
    with Library(copy) as store:
        assert {row.gate_version for row in store.query()} == {f"{GATE_VERSION}; steps = 1"}
    assert result(capsys, "library", "gate", copy, "--only-old") == {"refused -> accepted": 1, "refused -> refused": 1}


def test_each_check_is_explained_in_order(library: Path, tmp_path: Path, capsys: Capture) -> None:
    copy = Path(shutil.copy(library, tmp_path))
    with Library(copy) as store:
        (refused,) = [row.trajectory_id for row in store.query() if not row.accepted]
    told = result(capsys, "library", "gate", copy, "--explain", refused)
    assert [row["check"] for row in told["checks"]] == list(CHECKS)
    wrong = {row["check"] for row in told["checks"] if not row["passed"]}
    assert (told["accepted"], wrong) == (False, {"verdict", "consistent"})
    assert all(row["saw"] for row in told["checks"]) and all(bool(row["reason"]) != row["passed"] for row in told["checks"])
    assert main(["library", "gate", str(copy), "--explain", refused]) == 0
    text = capsys.readouterr().out
    assert "refused  verdict        saw FAILED" in text and "because the verdict is FAILED" in text
    with Library(copy) as store:
        assert store.stats().superseded == 0  # nothing is stored


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--explain", "nobody"), "no trajectory 'nobody'"),
        (("--explain", "x", "--only-old"), "exclude each other"),
        (("--set", "checks=['syntaks']"), "did you mean 'syntax'"),
        (("--set", "step=3"), "did you mean 'steps'"),
        (("--set", "evaluation=['humanevil']"), "did you mean 'humaneval'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    library: Path, capsys: Capture, options: tuple[str, ...], said: str
) -> None:
    assert main(["library", "gate", str(library), *options]) == 2
    assert said in capsys.readouterr().err
