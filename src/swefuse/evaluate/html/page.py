"""The report page: sections in reading order, joined into one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from string import Template

from swefuse.evaluate import charts, tables
from swefuse.evaluate.html.examples import example
from swefuse.evaluate.html.markup import Html, duration, el, join, one_line
from swefuse.evaluate.report_model import Agreement, Flow, ReportData, ReportModel, Stage, ValueDetail, headline


def build(report: ReportModel, data: ReportData) -> str:
    """The whole page as text. Same input, same page."""
    made = [
        _results(report, data),
        _pipeline(data.pipeline, data.agreement),
        _curves(data),
        _histograms(data),
        _kinds(data),
        _value(report, data),
        _refusals(data),
        _examples(data),
        _provenance(report, data),
    ]
    sections = [part for part in made if part]
    links = [el("li", el("a", words, href=f"#{key}")) for key, words, _ in sections]
    title = one_line(data.title) or "SWE-Fuse run"
    head = el(
        "header",
        el("h1", title),
        el("p", headline(report), cls="lead"),
        el("ul", *(el("li", one_line(line)) for line in data.verdict), cls="findings") if data.verdict else Html(),
    )
    main = el("main", head, *(el("section", body, id=key) for key, _, body in sections), id="main")
    skip = el("a", "Skip to the results", href="#main", cls="skip")
    body = join([skip, el("div", el("nav", el("ul", *links), aria_label="Sections"), main, cls="page")])
    return fill(title, body)


def fill(title: str, body: Html) -> str:
    """Lay title, style, script and body into ``page.html``; only this very style and script may act on the page."""
    folder = files("swefuse.evaluate.html")
    page, css, js = ((folder / f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    policy = f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(js)}'; base-uri 'none'; form-action 'none'"
    return Template(page).substitute(policy=policy, title=join([title]), css=css, js=js, body=body)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


Section = tuple[str, str, Html]


def _section(key: str, link: str, title: str, lead: str, *parts: Html) -> Section:
    return key, link, join([el("h2", title), el("p", lead), *parts])


def _results(report: ReportModel, data: ReportData) -> Section:
    splits = [tables.split_results(split, models, data.intervals.get(split, {})) for split, models in report.results.items()]
    lead = (
        "Every function here was held out whole. The policies random (any edit that applies) and rule (undo what gives "
        "itself away) use no model: what they solve needs no learning."
    )
    compared = any(pair.sampled for pairs in report.differences.values() for pair in pairs.values())
    title = "What RLVR changed, and where each model stands" if compared else "Where each model stands"
    return _section("results", "Results", title, lead, tables.difference_table(report) if compared else Html(), *splits)


def _pipeline(stations: tuple[Flow, ...], agreement: Agreement | None) -> Section | None:
    if not stations and not agreement:
        return None
    most = max((station.count for station in stations), default=0)
    items = []
    for i, station in enumerate(stations):
        after = stations[i + 1].count if i + 1 < len(stations) else None
        words = [el("strong", f"{station.count:,}"), el("span", one_line(station.label), cls="label")]
        words += [el("span", one_line(station.note), cls="note")] if station.note else []
        streams = [charts.band(station.count, after, most, upright) for upright in (False, True)]
        items.append(el("li", *streams, el("div", *words, cls="words")))
    judged = []
    if agreement:
        same = agreement.checked == agreement.agreed
        end = "all agree" if same else f"{agreement.checked - agreement.agreed:,} DISAGREE: do not trust this run's verdicts"
        judged = [el("p", f"{agreement.checked:,} verdicts were given twice, by pytest and by direct calls: {end}.")]
    lead = "The stream is as wide as the count at each station; what was refused is counted by reason further down."
    return _section(
        "pipeline", "Data", "From functions to training data", lead, el("ol", *items, cls="flow") if items else Html(), *judged
    )


def _curves(data: ReportData) -> Section | None:
    if not data.charts:
        return None
    lead = "Point at a chart, or focus it and use the arrow keys, to read values. Beside each name stands the last value."
    plots = el("div", *map(charts.line_chart, data.charts), cls="plots")
    return _section("curves", "Training", "How training went", lead, plots)


def _histograms(data: ReportData) -> Section | None:
    if not data.histograms:
        return None
    lead = "Panels of one group share both axes; areas are shares of the panel's total, so rounds of unlike size compare."
    return _section("entropy", "Entropy and weights", "How sure the value model was", lead, *map(charts.histogram, data.histograms))


def _kinds(data: ReportData) -> Section | None:
    if not data.by_kind:
        return None
    lead = "Sampled pass@1 in per cent, greedy below it; the deeper the colour, the more tasks of that kind are repaired."
    heats = el("div", *(tables.heat_table(split, models) for split, models in data.by_kind.items()), cls="heats")
    return _section("kinds", "Kinds of bugs", "Which kinds of bugs are repaired", lead, heats)


def _value(report: ReportModel, data: ReportData) -> Section | None:
    value = report.value
    if not data.value_detail and value.three_way is None:
        return None
    own = ValueDetail(**value.model_dump(exclude={"majority"}), name="value model")
    details = data.value_detail or (ValueDetail(name="majority class", three_way=value.majority), own)
    lead = "A value model is useful only where it beats the majority class and the four-number Platt fit on log-probabilities."
    return _section(
        "value", "Value model", "The value model beside what it must beat", lead, tables.value_table(details, value.majority)
    )


def _refusals(data: ReportData) -> Section | None:
    if not data.refusals:
        return None
    ordered = sorted(data.refusals.items(), key=lambda item: (-item[1], item[0]))
    rows = [(reason, count, f"{count:,}") for reason, count in ordered]
    lead = f"{sum(data.refusals.values()):,} refusals; each is kept with its reason."
    bars = tables.bars(("Reason", "Refused"), rows, "Most frequent first.")
    return _section("refusals", "Refusals", "Why tasks and trajectories were refused", lead, bars)


def _examples(data: ReportData) -> Section | None:
    if not data.examples:
        return None
    count = len(data.examples)
    title = "One held-out task, side by side" if count == 1 else f"{count} held-out tasks, side by side"
    lead = "The task as the models saw it, then what each model wrote and what the tests said."
    return _section("examples", "Examples", title, lead, *map(example, data.examples))


def _provenance(report: ReportModel, data: ReportData) -> Section:
    stages = data.stages or [Stage(name=name, seconds=value) for name, value in report.seconds.items() if name != "total"]
    rows = [(f"{one.name} ({one.note})" if one.note else one.name, one.seconds, duration(one.seconds)) for one in stages]
    parts = [
        tables.bars(("Stage", "Time"), rows, f"{duration(report.seconds['total'])} in all."),
        tables.pairs_table(("Software", "Version"), report.versions, "Versions"),
        tables.pairs_table(("Counted", "Number"), {name: f"{count:,}" for name, count in report.counts.items()}, "Counts"),
    ]
    folded = {
        "Configuration as resolved": data.config,
        "Manifest: what the models were trained on": json.dumps(data.manifest, indent=2, ensure_ascii=False)
        if data.manifest
        else "",
    }
    blocks = [el("details", el("summary", name), el("pre", text, tabindex="0")) for name, text in folded.items() if text]
    lead = f"Seed {report.seed}. Peak memory {report.peak_rss_mb:,.0f} MB."
    return _section("made", "How it was made", "How this was made", lead, el("div", *parts, cls="made"), *blocks)
