from __future__ import annotations

import ast
import re
import textwrap
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swefuse.collect import actions
from swefuse.errors import DataError, PatchError
from swefuse.policy import syntax
from swefuse.policy.action_syntax import State, action_grammar, up_to
from swefuse.policy.insertion import body_check, body_grammar, body_of, can_become
from swefuse.records import Action
from swefuse.workspace import apply_edit

llguidance = pytest.importorskip("llguidance")


@cache
def start(grammar: str) -> Any:
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), llguidance.LLMatcher.grammar_from_lark(grammar))
    assert not matcher.is_error(), matcher.get_error()
    return matcher


def accepts(grammar: str, text: str) -> bool:
    matcher, data = start(grammar).deep_copy(), list(text.encode())
    return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()


PYTHON = syntax.python_grammar()

GOOD = {
    "empty": "",
    "comments only": "#!/usr/bin/env python\n\n   # more",
    "no line feed at the end": "x = 1",
    "names beyond ASCII": "größe = ñ1 + 変数\n",
    "numbers": "a = [1_000, 0xF_f, 0o17, 0b1_0, 1., .5, 1e-5, 1.5E+3J, 00, 3j, 1 .real, 1..real]\n",
    "strings": r"""x = 'a' "b" u'c' r'\d' '' "" 'it\'s' """ + '"""a\n"b" ""c\\"""" ' + "'''d'''\n",
    "bytes": r"""x = b'\xff' Rb"\\" B'' bR'''a"b''' """ + "\n",
    "f-strings": "x = f'{a}' rf'{b!r:>{w}}' F\"{d['k']:%Y-%m} {{}} {c=}\" f'{ {1: 2}[1] }' f'{a:{b}.{c}}' f'{x!s}\\n' f'{\"{\"}'\n",
    "triple f-string": 'x = f"""a {\n  b["c"]\n} "quoted" {d}"""\n',
    "backslash": "x = 1 + \\\n    2\nassert x, \\\n  'no'\n",
    "brackets": "x = f(\n  1,  # one\n\n# two\n      2,\n)[\n0\n]\n",
    "semicolons": "a = 1; b = 2;\n",
    "one-line blocks": "if x: return\nelse: pass\nwhile y: break; z\nclass A: x = 1\ndef f(): ...\n",
    "docstrings": 'def f():\n    """Doc.\n\n  odd\n    """\n\n    # note\n    return 1\n',
    "comment of any indentation": "def f():\n    a\n  # odd\n        # odd\n    b\n# end",
    "match": "match x, y:\n    case 1 | -2.5 | 1+2j: pass\n    case 'a' 'b', [*_, None]:\n        pass\n"
    "    case {'k': v, **rest} if v: pass\n    case A.B(x, y=C() as d) as e: pass\n    case (1): pass\n"
    "    case _:\n        pass\n",
    "match as a name": "match = case = 1\nmatch(x)\nmatch[1]: int\nmatch * a\nprint(match)\n",
    "decorators": "@a\n@b.c(1)[2]\n# why\n@(lambda f: f)\n@x if y else z\nclass A(B, metaclass=M, *c, **d):\n"
    "    @property\n    def f(self): pass\n",
    "async": "async def f():\n    async with a as b, c: pass\n    async for x, in y: await x\n    return [i async for i in g()]\n",
    "walrus": "if (n := f()) > 1: pass\nwhile c := g(): pass\nx[y:=1]\nf(z := 2)\n{w := 1}\n",
    "stars": "a, *b = *c, 1\nf(*a, **b, k=1)\n[*a, *b]\n{**a, 'x': 1}\nfor x in *a, *b: pass\nx[*y]\ndef f(*args: *Ts): pass\n",
    "hints": "x: int\nself.y: list[int] = []\nz: 'T' = yield\n"
    "def f(a: int = 1, /, *, b: str | None = None, **k: Any) -> tuple[int, ...]: ...\n",
    "lambda": "f = lambda: 0\ng = lambda *a, b=1, **k: (yield)\nh = lambda x, /, y: lambda z: x\n",
    "comprehensions": "[a for a, (b, *c) in d if e if not f for g in h]\n{k: v for k, v in x}\n(y for y in z)\nf(x for x in y)\n",
    "slices": "x[1:2, ::3, ...]\nx[:]\nx[-1:]\n",
    "scopes": "def f():\n    global a, b\n    nonlocal c\n    del a, b[0], (c.d, e)\n",
    "try": "try: pass\nexcept (A, B) as e: raise C from e\nexcept(D): raise\nexcept: pass\nelse: pass\nfinally:\n    pass\n",
    "except groups": "try:\n    pass\nexcept* A as e:\n    pass\nexcept *B: pass\n",
    "with": "with a, b as c, d() as (e, f): pass\nwith (a as b, c as d,): pass\nwith (a, b): pass\n"
    "with (yield): pass\nwith (a).b as c: pass\n",
    "imports": "import a.b as c, d\nfrom . import x\nfrom .. a import (b as c,\n  d,)\nfrom ...import y\n"
    "from a import *\nfrom .b import(c)\n",
    "operators": "x = a or not b and c is not d not in e<f!=g|h^i&j<<k>>l+m-n*o/p//q%r@s**-+~t\n"
    "x **= y; x //= 1; x @= z; x >>= 1\n",
    "tight keywords": "x = [1]if(y)else[2]\nz = a in(b)and'c'or-d is not(e)not in{f}\nfor(i)in(j): pass\nreturn-1\n",
    "ternary": "x = a if b else c if d else e\n",
    "yield": "x = yield\ny = yield a, b\nz = yield from(c)\nawait d\n",
    "type comment": "x = []  # type: list[int]\n",
    "form feed": "x = 1\n\f\ny = 2\n",
    "else of a loop": "for a in b:\n    if c:\n        d\n    elif e:\n        f\n    else:\n        g\nelse:\n    h\n"
    "while x:\n    y\nelse:\n    z\n",
}
BAD = {
    "keyword as a name": "class = 1\n",
    "keyword glued to a name": "x = a int\n",
    "two operands": "x = a b\n",
    "indented too deep": "if x:\n    a\n     b\n",
    "indented at the start of a block only": "x = 1\n    y = 2\n",
    "not indented": "if x:\ny\n",
    "no block": "def f():\n",
    "bracket not closed": "x = (1\n",
    "other bracket": "x = (1]\n",
    "string not closed": "x = 'a\n",
    "colon missing": "if x\n    y\n",
    "assignment to a sum": "a + b = 1\n",
    "empty field": "f'{}'\n",
    "field not closed": "f'{a'\n",
    "lone brace": "f'a}'\n",
    "try alone": "try:\n    a\nb\n",
    "else alone": "else:\n    a\n",
    "statement among cases": "match x:\n    y\n",
    "byte beyond ASCII": "b'ä'\n",
    "operator alone": "x = *\n",
    "dot at the end": "x.\n",
}


