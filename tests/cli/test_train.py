"""``swefuse train``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swefuse.cli.main import main

Capture = pytest.CaptureFixture[str]


def test_a_run_is_diagnosed(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "metrics.jsonl").write_text("")
    (tmp_path / "events.jsonl").write_text(json.dumps({"round": 7, "event": "kl", "value": 1.25, "limit": 1.0}) + "\n")
    assert main(["train", "diagnose", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "kl: the policy is far from the model" in out and "(round 7; last 1.25, limit 1)" in out and "try: lower rlvr.lr" in out
    assert main(["train", "diagnose", str(tmp_path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["event"] == "kl" and found["rounds"] == [7]


def test_a_folder_without_a_run_is_told(tmp_path: Path, capsys: Capture) -> None:
    assert main(["train", "diagnose", str(tmp_path)]) == 2
    assert "holds no run of stage 2" in capsys.readouterr().err


def test_memory_is_planned(capsys: Capture) -> None:
    assert main(["train", "plan", "--model", "llama-1b", "--devices", "1", "--devices", "8", "--json", "--set", "length=64"]) == 0
    one, eight = json.loads(capsys.readouterr().out)
    assert one["devices"] == 1 and one["weights"] == 8 * eight["weights"] and one["total"] > eight["total"]
    assert main(["train", "plan", "--model", "llama-1", "--devices", "1"]) == 2
    assert "did you mean 'llama-1b'" in capsys.readouterr().err


def test_settings_of_a_check_need_one(tmp_path: Path, capsys: Capture) -> None:
    given = ["--model", str(tmp_path), "--library", str(tmp_path / "l.db"), "--out", str(tmp_path / "out"), "--set", "patience=2"]
    assert main(["train", "sft", *given]) == 2
    assert "'patience' has no effect without --check" in capsys.readouterr().err
