"""The score formula, against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.records import Outcome
from swefuse.verify.score import score, speed, style

SHARE = st.floats(0, 1)


@pytest.mark.parametrize(
    ("outcome", "rate", "parts", "expected"),
    [
        (Outcome.PASSED, 1.0, {}, 1.0),
        (Outcome.FAILED, 0.5, {}, 0.5),
        (Outcome.PASSED, 1.0, {"speed": 0.5, "style": 0.2}, 0.90 + 0.025 + 0.01),
        (Outcome.PASSED, 1.0, {"speed": 0.5}, 0.95 + 0.025),
        (Outcome.PASSED, 1.0, {"speed": 1.0, "style": 0.5, "w_time": 0.2, "w_style": 0.1}, 0.7 + 0.2 + 0.05),
        (Outcome.FAILED, 0.75, {"speed": 1.0, "style": 1.0}, 0.675),
        (Outcome.TIMEOUT, 0.25, {"speed": 1.0, "style": 1.0}, 0.225),
        (Outcome.TAMPERED, 1.0, {"speed": 1.0, "style": 1.0}, 0.0),
        (Outcome.UNPARSED, 0.0, {}, 0.0),
        (Outcome.INFRA, 1.0, {}, 0.0),
        (Outcome.FLAKY, 1.0, {}, 0.0),
    ],
)
def test_by_hand(outcome: Outcome, rate: float, parts: dict[str, float], expected: float) -> None:
    assert score(outcome, rate, **parts) == pytest.approx(expected, abs=1e-12)


@given(SHARE.filter(lambda rate: rate < 0.999), SHARE, SHARE, SHARE, SHARE)
def test_no_speed_or_style_buys_back_a_failing_test(rate: float, fast: float, tidy: float, slow: float, messy: float) -> None:
    failing = score(Outcome.FAILED, rate, fast, tidy)
    assert failing == score(Outcome.FAILED, rate, slow, messy)
    assert 0 <= failing <= score(Outcome.PASSED, 1.0, slow, messy) <= 1


def test_parts() -> None:
    assert [speed(10, 10), speed(5, 10), speed(20, 10)] == [1.0, 1.0, 0.5]
    assert [style(0), style(1), style(3)] == [1.0, 0.5, 0.25]
