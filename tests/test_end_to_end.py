"""The main job, briefly: every stage for real, through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from swefuse.evaluate.report import load


def swefuse(*arguments: object) -> subprocess.CompletedProcess[str]:
    code = "from swefuse.cli.main import run; run()"
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_smoke_quickstart_runs_and_resuming_it_changes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = swefuse("quickstart", "--out", out, "--budget", "smoke", "--json")
    assert done.returncode == 0, done.stderr
    report, _ = load(out)
    assert json.loads(done.stdout) == report.model_dump(mode="json")
    assert (out / "report.html").stat().st_size > 10_000
    again = swefuse("quickstart", "--out", out, "--budget", "smoke", "--json", "--resume")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == json.loads(done.stdout)
