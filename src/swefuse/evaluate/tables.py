"""The tables of the report: HTML for the page, rich tables for the terminal. Both say the same figures in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from swefuse.evaluate import charts
from swefuse.evaluate.html.markup import Html, duration, el, fraction, join, one_line, percent, points
from swefuse.evaluate.report_model import (
    MODELS,
    Difference,
    Intervals,
    KindScores,
    ReportModel,
    Scores,
    ValueDetail,
    headline,
)

SPLIT_NOTES = {
    "recombined": "known parts in a combination that training never saw",
    "unseen": "algorithms that training never saw",
    "real": "functions and tests that others wrote",
}
OPPONENTS = {"rlvr-sft": "SFT", "rlvr-control": "control"}
READINGS = {"above": "above 0", "below": "below 0", "open": "includes 0", "none": "not measured"}


def table(heads: Iterable[str], rows: Iterable[Iterable[Html]], caption: str, cls: str = "") -> Html:
    """A table. A heading that starts with ``#`` stands over figures (the sign is dropped).

    Roles are written out because narrow screens lay rows out as grids, which makes browsers forget that they are rows.
    """
    head = [_head(name) for name in heads]
    body = [el("tr", *row, role="row") for row in rows]
    return el(
        "table",
        el("caption", caption),
        el("thead", el("tr", *head, role="row"), role="rowgroup"),
        el("tbody", *body, role="rowgroup"),
        cls=cls or None,
        role="table",
    )


def _head(name: str) -> Html:
    drawn = isinstance(name, Html)
    cls = "mark" if drawn else "num" if name.startswith("#") else None
    return el("th", name if drawn else name.lstrip("#"), scope="col", role="columnheader", cls=cls)


def name_cell(*parts: str) -> Html:
    """The first cell of a row, which names it."""
    return el("th", *(part if isinstance(part, Html) else one_line(part) for part in parts), scope="row", role="rowheader")


def cell(text: str) -> Html:
    """A cell of words."""
    return el("td", text if isinstance(text, Html) else one_line(text), role="cell")


def number_cell(text: str) -> Html:
    """A right-aligned figure."""
    return el("td", text, cls="num", role="cell")


def mark_cell(drawing: Html) -> Html:
    """A cell that a fluid mark fills."""
    return el("td", drawing, cls="mark", role="cell")


def shown(model: str) -> str:
    """A model's name as people write it."""
    return {"sft": "SFT", "rlvr": "RLVR"}.get(model, one_line(model))


def _shares(scores: Scores) -> list[str]:
    return [percent(value) for value in (scores.greedy, scores.sampled, scores.pass4, scores.bestof4)]


def split_results(split: str, models: Mapping[str, Scores], intervals: Mapping[str, Intervals]) -> Html:
    """One split: figures of every model and, in the last column, greedy and sampled pass@1 with their intervals."""
    rows = []
    for model, scores in models.items():
        drawing = charts.share_row(model, scores, intervals.get(model, Intervals()))
        figures = [number_cell(text) for text in [*_shares(scores), f"{scores.n:,}"]]
        rows.append([name_cell(el("span", cls=f"swatch {charts.tone(model, 0)}"), shown(model)), *figures, mark_cell(drawing)])
    key = join([el("span", "\u25cf sampled, \u25cb greedy, 95 % intervals"), charts.share_axis()])
    heads = ("Model", "#Greedy", "#Sampled", "#pass@4", "#Best of 4", "#Tasks", key)
    caption = join([el("b", split.capitalize()), f": {SPLIT_NOTES[split]}. Per cent of tasks solved."])
    return table(heads, rows, caption, "results")


def difference_text(pair: Difference) -> str:
    """``+9.0 [+6.5, +11.6]`` in percentage points, or a dash."""
    if pair.sampled is None:
        return percent(None)
    mean, low, high = map(points, pair.sampled)
    return f"{mean} [{low}, {high}]"


