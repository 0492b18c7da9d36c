"""Commits that tidy up or add tests become tasks of other kinds, once running them shows that they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from history import History

from swefuse.records import Kind, Outcome, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks import other_kinds
from swefuse.tasks.attempts import Refusal
from swefuse.tasks.commits import Sides, candidates
from swefuse.tasks.git import Repository
from swefuse.tasks.mine import Selection, run
from swefuse.tasks.store import load_tasks
from swefuse.tasks.workers import init_worker, verifier

LONG = "def sign(x):\n    if x > 0:\n        if x != 0:\n            return 1\n    return 0\n"
LONG += "\n\ndef idle(x):\n    if x:\n        return 1\n    return 1\n"
SHORT = LONG.replace("        if x != 0:\n            return 1\n", "        return 1\n")
IDLE = SHORT.replace("    if x:\n        return 1\n    return 1\n", "    return 1\n")
FIRST = "from calc import sign\n\n\ndef test_one():\n    assert sign(1) == 1\n"
MORE = FIRST + "\n\ndef test_rest():\n    assert [sign(x) for x in (-2, -1, 0, 2, 3)] == [0, 0, 0, 1, 1]\n"


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    history = History(folder / "repo")
    history.commit("begin", {"calc.py": LONG, "test_calc.py": FIRST, "LICENSE": "Permission is hereby granted, free of charge\n"})
    history.commit("more tests for sign", {"test_calc.py": MORE})
    history.commit("the same test once more", {"test_calc.py": MORE + "\n\ndef test_again():\n    assert sign(1) == 1\n"})
    history.commit("simplify sign", {"calc.py": SHORT})
    history.commit("clean up what no test reaches", {"calc.py": IDLE})
    history.commit("refactor names", {"calc.py": IDLE.replace("x", "number")})
    history.commit("tests of nothing", {"test_other.py": "def test_a():\n    pass\n"})
    init_worker()
    (folder / "out").mkdir()
    kinds = (Kind.REFACTOR, Kind.TESTGEN, Kind.BUGFIX)
    run([history.folder], folder / "out", Selection(kinds=kinds), InlineExecutor())
    return folder / "out"


def test_what_became_simpler_and_what_notices_more_is_a_task(mined: Path) -> None:
    tasks = {task.provenance.parameters["subject"]: task for task in load_tasks(mined / "tasks.jsonl")}
    assert {subject: task.kind for subject, task in tasks.items()} == {
        "simplify sign": Kind.REFACTOR, "more tests for sign": Kind.TESTGEN,
    }  # fmt: skip
    simpler, tested = tasks["simplify sign"], tasks["more tests for sign"]
    assert simpler.goal == {"function": "calc.py:sign"} and simpler.editable == ("calc.py",)
    assert "test_calc.py" in simpler.protected and simpler.suites[0].fail_to_pass == ()
    assert tested.goal == {"module": "calc.py", "tests": "test_calc.py"} and tested.files["test_calc.py"] == FIRST
    assert tested.editable == ("test_calc.py",) and "calc.py" in tested.protected and tested.suites == ()
    for task in tasks.values():
        assert task.evidence is not None and task.evidence.reference_passes
        assert Task.model_validate_json(task.model_dump_json()) == task
        assert verifier().verify(task, task.reference or {}).outcome is Outcome.PASSED
        assert verifier().verify(task, task.files).outcome is Outcome.FAILED


def test_each_other_commit_is_refused_for_its_reason(mined: Path) -> None:
    rows = [json.loads(line) for line in (mined / "attempts.jsonl").read_text().splitlines()]
    refused = {row["subject"]: row["refusal"] for row in rows if row["refusal"]}
    assert refused == {
        "the same test once more": Refusal.NOT_PROVEN.value,
        "clean up what no test reaches": Refusal.NOT_REACHED.value,
        "refactor names": Refusal.NOT_SIMPLER.value,
        "tests of nothing": Refusal.NO_MODULE.value,
    }


def test_candidates_are_told_apart_by_subject_and_files(tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    history.commit("begin", {"a.py": "x = 1\n", "test_a.py": ""})
    history.commit("clean-up", {"a.py": "x = 2\n"})
    history.commit("fix and simplify", {"a.py": "x = 3\n", "test_a.py": "x\n"})
    history.commit("unused test", {"test_a.py": "y\n"})
    history.commit("Polish #12", {"a.py": "x = 4\n", "test_a.py": "z\n"})
    history.commit("clean up a bug", {"a.py": "x = 5\n", "test_a.py": "u\n"})
    commits = list(Repository(history.folder).commits())
    found = {kind: [commit.subject for commit in candidates(commits, kind)] for kind in (Kind.BUGFIX, Kind.REFACTOR, Kind.TESTGEN)}
    assert found == {
        Kind.BUGFIX: ["clean up a bug", "fix and simplify"], Kind.REFACTOR: ["clean up a bug", "fix and simplify", "clean-up"],
        Kind.TESTGEN: ["unused test"],
    }  # fmt: skip


def test_the_tests_of_a_module_are_those_named_like_it() -> None:
    files = {"src/shop/calc.py": "", "tests/test_calc.py": "", "tests/test_more.py": ""}
    assert other_kinds.tests_of(Sides((), ("src/shop/calc.py",), ()), files) == ("tests/test_calc.py",)
    assert other_kinds.tests_of(Sides((), ("src/shop/other.py",), ()), files) == ("tests/test_calc.py", "tests/test_more.py")
    assert other_kinds.tests_of(Sides(("tests/test_more.py",), (), ("tests/test_more.py",)), files) == ("tests/test_more.py",)
