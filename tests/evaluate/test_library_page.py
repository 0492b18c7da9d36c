"""The page of a library shows its counts, loads nothing, and lets no text of a trajectory act."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swefuse.evaluate.library_page import build
from swefuse.library.entries import Spread, Stats
from swefuse.library.snapshots import Snapshot

HOSTILE = "</style><script>alert(1)</script><img src=x onerror='a()'>\"'&\u202e\x1b[31m"


class Seen(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= set(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def stats(name: str, groups: int = 1) -> Stats:
    """Counts in which every name is this one."""
    by = {group: {f"{name}{at or ''}": (3, at) for at in range(groups)} for group in ("kind", "source", "split", "operator")}
    different = {"tasks": 2, "functions": 1}
    return Stats(3, 4, by, {name: 4}, 5, 6, Spread(1, 2, 3, 4000, 2.5), Spread(), different, {name: 7})


def page(name: str, groups: int = 1) -> str:
    return build(name, stats(name, groups), "f" * 64, [Snapshot("v1", "2026-01-01T00:00:00+00:00", 7, 3, "e" * 64, "d" * 64)])


def test_the_page_tells_the_counts() -> None:
    seen = Seen(page("l.db"))
    for text in ("Library l.db", "3 trajectories accepted, 4 refused", "4,000", "v1", "e" * 16, "By operator"):
        assert text in seen.text
    assert page("l.db") == page("l.db")


@pytest.mark.parametrize("name", [HOSTILE, "</title>" + HOSTILE, "<!--", "${css}", "]]>"])
def test_names_are_text_and_nothing_else(name: str) -> None:
    plain, hostile = Seen(page("x")), Seen(page(name))
    assert hostile.tags == plain.tags and hostile.tags.count("script") == 1
    assert {key for key, _ in hostile.attributes} == {key for key, _ in plain.attributes}
    assert "\u202e" not in page(name) and "\x1b" not in page(name)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_no_name_makes_a_tag(name: str) -> None:
    made = page(name)
    assert Seen(made).tags == Seen(page("x")).tags
    made.encode()


def test_it_loads_nothing() -> None:
    seen = Seen(page(HOSTILE))
    assert not {key for key, _ in seen.attributes} & {"src", "srcset", "onerror", "onload"}
    assert all(value and value.startswith("#") for key, value in seen.attributes if key == "href")


def test_many_rare_values_are_counted_together() -> None:
    text = Seen(page("v", groups=45)).text
    assert "15 others" in text and "v44" in text and "v9" not in text  # the fifteen with the least counts
