"""The drawings say what the numbers say."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from swefuse.evaluate import charts
from swefuse.evaluate.report_model import Bins, Chart, Difference, Histogram, Intervals, Scores, Series

FINITE = st.floats(-1e9, 1e9)


def _places(drawing: str, tag: str, *names: str, cls: str = "") -> list[tuple[float, ...]]:
    """The named attributes of every ``tag`` (of class ``cls``) as numbers, signs of per cent dropped."""
    found = [dict(re.findall(r'([\w-]+)="([^"]*)"', body)) for body in re.findall(rf"<{tag}\b([^>]*)>", drawing)]
    return [
        tuple(float(one[name].rstrip("%")) for name in names) for one in found if cls in one.get("class", "").split() or not cls
    ]


@given(FINITE, st.floats(1e-2, 1e9), st.integers(3, 8))
def test_ticks_are_few_inside_and_evenly_spaced(low: float, width: float, most: int) -> None:
    found = charts.ticks(low, low + width, most)
    assert 1 <= len(found) <= most + 1
    slack = 1e-6 * max(abs(low), width)
    assert all(low - slack <= value <= low + width + slack for value in found)
    steps = {round((b - a) / width, 3) for a, b in pairwise(found)}
    assert len(steps) <= 1 or max(steps) - min(steps) < 0.01


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=40))
def test_any_floats_can_be_drawn_and_none_becomes_nan_on_the_page(points: list[tuple[float, float]]) -> None:
    drawn = charts.line_chart(Chart(title="t", series=(Series(name="s", points=tuple(points)),)))
    assert not re.search(r"\b(nan|inf|Infinity)\b", drawn, re.IGNORECASE)
    places = [float(v) for path in re.findall(r'<polyline points="([^"]*)"', drawn) for v in re.split("[ ,]", path)]
    assert all(0 <= v <= 300 for v in places)


def test_a_gap_splits_the_line_and_is_counted() -> None:
    points = ((0.0, 1.0), (1.0, 2.0), (2.0, math.nan), (3.0, 1.0), (4.0, math.inf), (5.0, 3.0), (6.0, 1.0))
    drawn = charts.line_chart(Chart(title="t", series=(Series(name="s", points=points),)))
    assert drawn.count("<polyline") == 2
    assert drawn.count('class="dot') == 1
    assert "not finite: 2" in drawn


def test_thinning_keeps_the_one_spike() -> None:
    points = tuple((float(i), 9.0 if i == 7777 else 1.0) for i in range(20_000))
    drawn = charts.line_chart(Chart(title="t", series=(Series(name="s", points=points),)))
    (path,) = re.findall(r'<polyline points="([^"]*)"', drawn)
    heights = [float(pair.split(",")[1]) for pair in path.split()]
    assert 150 < len(heights) < 450
    assert heights.count(min(heights)) == 1 and min(heights) == 22.0


def test_the_zero_line_lies_where_the_interval_says() -> None:
    axis = charts.difference_axis([Difference(sampled=(0.05, 0.01, 0.09)), Difference(sampled=(-0.02, -0.04, 0.01))])
    drawn = charts.difference_row("x", Difference(sampled=(0.05, 0.01, 0.09)), axis)
    ((zero,),) = _places(drawn, "line", "x1", cls="zero")
    ((low, high), *_) = _places(drawn, "line", "x1", "x2", cls="whisker")
    ((mean,),) = _places(drawn, "circle", "cx")
    assert 0 < zero < low < mean < high < 100
    assert math.isclose((high - low) / (low - zero), 8, rel_tol=0.01)  # 0.01 to 0.09 against 0 to 0.01
    assert "+5.0 points [+1.0, +9.0]" in drawn


def test_the_side_of_zero_is_named() -> None:
    sides = {(0.1, 0.01, 0.2): "above", (0.1, 0.0, 0.2): "open", (-0.1, -0.2, -0.01): "below", None: "none"}
    assert [charts.reading(Difference(sampled=sampled)) for sampled in sides] == list(sides.values())


def test_dot_and_ring_stand_at_their_share() -> None:
    scores = Scores(greedy=0.75, sampled=0.5, pass4=None, bestof4=None, n=4)
    drawn = charts.share_row("sft", scores, Intervals(sampled=(0.25, 1.0)))
    assert _places(drawn, "circle", "cx", cls="ring") == [(75.0,)]
    assert _places(drawn, "circle", "cx", cls="dot") == [(50.0,)]
    assert _places(drawn, "line", "x1", "x2", cls="whisker") == [(25.0, 100.0)]
    nothing = charts.share_row("sft", Scores(greedy=None, sampled=None, pass4=None, bestof4=None, n=0), Intervals())
    assert "not measured" in nothing and "<circle" not in nothing


def test_histogram_areas_are_shares() -> None:
    uneven = Bins(label="a", bins=(0.0, 1.0, 3.0), counts=(10, 20))  # the same density twice
    large = Bins(label="b", bins=(0.0, 1.0, 3.0), counts=(1000, 2000))
    drawn = charts.histogram(Histogram(title="t", by=(uneven, large)))
    assert len({height for (height,) in _places(drawn, "rect", "height")}) == 1
    assert "10 (33.3 %)" in drawn and "2,000 (66.7 %)" in drawn


def test_the_stream_is_as_wide_as_the_count() -> None:
    (outline,) = re.findall(r'points="([^"]*)"', charts.band(50, 100, 100, upright=False))
    edge = [tuple(map(float, pair.split(","))) for pair in outline.split()]
    assert edge == [(0, 25), (66, 25), (100, 0), (100, 100), (66, 75), (0, 75)]
