"""Drawings of the report as inline SVG. No library, no colour of their own: classes that ``page.css`` colours for light and dark.

Two kinds. *Fluid* marks (bars, dots, intervals) are placed in percent, so that they fill their table cell at any width. *Plots*
(lines, histograms) are drawn at the width of a phone and tiled, so that their text never shrinks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import NamedTuple

from swefuse.evaluate.html.markup import Html, el, figure, one_line, percent, points, svg
from swefuse.evaluate.report_model import MODELS, Bins, Chart, Difference, Histogram, Intervals, Scores, Series

Point = tuple[float, float]
_MOST_POINTS = 400


class Axis(NamedTuple):
    """A linear map from [low, high] to [start, end]; ``low < high``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where ``value`` lies; values outside [low, high] lie outside [start, end]."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def tone(name: str, position: int) -> str:
    """Colour class: a model has the same one everywhere, other series are coloured by position."""
    return f"m-{name.lower()}" if name.lower() in MODELS else f"s{position % 5}"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """One to ``most + 1`` round numbers inside [low, high]; ``low < high``, both finite, ``most >= 3``."""
    raw = (high - low) / most
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * k for k in (1, 2, 5, 10) if size * k >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _span(values: Iterable[float]) -> tuple[float, float]:
    """Smallest and largest, widened when equal so that an axis can be drawn."""
    seen = list(values)
    low, high = min(seen), max(seen)
    wide = high - low > 1e-9 * max(abs(low), abs(high))
    return (low, high) if wide else (low - (abs(low) / 2 or 1), high + (abs(high) / 2 or 1))


def _at(share: float) -> str:
    return f"{100 * share:.2f}%"


# --- fluid marks -------------------------------------------------------------------------------------------------------------


def bar(share: float, mark: float | None = None) -> Html:
    """A horizontal bar that fills ``share`` (in [0, 1]) of its cell, with a line at ``mark`` to compare with."""
    line = [] if mark is None else [el("line", x1=_at(mark), x2=_at(mark), y1="-6", y2="24", cls="zero")]
    return svg(el("rect", x="0", y="3", width=_at(share), height="12", rx="2", cls="bar"), *line, cls="fluid", height="18")


def share_axis() -> Html:
    """The scale 0 to 100 % over a column of ``share_row``."""
    anchors = ("start", "middle", "middle", "middle", "end")
    marks = zip((0, 0.25, 0.5, 0.75, 1), anchors, strict=True)
    return svg(
        *(el("text", percent(at, 0) + (" %" if at == 1 else ""), x=_at(at), y="13", text_anchor=how) for at, how in marks),
        cls="fluid",
        height="16",
    )


def share_row(model: str, scores: Scores, intervals: Intervals) -> Html:
    """Sampled pass@1 as a dot and greedy as a ring on a scale of 0 to 100 %, each with its interval where there is one."""
    parts = [el("line", x1=_at(at), x2=_at(at), y1="0", y2="100%", cls="grid") for at in (0, 0.25, 0.5, 0.75, 1)]
    said = []
    rows = (("greedy", scores.greedy, intervals.greedy, "11"), ("sampled", scores.sampled, intervals.sampled, "21"))
    for name, value, interval, y in rows:
        if value is None:
            continue
        said.append(f"{name} {percent(value)} %")
        if interval:
            parts.append(el("line", x1=_at(interval[0]), x2=_at(interval[1]), y1=y, y2=y, cls="whisker"))
            said[-1] += f" [{percent(interval[0])}, {percent(interval[1])}]"
        parts.append(el("circle", cx=_at(value), cy=y, r="4.5", cls="ring" if name == "greedy" else "dot"))
    label = f"{model}: {'; '.join(said) or 'not measured'}"
    return svg(el("title", label), *parts, label=label, cls=f"fluid {tone(model, 0)}", height="32")


def difference_axis(differences: Iterable[Difference]) -> Axis:
    """One scale for all differences, with zero inside and room at both ends; [0, 1] wide in shares of the cell."""
    ends = [end for pair in differences if pair.sampled for end in pair.sampled]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = max(0.08 * (high - low), 0.01)
    return Axis(low - room, high + room, 0.0, 1.0)


def difference_scale(axis: Axis) -> Html:
    """The numbers of ``difference_row``'s scale, in percentage points."""
    marks = [
        el("text", f"{round(100 * v, 6):+g}".replace("-", "\u2212") if v else "0", x=_at(axis(v)), y="13", text_anchor="middle")
        for v in ticks(axis.low, axis.high, 4)
    ]
    return svg(*marks, cls="fluid", height="16")


