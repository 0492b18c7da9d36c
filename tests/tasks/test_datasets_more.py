"""Questions, programs, single bugs and classes of published datasets become tasks if running them shows that they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swefuse.cli.main import main
from swefuse.errors import DataError, UserError
from swefuse.records import Kind, Outcome, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.datasets import DATASETS, load, prove_tests
from swefuse.tasks.prove import Proof
from swefuse.verify import Candidate, init_worker, verify_many

DOUBLE = "def f(xs, times=2):\n    return [x * times for x in xs]"
GCD = "def gcd(a, b):\n    return a if b == 0 else gcd({})\n"
WALK = "def walk(xs):\n    for x in xs:\n        {}\n"
ROOT = "def sqrt(x, epsilon):\n    return x ** 0.5{}\n"
STACK = '''class Stack:
    """A stack."""

    def __init__(self):
        self.items = deque()

    def push(self, x):
        """
        Put x on top and return how many there are.
        """
'''
STACK_TEST = """import unittest

class StackTestPush(unittest.TestCase):
    def test_push(self):
        self.assertEqual(Stack().push(1), 1)

    def test_twice(self):
        stack = Stack()
        stack.push(deque([1]))
        self.assertEqual(stack.push(2), 2)

class StackTest(unittest.TestCase):
    def test_new(self):
        self.assertEqual(len(Stack().items), 0)
