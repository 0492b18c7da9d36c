"""Goes into every exported Harbor task as ``tests/grade.py``: run the expected tests, write the reward. Needs pytest alone.

``grade.py EXPECTED REWARD``: a JSON list of test ids, and the file that becomes 1 when each of them passes, else 0. Works on the
tree that is the working directory. It shares a process with what it judges; SWE-Fuse's own verifier does not.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


class Recorder:
    """The pytest plugin: outcome of each phase of each expected test."""

    def __init__(self, expected: list[str]) -> None:
        self.expected, self.phases = frozenset(expected), dict[str, list[str]]()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what is not expected."""
        items[:] = [item for item in items if item.nodeid in self.expected]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of one test."""
        outcome = "xfail" if hasattr(report, "wasxfail") else report.outcome
        self.phases.setdefault(report.nodeid, []).append(outcome)


def main(expected: list[str]) -> int:
    """1 when all expected tests pass in the working directory."""
    import pytest

    root = str(Path.cwd())
    sys.path[:0] = [root, os.path.join(root, "src")]
    recorder = Recorder(expected)
    files = list(dict.fromkeys(id_.partition("::")[0] for id_ in expected))
    fixed = ["-q", "--continue-on-collection-errors", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={root}"]
    pytest.main([*fixed, f"--confcutdir={root}", *files], plugins=[recorder])
    return int(bool(expected) and all(recorder.phases.get(id_) == ["passed"] * 3 for id_ in expected))


if __name__ == "__main__":
    Path(sys.argv[2]).write_text("0\n", encoding="ascii")
    Path(sys.argv[2]).write_text(f"{main(json.loads(Path(sys.argv[1]).read_text(encoding='utf-8')))}\n", encoding="ascii")