def difference_row(what: str, pair: Difference, axis: Axis) -> Html:
    """A paired difference and its 95 % interval against the zero line."""
    parts = [el("line", x1=_at(axis(v)), x2=_at(axis(v)), y1="0", y2="100%", cls="grid") for v in ticks(axis.low, axis.high, 4)]
    parts.append(el("line", x1=_at(axis(0)), x2=_at(axis(0)), y1="0", y2="100%", cls="zero"))
    if pair.sampled is None:
        return svg(*parts, label=f"{what}: not measured", cls="fluid", height="32")
    mean, low, high = pair.sampled
    parts.append(el("line", x1=_at(axis(low)), x2=_at(axis(high)), y1="16", y2="16", cls="whisker"))
    parts += [el("line", x1=_at(axis(end)), x2=_at(axis(end)), y1="11", y2="21", cls="whisker") for end in (low, high)]
    parts.append(el("circle", cx=_at(axis(mean)), cy="16", r="5", cls="dot"))
    label = f"{what}: {points(mean)} points [{points(low)}, {points(high)}]"
    return svg(el("title", label), *parts, label=label, cls=f"fluid {reading(pair)}", height="32")


def reading(pair: Difference) -> str:
    """``above``, ``below`` or ``open``: on which side of zero the whole interval lies; ``none`` when not measured."""
    if pair.sampled is None:
        return "none"
    _, low, high = pair.sampled
    return "above" if low > 0 else "below" if high < 0 else "open"


def band(count: int, following: int | None, most: int, upright: bool) -> Html:
    """One stretch of the pipeline's stream: as wide as ``count`` of ``most``, narrowing or widening to ``following``."""
    here = max(100 * count / max(most, 1), 1.5)
    then = here if following is None else max(100 * following / max(most, 1), 1.5)
    # Along the stream 0..100, across it centred on 50; the turn lies in the last third, where the arrow to the next station is.
    edge = [(0.0, here), (66.0, here), (100.0, then)]
    outline = [(x, 50 - w / 2) for x, w in edge] + [(x, 50 + w / 2) for x, w in reversed(edge)]
    path = " ".join(f"{y:.1f},{x:.1f}" if upright else f"{x:.1f},{y:.1f}" for x, y in outline)
    return svg(
        el("polygon", points=path, cls="stream"),
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        cls="upright" if upright else "level",
    )


# --- plots -------------------------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """A series ready to draw: its finite stretches, thinned to what a screen can show."""

    name: str
    cls: str
    runs: list[list[Point]]

    @property
    def points(self) -> list[Point]:
        """All stretches as one list."""
        return [point for run in self.runs for point in run]

    @property
    def last(self) -> str:
        """The last value in words."""
        return figure(self.runs[-1][-1][1], 3) if self.runs else "none"


def _drawable(point: Point) -> bool:
    # Differences of far larger numbers overflow, and nobody reads them off a chart.
    return all(math.isfinite(value) and abs(value) < 1e150 for value in point)


def _thin(run: list[Point]) -> list[Point]:
    """About ``_MOST_POINTS`` points that keep the lowest and the highest of every stretch, so that no spike is lost."""
    if len(run) <= _MOST_POINTS:
        return run
    size = math.ceil(2 * len(run) / _MOST_POINTS)
    kept: set[int] = {0, len(run) - 1}
    for start in range(0, len(run), size):
        stretch = range(start, min(start + size, len(run)))
        kept |= {min(stretch, key=lambda i: run[i][1]), max(stretch, key=lambda i: run[i][1])}
    return [run[i] for i in sorted(kept)]


def _line(series: Series, position: int) -> _Line:
    pieces = groupby(series.points, key=_drawable)
    runs = [_thin(list(piece)) for drawable, piece in pieces if drawable]
    return _Line(one_line(series.name), tone(series.name, position), runs)