@pytest.mark.parametrize("name", GOOD)
def test_python_is_accepted(name: str) -> None:
    assert syntax.problem_of(GOOD[name]) == "", "the case itself is to be Python"
    assert accepts(PYTHON, GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_python_is_refused(name: str) -> None:
    assert syntax.problem_of(BAD[name]), "the case itself is not to be Python"
    assert not accepts(PYTHON, BAD[name])


def test_files_are_indented_as_they_are() -> None:
    tabs = "if x:\n\tif y:\n\t\tz\n\tw\n"
    assert syntax.indent_of(tabs) == "\t" and accepts(syntax.python_grammar("\t"), tabs) and not accepts(PYTHON, tabs)
    two = "if x:\n  if y:\n    z\n"
    assert syntax.indent_of(two) == "  " and accepts(syntax.python_grammar("  "), two) and not accepts(PYTHON, two)
    assert syntax.indent_of("x = 1\n") == syntax.indent_of("(") == "    "


def test_levels_and_starts() -> None:
    def nested(depth: int) -> str:
        return "".join("    " * n + "if x:\n" for n in range(depth)) + "    " * depth + "y\n"

    assert accepts(syntax.python_grammar(levels=3), nested(3)) and not accepts(syntax.python_grammar(levels=3), nested(4))
    assert accepts(PYTHON, nested(syntax.LEVELS))
    block = syntax.python_grammar(start="block", base_level=2)
    assert accepts(block, "        x = 1\n        if y: pass") and not accepts(block, "    x = 1\n") and not accepts(block, "")
    rest = syntax.python_grammar(start="statements", base_level=1)
    assert accepts(rest, "x = 1\n    y = 2\n") and not accepts(rest, "    x = 1\n") and not accepts(rest, "x = 1\ny = 2\n")
    for wrong in ({"start": "word"}, {"base_level": 13, "start": "block"}, {"indent": "x"}, {"base_level": 1}):
        with pytest.raises(DataError):
            syntax.python_grammar(**wrong)  # type: ignore[arg-type]


def test_as_written_changes_the_indentation_that_is_irregular_and_no_more() -> None:
    regular = "def f():\n    x = '''\n  a\n'''  \n    # c\n    return (1,\n  2)\n"
    assert syntax.as_written(regular) == regular
    assert syntax.as_written("\ufeffif x:\r\n  y\r\n  if z:\r\n       w\r\n") == "if x:\n  y\n  if z:\n    w\n"
    assert syntax.as_written("if x:\ny\n") is None


names = st.sampled_from(["a", "b1", "_c", "größe", "match", "in_", "not_a", "f", "rb"])


def expressions(inner: st.SearchStrategy[ast.expr]) -> st.SearchStrategy[ast.expr]:
    load = ast.Load()
    comprehension = st.builds(
        lambda name, it, test: ast.comprehension(ast.Name(name, ast.Store()), it, [test], 0), names, inner, inner
    )
    return st.one_of(
        st.builds(ast.BinOp, inner, st.sampled_from([ast.Add(), ast.Pow(), ast.MatMult(), ast.FloorDiv(), ast.RShift()]), inner),
        st.builds(ast.BoolOp, st.sampled_from([ast.And(), ast.Or()]), st.lists(inner, min_size=2, max_size=3)),
        st.builds(ast.UnaryOp, st.sampled_from([ast.Not(), ast.USub(), ast.Invert()]), inner),
        st.builds(
            lambda a, op, b: ast.Compare(a, [op], [b]),
            inner,
            st.sampled_from([ast.In(), ast.NotIn(), ast.IsNot(), ast.Lt()]),
            inner,
        ),
        st.builds(ast.IfExp, inner, inner, inner),
        st.builds(
            lambda f, args, name, value: ast.Call(f, [*args], [ast.keyword(name, value)]),
            inner,
            st.lists(inner, max_size=2),
            names,
            inner,
        ),
        st.builds(lambda value, attr: ast.Attribute(value, attr, load), inner, names),
        st.builds(lambda value, a, b: ast.Subscript(value, ast.Slice(a, b), load), inner, inner, inner),
        st.builds(lambda items: ast.Tuple(items, load), st.lists(inner, max_size=3)),
        st.builds(lambda items: ast.List([ast.Starred(item, load) for item in items], load), st.lists(inner, max_size=2)),
        st.builds(lambda k, v: ast.Dict([k, None], [v, v]), inner, inner),
        st.builds(lambda e, c: ast.GeneratorExp(e, [c, c]), inner, comprehension),
        st.builds(lambda k, v, c: ast.DictComp(k, v, [c]), inner, inner, comprehension),
        st.builds(lambda name, body: ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body), names, inner),
        st.builds(lambda name, value: ast.NamedExpr(ast.Name(name, ast.Store()), value), names, inner),
        st.builds(ast.Await, inner),
    )


