"""The strength of tests: which mutants are made, and what is counted."""

from __future__ import annotations

import pytest
from small_task import RIGHT, WRONG, make_task

from swefuse.errors import DataError
from swefuse.records import Task
from swefuse.scale import InlineExecutor
from swefuse.verify import init_worker
from swefuse.verify.strength import mutants, strength

MORE = "\n\ndef g(x):\n    return x + 1\n"


def with_reference(task: Task, text: str) -> Task:
    return task.model_copy(update={"reference": {**task.files, "m.py": text}})


@pytest.fixture(scope="module")
def weak() -> Task:
    return with_reference(make_task([("(0,)", "0", None), ("(2,)", "4", None)]), RIGHT)


@pytest.fixture(scope="module")
def strong() -> Task:
    rows: list[tuple[str, str | None, str | None]] = [(f"({x},)", str(2 * x), None) for x in range(4)]
    return with_reference(make_task([*rows, ("(-1,)", None, "ValueError")]), RIGHT)


def test_mutants_are_bugs_in_what_the_reference_changed() -> None:
    task = with_reference(make_task([("(0,)", "0", None)], source=WRONG + MORE), RIGHT + MORE)
    found = mutants(task)
    assert found and {mutant.function for mutant in found} == {"f"}
    texts = [mutant.files["m.py"] for mutant in found]
    assert len(set(texts)) == len(texts) and RIGHT + MORE not in texts
    whole = with_reference(make_task([("(0,)", "0", None)], source=RIGHT + MORE), RIGHT + MORE)
    assert {mutant.function for mutant in mutants(whole)} == {"f", "g"}, "nothing was changed, so every function counts"


def test_more_tests_kill_more(weak: Task, strong: Task) -> None:
    init_worker()
    little, much = (strength(task, InlineExecutor(), most=500) for task in (weak, strong))
    assert little.listed == much.listed == little.judged == much.judged > 8
    assert little.share is not None and much.share is not None and little.share < much.share
    assert {str(m) for m in much.survivors} < {str(m) for m in little.survivors}
    for one in (little, much):
        assert one.killed + len(one.survivors) == one.judged and one.ungraded == 0
    assert any("'<' -> '<='" in str(m) for m in little.survivors) is False, "f(0) is tested"
    assert any("raise" in str(m) for m in little.survivors), "no test looks at negative numbers"


def test_a_seed_draws_the_same_mutants_and_time_ends_the_work(weak: Task) -> None:
    init_worker()
    first, again = (strength(weak, InlineExecutor(), most=5, seed=3) for _ in range(2))
    assert first == again and first.judged == 5
    none = strength(weak, InlineExecutor(), seconds=0.0)
    assert none.judged == 0 and none.share is None and none.listed == first.listed


def test_without_a_reference_that_passes_there_is_no_strength(weak: Task) -> None:
    init_worker()
    with pytest.raises(DataError, match="the reference solution is FAILED"):
        strength(with_reference(weak, WRONG.replace("3 * x", "0").replace("x < 2", "x < 0")), InlineExecutor())
    with pytest.raises(DataError, match="has no reference"):
        mutants(make_task([("(0,)", "0", None)]))