def difference_table(report: ReportModel) -> Html:
    """Forest plot of RLVR against SFT and against the control on every split, with the zero line."""
    axis = charts.difference_axis(pair for pairs in report.differences.values() for pair in pairs.values())
    rows = []
    for split, pairs in report.differences.items():
        for name, pair in pairs.items():
            drawing = charts.difference_row(f"{split}: RLVR minus {OPPONENTS[name]}", pair, axis)
            side = charts.reading(pair)
            rows.append(
                [
                    name_cell(el("b", split), el("span", f" over {OPPONENTS[name]}")),
                    number_cell(difference_text(pair)),
                    cell(el("span", READINGS[side], cls=f"tag {side}")),
                    mark_cell(drawing),
                ]
            )
    heads = ("RLVR on", "#Points [95 %]", "Interval", charts.difference_scale(axis))
    caption = (
        "Paired difference in sampled pass@1, in points. Right of the zero line RLVR is better. "
        "The control is more SFT with the compute that RLVR took."
    )
    return table(heads, rows, caption, "forest")


def heat_table(split: str, models: Mapping[str, Mapping[str, KindScores]]) -> Html:
    """One split by kind of bug: sampled pass@1 large, greedy below it, the darker the more tasks are repaired."""
    kinds = list(dict.fromkeys(kind for by in models.values() for kind in by))
    rows = []
    for kind in kinds:
        scores = [by.get(kind) for by in models.values()]
        n = max(score.n for score in scores if score)
        rows.append([name_cell(kind, el("small", f" {n:,}")), *(_heat_cell(score) for score in scores)])
    heads = ("Kind of bug, tasks", *(f"#{shown(model)}" for model in models))
    return table(heads, rows, one_line(split).capitalize(), "heat")


def _heat_cell(score: KindScores | None) -> Html:
    if score is None or score.sampled is None:
        return number_cell(percent(None))
    small = el("small", percent(score.greedy, 0))
    return el("td", percent(score.sampled, 0), small, cls=f"num heat-{round(10 * score.sampled)}", role="cell")


def value_table(details: Iterable[ValueDetail], majority: float | None) -> Html:
    """The value model beside the baselines that it must beat; the line in the plot is the majority class."""
    rows = [
        [
            name_cell(detail.name),
            *(number_cell(fraction(v)) for v in (detail.three_way, detail.decisive, detail.auc, detail.ece)),
            number_cell(f"{detail.n:,}" if detail.n else percent(None)),
            mark_cell(charts.bar(detail.three_way or 0, majority)),
        ]
        for detail in details
    ]
    heads = ("Judge", "#3-way", "#Decisive", "#AUC", "#ECE", "#Pairs", el("span", "3-way, line: majority"))
    return table(heads, rows, "Accuracy on held-out pairs; ECE is the calibration error (lower is better).", "judges")


def bars(heads: tuple[str, str], rows: Sequence[tuple[str, float, str]], caption: str) -> Html:
    """Rows of (name, amount, amount as text) with bars against the largest amount; none is negative."""
    most = max((amount for _, amount, _ in rows), default=0) or 1
    cells = ([name_cell(name), number_cell(text), mark_cell(charts.bar(amount / most))] for name, amount, text in rows)
    return table((heads[0], f"#{heads[1]}", Html()), cells, caption, "bars")


def pairs_table(heads: tuple[str, str], values: Mapping[str, str], caption: str) -> Html:
    """A plain table of names and values."""
    return table(
        (heads[0], f"#{heads[1]}"), ([name_cell(k), number_cell(one_line(v))] for k, v in values.items()), caption, "pairs"
    )