atoms: st.SearchStrategy[ast.expr] = st.one_of(
    names.map(lambda name: ast.Name(name, ast.Load())),
    st.one_of(
        st.integers(0), st.floats(0, allow_nan=False, allow_infinity=False), st.text(), st.binary(), st.none(), st.just(...)
    ).map(ast.Constant),
)
exprs = st.recursive(atoms, expressions, max_leaves=8)


def statements(inner: st.SearchStrategy[ast.stmt]) -> st.SearchStrategy[ast.stmt]:
    body = st.lists(inner, min_size=1, max_size=3)
    nothing = ast.arguments([], [], None, [], [], None, [])
    handler = st.builds(lambda kind, name, does: ast.ExceptHandler(kind, name, does), exprs, names, body)
    return st.one_of(
        st.builds(ast.If, exprs, body, st.lists(inner, max_size=2)),
        st.builds(ast.While, exprs, body, st.lists(inner, max_size=2)),
        st.builds(lambda name, it, does: ast.For(ast.Name(name, ast.Store()), it, does, []), names, exprs, body),
        st.builds(
            lambda does, handlers, last: ast.Try(does, handlers, [], last), body, st.lists(handler, min_size=1, max_size=2), body
        ),
        st.builds(lambda value, does: ast.With([ast.withitem(value, None)], does), exprs, body),
        st.builds(
            lambda name, does, marks: ast.FunctionDef(name, nothing, does, marks, None), names, body, st.lists(exprs, max_size=1)
        ),
        st.builds(lambda name, bases, does: ast.ClassDef(name, bases, [], does, []), names, st.lists(exprs, max_size=2), body),
        st.builds(lambda value, does: ast.Match(value, [ast.match_case(ast.MatchAs(None, None), value, does)]), exprs, body),
    )


