"""Rows of published datasets become tasks if running them shows that they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from swefuse.cli.main import main
from swefuse.errors import DataError, UserError
from swefuse.records import Kind, Outcome
from swefuse.scale import InlineExecutor
from swefuse.tasks.datasets import load, prove_tests
from swefuse.tasks.store import load_tasks
from swefuse.verify import Candidate, init_worker, verify_many

MISSING = 'raise RuntimeError("this body is to be written")'
HEAD = 'def grow(x: int) -> int:\n    """One more."""\n'
CHECK = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(5) == 6\n"
FIX = {
    "task_id": "Python/0", "entry_point": "grow", "declaration": "def grow(x: int) -> int:\n", "buggy_solution": "    return x\n",
    "canonical_solution": "    return x + 1", "test": CHECK, "bug_type": "missing logic", "failure_symptoms": "incorrect output",
}  # fmt: skip
EVAL = {"task_id": "HumanEval/0", "entry_point": "grow", "prompt": HEAD, "canonical_solution": "    return x + 1\n", "test": CHECK}
MBPP = {
    "task_id": 7, "prompt": "Write a function that sums.",
    "code": "import math\r\ndef helper(x):\r\n  return x\r\ndef _sum(xs):\r\n  return helper(sum(xs))",
    "test_imports": ["import math"], "test_list": ["assert _sum([1, 2]) == 3", "assert _sum([math.floor(1.5)]) == 1"],
}  # fmt: skip


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_bug_and_its_repair(tmp_path: Path) -> None:
    hanging = {**FIX, "task_id": "Python/1", "buggy_solution": "    while True:\n        pass\n"}
    wrong = {**FIX, "task_id": "Python/2", "canonical_solution": "    return x + 2"}
    none = {**FIX, "task_id": "Python/3", "buggy_solution": "    return x + 1"}
    tasks = load("humanevalfix", write(tmp_path / "h.jsonl", FIX, hanging, wrong, none))
    proof = prove_tests(tasks, InlineExecutor(init_worker))
    assert [task.provenance.topic for task in proof.tasks] == ["Python/0", "Python/1"]
    reasons = {one.task.provenance.topic: one.reason for one in proof.refused}
    assert reasons == {"Python/2": "the reference does not pass", "Python/3": "the initial state passes"}
    task = proof.tasks[0]
    assert task.kind is Kind.BUGFIX and task.files["solution.py"] == "def grow(x: int) -> int:\n    return x\n"
    assert task.suites[0].fail_to_pass == ("test_solution.py::test_check",)
    assert task.provenance.parameters == {"bug": "missing logic", "symptom": "incorrect output"}
    assert task.evidence is not None and task.evidence.reference_passes


def test_a_body_to_be_written(tmp_path: Path) -> None:
    packed = tmp_path / "HumanEval.jsonl.gz"
    packed.write_bytes(gzip.compress((json.dumps(EVAL) + "\n").encode()))
    (task,) = prove_tests(load("humaneval", packed), InlineExecutor(init_worker)).tasks
    assert task.kind is Kind.COMPLETE and task.files["solution.py"] == HEAD + f"    {MISSING}\n"
    (tmp_path / "mbpp.json").write_text(json.dumps([MBPP]))
    (other,) = prove_tests(load("mbpp", tmp_path / "mbpp.json"), InlineExecutor(init_worker)).tasks
    state = other.files["solution.py"]
    assert state == f"import math\ndef helper(x):\n  return x\ndef _sum(xs):\n  {MISSING}\n", "the helper stays"
    assert other.suites[0].fail_to_pass == ("test_solution.py::test_1", "test_solution.py::test_2")
    right = {**other.files, "solution.py": state.replace(MISSING, "return sum(xs)")}
    (verdict,) = verify_many([Candidate(other, right)], InlineExecutor())
    assert verdict.outcome is Outcome.PASSED


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="valid: humanevalfix, mbpp, humaneval"):
        load("mbp", tmp_path / "x")
    with pytest.raises(UserError, match="cannot be read"):
        load("mbpp", tmp_path / "x")
    for text, message in (("{", "no JSON"), ("", "holds no row"), ("{}", r"row 1: not a row of mbpp: KeyError: 'code'")):
        (tmp_path / "x").write_text(text)
        with pytest.raises(DataError, match=message):
            load("mbpp", tmp_path / "x")


def test_the_command_tells_which_rows_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "h.jsonl", FIX, {**FIX, "task_id": "Python/9", "canonical_solution": "    return 0"})
    assert main(["tasks", "dataset", "humanevalfix", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]) == 0
    page = capsys.readouterr().out
    assert "1 of 2 rows are proven tasks" in page and "1  the reference does not pass: Python/9" in page
    assert len(load_tasks(tmp_path / "out" / "tasks.jsonl")) == 1