def terminal(report: ReportModel) -> RenderableType:
    """The result as a rich renderable of at most 80 columns: the table by split, the differences, the value model, the sentence."""
    results = Table(title="Held-out tasks solved, in per cent", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("split", "model"):
        results.add_column(name, no_wrap=True)
    for name in ("greedy", "sampled", "pass@4", "best of 4", "tasks"):
        results.add_column(name, justify="right", no_wrap=True)
    for split, models in report.results.items():
        for i, (model, scores) in enumerate(models.items()):
            style = "bold" if model == "rlvr" else "dim" if model in ("random", "rule") else ""
            results.add_row(
                "" if i else split, shown(model), *_shares(scores), f"{scores.n:,}", style=style, end_section=model == MODELS[-1]
            )
    changes = Table(title="Sampled pass@1, points [95 % interval]", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("split", "RLVR minus", "difference", "interval"):
        changes.add_column(name, no_wrap=True)
    for split, pairs in report.differences.items():
        for i, (name, pair) in enumerate(pairs.items()):
            side = charts.reading(pair)
            style = {"above": "green", "below": "red"}.get(side, "")
            changes.add_row("" if i else split, OPPONENTS[name], difference_text(pair), READINGS[side], style=style)
    value = report.value
    judged = (
        f"Value model: 3-way {fraction(value.three_way)} (majority class {fraction(value.majority)}), "
        f"decisive {fraction(value.decisive)}, AUC {fraction(value.auc)}, ECE {fraction(value.ece)}"
    )
    spent = f"{duration(report.seconds['total'])}, peak memory {report.peak_rss_mb:,.0f} MB, seed {report.seed}"
    return Group(results, changes, Text(judged), Text(spent), Text(headline(report), style="bold"))


def seeds_terminal(
    reports: Sequence[ReportModel], pooled: Sequence[Mapping[str, Difference]], at_once: Mapping[str, Any]
) -> RenderableType:
    """Several seeds side by side: sampled pass@1 of SFT, control and RLVR, and in how many seeds an interval lies above 0.

    ``pooled``: of each seed the differences over all splits together. ``at_once``: the part ``together`` of ``seeds.json``.
    """
    scores = Table(title="Sampled pass@1 by seed, in per cent", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("split", "model"):
        scores.add_column(name, no_wrap=True)
    for report in reports:
        scores.add_column(f"seed {report.seed}", justify="right", no_wrap=True)
    scores.add_column("mean", justify="right", no_wrap=True)
    changes = Table(title="Sampled pass@1, points [95 % interval]", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("split", "RLVR minus", "seed", "difference", "interval", "above 0"):
        changes.add_column(name, no_wrap=True)
    for split in reports[0].results:
        for i, model in enumerate(("sft", "control", "rlvr")):
            values = [report.results[split][model].sampled for report in reports]
            known = [value for value in values if value is not None]
            mean = percent(sum(known) / len(known) if known else None)
            scores.add_row("" if i else split, shown(model), *map(percent, values), mean, end_section=model == "rlvr")
    together = {split: [report.differences[split] for report in reports] for split in reports[0].results} | {"all": list(pooled)}
    for split, differences in together.items():
        for i, name in enumerate(OPPONENTS):
            pairs = [of_seed.get(name, Difference(sampled=None)) for of_seed in differences]
            sides = [charts.reading(pair) for pair in pairs]
            for k, (report, pair, side) in enumerate(zip(reports, pairs, sides, strict=True)):
                head = ("" if i or k else split, "" if k else OPPONENTS[name])
                share = f"{sides.count('above')} of {len(sides)}" if k == len(sides) - 1 else ""
                changes.add_row(*head, str(report.seed), difference_text(pair), READINGS[side], share)
    return Group(scores, changes, _at_once(at_once))


def _at_once(found: Mapping[str, Any]) -> Table:
    """What each step gains, over the tasks of all seeds."""
    whole = Table(title="All seeds together, points [95 % interval]", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("split", "difference", "greedy", "sampled"):
        whole.add_column(name, no_wrap=True)
    for split, parts in found.items():
        for i, (pair, measures) in enumerate(parts["differences"].items()):
            texts = (difference_text(Difference(sampled=value and tuple(value))) for value in measures.values())
            whole.add_row("" if i else split, " minus ".join(map(shown, pair.split("-"))), *texts)
    return whole
