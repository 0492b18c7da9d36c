"""Intervals and measures of probabilities, against numbers worked out by hand."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.errors import DataError
from swefuse.evaluate.stats import Interval, cluster_bootstrap, detectable, mcnemar, paired_bootstrap, wilson
from swefuse.learn.calibration import auc, calibration_error


def test_two_clusters_give_the_interval_that_one_can_count() -> None:
    # resamples: both a (mean 1, chance 1/4), a and b (3 of 4, chance 1/2), both b (0, chance 1/4)
    interval = cluster_bootstrap([1, 1, 1, 0], ["a", "a", "a", "b"])
    assert interval == (0.75, 0.0, 1.0)


def test_the_interval_of_independent_values_is_the_normal_one() -> None:
    values = [float(number % 2) for number in range(400)]
    mean, low, high = cluster_bootstrap(values, range(400))
    assert mean == 0.5
    assert low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)


def test_tasks_of_one_function_count_as_one_observation() -> None:
    values = [float(number % 2) for number in range(40) for _ in range(10)]
    functions = [number for number in range(40) for _ in range(10)]
    clustered, naive = cluster_bootstrap(values, functions), cluster_bootstrap(values, range(400))
    assert (clustered.high - clustered.low) / (naive.high - naive.low) == pytest.approx(10**0.5, rel=0.1)
    once = cluster_bootstrap([float(number % 2) for number in range(40)], range(40))
    assert (clustered.low, clustered.high) == (once.low, once.high)


def test_a_large_function_weighs_by_its_tasks() -> None:
    values = [1.0] * 9 + [0.0] * 3
    interval = cluster_bootstrap(values, ["big"] * 9 + ["s1", "s2", "s3"])
    # four draws: no big one has chance 0.32 (mean 0), four big ones 0.004, three 0.047 (27 of 28 pass)
    assert interval[:2] == (0.75, 0.0)
    assert interval.high == pytest.approx(27 / 28)


def test_pairing_takes_out_what_both_models_share() -> None:
    rng = random.Random(0)
    hard = [rng.random() < 0.5 for _ in range(300)]
    a = [1.0 if not h or rng.random() < 0.1 else 0.0 for h in hard]
    b = [0.0 if h else 1.0 for h in hard]
    paired = paired_bootstrap(a, b, range(300))
    assert paired.mean == pytest.approx((sum(a) - sum(b)) / 300)
    assert paired.low > 0
    backwards = paired_bootstrap(b, a, range(300))
    assert backwards.mean == -paired.mean
    assert backwards.high < 0
    assert paired_bootstrap(a, a, range(300)) == (0.0, 0.0, 0.0)


def test_same_seed_same_interval_whatever_the_order() -> None:
    rng = random.Random(1)
    rows = [(rng.random(), rng.randrange(25)) for _ in range(200)]

    def interval(seed: int) -> Interval:
        return cluster_bootstrap([value for value, _ in rows], [function for _, function in rows], seed)

    one = interval(3)
    rng.shuffle(rows)
    assert interval(3) == one
    assert interval(4) != one


def test_many_clusters_are_drawn_in_blocks() -> None:
    values = [float(number % 3) for number in range(3000)]
    interval = cluster_bootstrap(values, range(3000), resamples=5000)
    assert interval.mean == 1.0
    assert interval.low == pytest.approx(1 - 1.96 * (2 / 3 / 3000) ** 0.5, abs=0.003)


def test_numpy_is_only_asked_for_when_resampling() -> None:
    code = "import sys, swefuse.evaluate.stats, swefuse.evaluate.passk\nsys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    without = """
import sys
sys.modules["numpy"] = None
from swefuse.errors import MissingExtraError
from swefuse.evaluate.stats import cluster_bootstrap
try:
    cluster_bootstrap([1, 0], "ab")
except MissingExtraError as error:
    sys.exit("swe-fuse[train]" not in str(error))
