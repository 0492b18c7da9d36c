"""Finding, hashing and renaming functions."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.code.functions import Source, body_hash, function, local_names, rename, walk
from swefuse.errors import DataError

TEXT = '''
def outer(rows: list[str], größe: int) -> str:
    """Doc: rows and größe stay."""
    ä = "é"; total = größe
    for row in rows:
        total += len(row)
    return f"{total}/{größe:>{total}} {{rows}} {ä}" + "".join(row for row in rows)
'''


def test_positions_count_characters_where_ast_counts_bytes() -> None:
    source = Source(TEXT)
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name | ast.arg)]
    outside = [node for node in names if node.lineno < 7]
    assert {source.segment(node).split(":")[0] for node in outside} >= {"ä", "total", "größe", "rows", "row"}
    assert all(source.segment(node) == node.id for node in outside if isinstance(node, ast.Name))


def test_rename_reaches_every_use_and_nothing_else() -> None:
    source = Source(TEXT)
    renamed = rename(source, function(source.tree, "outer"), {"rows": "parts", "total": "count", "größe": "width", "row": "part"})
    assert "def outer(parts: list[str], width: int) -> str:" in renamed
    assert 'f"{count}/{width:>{count}} {{rows}} {ä}" + "".join(part for part in parts)' in renamed
    assert "Doc: rows and größe stay." in renamed


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("f'{x!r:>{w}} x {x.w} {w.x}'", "f'{X!r:>{W}} x {X.w} {W.x}'"),
        ("f'{{x}} {x:x} {r!r} {[x for x in w][0]}'", "f'{{x}} {X:x} {R!r} {[X for X in W][0]}'"),
        ("""f'({[f"f.{x}.r" for f in w]}{rf"{r}"}{b"x"})'""", """f'({[f"f.{X}.r" for f in W]}{rf"{R}"}{b"x"})'"""),
        ("""f"{'x' + x}{ {x: w}[x] }{x if w else 'w'}{x=}\"""", """f"{'x' + X}{ {X: W}[X] }{X if W else 'w'}{X=}\""""),
        ("f'{x:{w}.{r}f}{x.join(w)}{(x, 1)[0]:>3}'", "f'{X:{W}.{R}f}{X.join(W)}{(X, 1)[0]:>3}'"),
    ],
)
def test_rename_inside_f_strings(text: str, renamed: str) -> None:
    source = Source(f"def f(x, w, r):\n    return {text}\n")
    result = rename(source, function(source.tree, "f"), {"x": "X", "w": "W", "r": "R"})
    assert result == f"def f(X, W, R):\n    return {renamed}\n"


def test_body_hash_sees_through_names_and_layout_but_not_through_code() -> None:
    def digest(text: str) -> str:
        return body_hash(function(ast.parse(text), ast.parse(text).body[0].name))  # type: ignore[attr-defined]

    one = digest("def f(a: int) -> int:\n    '''Doc.'''\n    b = a + 1\n    return b\n")
    assert digest("def g(x):\n    y   =  x + 1\n\n    return y") == one
    assert digest("def g(x):\n    y = x - 1\n    return y") != one
    assert digest("def g(x):\n    y = x + 1\n    return x") != one


def test_local_names_in_order_of_appearance_with_nested_scopes() -> None:
    text = (
        "def f(b, a):\n    global g\n    g = [c for c in b]\n    try:\n        d = a\n    except ValueError as e:\n        pass\n"
    )
    assert local_names(function(ast.parse(text), "f")) == ["b", "a", "c", "d", "e"]


def test_walk_is_ast_walk_without_operators_and_contexts() -> None:
    tree = ast.parse(TEXT + "\nx = lambda y, *z, k=1: {**y} if not z and k < 1 else [k @ -k]\nwith a as b: del b[1:2]\n")
    skipped = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    assert walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, skipped)]


@given(st.text(max_size=30))
def test_source_parses_or_says_so(text: str) -> None:
    try:
        Source(text)
    except DataError:
        with pytest.raises((SyntaxError, ValueError)):
            ast.parse(text)
