"""The figures of one evaluation: pass@k, best of N by every judge, what it cost, and by kind and source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from swefuse.evaluate.bestof import JUDGES, MOST, best_of, headroom
from swefuse.evaluate.passk import pass_at_k
from swefuse.evaluate.run import Result, summarise


def figures(results: Sequence[Result]) -> dict[str, Any]:
    """All figures; None where nothing was measured.

    ``pass_at``: k -> unbiased pass@k over tasks with as many graded samples, for powers of two. ``best_of``: N -> judge -> share,
    with each judge's share of the ``headroom`` between a random choice and the oracle. ``tokens``: written a sample, and for each
    sample that passed. ``by_kind`` and ``by_source``: sampled pass@1 and the number of tasks.
    """
    most = max((one.n for one in results), default=0)
    sizes = [k for k in (1, 2, 4, 8, 16, 32, 64) if k <= most]
    samples = [sample for one in results for sample in one.samples]
    tokens, solved = sum(one.tokens for one in samples), sum(bool(one.passed) for one in samples)
    return {
        **summarise(results),
        "pass_at": {str(k): _mean([pass_at_k(one.n, one.passed, k) for one in results if one.n >= k]) for k in sizes},
        "best_of": {str(n): _judged(results, n) for n in sizes if 1 < n <= MOST},
        "ungraded": sum(one.ungraded for one in results),
        "tokens": {"a_sample": tokens / len(samples) if samples else None, "a_solution": tokens / solved if solved else None},
        "by_kind": _by(results, lambda one: one.kind),
        "by_source": _by(results, lambda one: one.source),
    }


def _judged(results: Sequence[Result], n: int) -> dict[str, Any]:
    found = {judge: _mean([_share(one, n, judge) for one in results]) for judge in ("random", *JUDGES)}
    gained = {judge: headroom(found["random"], found[judge], found["oracle"]) for judge in JUDGES if judge != "oracle"}
    return {**found, "headroom": gained}


def _share(one: Result, n: int, judge: str) -> float | None:
    return best_of(one.samples, n, judge)


def _by(results: Sequence[Result], key: Callable[[Result], str]) -> dict[str, dict[str, Any]]:
    names = sorted({key(one) for one in results})
    groups = {name: [one for one in results if key(one) == name] for name in names}
    return {name: {"sampled": _mean([one.sampled for one in group if one.n]), "n": len(group)} for name, group in groups.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
