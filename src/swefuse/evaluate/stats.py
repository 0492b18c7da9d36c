"""How sure a number is: cluster bootstrap, Wilson interval, McNemar's test, and what a number of tasks can show. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist, fmean
from typing import NamedTuple

from swefuse.errors import DataError, missing_extra

RESAMPLES = 10_000
_CELLS = 4_000_000  # a block of resamples takes 32 MB


class Interval(NamedTuple):
    """An estimate with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


def cluster_bootstrap(values: Sequence[float], clusters: Sequence[Hashable], seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Mean of ``values`` with the percentile interval from resampling whole clusters.

    ``clusters[i]`` says where value i belongs: tasks made from one function rise and fall together, so functions are drawn with
    replacement and all their tasks come along. Same seed, same interval, whatever the order of the values. Raises DataError for
    unlike lengths, for values that are not finite, and for fewer than two clusters, whose spread nobody knows; MissingExtraError
    without numpy.
    """
    try:
        import numpy as np
    except ImportError as error:
        raise missing_extra("numpy", "train") from error
    _check(values, clusters, "values", "clusters")
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        groups.setdefault(cluster, []).append(value)
    if len(groups) < 2:
        raise DataError(f"an interval needs at least two clusters, there is {len(groups)}; evaluate on more functions")
    table = sorted((math.fsum(group), len(group)) for group in groups.values())  # the order of clusters must not matter
    sums, sizes = np.array(table, dtype=np.float64).T
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    block = max(1, _CELLS // len(table))
    for start in range(0, resamples, block):
        drawn = rng.integers(0, len(table), (min(block, resamples - start), len(table)))
        means[start : start + block] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(fmean(values), float(low), float(high))


def paired_bootstrap(
    a: Sequence[float], b: Sequence[float], clusters: Sequence[Hashable], seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """Mean of ``a[i] - b[i]``, two models on the same task i, with its interval; otherwise like ``cluster_bootstrap``."""
    _check(a, b, "values of a", "values of b")
    return cluster_bootstrap([x - y for x, y in zip(a, b, strict=True)], clusters, seed, resamples)


def wilson(passed: int, n: int) -> Interval:
    """Share ``passed / n`` with its Wilson score interval, which keeps inside [0, 1]. For independent trials only.

    Raises DataError unless ``0 <= passed <= n`` and ``n >= 1``.
    """
    if n < 1 or not 0 <= passed <= n:
        raise DataError(f"{passed} of {n} is no share")
    z = NormalDist().inv_cdf(0.975)
    share = passed / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(share, 0.0 if passed == 0 else centre - half, 1.0 if passed == n else centre + half)


def mcnemar(only_a: int, only_b: int) -> float:
    """Two-sided p-value of McNemar's exact test (McNemar 1947) for two models on the same tasks, in [0, 1].

    ``only_a``: tasks that the first solved and the second did not; ``only_b`` the other way round. Tasks on which they agree say
    nothing. Under the null each of the ``n`` others falls to either side like a coin, so the p-value is twice the smaller tail of
    Binomial(n, 1/2), and 1 without any. Raises DataError for a negative count.
    """
    if only_a < 0 or only_b < 0:
        raise DataError(f"counts cannot be negative: {only_a} and {only_b}")
    n, few = only_a + only_b, min(only_a, only_b)
    tail = sum(math.comb(n, k) for k in range(few + 1))
    return float(min(1.0, 2 * tail / 2**n))


def detectable(n: int, spread: float, power: float = 0.8) -> float:
    """The smallest mean difference that ``n`` paired tasks show at 5 % in a share ``power`` of repetitions (normal approximation).

    ``spread``: standard deviation of the differences by task, such as ``sqrt(d)`` where one of two models alone solves a share
    ``d`` of the tasks and they are equally good. Raises DataError unless ``n >= 1``, ``spread >= 0`` and ``0.5 <= power < 1``.
    """
    if n < 1 or spread < 0 or not 0.5 <= power < 1:
        raise DataError(f"n={n}, spread={spread} and power={power} describe no test")
    normal = NormalDist()
    return (normal.inv_cdf(0.975) + normal.inv_cdf(power)) * spread / math.sqrt(n)


def _check(values: Sequence[float], others: Sequence[object], name: str, other_name: str) -> None:
    if not values or len(values) != len(others):
        raise DataError(
            f"{len(values)} {name} and {len(others)} {other_name}: give one of each for every example, and at least one"
        )
    if not all(map(math.isfinite, values)):
        raise DataError(f"the {name} hold a number that is not finite; leave examples out that were not graded")
