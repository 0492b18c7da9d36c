"""Functions ranked by what speaks for them, one kind of evidence at a time and together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.evaluate.solve.localise import Failing, definitions, enclosing, localise, words

BOX = '''"""Boxes."""
import os


def cached(key):
    def deco(function):
        def inner(*args):
            return function(*args)
        return inner
    return deco


class Box:
    limit = 3

    @property
    def size(self):
        return len(self.items) - 1

    @cached(
        "pop"
    )
    async def popItem(self, key):
        if key not in self.items:
            raise KeyError(key)
        return self.items.pop(key)

    class Inner:
        def deep(self): return 1
'''
OTHER = "def parse_date(text):\n    return text.split('-')\n\n\ndef render(date):\n    return '-'.join(date)\n"
FILES = {
    "pkg/box.py": BOX,
    "pkg/dates.py": OTHER,
    "tests/test_box.py": "def parse_date():\n    pass\n",
    "setup.py": "def x(): pass\n",
}


def first(failing: Failing | None = None, issue: str = "") -> str:
    return localise(FILES, failing or Failing(), issue)[0].name


def test_definitions_have_dotted_names_and_begin_with_their_decorators() -> None:
    found = [(one.name, one.first, one.line, one.last) for one in definitions(BOX)]
    assert found == [
        ("cached", 5, 5, 10), ("cached.<locals>.deco", 6, 6, 9), ("cached.<locals>.deco.<locals>.inner", 7, 7, 8),
        ("Box.size", 16, 17, 18), ("Box.popItem", 20, 23, 26), ("Box.Inner.deep", 29, 29, 29),
    ]  # fmt: skip
    inner, decorator, outside = enclosing(BOX, 8), enclosing(BOX, 21), enclosing(BOX, 14)
    assert inner is not None and inner.name == "cached.<locals>.deco.<locals>.inner"
    assert decorator is not None and decorator.name == "Box.popItem" and outside is None
    assert definitions("def f(:\n") == () and [one.name for one in definitions("\ufeffdef f(): pass\n")] == ["f"]
    assert [one.name for one in definitions("if 1:\n    def f(): pass\nelse:\n    def f(): pass\n")] == ["f", "f"]


def test_the_end_of_a_traceback_comes_first_and_tests_never() -> None:
    frames = ((("tests/test_box.py", 2), ("pkg/box.py", 18), ("pkg/dates.py", 2)),)
    ranked = localise(FILES, Failing(frames), "")
    assert [(one.path, one.name) for one in ranked] == [("pkg/dates.py", "parse_date"), ("pkg/box.py", "Box.size")]
    assert ranked[0].score == pytest.approx(1 / 1.6) and ranked[0].why == ("raised on the way of a failing test (1.00)",)


def test_what_only_failing_tests_call_is_more_suspicious_than_what_all_call() -> None:
    reached = {("pkg/box.py", 16): (2, 0), ("pkg/dates.py", 1): (2, 14), ("pkg/dates.py", 5): (1, 0), ("pkg/box.py", 99): (2, 0)}
    ranked = localise(FILES, Failing(reached=reached), "")
    assert [one.name for one in ranked] == ["Box.size", "render", "parse_date"]
    assert ranked[2].why == ("called by failing tests rather than by passing ones (0.35)",)  # 2 / sqrt(2 * 16)


@pytest.mark.parametrize(
    ("issue", "name"),
    [
        ("popping an item that is not there raises KeyError", "Box.popItem"),
        ("`Box.size` is one too small", "Box.size"),
        ("The dates are wrong: parse_date('2020-1-1') gives text", "parse_date"),
        ("Rendering is broken", "render"),
        ('Traceback:\n  File "/home/me/src/pkg/box.py", line 18, in size\n    return len\nTypeError: x', "Box.size"),
        ("in pkg/dates.py the join is wrong", "render"),
        ("deep() of Inner", "Box.Inner.deep"),
    ],
)
def test_the_words_of_an_issue(issue: str, name: str) -> None:
    assert first(issue=issue) == name


def test_failing_tests_name_what_they_are_about() -> None:
    text = "def test_it():\n    assert render(['a']) == 'a'\n"
    assert first(Failing(texts=(text,))) == "render"
    assert first(Failing(texts=("def test_it():\n    Box().popItem(3)\n",))) == "Box.popItem"


def test_names_are_taken_apart() -> None:
    assert words("popItem HTTPError max_size if the renders") == {
        "popitem": 1, "pop": 1, "item": 1, "httperror": 1, "http": 1, "max_size": 1, "max": 1, "size": 1, "renders": 1, "render": 1,
    }  # fmt: skip


def test_nothing_that_speaks_for_anything_gives_nothing() -> None:
    assert localise(FILES, Failing(), "") == [] and localise({}, Failing(), "words") == []


@given(
    st.text(max_size=200),
    st.dictionaries(st.sampled_from([("pkg/box.py", 16), ("pkg/dates.py", 1)]), st.tuples(st.integers(0, 5), st.integers(0, 5))),
)
def test_shares_add_up_and_fall(issue: str, reached: dict[tuple[str, int], tuple[int, int]]) -> None:
    ranked = localise(FILES, Failing(reached=reached), issue)
    scores = [one.score for one in ranked]
    assert scores == sorted(scores, reverse=True) and (not scores or sum(scores) == pytest.approx(1))
    assert all(0 < score <= 1 and one.why for score, one in zip(scores, ranked, strict=True))
    assert ranked == localise(dict(reversed(FILES.items())), Failing(reached=reached), issue), "whatever the order of the files"
