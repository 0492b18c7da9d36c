"""The page of a library: what it holds, in one file that loads nothing. All names in it come from outside and are escaped."""

from __future__ import annotations

from collections.abc import Sequence

from swefuse.evaluate import tables
from swefuse.evaluate.html.markup import Html, el, join, one_line
from swefuse.evaluate.html.page import fill
from swefuse.library.entries import Spread, Stats
from swefuse.library.snapshots import Snapshot

_MOST = 30  # rows of a table; what is rarer is counted together


def build(name: str, stats: Stats, fingerprint: str, snapshots: Sequence[Snapshot]) -> str:
    """The whole page as text. Same input, same page."""
    sections = {
        "Refusals": _refusals(stats),
        "Lengths and diversity": _sizes(stats),
        **{f"By {group}": _group(group, values) for group, values in stats.by.items()},
        "Tags and snapshots": _names(stats, snapshots),
    }
    title = f"Library {one_line(name)}"
    lead = (
        f"{stats.accepted:,} trajectories accepted, {stats.refused:,} refused; fingerprint of the accepted ones {fingerprint[:16]}."
    )
    keys = {words: words.lower().replace(" ", "-") for words in sections}
    links = [el("li", el("a", words, href=f"#{key}")) for words, key in keys.items()]
    parts = [el("section", el("h2", words), body, id=keys[words]) for words, body in sections.items()]
    main = el("main", el("header", el("h1", title), el("p", lead, cls="lead")), *parts, id="main")
    skip = el("a", "Skip to the counts", href="#main", cls="skip")
    return fill(title, join([skip, el("div", el("nav", el("ul", *links), aria_label="Sections"), main, cls="page")]))


def _refusals(stats: Stats) -> Html:
    ordered = sorted(stats.reasons.items(), key=lambda item: (-item[1], item[0]))
    rows = [(check, count, f"{count:,}") for check, count in ordered[:_MOST]]
    return tables.bars(("Check", "Refused"), rows, "One trajectory may be refused by several checks.")


def _group(group: str, values: dict[str, tuple[int, int]]) -> Html:
    ordered = sorted(values.items(), key=lambda item: (-sum(item[1]), item[0]))
    rows = [(value or "(none)", *counts) for value, counts in ordered[:_MOST]]
    if rest := ordered[_MOST:]:
        rows.append((f"{len(rest)} others", sum(counts[0] for _, counts in rest), sum(counts[1] for _, counts in rest)))
    cells = ([tables.name_cell(value), *map(tables.number_cell, (f"{yes:,}", f"{no:,}"))] for value, yes, no in rows)
    return tables.table((group, "#accepted", "#refused"), cells, "Most frequent first.")


def _sizes(stats: Stats) -> Html:
    spreads = {"steps": stats.steps, "characters": stats.characters}
    heads = ("Accepted ones", "#least", "#median", "#9 in 10 at most", "#greatest", "#mean")
    cells = ([tables.name_cell(name), *map(tables.number_cell, _shown(spread))] for name, spread in spreads.items())
    different = {name: f"{count:,}" for name, count in stats.diversity.items()}
    return join([
        tables.table(heads, cells, "Characters: what the agent wrote and saw."),
        tables.pairs_table(("Different", "Number"), different, "Of the accepted ones; edits by their shape, names left out."),
    ])  # fmt: skip


def _shown(spread: Spread) -> tuple[str, ...]:
    whole = (spread.least, spread.median, spread.ninety, spread.greatest)
    return (*(f"{value:,}" for value in whole), f"{spread.mean:,.1f}")


def _names(stats: Stats, snapshots: Sequence[Snapshot]) -> Html:
    tags = tables.pairs_table(("Tag", "Trajectories"), {name: f"{count:,}" for name, count in stats.tags.items()}, "Tags.")
    heads = ("Snapshot", "made", "#entries", "#accepted", "fingerprint")
    rows = (
        [
            tables.name_cell(each.name), tables.cell(each.made), tables.number_cell(f"{each.entries:,}"),
            tables.number_cell(f"{each.accepted:,}"), tables.cell(each.fingerprint[:16]),
        ]
        for each in snapshots
    )  # fmt: skip
    return join([tags, tables.table(heads, rows, "Snapshots, the oldest first.")])
