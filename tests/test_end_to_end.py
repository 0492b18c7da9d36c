"""The main job, briefly: every stage for real, through the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swefuse.evaluate.report import load

CODE = "from swefuse.cli.main import run; run()"


def quickstart(out: Path, *more: str) -> dict[str, Any]:
    """Run the smoke quickstart to its end and return its report."""
    arguments = ["quickstart", "--out", str(out), "--budget", "smoke", "--json", *more]
    done = subprocess.run([sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def kill_in(step: str, out: Path) -> None:
    """Start the smoke quickstart and kill it, with all that it started, once it shows progress in ``step``."""
    arguments = ["quickstart", "--out", str(out), "--budget", "smoke"]
    with subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        reached = any(line.startswith(step) for line in process.stderr)
        os.killpg(process.pid, signal.SIGKILL)
    assert reached, f"the run ended before it reached {step}"


def figures(report: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on when a run was interrupted: everything but time and memory."""
    return {key: value for key, value in report.items() if key not in ("seconds", "peak_rss_mb")}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_run_killed_in_training_and_resumed_ends_with_the_figures_of_one_that_was_not(tmp_path: Path) -> None:
    whole = quickstart(tmp_path / "whole")
    report, _ = load(tmp_path / "whole")
    assert whole == report.model_dump(mode="json")
    assert (tmp_path / "whole" / "report.html").stat().st_size > 10_000
    kill_in("sft", tmp_path / "cut")
    done = json.loads((tmp_path / "cut" / "state.json").read_bytes())["done"]
    assert 0 < len(done) < len(whole["seconds"]) - 1, "some steps were finished, some were not"
    assert figures(quickstart(tmp_path / "cut", "--resume")) == figures(whole)
