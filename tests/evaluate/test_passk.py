"""pass@k against counting by hand and by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.errors import DataError
from swefuse.evaluate.passk import mean_pass_at_k, pass_at_k


def test_numbers_by_hand() -> None:
    assert pass_at_k(4, 1, 1) == 0.25
    assert pass_at_k(4, 1, 4) == 1.0
    assert pass_at_k(5, 2, 2) == pytest.approx(0.7)  # 1 - (3/5 * 2/4)
    assert pass_at_k(3, 0, 3) == 0.0
    assert pass_at_k(3, 3, 1) == 1.0


def test_every_small_case_by_drawing_all_subsets() -> None:
    for n in range(1, 8):
        for c in range(n + 1):
            for k in range(1, n + 1):
                draws = list(combinations([index < c for index in range(n)], k))
                assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-12)


@given(st.integers(1, 3000), st.data())
def test_large_cases_keep_their_digits(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    exact = 1 - Fraction(comb(n - c, k), comb(n, k))
    assert pass_at_k(n, c, k) == pytest.approx(float(exact), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("n", "c", "k"), [(2, 0, 5), (2, 2, 3), (0, 0, 1), (3, 1, 0), (3, 1, -1), (3, 4, 1), (3, -1, 1)])
def test_what_cannot_be_known_is_an_error_and_never_one(n: int, c: int, k: int) -> None:
    with pytest.raises(DataError):
        pass_at_k(n, c, k)


def test_the_mean_is_over_tasks() -> None:
    assert mean_pass_at_k([(4, 4), (4, 0), (8, 4)], 1) == pytest.approx(0.5)
    for counts in ([], [(4, 4), (1, 1)]):
        with pytest.raises(DataError):
            mean_pass_at_k(counts, 2)
