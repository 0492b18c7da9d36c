"""Static analysis depends on the text alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from swefuse.code.lint import ASSERTS, lint
from swefuse.errors import InfraError


def test_findings_carry_no_line_numbers_and_come_in_the_order_of_the_files() -> None:
    twice = "import os\nimport os\nprint(os)\n"
    later = "\n\n" + twice
    one, two, clean = lint([("a.py", twice), ("b.py", later), ("c.py", "x = 1\n")])
    assert one == two
    assert [finding[:38] for finding in one.elements()] == ["F811 Redefinition of unused `os` from "]
    assert clean == {}
    assert lint([("a.py", "import os, re\nimport os, re\n")])[0].total() > 1
    assert lint([]) == []


def test_where_a_file_lies_does_not_matter_but_its_role_does() -> None:
    text = "from .x import y\n"
    deep, test, package = lint([(path, text) for path in ("build/venv/a.py", "tests/test_a.py", "p/__init__.py")])
    assert deep == test == {"F401 `.x.y` imported but unused": 1}
    assert package.total() == 1
    assert package != deep
    program, stub = lint([(f"a{suffix}", "def f(x: list = []) -> None: ...\n") for suffix in (".py", ".pyi")])
    assert [finding[:4] for finding in program] == ["B006"]
    assert stub == {}


def test_syntax_errors_are_left_to_others() -> None:
    assert lint([("a.py", "def f(:\n"), ("b.py", "\0\ud800")]) == [{}, {}]


def test_the_users_settings_and_folder_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "ruff.py").write_text("raise SystemExit('imported from the current folder')")
    (tmp_path / "ruff").mkdir()
    (tmp_path / "ruff" / "ruff.toml").write_text('[lint.per-file-ignores]\n"*" = ["F401"]\n')
    code = "from swefuse.code.lint import lint; raise SystemExit(lint([('a.py', 'import os')])[0].total())"
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "RUFF_OUTPUT_FILE": str(tmp_path / "elsewhere.json")}
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, env=environment, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (1, b"")  # one finding


def test_a_ruff_that_fails_is_our_fault_not_the_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ruff").mkdir()
    (tmp_path / "ruff" / "__init__.py").write_text("")
    (tmp_path / "ruff" / "__main__.py").write_text("raise SystemExit(7)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InfraError, match="ruff ended with 7"):
        lint([("a.py", "import os\n")])


def test_a_program_called_in_the_safe_way_is_no_finding_unless_somebody_asks_for_it() -> None:
    safe = [("m.py", 'import subprocess\n\n\ndef f(name):\n    subprocess.run(["ls", name], check=True)\n')]
    assert lint(safe) == [Counter()]
    assert {one.split()[0] for one in lint(safe, ASSERTS)[0]} == {"S603", "S607"}
    assert {one.split()[0] for one in lint([("m.py", safe[0][1].replace("check=", "shell="))])[0]} == {"S602"}
