"""Tasks of any source are proven anew, and each reason for which one is refused is met."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from swefuse.errors import DataError
from swefuse.records import Call, Kind, Provenance, Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.leaks import added_lines, leaks, reachable
from swefuse.tasks.proving import How, Refusal, prove_task, run
from swefuse.tasks.stats import gather, stats
from swefuse.tasks.store import load_tasks
from swefuse.tasks.workers import init_worker, sandbox

BROKEN = "def f(x):\n    return x + 1\n"
RIGHT = "def f(x):\n    return 2 * x\n"
TEST = "from m import f\n\n\ndef test_one():\n    assert f(1) == 2\n\n\ndef test_three():\n    assert f(3) == 6\n"
IDS = ("test_m.py::test_one", "test_m.py::test_three")
HOW = How(2)


def make(**changes: Any) -> Task:
    suites = (Suite(form="pytest", files=("test_m.py",), fail_to_pass=IDS[1:], pass_to_pass=IDS[:1]),)
    files = {"m.py": BROKEN, "test_m.py": TEST}
    fields = {
        "kind": Kind.BUGFIX, "instruction": "repair f", "files": files, "editable": ("m.py",), "protected": ("test_m.py",),
        "suites": suites, "reference": {**files, "m.py": RIGHT}, "provenance": Provenance(source="test"),
    }  # fmt: skip
    return Task.make(**{**fields, **changes})


def with_test(text: str, ids: tuple[str, ...] = IDS) -> dict[str, Any]:
    files = {"m.py": BROKEN, "test_m.py": text}
    suites = (Suite(form="pytest", files=("test_m.py",), fail_to_pass=ids[-1:], pass_to_pass=ids[:-1]),)
    return {"files": files, "reference": {**files, "m.py": RIGHT}, "suites": suites}


RANDOM = TEST.replace("== 6", "== 6 and __import__('os').urandom(1)[0] % 2")
DOUBLED = "def f(number):\n    total_of_both = number + number\n    return total_of_both\n"
REFUSED: dict[Refusal, dict[str, Any]] = {
    Refusal.NO_TESTS: {"suites": (Suite(form="pytest", files=("test_m.py",)),)},
    Refusal.NO_REFERENCE: {"reference": None},
    Refusal.REFERENCE_FAILS: {"reference": {"m.py": "def f(x):\n    return 3 * x\n", "test_m.py": TEST}},
    Refusal.START_PASSES: with_test("from m import f\n\n\ndef test_one():\n    assert f(1) == 2\n", IDS[:1]),
    Refusal.OTHER_TESTS: {"suites": (Suite(form="pytest", files=("test_m.py",), fail_to_pass=IDS),)},
    Refusal.LEAK: {"files": {"m.py": BROKEN, "test_m.py": TEST, "build/m.py": RIGHT},
                   "reference": {"m.py": RIGHT, "test_m.py": TEST, "build/m.py": RIGHT}},
    Refusal.DATA: {
        "suites": (Suite(form="calls", entry="m.py:f", calls=(Call(id="a", args="3", want="6"),), fail_to_pass=("a",)),),
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def started(box: object) -> None:
    """All of this file runs in the room's sandbox."""


def test_a_task_that_holds_gets_its_evidence() -> None:
    found = prove_task(make(), How(2, mutants=5))
    assert (found.refusal, found.detail) == (None, "")
    evidence = found.task.evidence
    assert evidence is not None and (evidence.repeats, evidence.failing_ids) == (2, IDS[1:])
    assert evidence.cpu_s is not None and evidence.strength is not None and evidence.mutants > 0
    assert prove_task(make(), HOW).task.evidence.strength is None  # type: ignore[union-attr]


@pytest.mark.parametrize("refusal", REFUSED, ids=[one.name for one in REFUSED])
def test_what_does_not_hold_is_refused_for_its_reason(refusal: Refusal) -> None:
    found = prove_task(make(**REFUSED[refusal]), HOW)
    assert found.refusal is refusal, found.detail
    assert found.task.evidence is None


