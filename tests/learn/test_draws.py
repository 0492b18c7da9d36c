from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from learn_samples import make_task
from swefuse.learn.draws import Draws, least_certain, rate
from swefuse.learn.settings import RlvrSettings, SamplingSettings
from swefuse.records import Task

MANY = tuple(make_task(f"f{n}", f"def f{n}(a):\n    return a + {n}\n", (2, "+", "-"), {"(1,)": str(n)}) for n in range(12))
PLACE = {task.id: place for place, task in enumerate(MANY)}


def draws(count: int = 12, **sampling: Any) -> Draws:
    return Draws(MANY[:count], RlvrSettings(tasks=3, sampling=SamplingSettings(**sampling), seed=4))


def places(tasks: list[Task]) -> list[int]:
    return [PLACE[task.id] for task in tasks]


def rounds(made: Draws, number: int, size: int) -> list[list[int]]:
    found = []
    for _ in range(number):
        made.begin()
        found.append(places(made.take(size)))
    return found


def planned(count: int, size: int, number: int, seed: int) -> list[list[int]]:
    """The rounds as they were planned before there was anything but shuffling."""
    order: list[list[int]] = []
    pool: list[int] = []
    epoch = 0
    while len(order) < number:
        if len(pool) < size:
            fresh = list(range(count))
            random.Random(f"{seed}-{epoch}").shuffle(fresh)
            fresh.sort(key=pool.__contains__)
            pool, epoch = pool + fresh, epoch + 1
        order.append(pool[:size])
        pool = pool[size:]
    return order


@settings_of_hypothesis(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12))
def test_every_task_comes_once_before_any_comes_again(count: int, size: int) -> None:
    size = min(count, size)
    order = rounds(draws(count), 20, size)
    assert order == planned(count, size, 20, 4)
    assert all(len(set(row)) == size for row in order), "and never twice in a round"
    flat = [place for row in order for place in row]
    for epoch in range(len(flat) // count):
        assert sorted(flat[count * epoch : count * epoch + count]) == list(range(count))


@settings_of_hypothesis(max_examples=100, deadline=None)
@given(st.integers(2, 12), st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=8), st.booleans())
def test_a_round_never_has_a_task_twice_however_often_it_draws(count: int, asked: list[list[int]], hard: bool) -> None:
    made = draws(count, order="difficulty" if hard else "shuffled")
    for sizes in asked:
        made.begin()
        got = [place for size in sizes for place in places(made.take(size))]
        assert len(set(got)) == len(got) == min(count, sum(sizes)) and made.left == count - len(got)
        made.learn({MANY[place].id: (place % 3, 1) for place in got})


def test_a_pass_rate_is_that_of_an_even_prior() -> None:
    assert [rate(0, 0), rate(4, 0), rate(1, 3), rate(0, 4)] == pytest.approx([1 / 2, 5 / 6, 2 / 6, 1 / 6])


def test_tasks_near_one_half_come_first() -> None:
    order = least_certain({0: 0.9, 1: 0.45, 2: 0.1, 3: 0.5, 4: 0.6}, random.Random(0))
    assert order[:3] == [3, 1, 4] and sorted(order[3:]) == [0, 2]
    assert {tuple(least_certain({0: 0.25, 1: 0.75}, random.Random(seed))) for seed in range(20)} == {(0, 1), (1, 0)}


def test_what_was_known_fades_and_what_is_new_counts_in_full() -> None:
    made = draws(order="difficulty", fade=0.5)
    made.begin()
    made.learn({MANY[2].id: (3, 1), MANY[5].id: (0, 0)})
    assert made.rates() == {2: pytest.approx(4 / 6)}, "nothing graded says nothing"
    made.begin()
    made.learn({MANY[2].id: (0, 4)})
    assert made.rates() == {2: pytest.approx((1.5 + 1) / (1.5 + 0.5 + 4 + 2))}
    made.begin()
    assert made.rates() == {2: pytest.approx((0.75 + 1) / (0.75 + 2.25 + 2))}


def test_a_share_of_tasks_is_new_and_the_others_are_the_least_certain() -> None:
    made = draws(order="difficulty", fresh=0.25, fade=1.0)
    made.begin()
    first = places(made.take(6))
    passed = dict(zip(first, (0, 2, 4, 1, 2, 3), strict=True))
    made.learn({MANY[place].id: (count, 4 - count) for place, count in passed.items()})
    made.begin()
    second = places(made.take(4))
    assert {passed[place] for place in second[:2]} == {2} and passed[second[2]] in (1, 3)
    assert second[3] not in first
    assert len(set(places(made.take(5))) - set(first)) >= 1, "a second draw of the round goes by the same rule"
    none = draws(6, order="difficulty", fresh=1.0)
    none.begin()
    none.learn({task.id: (1, 1) for task in MANY[:6]})
    assert sorted(places(none.take(6))) == [0, 1, 2, 3, 4, 5], "tried ones take the places of new ones that are not there"


@pytest.mark.parametrize("order", ["shuffled", "difficulty"])
@pytest.mark.parametrize("stopped", [1, 3, 6])
def test_resumed_draws_are_those_of_an_uninterrupted_run(order: Any, stopped: int) -> None:
    def play(made: Draws, numbers: range) -> list[list[int]]:
        found = []
        for number in numbers:
            made.begin()
            got = made.take(3)
            got += made.take(number % 3)
            made.learn({task.id: (number * PLACE[task.id] % 5, 2) for task in got})
            found.append(places(got))
        return found

    whole = play(draws(order=order), range(9))
    cut = draws(order=order)
    begun = play(cut, range(stopped))
    resumed = draws(order=order)
    resumed.resume(cut.state())
    assert begun + play(resumed, range(stopped, 9)) == whole
    assert play(Draws(MANY, RlvrSettings(tasks=3, seed=5)), range(9)) != whole
