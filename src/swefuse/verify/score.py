"""From test results to one number in [0, 1]. Pure functions; the formula is section 2 of the algorithm."""

from __future__ import annotations

from swefuse.records import Outcome

W_TIME = 0.05
W_STYLE = 0.05


def score(
    outcome: Outcome,
    pass_rate: float,
    speed: float | None = None,
    style: float | None = None,
    w_time: float = W_TIME,
    w_style: float = W_STYLE,
) -> float:
    """Score of a candidate, in [0, 1] like ``pass_rate``, ``speed`` and ``style``; a part that was not measured has no weight.

    PASSED: ``pass_rate * (1 - w_time - w_style) + w_time * speed + w_style * style``. FAILED and TIMEOUT: the first term alone, so
    that no speed buys back a failing test. TAMPERED and UNPARSED: 0; FLAKY and INFRA too, but nobody may use that.
    """
    if outcome not in (Outcome.PASSED, Outcome.FAILED, Outcome.TIMEOUT):
        return 0.0
    w_time = 0.0 if speed is None else w_time
    w_style = 0.0 if style is None else w_style
    base = pass_rate * (1 - w_time - w_style)
    if outcome is not Outcome.PASSED:
        return base
    return base + w_time * (speed or 0.0) + w_style * (style or 0.0)


def speed(cost: float, reference: float) -> float:
    """Share in [0, 1]: 1 when the candidate costs no more than the reference. Both costs are positive and in the same unit."""
    return min(1.0, reference / cost)


def style(findings: int) -> float:
    """Share in (0, 1] from the number of lint findings that the reference does not have."""
    return 1.0 / (1.0 + findings)
