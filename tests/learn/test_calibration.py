from __future__ import annotations

import pytest

from swefuse.errors import DataError
from swefuse.learn.calibration import auc, calibration_error


def test_calibration_error_by_hand() -> None:
    # bin [0.2, 0.3): outcomes 0 and 1, means 0.25 and 0.5; the bin of 0.9 and 1.0 is one bin: |1.9 - 1| of two
    assert calibration_error([0.22, 0.28, 0.95, 1.0], [False, True, True, False]) == pytest.approx((0.5 + 0.95) / 4)


def test_auc_counts_ties_as_half() -> None:
    assert auc([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == pytest.approx(3.5 / 4)
    assert auc([1.0, 2.0], [True, False]) == 0


@pytest.mark.parametrize(("scores", "outcomes"), [([], []), ([0.5], [True, False]), ([0.5, float("nan")], [True, False])])
def test_what_cannot_be_measured_is_refused(scores: list[float], outcomes: list[bool]) -> None:
    for measure in (auc, calibration_error):
        with pytest.raises(DataError):
            measure(scores, outcomes)


def test_auc_needs_both_outcomes_and_calibration_probabilities() -> None:
    with pytest.raises(DataError, match="both outcomes"):
        auc([0.1, 0.2], [True, True])
    with pytest.raises(DataError, match=r"outside \[0, 1\]"):
        calibration_error([1.1], [True])
