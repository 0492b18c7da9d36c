"""Two models on the same tasks: by how much they differ, how sure that is, and what so many tasks could have shown at all."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from swefuse.errors import DataError
from swefuse.evaluate.run import Result
from swefuse.evaluate.stats import Interval, cluster_bootstrap, detectable, mcnemar


class Comparison(NamedTuple):
    """``a`` minus ``b`` on the ``tasks`` that both were measured on, of ``functions`` different functions.

    ``sampled``: difference of sampled pass@1, with the paired interval that resamples functions. ``only_a``, ``only_b``: tasks
    whose greedy episode one alone solved, ``p`` of McNemar's test on them. ``detectable``: the smallest true difference of pass@1
    that as many functions with this spread show in four of five repetitions. ``missing``: tasks that one side lacks.
    """

    tasks: int
    functions: int
    sampled: Interval
    only_a: int
    only_b: int
    p: float
    detectable: float
    missing: int

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or ``within noise`` where the interval holds 0."""
        if self.sampled.low > 0:
            return "better"
        return "worse" if self.sampled.high < 0 else "within noise"


def compare(a: Sequence[Result], b: Sequence[Result], seed: int = 0) -> Comparison:
    """Compare ``a`` with ``b`` by task id. Raises DataError where no task was graded on both sides, or only of one function."""
    other = {one.task_id: one for one in b}
    both = [(one, other[one.task_id]) for one in a if one.task_id in other]
    counted = [(x, y) for x, y in both if x.n and y.n]
    if not counted:
        raise DataError("the two results have no graded task in common; were they made on the same tasks?")
    differences = [x.sampled - y.sampled for x, y in counted]
    functions = [x.function or x.task_id for x, _ in counted]
    by_function: dict[str, list[float]] = {}
    for name, difference in zip(functions, differences, strict=True):
        by_function.setdefault(name, []).append(difference)
    means = [statistics.fmean(values) for values in by_function.values()]
    greedy = [(x.greedy, y.greedy) for x, y in both if x.greedy is not None and y.greedy is not None]
    only_a, only_b = greedy.count((True, False)), greedy.count((False, True))
    return Comparison(
        tasks=len(counted),
        functions=len(by_function),
        sampled=cluster_bootstrap(differences, functions, seed),
        only_a=only_a,
        only_b=only_b,
        p=mcnemar(only_a, only_b),
        detectable=detectable(len(means), statistics.stdev(means) if len(means) > 1 else 0.0),
        missing=len(a) + len(b) - 2 * len(both),
    )
