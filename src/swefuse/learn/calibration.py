"""How good a probability is: calibration error and AUC. Pure functions of plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from swefuse.errors import DataError


def calibration_error(probabilities: Sequence[float], outcomes: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error in [0, 1]: mean over examples of |mean outcome - mean probability| of the example's bin.

    Bins have equal width over [0, 1]. Raises DataError for unlike lengths, no examples, or a probability outside [0, 1].
    """
    _check(probabilities, outcomes, "probabilities", "outcomes")
    if min(probabilities) < 0 or max(probabilities) > 1:
        raise DataError("a probability lies outside [0, 1]")
    gaps = [0.0] * bins
    for probability, outcome in zip(probabilities, outcomes, strict=True):
        gaps[min(int(probability * bins), bins - 1)] += bool(outcome) - probability
    return math.fsum(map(abs, gaps)) / len(probabilities)


def auc(scores: Sequence[float], outcomes: Sequence[bool]) -> float:
    """Chance in [0, 1] that a random positive scores above a random negative, a tie counting one half (Mann-Whitney).

    Raises DataError for unlike lengths, NaN, or when one of the two classes is missing.
    """
    _check(scores, outcomes, "scores", "outcomes", finite=False)
    ordered = sorted(zip(scores, map(bool, outcomes), strict=True))
    positives = sum(outcome for _, outcome in ordered)
    negatives = len(ordered) - positives
    if not positives or not negatives:
        raise DataError("AUC needs examples of both outcomes")
    won = 0.0
    below = at = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        winners = sum(outcome for _, outcome in ordered[at:end])
        losers = end - at - winners
        won += winners * (below + losers / 2)
        below += losers
        at = end
    return won / (positives * negatives)


def _check(values: Sequence[float], others: Sequence[object], name: str, other_name: str, finite: bool = True) -> None:
    if not values or len(values) != len(others):
        raise DataError(
            f"{len(values)} {name} and {len(others)} {other_name}: give one of each for every example, and at least one"
        )
    if any(math.isnan(value) or (finite and math.isinf(value)) for value in values):
        raise DataError(f"the {name} hold a number that is not finite; leave examples out that were not graded")