simple: st.SearchStrategy[ast.stmt] = st.one_of(
    exprs.map(ast.Expr),
    st.builds(lambda name, value: ast.Assign([ast.Name(name, ast.Store())], value), names, exprs),
    st.builds(lambda name, note, value: ast.AnnAssign(ast.Name(name, ast.Store()), note, value, 1), names, exprs, exprs),
    st.builds(ast.Return, exprs),
    st.builds(ast.Assert, exprs, exprs),
    st.just(ast.Pass()),
    st.builds(ast.Raise, exprs, exprs),
)
trees = st.lists(st.recursive(simple, statements, max_leaves=5), max_size=3)


@settings(max_examples=150, deadline=None)
@given(trees)
def test_every_tree_that_unparses_to_python_is_accepted(body: list[ast.stmt]) -> None:
    module = ast.fix_missing_locations(ast.Module(body, []))
    text = ast.unparse(module)
    if not syntax.problem_of(text):  # unparse leaves a few trees without their brackets
        assert accepts(PYTHON, text + "\n"), text


PREFIX = 'from a import b\n\n\ndef f(x: int) -> int:\n    """Doc.\n\n    >>> f(1)\n    """\n'


@pytest.mark.parametrize(
    ("prefix", "suffix", "good", "bad"),
    [
        (
            PREFIX,
            "",
            ["    return x\n", "    if x:\n        return 1\n\n    return 2", "\n    # c\n    return x\n"],
            ["", "return x\n", "     return x\n", "    return x\ndef g(): pass\n", "    return (\n"],
        ),
        ("def f(x):", "", ["\n    return x"], [" return", "    return x", "\nreturn x"]),
        ("def f(x):\n    ", "", ["return x\n", "\n    return x\n"], ["    return x", " return x"]),
        (
            "def f(x):\n    if x:\n        a()\n",
            "",
            ["        b()\n    elif y: c()\n    return\n", "    return\n", "    else:\n        b()\n"],
            ["return\n", "    except A: pass\n"],
        ),
        (
            "try:\n  if x:\n    a()\n",
            "except E:\n  pass\n",
            ["    b()\n  c()\n", "  else:\n    c()\n"],
            ["  b()", "b()\n", "finally: c()\n"],
        ),
        ("try:\n    a()\n", "", ["    b()\nexcept E: pass\nc()\n", "finally:\n    b()\n"], ["    b()\n", "b()\n"]),
        ("match x:\n", "", ["    case 1: pass\n    case _:\n        y\nz = 1\n"], ["    y\n"]),
        (
            "class A:\n\tdef f(self):\n\t\tpass\n",
            "\n\tdef g(self): pass\n",
            ["\t\ty = 1\n\t\tif y:\n\t\t\tpass"],
            ["x = 1\n", "\tx = 1\n"],
        ),
        ("x = 1\n", "y = 2\n", ["z = 3\n", "if x:\n    z\n"], ["z = 3", "    z = 3\n"]),
    ],
)
def test_text_is_written_into_the_middle(prefix: str, suffix: str, good: list[str], bad: list[str]) -> None:
    grammar = body_grammar(prefix, suffix)
    for text in good:
        assert not syntax.problem_of(prefix + text + suffix)
        assert accepts(grammar, text), text
    for text in bad:
        assert not accepts(grammar, text), text


