"""``swefuse library`` shows what the library holds, and nothing that it does not."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from swefuse.cli.main import main

Capture = pytest.CaptureFixture[str]


def result(capsys: Capture, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_list_and_show(library: Path, capsys: Capture) -> None:
    rows = result(capsys, "library", "list", library)
    assert sorted(row["accepted"] for row in rows) == [False, True]
    (refused,) = result(capsys, "library", "list", library, "--refused-by", "verdict")
    assert refused["accepted"] is False and refused["reasons"][0].startswith("verdict: ")
    entry = result(capsys, "library", "show", library, refused["trajectory_id"])
    assert entry["decision"]["reasons"] == refused["reasons"]
    assert main(["library", "show", str(library), refused["trajectory_id"]]) == 0
    page = capsys.readouterr().out
    assert "@edit solution.py:3" in page and "FAIL double(1,)" in page and "verdict FAILED" in page


def test_stats_count_and_name_the_reasons(library: Path, capsys: Capture) -> None:
    counts = result(capsys, "library", "stats", library)
    assert (counts["accepted"], counts["refused"], counts["reasons"]) == (1, 1, {"verdict": 1, "consistent": 1})
    assert main(["library", "stats", str(library)]) == 0
    assert capsys.readouterr().out.startswith(
        "1 accepted, 1 refused; fingerprint of the accepted ones " + counts["fingerprint"][:16]
    )


def test_gate_verifies_again_and_keeps_the_past(library: Path, tmp_path: Path, capsys: Capture) -> None:
    copy = Path(shutil.copy(library, tmp_path))
    assert result(capsys, "library", "gate", copy, "--workers", 1) == {"accepted -> accepted": 1, "refused -> refused": 1}
    assert result(capsys, "library", "stats", copy)["accepted"] == 1


def test_damage_is_found_and_ends_with_1(library: Path, tmp_path: Path, capsys: Capture) -> None:
    assert result(capsys, "library", "verify", library) == {"ok": True, "problems": []}
    copy = Path(shutil.copy(library, tmp_path))
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE body SET data = zeroblob(9) WHERE rowid = (SELECT min(rowid) FROM body)")
    db.close()
    assert main(["library", "verify", str(copy)]) == 1
    assert "damaged" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["list", "stats", "verify", "gate"])
def test_what_is_no_library_is_the_users_matter(command: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["library", command, str(tmp_path / "absent.db")]) == 2
    assert "absent.db" in capsys.readouterr().err
