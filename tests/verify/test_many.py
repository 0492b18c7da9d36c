"""The script that the documentation shows does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verifier.md"


def test_the_script_of_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "judge.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "judge.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert lines[:1] == ["PASSED 1.0 "] and lines[1].startswith("FAILED 0.5"), done.stderr
    assert "'candidates': 2" in lines[2] and list(tmp_path.iterdir()) == [tmp_path / "judge.py"]