@pytest.mark.parametrize(
    ("prefix", "suffix"), [("x = (1,\n", ""), ("x = '''a\n", ""), ("x = 1\n", "    y\n"), ("if x:\n    y\n       ", "")]
)
def test_places_without_a_statement_are_refused(prefix: str, suffix: str) -> None:
    with pytest.raises(DataError):
        body_grammar(prefix, suffix)


def test_blocks_are_closed_down_to_the_lowest_level_that_is_asked_for() -> None:
    prefix = "class A:\n  def f(self):\n    if self:\n      pass\n"
    grammar = body_grammar(prefix, "\nx = 1\n", 0)
    assert accepts(grammar, "    else: pass\n  def g(self): pass\nclass B: pass\n") and accepts(grammar, "y = 2\n")
    fresh = body_grammar("def f():\n  if x:\n", "", 0)
    assert accepts(fresh, "    y\n  else: z\n") and not any(accepts(fresh, text) for text in ("  y\n", "y\n", "  else: z\n"))
    held = body_grammar(prefix, "\n  def g(self): pass\n", 0)
    assert accepts(held, "  y = 2\n") and not accepts(held, "y = 2\n")
    assert accepts(body_grammar("def f():", "\ndef g():\n\tpass\n"), "\n\treturn 1\n")


SOURCE = textwrap.dedent('''\
    import os


    def clamp(x, low, high):
        """Keep x.

        Between.
        """
        if x < low:
            return low
        elif x > high:
            return x
        # why
        return x + x


    @mark
    class A:
        pass
    ''')
