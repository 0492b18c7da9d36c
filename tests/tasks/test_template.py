"""Gaps are filled as the text around them needs it, and what is wrong with a template is said by name."""

from __future__ import annotations

import builtins
import keyword
import random
import textwrap
from dataclasses import replace
from typing import Any

import pytest

from swefuse.errors import DataError
from swefuse.records import Kind
from swefuse.tasks import template as t
from swefuse.tasks.template import Template, class_name, name
from swefuse.tasks.words import WORDS


def make(text: str, **more: Any) -> Template:
    return Template(kind=Kind.BUGFIX, domain="parsing", instruction="$x", files={"m.py": text}, name="t", **more)


def filled(text: str, **values: Any) -> str:
    return make(text).render({"x": "", **values}).files["m.py"]


def test_gaps_hold_gaps_and_dollar_signs_stay() -> None:
    assert filled("$a + ${b}c + $$d", a="$b * 2", b="3") == "3 * 2 + 3c + $d"
    assert filled("$a", a="cost: $$5 and $b", b="$$") == "cost: $5 and $"


def test_a_gap_on_its_own_line_takes_the_indentation_along() -> None:
    text = """
        def f():
            $body
            $nothing
            return $value
    """
    made = filled(text, body="if x:\n    y()\n\nz()", nothing="", value="1")
    assert made == "def f():\n    if x:\n        y()\n\n    z()\n    return 1\n"


def test_nested_blocks_keep_their_place() -> None:
    assert (
        filled("\nif a:\n    $one\n", one="while b:\n    $two", two="c()\nd()") == "if a:\n    while b:\n        c()\n        d()\n"
    )


@pytest.mark.parametrize(
    ("text", "values", "reason"),
    [
        ("$nme", {"name": 1}, r"template t: nothing fills the gap \$nme; did you mean 'name'\?"),
        ("a $ b", {}, r"a lone dollar sign, which is written \$\$, in 'a \$ b'"),
        ("$a", {"a": "$b", "b": "$a"}, "its values fill each other more than 5 times"),
    ],
)
def test_a_gap_that_cannot_be_filled_is_named(text: str, values: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        filled(text, **values)


def test_a_repair_fills_gaps_otherwise_and_only_changed_files_are_the_solution() -> None:
    template = replace(make("x $op 1\n"), files={"m.py": "x $op 1\n", "n.py": "y\n"}, repair={"op": "$right"}, instruction="i")
    made = template.render({"op": "<", "right": "<="})
    assert (made.files, made.solution) == ({"m.py": "x < 1\n", "n.py": "y\n"}, {"m.py": "x <= 1\n"})


def test_the_same_seed_draws_the_same_and_names_are_never_the_same() -> None:
    parameters = {
        "f": name("verb", "things"), "g": name("verb", "things"), "C": class_name("quality", "thing"), "n": t.integers(1, 9, 2),
        "row": t.rows({"a": 1, "b": 2}, {"a": 3, "b": 4}), "w": t.words("person", 3), "v": t.literals("int", 2, 5, 6),
        "o": t.one_of("p", "q"),
    }  # fmt: skip
    template = make(
        "", parameters=parameters, where=lambda values: values["n"] > 3, derive=lambda values: {"twice": 2 * values["n"]}
    )
    draws = [template.draw(seed) for seed in range(200)]
    assert draws == [template.draw(seed) for seed in range(200)] and len({str(one) for one in draws}) == 200
    for one in draws:
        assert one["f"] != one["g"] and one["f"].isidentifier() and one["C"][0].isupper()
        assert one["n"] in (5, 7, 9) and one["twice"] == 2 * one["n"] and (one["row_a"], one["row_b"]) in ((1, 2), (3, 4))
        assert len({one["w_0"], one["w_1"], one["w_2"]}) == 3 and one["v_type"] == "int" and one["v_0"] in "56"
    assert draws != [replace(template, name="other").draw(seed) for seed in range(200)]


def test_a_constraint_that_never_holds_is_an_error() -> None:
    with pytest.raises(DataError, match="its constraint was not met in 200 draws"):
        make("", where=lambda values: False).draw(0)


def test_what_can_be_seen_to_be_wrong_is_said() -> None:
    def of(**more: Any) -> str:
        return t.problem(replace(make("x = 1\n"), **{"solution": {"m.py": "x = 2\n"}, **more}))

    assert of() == ""
    assert of(files={"m.py": "def f(:\n"}).startswith("m.py, line 1: ")
    assert of(solution={"n.py": "x"}) == "the solution writes n.py, which is not among the files"
    assert of(solution={"m.py": "x = 1\n"}) == "the solution of m.py is what stands there already"
    assert of(solution={}) == "there is no solution"


def test_the_vocabulary_is_made_of_names() -> None:
    for kind, listed in WORDS.items():
        assert len(listed) == len(set(listed)) >= 40, kind
        assert all(word.isidentifier() and not keyword.iskeyword(word) and word not in dir(builtins) for word in listed)
    assert [t.plural(word) for word in ("entry", "key", "box", "match", "staff", "bus")] == [
        "entries", "keys", "boxes", "matches", "staff", "buses",
    ]  # fmt: skip


def test_every_draw_of_a_name_is_one() -> None:
    rng = random.Random(0)
    for _ in range(500):
        assert name("quality", "things").draw(rng).isidentifier() and class_name("verb", "thing", "error").draw(rng).isidentifier()
        assert textwrap.dedent(name("fixed").draw(rng)) == "fixed"
