"""Making tasks by bug injection."""

from __future__ import annotations

import ast

import pytest
from small_functions import make_spec

from swefuse.code.functions import body_hash, function
from swefuse.code.operators import Bug, Edit, apply, edits
from swefuse.records import Task
from swefuse.sandbox import Sandbox
from swefuse.tasks.inject import Order, inject
from swefuse.tasks.prepare import prepare
from swefuse.tasks.spec import FunctionSpec
from swefuse.verify import Verifier

WANTED = tuple((kind, 0, 2) for kind in Bug)


@pytest.fixture(scope="module")
def tasks(clip: FunctionSpec, helped: FunctionSpec) -> list[Task]:
    return [task for spec in (clip, helped) for _, task in inject(Order(spec, WANTED, seed=0)).tasks]


def test_a_task_is_what_it_says(tasks: list[Task], clip: FunctionSpec) -> None:
    assert len({task.provenance.operator for task in tasks}) >= 7
    for task in tasks:
        broken, name = task.files["solution.py"], task.provenance.function
        given = task.provenance.parameters
        mend = Edit(Bug(given["kind"]), int(given["line"]), int(given["nth"]), given["old"], given["new"])
        assert mend in edits(broken, name)
        assert task.reference == {**task.files, "solution.py": apply(broken, mend)}
        assert task.id == Task.make_id(task.kind, task.files, task.suites)
        assert task.protected == ("test_solution.py",)


def test_locals_are_renamed_for_the_corpus_only(tasks: list[Task], clip: FunctionSpec, helped: FunctionSpec) -> None:
    texts = {spec.name: set() for spec in (clip, helped)}
    for task in tasks:
        assert task.reference is not None
        text = task.reference["solution.py"].replace("raise ValueError\n", 'raise ValueError("empty range")\n')
        texts[task.provenance.function].add(text)
    assert len(texts["clip"]) > 5
    assert {body_hash(function(ast.parse(text), "clip")) for text in texts["clip"]} == {clip.body_hash}
    assert texts["area"] == {helped.text}


def test_both_forms_agree_with_the_lists_of_the_task(tasks: list[Task], box: Sandbox) -> None:
    with Verifier(cache=False) as verifier:
        for task in (tasks[1], tasks[-1]):
            for form in ("calls", "pytest"):
                suite = task.suite(form)
                assert suite is not None
                verdict = verifier.verify(task, task.files, form)
                assert {id_ for id_, result in verdict.tests.items() if result.outcome != "passed"} == set(suite.fail_to_pass)
                assert verifier.verify(task, task.reference or {}, form).outcome == "PASSED"


def test_an_order_can_be_continued(clip: FunctionSpec, box: Sandbox) -> None:
    whole = inject(Order(clip, ((Bug.VARIABLE, 0, 4),), seed=3))
    first = inject(Order(clip, ((Bug.VARIABLE, 0, 1),), seed=3))
    [(kind, position)] = first.positions
    assert kind is Bug.VARIABLE
    assert position is not None
    rest = inject(Order(clip, ((Bug.VARIABLE, position, 3),), seed=3))
    assert first.tasks + rest.tasks == whole.tasks
    assert inject(Order(clip, ((Bug.VARIABLE, 0, 4),), seed=4)).tasks != whole.tasks
    assert inject(Order(clip, ((Bug.VARIABLE, 0, 99),), seed=3)).positions == ((Bug.VARIABLE, None),)


def test_bugs_that_hang_or_go_unnoticed_are_counted(box: Sandbox) -> None:
    text = "def f(n: int) -> int:\n    total = 0\n    while n > 0:\n        total += n\n        n -= 1\n    return total\n"
    spec = prepare(make_spec(text, "f", ("(3,)", "(0,)", "(-2,)"))).spec
    found = inject(Order(spec, tuple((kind, 0, 99) for kind in Bug), seed=0))
    assert found.dropped["the broken version hangs"] >= 1
    assert found.dropped["the calls do not notice the bug"] >= 1
    broken = [task.files["solution.py"] for _, task in found.tasks]
    assert len(set(broken)) == len(broken) > 5


def test_first_values_are_dropped_last(box: Sandbox) -> None:
    text = "def f(items: list[int]) -> int:\n    total = 0\n    for item in items:\n        total += item\n        total += 1\n"
    spec = prepare(make_spec(text + "    return total\n", "f", ("([3, 4],)", "([],)", "([1],)"))).spec
    tasks = [task for _, task in inject(Order(spec, ((Bug.STATEMENT, 0, 99),), seed=0)).tasks]
    assert [task.provenance.parameters["new"].strip().endswith(" = 0") for task in tasks] == [False, False, True]