def _frame(x: Axis, y: Axis, chart: Chart) -> list[Html]:
    """Grid, numbers and names of both axes."""
    parts = []
    for value in ticks(y.low, y.high, 4):
        parts.append(el("line", x1=x.start, x2=x.end, y1=y(value), y2=y(value), cls="grid"))
        parts.append(el("text", figure(value), x=x.start - 6, y=y(value) + 4, text_anchor="end"))
    for value in ticks(x.low, x.high, 4):
        parts.append(el("line", x1=x(value), x2=x(value), y1=y.start, y2=y.start + 4, cls="axis"))
        parts.append(el("text", figure(value), x=x(value), y=y.start + 16, text_anchor="middle"))
    parts.append(el("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, cls="axis"))
    parts.append(el("text", one_line(chart.x_label), x=x.end, y=y.start + 32, text_anchor="end", cls="name"))
    parts.append(el("text", one_line(chart.y_label), x=0, y=11, cls="name"))
    return parts


def _marks(line: _Line, x: Axis, y: Axis) -> list[Html]:
    """A line with gaps; a stretch of one point is a dot."""
    marks = []
    for run in line.runs:
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in run)
        lone = el("circle", cx=x(run[0][0]), cy=y(run[0][1]), r=3, cls=f"dot {line.cls}")
        marks.append(lone if len(run) == 1 else el("polyline", points=path, cls=f"line {line.cls}"))
    return marks


def _legend(lines: list[_Line]) -> Html:
    """Every series with a sample of its line and its last value, which the cursor replaces."""
    items = []
    for line in lines:
        sample = el("line", x1="0", x2="20", y1="5", y2="5", cls=f"line {line.cls}")
        items.append(el("li", svg(sample, width="20", height="10"), line.name, " ", el("output", line.last)))
    return el("ul", *items, cls="legend")


def line_chart(chart: Chart) -> Html:
    """One chart with its title, a legend that reads out values, and a cursor for pointer and arrow keys (``page.js``)."""
    title, x_label = one_line(chart.title), one_line(chart.x_label) or "x"
    lines = [_line(series, i) for i, series in enumerate(chart.series)]
    drawn = [point for line in lines for point in line.points]
    lost = sum(not _drawable(point) for series in chart.series for point in series.points)
    head = el("figcaption", title)
    note = el("p", f"Left out because not finite: {lost:,}.", cls="soft small") if lost else Html()
    if not drawn:
        return el("figure", head, el("p", "Nothing to draw.", cls="soft small"), note, cls="plot")
    left, right = _span(a for a, _ in drawn)
    low, high = _span(b for _, b in drawn)
    # From zero where that costs little room, so that a change looks as large as it is.
    x, y = Axis(left, right, 44.0, 292.0), Axis(0.0 if 0 < low < high / 2 else low, high, 160.0, 22.0)
    drawing = svg(
        *_frame(x, y, chart),
        *(mark for line in lines for mark in _marks(line, x, y)),
        el("line", x1="0", x2="0", y1=y.end, y2=y.start, cls="cursor"),
        viewBox="0 0 300 196",
        label=f"{title}. Last values: {'; '.join(f'{line.name} {line.last}' for line in lines)}",
    )
    area = el("div", drawing, cls="area", tabindex="0", role="group", aria_label=f"{title}: arrow keys read out values")
    where = el("p", x_label, " ", el("output", figure(max(a for a, _ in drawn))), cls="where")
    data = {"axis": x, "series": [[[float(f"{v:.6g}") for v in point] for point in line.points] for line in lines]}
    return el("figure", head, _legend(lines), area, where, note, cls="plot", data_plot=json.dumps(data))


def _density(bins: Bins) -> list[float]:
    """Share of the total per unit of the axis, so that areas compare between panels and between uneven bins."""
    total = max(sum(bins.counts), 1)
    return [count / total / (b - a) for count, (a, b) in zip(bins.counts, pairwise(bins.bins), strict=True)]


def _panel(bins: Bins, x: Axis, y: Axis) -> Html:
    """One small histogram on shared axes."""
    label, total = one_line(bins.label), sum(bins.counts)
    bars = []
    for count, height, (a, b) in zip(bins.counts, _density(bins), pairwise(bins.bins), strict=True):
        tip = el("title", f"{figure(a)} to {figure(b)}: {count:,} ({percent(count / max(total, 1))} %)")
        bars.append(
            el("rect", tip, x=x(a) + 0.5, y=y(height), width=max(x(b) - x(a) - 1, 0.5), height=y.start - y(height), cls="bar")
        )
    base = el("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, cls="axis")
    marks = [el("text", figure(v), x=x(v), y=y.start + 14, text_anchor="middle") for v in ticks(x.low, x.high, 3)]
    mean = sum(count * (a + b) / 2 for count, (a, b) in zip(bins.counts, pairwise(bins.bins), strict=True)) / max(total, 1)
    drawing = svg(*bars, base, *marks, viewBox="0 0 170 98", label=f"{label}: {total:,} values, mean about {figure(mean)}")
    return el("figure", el("figcaption", label, el("span", f" n {total:,}", cls="soft")), drawing, cls="panel")


def histogram(group: Histogram) -> Html:
    """Small multiples on the same axes, in the given order. Areas are shares, so panels with unlike totals compare."""
    title = el("h3", one_line(group.title))
    if not group.by:
        return el("div", title, el("p", "Nothing to draw.", cls="soft"))
    x = Axis(*_span(edge for bins in group.by for edge in bins.bins), 8.0, 162.0)
    y = Axis(0.0, max(1e-12, *(height for bins in group.by for height in _density(bins))), 80.0, 6.0)
    return el("div", title, el("div", *(_panel(bins, x, y) for bins in group.by), cls="panels"))
