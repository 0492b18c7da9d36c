"""Best of n as a sum of probabilities."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learn_samples import TASKS, model, tokenizer
from swefuse.learn.board import exact_pass, make_board
from swefuse.learn.exact import Menu, best_chance, best_of, look
from swefuse.learn.tokens import codec_for
from swefuse.verify import Verifier


def test_by_hand() -> None:
    assert best_chance([0.5, 0.5], [2.0, 1.0], [True, False], 2) == pytest.approx(0.75)
    assert best_chance([0.5, 0.5], [1.0, 2.0], [True, False], 2) == pytest.approx(0.25)
    assert best_chance([0.2, 0.8], [1.0, 1.0], [True, False], 4) == pytest.approx(0.2), "equal scores: any of the draws"
    assert best_chance([0.2, 0.8], [0.0, 9.0], [True, False], 1) == pytest.approx(0.2)
    assert best_chance([1.0, 0.0], [0.0, 9.0], [False, True], 4) == 0.0


Row = tuple[float, int, bool]


@given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(0, 3), st.booleans()), min_size=1, max_size=4), st.integers(1, 3))
def test_it_is_what_counting_all_draws_gives(rows: list[Row], n: int) -> None:
    odds, scores, good = ([row[k] for row in rows] for k in range(3))
    whole, counted = sum(odds), 0.0
    for draw in product(range(len(rows)), repeat=n):
        chance = 1.0
        for one in draw:
            chance *= odds[one] / whole
        counted += chance * good[max(draw, key=lambda one: scores[one])]
    assert best_chance(odds, [float(score) for score in scores], good, n) == pytest.approx(counted)


def test_on_a_real_model_the_odds_of_all_that_is_open_sum_to_one_and_best_of_one_is_pass_at_one() -> None:
    codec, learner = codec_for(tokenizer()), model()
    with Verifier() as verifier:
        board = make_board(TASKS[:3], lambda items: [verifier.verify(item.task, item.files) for item in items])
    menu = Menu.of(codec, board)
    known = look(learner, menu)
    assert learner.training and len(known) == sum(map(len, menu.good))
    totals = [0.0] * 3
    for place, odd in zip(known.task, known.numbers[:, 0].exp().tolist(), strict=True):
        totals[place] += odd
    assert totals == pytest.approx([1.0] * 3, abs=1e-4)
    scores = [random.Random(n).random() for n in range(len(known))]
    assert best_of(menu, known, scores, 1) == pytest.approx(exact_pass(learner, codec, board), abs=1e-5)
    knowing = best_of(menu, known, known.passed.tolist(), 4)
    assert knowing == pytest.approx([1 - (1 - p) ** 4 for p in exact_pass(learner, codec, board)], abs=1e-5), "the oracle's: pass@4"
