"""Coarse types."""

from __future__ import annotations

import ast

import pytest

from swefuse.code.functions import function, walk
from swefuse.code.scope import coarse_types, may_be_none, of_annotation, of_returns, of_uses


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("int", "number"),
        ("list[str]", "list"),
        ("str | None", "text"),
        ("Optional[List[int]]", "list"),
        ("int | str", "?"),
        ("Any", "?"),
    ],
)
def test_annotations(text: str, kind: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert of_annotation(node) == kind
    assert may_be_none(node) == ("None" in text or "Optional" in text)


def test_loops_and_assignments_bind_types() -> None:
    text = (
        "def f(words: list[str], table: dict[str, int]):\n"
        "    out, count = [], 0\n"
        "    for index, word in enumerate(words):\n        letter = word[0]\n        name = word.lower()\n"
        "    return {k: v for k, v in table.items()}\n"
    )
    types = coarse_types(function(ast.parse(text), "f"))
    assert (types["words"], types["out"], types["count"], types["index"]) == ("list", "list", "number", "number")
    assert (types["word"], types["name"], types["letter"], types["return"]) == ("text", "text", "?", "?")


def test_uses_say_what_is_not_annotated() -> None:
    text = "def f(a, b, c, d, e):\n    for x in a:\n        b.add(x)\n    if c > d and d % 2:\n        return e.lower()\n"
    node = function(ast.parse(text), "f")
    guessed = of_uses(walk(node), coarse_types(node))
    assert [guessed[name] for name in "abcde"] == ["list", "set", "number", "number", "text"]
    returned = {child.value for child in walk(node) if isinstance(child, ast.Return)}
    assert of_returns(returned, guessed) == "text"
