"""Balanced kinds."""

from __future__ import annotations

import pytest

from swefuse.code.operators import Bug
from swefuse.records import Task
from swefuse.sandbox import Sandbox
from swefuse.scale import InlineExecutor
from swefuse.tasks.balance import Balance, make_tasks
from swefuse.tasks.families import composed_functions
from swefuse.tasks.prepare import prepare
from swefuse.tasks.spec import FunctionSpec


@pytest.fixture(scope="module")
def specs(clip: FunctionSpec, box: Sandbox) -> list[FunctionSpec]:
    return [clip, *(prepare(spec).spec for spec in composed_functions(3))]


def made(specs: list[FunctionSpec], total: int, most_each: int) -> list[Task]:
    return make_tasks(Balance(specs, total, most_each, seed=0), InlineExecutor(), lambda count: None)


def test_kinds_get_equal_shares_and_the_total_is_met(specs: list[FunctionSpec]) -> None:
    tasks = made(specs, 20, 20)
    kinds = [task.provenance.operator for task in tasks]
    counts = sorted(kinds.count(kind) for kind in set(kinds))
    assert len(tasks) == 20
    assert len(counts) >= 7
    assert counts[-1] - counts[-4] <= 1
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)


def test_no_function_gives_more_than_its_share(specs: list[FunctionSpec]) -> None:
    balance = Balance(specs, 100, 3, seed=0)
    tasks = make_tasks(balance, InlineExecutor(), lambda count: None)
    assert len(tasks) == 12
    assert set(balance.each.values()) == {3}


def test_what_is_used_up_is_left_to_the_others(specs: list[FunctionSpec]) -> None:
    balance = Balance(specs[:1], 9, 100, seed=0)
    for kind in Bug:
        if kind is not Bug.VARIABLE:
            balance.positions[kind, 0] = None
    assert balance.lacking() == {Bug.VARIABLE: 9}


def test_a_family_with_weight_gives_so_many_times_more(specs: list[FunctionSpec], clip: FunctionSpec) -> None:
    shares = {}
    for weight in (0.25, 1.0, 2.0):
        balance = Balance(specs, 24, 100, 0, {clip.family: weight})
        make_tasks(balance, InlineExecutor(), lambda count: None)
        shares[weight] = balance.each[0]
    assert shares[0.25] < shares[1.0] < shares[2.0] <= 2 * shares[1.0] + 2