sys.exit(2)
"""
    assert subprocess.run([sys.executable, "-c", without], check=False).returncode == 0


def test_wilson_by_hand() -> None:
    share, low, high = wilson(8, 10)
    assert (share, round(low, 4), round(high, 4)) == (0.8, 0.4902, 0.9433)
    assert wilson(0, 10)[:2] == (0.0, 0.0)
    assert wilson(0, 10).high == pytest.approx(3.8415 / 13.8415, abs=1e-4)  # z² / (n + z²)
    assert wilson(10, 10)[::2] == (1.0, 1.0)
    assert wilson(10, 10).low == pytest.approx(10 / 13.8415, abs=1e-4)


def test_calibration_error_by_hand() -> None:
    # bin [0.2, 0.3): |1 - 0.4| over its two; bin [0.9, 1]: |1 - 1.9| over its two
    assert calibration_error([0.2, 0.2, 0.9, 1.0], [True, False, True, False]) == pytest.approx((0.6 + 0.9) / 4)
    assert calibration_error([0.0, 1.0], [False, True]) == 0.0
    assert calibration_error([0.85, 0.95], [True, False]) == pytest.approx((0.15 + 0.95) / 2)
    assert calibration_error([1.0, 0.0], [False, True]) == 1.0
    assert calibration_error([0.5] * 4, [True, False] * 2) == 0.0
    assert calibration_error([0.1, 0.9], [True, False], bins=1) == 0.0  # opposite errors meet in one bin


def test_auc_by_hand() -> None:
    assert auc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert auc([1, 1, 1], [True, False, True]) == 0.5
    assert auc([1, 2, 2, 3], [False, False, True, True]) == 0.875  # of four pairs three are won and one is tied
    assert auc([2, 1], [False, True]) == 0.0
    assert auc([float("-inf"), float("inf")], [False, True]) == 1.0


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=20).filter(lambda r: len({o for _, o in r}) == 2)
)
def test_auc_is_the_share_of_pairs_won(rows: list[tuple[int, bool]]) -> None:
    pairs = [(good, bad) for good, outcome in rows if outcome for bad, other in rows if not other]
    won = sum((good > bad) + (good == bad) / 2 for good, bad in pairs) / len(pairs)
    assert auc([score for score, _ in rows], [outcome for _, outcome in rows]) == pytest.approx(won)


def test_bad_input_is_an_error() -> None:
    nan = float("nan")
    for call in (
        lambda: cluster_bootstrap([], []),
        lambda: cluster_bootstrap([1.0], ["a"]),
        lambda: cluster_bootstrap([1.0, 0.0], ["a", "a"]),
        lambda: cluster_bootstrap([1.0, 0.0], ["a"]),
        lambda: cluster_bootstrap([1.0, nan], ["a", "b"]),
        lambda: paired_bootstrap([1.0, 0.0], [1.0], ["a", "b"]),
        lambda: paired_bootstrap([1.0, 0.0], [1.0, nan], ["a", "b"]),
        lambda: wilson(0, 0),
        lambda: wilson(3, 2),
        lambda: calibration_error([], []),
        lambda: calibration_error([1.1], [True]),
        lambda: calibration_error([nan], [True]),
        lambda: auc([1, 2], [True, True]),
        lambda: auc([nan, 1], [True, False]),
        lambda: auc([1], [True, False]),
    ):
        with pytest.raises(DataError):
            call()


def test_mcnemar_by_hand() -> None:
    assert mcnemar(0, 0) == 1 and mcnemar(3, 3) == 1
    assert mcnemar(5, 0) == mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)
    with pytest.raises(DataError, match="cannot be negative"):
        mcnemar(-1, 2)


def test_what_a_number_of_tasks_can_show() -> None:
    assert detectable(54, 0.2**0.5) == pytest.approx((1.959964 + 0.841621) * 0.447214 / 54**0.5, abs=1e-5)
    assert detectable(216, 0.3) == pytest.approx(detectable(54, 0.3) / 2)
    assert detectable(100, 0.4, power=0.5) == pytest.approx(1.959964 * 0.04, abs=1e-5)
    for n, spread, power in ((0, 0.1, 0.8), (5, -0.1, 0.8), (5, 0.1, 1.0)):
        with pytest.raises(DataError, match="describe no test"):
            detectable(n, spread, power)
