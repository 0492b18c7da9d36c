"""How sure a number is: cluster bootstrap and Wilson interval. Pure functions."""

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


def _check(values: Sequence[float], others: Sequence[object], name: str, other_name: str) -> None:
    if not values or len(values) != len(others):
        raise DataError(
            f"{len(values)} {name} and {len(others)} {other_name}: give one of each for every example, and at least one"
        )
    if not all(map(math.isfinite, values)):
        raise DataError(f"the {name} hold a number that is not finite; leave examples out that were not graded")