"""
CLASS = {
    "task_id": "ClassEval_0", "class_name": "Stack", "skeleton": f"\n{STACK}", "test": STACK_TEST,
    "solution_code": f"from collections import deque\n{STACK}        self.items.append(x)\n        return len(self.items)\n",
    "import_statement": ["from collections import deque"], "test_classes": ["StackTestPush", "StackTest"],
}  # fmt: skip
SUM = "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))\n"
ASKING = "n = int(input())\nprint(sum(int(input()) for _ in range(n)) + n)\n"


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def proven(name: str, path: Path) -> Proof:
    return prove_tests(load(name, path), InlineExecutor(init_worker))


def reasons(proof: Proof) -> dict[str, str]:
    return {one.task.provenance.topic: one.reason for one in proof.refused}


def outcome(task: Task, changes: dict[str, str]) -> Outcome:
    (verdict,) = verify_many([Candidate(task, {**task.files, **changes})], InlineExecutor(init_worker))
    return verdict.outcome


def question(number: int, given: str, output: str, code: str = DOUBLE) -> dict[str, str]:
    return {"code": code, "input": given, "output": output, "id": f"sample_{number}"}


def test_a_question_is_what_its_code_really_answers(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "c.jsonl", question(0, "[1, 2]", "[2, 4]"), question(1, "(1, ), times=3", "[3]"), question(2, "[1]", "[3]"),
        question(3, "'ab'", "object()"), question(4, "known[:]", "[8]", f"known = [4]\n{DOUBLE}"),
    )  # fmt: skip
    proof = proven("cruxeval", file)
    assert [task.provenance.topic for task in proof.tasks] == ["sample_0", "sample_1", "sample_4"]
    assert reasons(proof) == {
        "sample_2": "its code does not give the stated output",
        "sample_3": "its stated output is no literal",
    }
    task = proof.tasks[1]
    assert task.kind is Kind.QA and task.editable == ("answer.py",) and "solution.py" in task.protected
    assert "`f((1, ), times=3)`" in task.instruction and "[3]" not in task.instruction
    assert task.files["answer.py"] == "def answer():\n    return None\n"
    assert task.suites[0].entry == "answer.py:answer" and not task.suites[0].calls[0].visible
    assert task.evidence is not None and task.evidence.failing_ids == ("answer",)
    assert outcome(task, {"answer.py": "def answer():\n    return [3]\n"}) is Outcome.PASSED
    assert outcome(task, {"answer.py": "def answer():\n    return [6]\n"}) is Outcome.FAILED
    cheat = "from solution import f\n\n\ndef answer():\n    return f((1,), times=3)\n"
    assert outcome(task, {"answer.py": cheat}) is not Outcome.PASSED, "the code is not there to be asked"


def test_what_is_no_call_of_f_is_no_question(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 1: not a row of cruxeval"):
        load("cruxeval", lines(tmp_path / "c.jsonl", question(0, "1) + g(2", "3")))


def test_programs_with_one_bug(tmp_path: Path) -> None:
    files = {
        "python_programs/gcd.py": GCD.format("a % b, b"), "correct_python_programs/gcd.py": GCD.format("b, a % b"),
        "json_testcases/gcd.json": "[[17, 0], 17]\n[[13, 13], 13]\n[[20, 8], 4]\n",
        "python_programs/walk.py": WALK.format("yield [x]"), "correct_python_programs/walk.py": WALK.format("yield (x, [x])"),
        "json_testcases/walk.json": "[[[1, 2]], [[1, [1]], [2, [2]]]]\n[[[]], []]\n",
        "python_programs/sqrt.py": ROOT.format(" + 1"), "correct_python_programs/sqrt.py": ROOT.format(""),
        "json_testcases/sqrt.json": "[[2, 0.01], 1.42]\n[[4, 0.01], 2]\n",
        "python_programs/wrong.py": "def wrong(x):\n    return x\n",
        "correct_python_programs/wrong.py": "def wrong(x):\n    return -x\n",
        "json_testcases/wrong.json": "[3, 4]\n",
        "python_programs/walk_test.py": "", "python_programs/node.py": "class Node: ...\n", "correct_python_programs/node.py": "",
        "python_programs/graph.py": "def graph(n):\n    pass\n",
        "correct_python_programs/graph.py": "def graph(n):\n    return n\n",
    }  # fmt: skip
    proof = proven("quixbugs", write(tmp_path / "quix", files))
    tasks = {task.provenance.topic: task for task in proof.tasks}
    assert tasks.keys() == {"gcd", "sqrt", "walk"}
    assert reasons(proof) == {"graph": "it has no test cases in JSON", "wrong": "the reference does not pass"}
    gcd = tasks["gcd"]
    assert gcd.kind is Kind.BUGFIX and gcd.suites[0].pass_to_pass == ("test_solution.py::test_case[0]",)
    assert outcome(tasks["sqrt"], {"solution.py": "def sqrt(x, epsilon):\n    return x ** 0.5 + 0.005\n"}) is Outcome.PASSED
    assert outcome(tasks["sqrt"], {"solution.py": "def sqrt(x, epsilon):\n    return x ** 0.5 + 0.05\n"}) is Outcome.FAILED
    assert outcome(tasks["walk"], {"solution.py": "def walk(xs):\n    return [[x, [x]] for x in xs]\n"}) is Outcome.PASSED
    with pytest.raises(UserError, match="not the folder of QuixBugs"):
        load("quixbugs", tmp_path)


def test_classes_from_their_docstrings(tmp_path: Path) -> None:
    odd = {**CLASS, "task_id": "ClassEval_1", "skeleton": "class Stack:\n    “”“\n"}
    idle = {**CLASS, "task_id": "ClassEval_2", "solution_code": STACK}
    (tmp_path / "c.json").write_text(json.dumps([CLASS, odd, idle]))
    proof = proven("classeval", tmp_path / "c.json")
    assert reasons(proof) == {"ClassEval_1": "its skeleton does not parse", "ClassEval_2": "the reference does not pass"}
    (task,) = proof.tasks
    assert task.kind is Kind.COMPLETE and task.files["solution.py"].startswith("from collections import deque\n")
    (suite,) = task.suites
    assert set(suite.fail_to_pass) == {f"test_solution.py::StackTestPush::{name}" for name in ("test_push", "test_twice")}
    assert suite.pass_to_pass == ("test_solution.py::StackTest::test_new",)


def problem(number: str, solutions: list[str], pairs: dict[str, Any]) -> dict[str, str]:
    files = {"question.txt": "Add numbers.\n", "solutions.json": json.dumps(solutions), "input_output.json": json.dumps(pairs)}
    return {f"{number}/{name}": text for name, text in files.items()}


def test_programs_that_read_and_write(tmp_path: Path) -> None:
    pairs = {"inputs": ["2\n3\n4\n", "0\n"], "outputs": ["9 \n", "0"]}
    folder = write(
        tmp_path / "apps",
        {
            **problem("0000", ["print(1)", "exit(print(sum(map(int, open(0)))))", SUM, ASKING], pairs),
            **problem("0001", ["print(1)", "print(2)"], pairs), **problem("0002", [], pairs),
            **problem("0003", ["print(1)"], {"inputs": [], "outputs": []}),
        },
    )  # fmt: skip
    proof = proven("apps", folder)
    (task,) = proof.tasks
    assert task.reference is not None and task.reference["solution.py"] == SUM, "the first of them that passes"
    assert reasons(proof) == {
        "0001": "the reference does not pass",
        "0002": "it has no solution",
        "0003": "it has no test cases",
    }
    assert task.kind is Kind.COMPLETE and task.files["solution.py"] == "" and "Add numbers." in task.instruction
    assert outcome(task, {"solution.py": ASKING}) is Outcome.PASSED, "input() reads what is given, and an early end is one"
    assert outcome(task, {"solution.py": ASKING.replace("+ n", "")}) is Outcome.FAILED


def test_functions_and_methods_that_are_called(tmp_path: Path) -> None:
    pairs = {"fn_name": "both", "inputs": [[1, 2], [[3], 4]], "outputs": [[[1, 2]], [[3], 4]]}
    method = "class Solution:\n    def both(self, a, b):\n        return a, b\n"
    start = "class Solution:\n    def both(self, a, b):\n"
    row = {
        "id": 7, "question": "Both.", "solutions": json.dumps([method]), "input_output": json.dumps(pairs), "starter_code": start,
    }  # fmt: skip
    (task,) = proven("apps", lines(tmp_path / "a.jsonl", row)).tasks
    assert task.files["solution.py"] == start and task.provenance.topic == "7" and "`both`" in task.instruction
    assert task.provenance.parameters["cases"] == "2 of 2"
    assert outcome(task, {"solution.py": "def both(a, b):\n    return [a, b]\n"}) is Outcome.PASSED
    assert outcome(task, {"solution.py": "def both(a, b):\n    return [b, a]\n"}) is Outcome.FAILED


def test_a_huge_problem_keeps_its_first_cases(tmp_path: Path) -> None:
    pairs = {"inputs": ["1" * 60_000] * 3, "outputs": ["1" * 10] * 3}
    row = {"id": 1, "question": "?", "solutions": ["print(1)"], "input_output": pairs}
    (task,) = load("apps", lines(tmp_path / "a.jsonl", row))
    assert task.provenance.parameters["cases"] == "1 of 3" and len(task.suites[0].expected) == 1
    with pytest.raises(UserError, match=r"no folder of it holds a question\.txt"):
        (tmp_path / "none").mkdir()
        load("apps", tmp_path / "none")


def test_the_command_knows_every_dataset_and_names_what_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "dataset", "--help"]) == 0
    page = capsys.readouterr().out
    assert [name for name in DATASETS if name not in page] == []
    folder = write(tmp_path / "apps", problem("p1", ["print(1)", SUM], {"inputs": ["1\n"], "outputs": ["1\n"]}))
    write(folder, problem("p2", [], {"inputs": ["1\n"], "outputs": ["1\n"]}))
    assert main(["tasks", "dataset", "apps", str(folder), "--out", str(tmp_path / "out"), "--workers", "1"]) == 0
    said = capsys.readouterr().out
    assert "1 of 2 rows are proven tasks" in said and "it has no solution: p2" in said
