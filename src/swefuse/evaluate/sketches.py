"""Small drawings beside the charts: a line without axes for a table's cell, and points in a plane."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from swefuse.evaluate.charts import Axis, ticks
from swefuse.evaluate.html.markup import Html, el, figure, one_line, svg


class Dot(NamedTuple):
    """One point: where it lies, what is said of it, its colour class, and where it leads (empty: nowhere)."""

    x: float
    y: float
    text: str
    cls: str = "s0"
    href: str = ""


def spark(values: Iterable[float | None], label: str) -> Html:
    """A line of 96 by 20 pixels through ``values``, gaps where there is none, with a dot at its end. Nothing for no values."""
    seen = [value if value is not None and math.isfinite(value) and abs(value) < 1e150 else None for value in values]
    known = [value for value in seen if value is not None]
    if not known:
        return Html()
    size = max(1, math.ceil(len(seen) / 96))
    thin = [next((one for one in reversed(seen[at : at + size]) if one is not None), None) for at in range(0, len(seen), size)]
    low, high = min(known), max(known)
    y = Axis(low, high, 17.0, 3.0) if high > low else Axis(low - 1, low + 1, 17.0, 3.0)
    x = Axis(0, max(1, len(thin) - 1), 2.0, 92.0)
    points = [(x(n), y(value)) for n, value in enumerate(thin) if value is not None]
    line = el("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in points), cls="line")
    end = el("circle", cx=points[-1][0], cy=points[-1][1], r=2.5, cls="dot")
    return svg(line, end, viewBox="0 0 96 20", width="96", height="20", cls="spark", label=one_line(label))


def scatter(title: str, dots: Sequence[Dot], names: tuple[str, str], curve: Sequence[tuple[float, float]] = ()) -> Html:
    """Points over two named axes, each with its words, and a ``curve`` under them. Points that lead somewhere are links.

    Coordinates are finite. An axis whose name is empty has no numbers: only nearness means something there.
    """
    places = [(dot.x, dot.y) for dot in dots] + list(curve)
    if not places:
        return el("figure", el("figcaption", one_line(title)), el("p", "Nothing to draw.", cls="soft small"), cls="plot")
    x, y = (_axis([place[n] for place in places], *ends) for n, ends in enumerate(((44.0, 592.0), (262.0, 22.0))))
    parts = []
    if names[1]:
        for value in ticks(y.low, y.high, 4):
            parts.append(el("line", x1=x.start, x2=x.end, y1=y(value), y2=y(value), cls="grid"))
            parts.append(el("text", figure(value), x=x.start - 6, y=y(value) + 4, text_anchor="end"))
        parts.append(el("text", one_line(names[1]), x=0, y=11, cls="name"))
    if names[0]:
        parts += [el("text", figure(v), x=x(v), y=y.start + 16, text_anchor="middle") for v in ticks(x.low, x.high, 5)]
        parts.append(el("text", one_line(names[0]), x=x.end, y=y.start + 32, text_anchor="end", cls="name"))
        parts.append(el("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, cls="axis"))
    if curve:
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve)
        parts.append(el("polyline", points=path, cls="line s1"))
    for dot in dots:
        mark = el("circle", el("title", one_line(dot.text)), cx=x(dot.x), cy=y(dot.y), r=4, cls=f"spot {dot.cls}")
        parts.append(el("a", mark, href=dot.href, aria_label=one_line(dot.text)) if dot.href else mark)
    drawing = el("svg", *parts, viewBox="0 0 600 300", role="group", aria_label=f"{one_line(title)}: {len(dots):,} points")
    return el("figure", el("figcaption", one_line(title)), drawing, cls="plane")


def _axis(values: Sequence[float], start: float, end: float) -> Axis:
    low, high = min(values), max(values)
    room = (high - low) * 0.04 or 0.5
    return Axis(low - room, high + room, start, end)
