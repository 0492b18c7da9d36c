"""A run in a terminal: its stages, how far the present one is, lines of its figures, and what was raised last."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from swefuse.evaluate.html.markup import clean, duration, figure, one_line
from swefuse.web.files import number
from swefuse.web.progress import Status

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 40
EVENTS = 5
_STYLES = {"done": "green", "running": "bold cyan", "waiting": "dim"}
# name, rows, keys of which the first that a row has counts
FIGURES = (
    ("loss of stage 1", "steps", ("loss",)),
    ("pass rate", "rounds", ("pass_rate",)),
    ("policy entropy", "rounds", ("policy_entropy",)),
    ("entropy of verdicts", "rounds", ("mean_h",)),
    ("loss of the policy", "rounds", ("loss",)),
    ("loss of the value model", "rounds", ("head_loss",)),
    ("KL", "rounds", ("kl",)),
)


def sparkline(values: Sequence[float | None], width: int = WIDTH) -> str:
    """Values as one character each, the mean of several where there are more than ``width``; a blank where there is none.

    Example: ``sparkline([0, 1, 2, 3])`` -> ``▁▃▆█``.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return ""
    size = max(1, math.ceil(len(values) / width))
    parts = [[v for v in values[at : at + size] if v is not None and math.isfinite(v)] for at in range(0, len(values), size)]
    means = [sum(part) / len(part) if part else None for part in parts]
    low = min(mean for mean in means if mean is not None)
    high = max(mean for mean in means if mean is not None)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(" " if mean is None else BARS[round((mean - low) * scale) if scale else 3] for mean in means)


def view(name: str, seen: Status) -> RenderableType:
    """The whole view, at most 80 columns wide."""
    parts: list[RenderableType] = [Text.assemble((one_line(name), "bold"), "  ", seen.said), _stages(seen)]
    if not seen.finished and seen.stage:
        parts.append(_inside(seen))
    parts.append(_figures(seen))
    parts += [Text.assemble((f"round {_whole(row.get('round'))} ", "dim"), (one_line(str(row.get("event", ""))), "yellow"), " ",
                            clean(str(row.get("what", "")))[:200]) for row in seen.events[-EVENTS:]]  # fmt: skip
    return Group(*parts)


def _stages(seen: Status) -> Text:
    words: list[tuple[str, str] | str] = []
    for stage in seen.stages:
        took = f" {duration(stage.seconds)}" if stage.seconds is not None else ""
        words += [(f"{stage.name}{took}", _STYLES[stage.state]), "  "]
    return Text.assemble(*words)


def _inside(seen: Status) -> RenderableType:
    row = Table.grid(padding=(0, 1))
    left = f"{duration(seen.left_s)} left" if seen.left_s is not None else ""
    if seen.total:
        row.add_row(seen.stage, ProgressBar(total=seen.total, completed=seen.done, width=30), f"{seen.done}/{seen.total}", left)
    else:
        row.add_row(seen.stage, f"{seen.done} done" if seen.done else "at work", left)
    return row


def _figures(seen: Status) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for name, source, keys in FIGURES:
        rows = seen.rounds if source == "rounds" else seen.steps
        values = [number(row, *keys) for row in rows]
        known = [value for value in values if value is not None]
        if known:
            table.add_row(name, Text(sparkline(values), style="cyan"), Text(figure(known[-1], 3), justify="right"))
    return table


def _whole(value: object) -> str:
    return str(int(value)) if isinstance(value, int | float) and math.isfinite(value) else "?"
