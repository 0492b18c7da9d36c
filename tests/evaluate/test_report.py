"""The page: well formed, self-contained, unmoved by hostile text, whole for any part of the data."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import pytest
import report_sample
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from swefuse.evaluate.html.markup import clean, duration, el, figure, points
from swefuse.evaluate.html.page import build
from swefuse.evaluate.report import render, save, seeds_terminal, terminal
from swefuse.evaluate.report_model import Agreement, Difference, Flow, ReportData

PAGE = build(report_sample.report(), report_sample.data())


class Parsed(HTMLParser):
    """Checks that every element is closed in order and collects what the page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        assert len(dict(attrs)) == len(attrs), f"attribute twice in {tag}"
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """An element ends; it must be the one that began last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text of the element that is open."""
        self.text.append(data)

    def all(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [value or "" for _, attrs in self.tags for key, value in attrs.items() if key == name]

    def inside(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of that name."""
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def parsed() -> Parsed:
    return Parsed(PAGE)


def test_sections_come_in_reading_order_and_every_link_arrives(parsed: Parsed) -> None:
    order = ["results", "pipeline", "curves", "entropy", "kinds", "value", "refusals", "examples", "made"]
    assert [attrs["id"] for attrs in parsed.inside("section")] == order
    ids = parsed.all("id")
    assert len(ids) == len(set(ids))
    assert {link for link in parsed.all("href")} == {f"#{name}" for name in ["main", *order]}


def test_nothing_is_loaded_and_only_our_script_and_style_act(parsed: Parsed) -> None:
    names = {key for _, attrs in parsed.tags for key in attrs}
    assert not names & {"src", "srcset", "style", "action", "data", "background", "poster"}
    assert not [name for name in names if name.startswith("on")]
    assert not {tag for tag, _ in parsed.tags} & {"img", "link", "iframe", "object", "embed", "base", "form", "use"}
    assert not re.search(r"https?:|url\(|@import|fetch\(|import\(", PAGE)
    policy = parsed.inside("meta")[1]["content"] or ""
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", PAGE, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy


def test_hostile_text_is_shown_and_does_nothing(parsed: Parsed) -> None:
    shown = "".join(parsed.text)
    assert "</script></pre><img src=x onerror=alert(1)> \" ' & \\x1b[31mred" in shown
    assert "\\u202eevil\\u2066" in shown and "{{x}} $css [bold]" in shown
    assert not {unicodedata.category(c) for c in PAGE} & {"Cf", "Cs", "Co"}
    assert not [c for c in PAGE if unicodedata.category(c) == "Cc" and c != "\n"]
    assert all(tag.isascii() for tag, _ in parsed.tags)


def test_keyboard_and_reader_can_reach_everything(parsed: Parsed) -> None:
    assert all(attrs.get("tabindex") == "0" for attrs in parsed.inside("pre"))
    drawings = parsed.inside("svg")
    assert all(attrs.get("aria-hidden") == "true" or attrs.get("aria-label") for attrs in drawings)
    assert sum("aria-label" in attrs for attrs in drawings) > 20
    assert parsed.inside("html")[0]["lang"] == "en"


def test_figures_stand_on_the_page_with_their_precision() -> None:
    assert "+9.0 [+5.8, +12.1]" in PAGE and "\u22121.2" in PAGE
    assert ">62.6<" in PAGE and ">0.741<" in PAGE and ">14,475<" in PAGE and "13 min 32 s" in PAGE


def test_a_disagreement_of_the_two_judges_cannot_be_overlooked() -> None:
    page = build(report_sample.report(), ReportData(agreement=Agreement(checked=360, agreed=358)))
    assert "2 DISAGREE" in page and "DISAGREE" not in PAGE


@pytest.mark.parametrize("field", sorted(ReportData.model_fields))
def test_each_part_renders_alone_and_can_be_missing(field: str) -> None:
    full = report_sample.data()
    alone = ReportData(**{field: getattr(full, field)})
    without = ReportData(**{name: getattr(full, name) for name in ReportData.model_fields if name != field})
    for data in (alone, without):
        assert Parsed(build(report_sample.report(), data)).inside("section")


def test_empty_parts_inside_parts_render() -> None:
    Parsed(build(report_sample.report(), ReportData(pipeline=(Flow(label="", count=0),), title="", verdict=("",))))


def test_same_input_same_page_and_a_failed_write_keeps_the_old_one(tmp_path: Path) -> None:
    save(tmp_path, report_sample.report(), report_sample.data())
    path = render(tmp_path)
    assert path == tmp_path / "report.html" and path.read_text("utf-8") == PAGE
    taken = tmp_path / "taken"
    taken.mkdir()
    with pytest.raises(OSError, match="taken"):
        render(tmp_path, taken)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "report.json", "report_data.json", "taken"]


def test_a_page_is_replaced_as_a_whole(tmp_path: Path) -> None:
    save(tmp_path, report_sample.report(), report_sample.data())
    (tmp_path / "reader").hardlink_to(render(tmp_path))
    save(tmp_path, report_sample.report(), ReportData())
    assert render(tmp_path).read_text("utf-8") != PAGE == (tmp_path / "reader").read_text("utf-8")


def test_the_terminal_shows_the_same_figures_in_80_columns() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(terminal(report_sample.report()))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80 and "\x1b" not in text and "\u2026" not in text
    assert re.search(r"RLVR +73\.9 +62\.6 +90\.8 +79\.5 +504", text)
    assert re.search(r"real +SFT +\+3\.4 \[\u22120\.6, \+7\.5\] +includes 0", text)
    assert "majority class 0.575" in text and "RLVR is better than both" in text


def test_seeds_stand_side_by_side_in_80_columns() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    reports = [report_sample.report().model_copy(update={"seed": seed}) for seed in range(3)]
    pooled = [{"rlvr-sft": Difference(sampled=(0.05, low, 0.09))} for low in (0.01, -0.01, 0.02)]
    at_once = {"real": {"differences": {"sft-rule": {"greedy": [0.08, 0.01, 0.15], "sampled": None}}}}
    console.print(seeds_terminal(reports, pooled, at_once))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80 and "\u2026" not in text
    assert re.search(r"RLVR +62\.6 +62\.6 +62\.6 +62\.6", text), "each seed, then their mean"
    assert re.search(r"all +SFT +0 +\+5\.0 \[\+1\.0, \+9\.0\] +above 0 *\n", text)
    assert re.search(r"2 +\+5\.0 \[\+2\.0, \+9\.0\] +above 0 +2 of 3", text), "in two of the three seeds"
    assert re.search(r"control +0 +\S+ +not measured", text), "what was not measured is not counted"
    assert re.search(r"real +SFT minus rule +\+8\.0 \[\+1\.0, \+15\.0\] +\u2013", text)


@given(st.text())
def test_cleaning_leaves_nothing_that_acts_and_keeps_the_rest(text: str) -> None:
    shown = clean(text)
    assert not {c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n"}
    assert clean(shown) == shown
    assert clean("plain \u00e4 \u4f60\n") == "plain \u00e4 \u4f60\n"


@given(st.text(), st.text())
def test_children_and_attributes_come_back_as_they_were_cleaned(child: str, value: str) -> None:
    page = Parsed(el("p", child, data_x=value))
    assert "".join(page.text) == clean(child)
    assert page.tags == [("p", {"data-x": clean(value)})]


def test_numbers_read_well() -> None:
    assert [duration(s) for s in (0.04, 9.96, 59.4, 59.6, 3599.6, 7620)] == [
        "0.0 s",
        "10 s",
        "59 s",
        "1 min 00 s",
        "1 h 00 min",
        "2 h 07 min",
    ]
    assert [figure(v) for v in (0.12345, 1234.5, -3.0, 2e-7)] == ["0.1235", "1,234", "\u22123", "2e\u221207"]
    assert points(-0.0123) == "\u22121.2"