STATE = State({"a.py": SOURCE, "t.py": "x = 1\n", "n.md": "one\n\ntwo"}, ("a.py", "b.py", "n.md"))
ACTIONS = {
    "bare": "@test\n",
    "thought": "#because\n#\n@submit\n",
    "view": "@view t.py\n",
    "search": "@search def x\n",
    "run": "@run ls\n",
    "part of a line": "@edit a.py:9\n-x < low\n+x <= low\n",
    "second occurrence": "@edit a.py:14*2\n-x\n+1\n",
    "a line of a function's head": "@edit a.py:4\n-(x, low, high)\n+(x, low=0, high=1)\n",
    "a line with its indentation": "@edit a.py:9\n-    if x < low:\n+    if x <= low:\n",
    "a statement": "@edit a.py:10\n-        return low\n+        return max(\n+            low, x)\n",
    "a statement with its block": "@edit a.py:9\n-    if x < low:\n-        return low\n-    elif x > high:\n-        return x\n"
    "+    x = 1\n",
    "deletion": "@edit a.py:14\n-    return x + x\n",
    "insertion": "@edit a.py:14\n+    for i in x:\n+        y = i\n+\n",
    "insertion before a decorator": "@edit a.py:17\n+x = '''a\n+'''\n",
    "insertion at the end": "@edit a.py:20\n+    y = 1\n",
    "new file": "@create b.py\n+import os\n+\n+\n+def f():\n+    return 1\n+\n",
    "new empty file": "@create b.py\n+\n",
    "no Python": "@edit n.md:1\n-one\n+One: (\n+more\n",
    "no Python, insertion": "@edit n.md:4\n+end\n",
}
NO_ACTIONS = {
    "empty thought": "#\n@test\n",
    "no file": "@view c.py\n",
    "nothing": "",
    "two": "@test\n@test\n",
    "no line feed": "@test",
    "not editable": "@edit t.py:1\n-1\n+2\n",
    "create what exists": "@create a.py\n+x\n",
    "create elsewhere": "@create c.py\n+x\n",
    "half a name": "@edit a.py:9\n-x < lo\n+x\n",
    "another line": "@edit a.py:10\n-x < low\n+x\n",
    "no third occurrence": "@edit a.py:14*3\n-x\n+1\n",
    "beyond the file": "@edit a.py:21\n+x\n",
    "bracket not balanced in the old": "@edit a.py:4\n-(x\n+(y\n",
    "bracket not balanced in the new": "@edit a.py:9\n-low\n+f(low\n",
    "string not closed": "@edit a.py:9\n-low\n+'low\n",
    "the only statement of a block": "@edit a.py:10\n-        return low\n",
    "head at another level": "@edit a.py:9\n-    if x < low:\n+if x:\n",
    "wrong level": "@edit a.py:9\n+        y = 1\n",
    "under a decorator": "@edit a.py:18\n+x = 1\n",
    "before elif": "@edit a.py:11\n+    x = 1\n",
    "not Python": "@create b.py\n+def\n",
    "not a whole line": "@edit n.md:1\n-on\n+x\n",
    "empty new text": "@edit n.md:1\n-one\n+\n",
}


@pytest.mark.parametrize("name", ACTIONS)
def test_actions_that_apply_are_accepted(name: str) -> None:
    assert accepts(action_grammar(STATE), ACTIONS[name])
    action = actions.parse(ACTIONS[name])[1]
    if action.name in ("edit", "create"):
        changed = apply_edit(STATE.files, action)[action.path]
        assert not action.path.endswith(".py") or not syntax.problem_of(changed)


@pytest.mark.parametrize("name", NO_ACTIONS)
def test_other_messages_are_refused(name: str) -> None:
    assert not accepts(action_grammar(STATE), NO_ACTIONS[name])


def test_only_open_actions_are_offered() -> None:
    grammar = action_grammar(State(STATE.files, ("a.py", "b.py"), ("edit", "test")))
    assert accepts(grammar, "@test\n") and accepts(grammar, "@edit a.py:14*2\n-x\n+1\n")
    assert not any(accepts(grammar, text) for text in ("@submit\n", "@view a.py\n", "@search x\n", "@create b.py\n+x\n"))
    with pytest.raises(DataError, match="did you mean 'test'"):
        action_grammar(State({}, (), ("tests",)))
    with pytest.raises(DataError, match="no action is open"):
        action_grammar(State({}, (), ("view", "edit")))


