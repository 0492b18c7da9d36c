"""A function as a small task: what the model sees, and that every edit lands in the real file and leaves the rest as it was."""

from __future__ import annotations

import ast

import pytest

from swefuse.evaluate.solve.localise import definitions
from swefuse.evaluate.solve.views import View, edited, rows_of, view
from swefuse.tasks.spec import MODULE

PLAIN = '''import os


class Box:
    """A box."""

    @property
    def size(self):
        text = """first
  second
        third"""
        if len(self.items) > 1:
            return len(text) - 1
        return 0

    async def total(self, items: list[int]) -> int:
        result = 0
        async for item in items:
            result -= item
            await self.seen(item)
        return result

    def outer(self, low):
        def inner(value):
            return value > low
        return [
  one for one in self.items if inner(one)
        ]


async def short(a): return a - 1
'''
TABBED = PLAIN.replace("    ", "\t")
CRLF = PLAIN.replace("\n", "\r\n")
TEXTS = {"plain": PLAIN, "tabs": TABBED, "crlf": CRLF, "two": PLAIN.replace("    ", "  "), "bare": PLAIN.removesuffix("\n")}


def seen(text: str, name: str) -> View:
    found = view(text, next(one for one in definitions(text) if one.name == name), ["FAIL size() gave 1, expected 2"])
    assert found is not None
    return found


def test_a_method_is_shown_as_a_function_of_its_own() -> None:
    one = seen(PLAIN, "Box.total")
    assert one.task.files[MODULE] == (
        "def total(self, items: list[int]) -> int:\n    result = 0\n    async for item in items:\n        result -= item\n"
        "        await self.seen(item)\n    return result\n"
    )
    assert [step.action and step.action.name for step in one.steps] == ["view", "test"]
    assert one.steps[0].observation.startswith("1>def total(") and one.steps[1].observation.startswith("FAIL size()")
    assert one.task.suite("calls").entry == f"{MODULE}:total"  # type: ignore[union-attr]
    assert seen(TABBED, "Box.total").task.files[MODULE] == one.task.files[MODULE], "in four spaces for a tab"
    assert seen(CRLF, "Box.total").task.files[MODULE] == one.task.files[MODULE], "without carriage returns"


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
@pytest.mark.parametrize("name", ["Box.size", "Box.total", "Box.outer", "Box.outer.<locals>.inner", "short"])
def test_every_edit_changes_the_function_alone_and_parses(text: str, name: str) -> None:
    one = seen(text, name)
    place = next(each for each in definitions(text) if each.name == name)
    before = text.split("\n")
    made = 0
    for choice in one.choices:
        after = edited(one, choice.action)
        if after is None:
            continue
        made += 1
        rows = after.split("\n")
        behind = len(before) - place.last
        assert rows[: place.line - 1] == before[: place.line - 1] and (not behind or rows[-behind:] == before[place.last :])
        assert text.startswith("\ufeff") or ast.parse(after)
        if "\r" in text:
            assert all(row.endswith("\r") for row in rows[:-1])
        if "\t" in text:
            assert not any(row.startswith(" ") and " for one in" not in row for row in set(rows) - set(before))
    assert made > 0.95 * len(one.choices), (made, len(one.choices))


def test_the_edit_is_the_one_that_was_meant() -> None:
    for text in TEXTS.values():
        one = seen(text, "Box.total")
        found = {edited(one, choice.action) for choice in one.choices}
        assert text.replace("result -= item", "result += item") in found
        assert text.replace("return a - 1", "return a + 1") in {
            edited(seen(text, "short"), c.action) for c in seen(text, "short").choices
        }
        size = {edited(seen(text, "Box.size"), choice.action) for choice in seen(text, "Box.size").choices}
        assert text.replace("> 1:", ">= 1:") in size, "with a string inside whose lines stand where they stood"
        insert = next(c for c in one.choices if not c.action.old and c.action.line == 4)
        after = edited(one, insert.action)
        assert after is not None and len(after.split("\n")) == len(text.split("\n")) + insert.action.new.count("\n") + 1


def test_what_cannot_be_shown_by_itself_is_left_out() -> None:
    text = "class A: x = 1; y = 2\ndef f(): pass\r\n"
    assert view(text.replace("\r", "\rx"), definitions(text)[0], []) is None
    assert view("def f():\n    pass\n", definitions("def f():\n    pass\n")[0], []) is None, "there is nothing to edit"
    hidden = view(PLAIN, definitions(PLAIN)[0], [], words=False)
    assert hidden is not None and hidden.task.hide_instruction and hidden.steps[1].observation == "there are no tests to show"


@pytest.mark.parametrize(
    ("detail", "row"),
    [
        ("AssertionError: assert 3 == 4\n +  where 3 = half(6)", "FAIL half(6,) gave 3, expected 4"),
        ("AssertionError: assert 4 == 3\n +  where 3 = m.half(6, x=1)", "FAIL half(6, x=1,) gave 3, expected 4"),
        ("AssertionError: assert [1] == [2]\n  At index 0", "FAIL half() gave [1], expected [2]"),
        ("IndexError: list index out of range", "FAIL half() gave raised IndexError: list index out of range"),
        ("pkg.errors.OddError: 3", "FAIL half() gave raised OddError: 3"),
        ("Failed: DID NOT RAISE <class 'ValueError'>", "FAIL half() gave None, expected ValueError"),
        ("something else", "FAIL half() something else"),
    ],
)
def test_what_tests_say_in_the_words_of_function_tasks(detail: str, row: str) -> None:
    assert rows_of("half", [detail, detail]) == [row]


def test_a_few_short_rows_are_shown() -> None:
    assert rows_of("f", []) == [] and rows_of("f", [""]) == []
    rows = rows_of("f", [f"AssertionError: assert {'1' * n} == 2" for n in range(9, 0, -1)])
    assert rows == [f"FAIL f() gave {'1' * n}, expected 2" for n in range(1, 5)]