def test_a_test_that_changes_its_mind_is_found() -> None:
    found = [prove_task(make(**with_test(RANDOM)), How(8)).refusal for _ in range(3)]
    assert Refusal.FLAKY in found


def test_a_kind_without_suites_is_proven_by_its_own_check() -> None:
    half = "def half(x):\n    if x % 2:\n        raise ValueError(x)\n    return x // 2\n"
    doc = half.replace(
        "(x):\n", '(x):\n    """Return half of x; ValueError for an odd one.\n\n    >>> half(8)\n    4\n    """\n', 1
    )
    task = Task.make(
        Kind.DOCGEN, instruction="", files={"m.py": half}, editable=("m.py",), suites=(), goal={"function": "m.py:half"},
        reference={"m.py": doc}, provenance=Provenance(source="test"),
    )  # fmt: skip
    assert prove_task(task, HOW).refusal is None
    assert prove_task(task.model_copy(update={"reference": {"m.py": half + "\n"}}), HOW).refusal is Refusal.REFERENCE_FAILS


def test_a_stage_goes_on_where_it_was_ended_and_is_counted(tmp_path: Path) -> None:
    init_worker()
    tasks = [make(), make(**REFUSED[Refusal.START_PASSES]), make(**REFUSED[Refusal.OTHER_TESTS])]
    steps: list[int] = []
    counts = run(tasks[:2], tmp_path, HOW, InlineExecutor())
    assert counts == {"tasks": 2, "proven": 1, "refused": {Refusal.START_PASSES.value: 1}}
    log = tmp_path / "proved.jsonl"
    log.write_text(log.read_text() + '{"key": "cut of')
    log.write_text(log.read_text() + "\n")
    again = run(tasks, tmp_path, HOW, InlineExecutor(), lambda done, total: steps.append(done))
    assert again["refused"] == {Refusal.START_PASSES.value: 1, Refusal.OTHER_TESTS.value: 1} and steps == [2, 3]
    assert [task.id for task in load_tasks(tmp_path / "tasks.jsonl")] == [tasks[0].id]
    rows = [json.loads(line) for line in (tmp_path / "refused.jsonl").read_text().splitlines()]
    assert {row["reason"] for row in rows} == set(again["refused"])
    found, refused = gather([tmp_path])
    assert refused == Counter(again["refused"])
    told = stats(found, refused)
    assert (told["tasks"], told["proven"], told["kinds"], told["sources"]) == (1, 1, {"bugfix": 1}, {"test": 1})
    assert told["fail_to_pass"] == {"least": 1, "median": 1, "most": 1, "sum": 1}
    assert told["licences"] == {"none stated": 1} and told["strength"] == {}


def test_stats_of_nothing_and_of_what_is_no_task(tmp_path: Path) -> None:
    assert stats([], Counter())["fail_to_pass"] == {}
    with pytest.raises(DataError):
        gather([tmp_path])


def test_history_copies_and_releases_give_answers_away() -> None:
    files = {"m.py": BROKEN, "test_m.py": TEST}
    assert leaks(make()) == []
    assert leaks(make(files={**files, ".git/packed-refs": "x"})) == [".git/packed-refs: a history came along"]
    assert leaks(make(files={**files, "old.bundle": "x"})) == ["old.bundle: a history came along"]
    assert leaks(make(**REFUSED[Refusal.LEAK])) == ["build/m.py: the repaired m.py as a copy"]
    own = "from __future__ import annotations\n"
    taken = Path(pytest.__file__).read_text(encoding="utf-8")
    task = make(files={**files, "pytest/__init__.py": own}, reference={**files, "pytest/__init__.py": taken})
    (told,) = leaks(task)
    assert told.startswith("pytest is installed where the tests run, and holds ")
    assert added_lines(make(reference={**files, "m.py": DOUBLED})) == {"total_of_both = number + number", "return total_of_both"}


def test_git_finds_nothing_from_inside() -> None:
    task = make(provenance=Provenance(source="commits", commit="a" * 40))
    assert reachable(sandbox(), task) == ""
    inside = task.model_copy(update={"files": {**task.files, ".hg/store": "x"}})
    assert ".hg" in reachable(sandbox(), inside)