def test_files_may_be_indented_in_several_ways_hold_odd_characters_and_not_parse() -> None:
    files = {
        "tab.py": "if x:\n\ty = '\x0b\\d\"'\n",
        "two.py": "if x:\n  y\n",
        "broken.py": "if x\n",
        "crlf.py": "x = 1\r\n",
        "empty.py": "",
    }
    grammar = action_grammar(State(files, tuple(files)))
    assert accepts(grammar, "@edit tab.py:3\n+\ty = 2\n") and not accepts(grammar, "@edit tab.py:3\n+    y = 2\n")
    assert accepts(grammar, "@edit two.py:3\n+  y = 2\n") and accepts(grammar, "@edit tab.py:2\n-'\x0b\\d\"'\n+0\n")
    assert accepts(grammar, "@edit broken.py:1\n-if x\n+if x: pass\n") and accepts(grammar, "@edit crlf.py:1\n-x = 1\r\n+x = 2\n")
    assert accepts(grammar, "@edit empty.py:1\n+x = 1\n")


def test_brackets_of_other_lines_end_a_run() -> None:
    grammar = action_grammar(State({"a.py": "x = f(\n    a, b) + c\n"}, ("a.py",)))
    assert accepts(grammar, "@edit a.py:2\n-a, b\n+d\n") and accepts(grammar, "@edit a.py:2\n-+ c\n+- c\n")
    assert not accepts(grammar, "@edit a.py:2\n-b) + c\n+d\n") and not accepts(grammar, "@edit a.py:1\n-f(\n+g\n")


def test_nth_names_the_run_that_it_counts() -> None:
    grammar = action_grammar(State({"a.py": "aa = a + aaa + a\n"}, ("a.py",)))
    open_numbers = [nth for nth in range(2, 12) if accepts(grammar, f"@edit a.py:1*{nth}\n-a\n+b\n")]
    assert open_numbers == [3, 7]  # those within longer names are no runs
    with pytest.raises(PatchError):
        apply_edit({"a.py": "aa = a + aaa + a\n"}, Action(name="edit", path="a.py", line=1, nth=8, old="a", new="b"))


def test_problems_name_the_line_and_the_good_beginning_ends_with_a_statement() -> None:
    assert syntax.problem_of("x = 1\n") == ""
    assert syntax.problem_of("x = 1\ny = (\n").startswith("line 2: ")
    assert "null" in syntax.problem_of("\0")
    text = "def f():\n    x = 1\n    y = [\n        1,\n"
    assert text[: syntax.last_good(text)] == "def f():\n    x = 1\n"
    assert syntax.last_good("x = 1\ny = 2") == 11 and syntax.last_good("x = (") == 0 and syntax.last_good("") == 0


@given(st.integers(1, 10**6), st.integers(0, 2 * 10**6))
def test_a_range_of_numbers_is_exact(most: int, number: int) -> None:
    assert bool(re.fullmatch(up_to(most), str(number))) == (1 <= number <= most)
    assert not re.fullmatch(up_to(most), f"0{number}")


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("    if x:\n", True),
        ("    try:\n        x()\n", True),
        ("    x = (1,\n", True),
        ('    x = """a\n', True),
        ("    for i in x:\n        pass\n", True),
        ("    y = 1\n    f(a=1, 2)\n", False),
        ("    y = 1\n    return = 3\n", False),
        ("    y = 1\n    f() = 1\n", False),
    ],
)
def test_what_cannot_become_python_is_taken_back_to_the_last_good_statement(text: str, stands: int) -> None:
    prefix = "def f(x):\n"
    assert body_check(prefix)(text) == (len(text) if stands else len("    y = 1\n"))
    assert can_become(prefix + text) == bool(stands)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("    return x\n", "    return x\n"),
        ("    y = 1\n    retu", "    y = 1\n    retu"),
        ("    y = 1\n    if x", "    y = 1\n"),
        ("    y = (1", "    pass\n"),
        ("", "    pass\n"),
    ],
)
def test_a_body_that_was_cut_keeps_what_parses(text: str, body: str) -> None:
    prefix = "def f(x):\n"
    assert body_of(prefix, text) == body and syntax.problem_of(prefix + body_of(prefix, text)) == ""
    assert body_of("def f(x):", f"\n{text}").strip() == body.strip()
