"""pass@k, the chance that at least one of k candidates passes, estimated without bias (Chen et al. 2021, equation 1)."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from swefuse.errors import DataError


def pass_at_k(n: int, c: int, k: int) -> float:
    """``1 - C(n - c, k) / C(n, k)`` in [0, 1] for a task of which ``c`` of ``n`` graded candidates pass.

    Computed as a product, so that no binomial overflows. Raises DataError unless ``0 <= c <= n`` and ``1 <= k <= n``: from fewer
    than k candidates pass@k cannot be known, and is not 1.
    """
    if not 0 <= c <= n:
        raise DataError(f"{c} of {n} candidates cannot have passed")
    if not 1 <= k <= n:
        raise DataError(f"pass@{k} needs at least {max(k, 1)} graded candidates and k >= 1, there are {n}; sample more or lower k")
    if n - c < k:
        return 1.0  # every k of them hold one that passes
    none_passes = 1.0
    for i in range(n - c + 1, n + 1):
        none_passes *= 1 - k / i
    return 1.0 - none_passes


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float:
    """Mean of ``pass_at_k`` over tasks, each given as ``(n, c)``. Raises DataError as that does, or when there are no tasks."""
    values = [pass_at_k(n, c, k) for n, c in counts]
    if not values:
        raise DataError(f"pass@{k} over no tasks; give at least one")
    return fmean(values)
