"""Docstrings that say nothing are found, whatever their examples; honest ones of every style and kind of function pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from textwrap import indent

import pytest

from swefuse.code.functions import definition
from swefuse.records import Kind, Outcome, Provenance, Task, Verdict
from swefuse.verify import Verifier
from swefuse.verify.tests import Limits

HALF = "def half(x):\n    if x % 2:\n        raise ValueError(x)\n    return x // 2\n"
PROSE = "Return half of x; ValueError if x is odd.\n\n"
UNSHOWN = "no example calls half and shows what comes"


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(cache=False, limits=Limits(pytest_cpu_s=5.0)) as made:
        yield made


def judged(verifier: Verifier, doc: str, code: str = HALF, name: str = "half", **others: str) -> Verdict:
    node = definition(ast.parse(code), name)
    at = node.body[0].lineno - 1
    lines = code.split("\n")
    written = indent(f'r"""{doc}\n"""', " " * node.body[0].col_offset)
    files = {"m.py": code} | {f"{key}.py".replace("__", "/", 1): text for key, text in others.items()}
    task = Task.make(
        Kind.DOCGEN, instruction="", files=files, editable=("m.py",), suites=(), goal={"function": f"m.py:{name}"},
        provenance=Provenance(source="test"),
    )  # fmt: skip
    return verifier.verify(task, {**files, "m.py": "\n".join([*lines[:at], written, *lines[at:]])})


@pytest.mark.parametrize(
    ("examples", "reason"),
    [
        (">>> 1 or half(0)\n1", UNSHOWN),
        (">>> (lambda: half(3)) is not None\nTrue", UNSHOWN),
        (">>> half(2) == half(2)\nTrue", UNSHOWN),
        (">>> half(2) is not None\nTrue", UNSHOWN),
        (">>> isinstance(half(2), int)\nTrue", UNSHOWN),
        (">>> half()\nTraceback (most recent call last):\nTypeError: half() missing 1 required positional argument: 'x'", UNSHOWN),
        (">>> class A:\n...     def other(self): return 7\n>>> A().other()\n7", UNSHOWN),
        (">>> half(2)", UNSHOWN),
        (">>> half(2)\n10\n>>> half(2)\n1", "an example does not hold: half(2)"),
        (">>> half(2)\n1\n>>> half = lambda n: n * 5\n>>> half(2)\n10", "an example must not give half another meaning"),
        (">>> half(2)\n1\n>>> def half(n): return 7\n>>> half(2)\n7", "an example must not give half another meaning"),
        (">>> half(2)\n1\n>>> from math import sqrt as half\n>>> half(4)\n2.0", "an example must not give half another meaning"),
        (">>> import m\n>>> m.half = abs\n>>> m.half(-2)\n2", "an example must not give half another meaning"),
        (">>> half(4)  # doctest: +ELLIPSIS\n...", UNSHOWN),
        (">>> half(4)  # doctest: +ELLIPSIS\n2...", "an answer that leaves out nearly all is none: half(4)"),
        (">>> half(4)  # doctest: +SKIP\n9", "doctest directives are not accepted"),
        (">>> import pathlib\n>>> pathlib.sys.argv\n[]", "an example must not need pathlib.sys"),
        (">>> from asyncio import sys\n>>> half(2)\n1", "an example must not need from asyncio import sys"),
        (">>> from operator import attrgetter\n>>> half(2)\n1", "an example must not need from operator import attrgetter"),
        (">>> getattr(half, '__globals__')\n1", "an example must not need getattr"),
        (">>> g = (g.gi_frame.f_back for _ in [1])\n>>> half(2)\n1", "an example must not need g.gi_frame"),
        (">>> import socket\n>>> half(2)\n1", "an example must not need import socket"),
    ],
)
def test_examples_that_show_nothing_or_deceive_are_refused(examples: str, reason: str, verifier: Verifier) -> None:
    verdict = judged(verifier, PROSE + examples)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.reason.startswith(reason) and verdict.score <= 0.75


@pytest.mark.parametrize(
    "prose",
    [
        "x return ValueError",
        "x, return, ValueError.",
        "x: y\nreturn: z\nValueError: w",
        "x return ValueError\nThis halves a number that is even.",
        "Halves a number that is even.\n\nx\n\nreturn\n\nValueError",
    ],
)
def test_words_without_a_sentence_mention_nothing(prose: str, verifier: Verifier) -> None:
    verdict = judged(verifier, f"{prose}\n\n>>> half(2)\n1")
    assert verdict.reason == "the docstring does not mention: parameter x, what is returned, error ValueError"


@pytest.mark.parametrize(
    "doc",
    [
        PROSE + ">>> half(8)\n4",
        PROSE + ">>> from m import half\n>>> half(2)\n1",
        PROSE + ">>> import m\n>>> m.half(2)\n1",
        PROSE + ">>> for n in (2, 4):\n...     print(half(n))\n1\n2",
        PROSE + ">>> try:\n...     half(3)\n... except ValueError as error:\n...     print(error)\n3",
        PROSE + ">>> half(3)\nTraceback (most recent call last):\nValueError: 3",
        PROSE + ">>> f'about {half(10)}'  # doctest: +ELLIPSIS\n'about 5...'",
        PROSE + ">>> half(2)  # doctest: +NORMALIZE_WHITESPACE\n1",
        "Return half of x.\n\n>>> half(3)\nTraceback (most recent call last):\nValueError: 3",
        "Half of the number x; ValueError if x is odd. The result is an int.\n\n>>> half(2)\n1",
        "Halve.\n\nArgs:\n    x: number\n\nReturns:\n    Half.\n\nRaises:\n    ValueError: if odd\n\n>>> half(2)\n1",
        "Halve.\n\nParameters\n-----\nx\n    even\n\nReturns\n-----\nint\n\nRaises\n-----\nValueError\n    odd\n\n>>> half(2)\n1",
        "Halve.\n\n:param x: number\n\n:returns: half\n\n:raises ValueError: if odd\n\n>>> half(2)\n1",
    ],
)
def test_honest_docstrings_of_every_style_pass(doc: str, verifier: Verifier) -> None:
    verdict = judged(verifier, doc)
    assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.PASSED, "", 1.0)


BOX = """import functools


class Box:
    def __init__(self, n):
        self.n = n
        self.kept = []

    @property
    def size(self):
        return self.n

    @functools.cached_property
    def twice(self):
        return 2 * self.n

    @staticmethod
    def sum(a, b):
        return a + b

    @classmethod
    def empty(cls):
        return cls(0)

    def __len__(self):
        return self.n

    def add(self, one):
        self.kept.append(one)
        return self

    def _next(self):
        return self.n + 1
"""


@pytest.mark.parametrize(
    ("name", "doc"),
    [
        ("__init__", "Keep n.\n\n>>> Box(3).n\n3"),
        ("size", "Return n.\n\n>>> Box(3).size\n3"),
        ("twice", "Return the double of n.\n\n>>> Box(3).twice\n6"),
        ("sum", "Return a and b added up.\n\n>>> Box.sum(1, 2)\n3"),
        ("empty", "Return a box of nothing.\n\n>>> Box.empty().n\n0"),
        ("__len__", "Return n.\n\n>>> len(Box(3))\n3"),
        ("add", "Keep one more thing and return the box.\n\n>>> box = Box(3)\n>>> _ = box.add(5)\n>>> box.kept\n[5]"),
        ("_next", "Return the next number.\n\n>>> Box(3)._next()\n4"),
    ],
)
def test_every_kind_of_method_can_be_shown(name: str, doc: str, verifier: Verifier) -> None:
    verdict = judged(verifier, doc, BOX, f"Box.{name}")
    assert (verdict.outcome, verdict.reason) == (Outcome.PASSED, "")
    prose = doc.partition(">>>")[0]
    verdict = judged(verifier, f"{prose}>>> Box(3).kept is None\nFalse", BOX, f"Box.{name}")
    assert verdict.outcome is (Outcome.PASSED if name == "__init__" else Outcome.FAILED)
    verdict = judged(verifier, f"{doc}\n>>> Box.{name} = 3\n>>> Box.{name}\n3", BOX, f"Box.{name}")
    assert verdict.reason == f"an example must not give Box.{name} another meaning"


@pytest.mark.parametrize(
    ("code", "name", "doc"),
    [
        ("def _half(x):\n    return x // 2\n", "_half", "Return half of x.\n\n>>> _half(2)\n1"),
        ("def push(items, x):\n    items.append(x)\n", "push", "Append x to items.\n\n>>> a = [1]\n>>> push(a, 2)\n>>> a\n[1, 2]"),
        ("def hello(to):\n    print('Hello', to)\n", "hello", "Greet to.\n\n>>> hello('you')\nHello you"),
        ("async def half(x):\n    return x // 2\n", "half", "Return half of x.\n\n>>> import asyncio\n>>> asyncio.run(half(4))\n2"),
        ("def up(n):\n    yield from range(n)\n", "up", "Yield numbers below n.\n\n>>> list(up(0))\n[]"),
        ("def get(d, k):\n    return d.get(k)\n", "get", "Return what d has for k.\n\n>>> get({}, 1) is None\nTrue"),
        ("def get(d):\n    return dict(d)\n", "get", "Return a copy of d.\n\n>>> 'a' in get({'a': 1})\nTrue"),
        (
            "NAMES = []\n\n\ndef put(x):\n    NAMES.append(x)\n    return len(NAMES)\n", "put",
            "Put x in and return how many there are.\n\n>>> _ = put('a')\n>>> NAMES\n['a']",
        ),
        ("def dec(x):\n    return x - 1\n", "dec", "Return x less one.\n\n>>> n = 5\n>>> while n:\n...     n = dec(n)\n>>> n\n0"),
        ("def even(n):\n    return not n or not even(n - 1)\n", "even", "Whether n is even, as a result.\n\n>>> even(3)\nFalse"),
        (
            "from functools import lru_cache\n\n\n@lru_cache\ndef half(x):\n    return x // 2\n", "half",
            "Return half of x.\n\n>>> half.cache_clear()\n>>> half(4)\n2",
        ),
        (
            "import re\n\n\ndef hits(pattern, text):\n    return len(pattern.findall(text))\n", "hits",
            "Return how many hits pattern has in text.\n\n>>> hits(re.compile('a'), 'aba')\n2",
        ),
        (
            "def year(day):\n    return day.year\n", "year",
            "Return the year of day.\n\n>>> from datetime import date\n>>> year(date(2024, 1, 2))\n2024",
        ),
        (
            "def make(x):\n    def inner():\n        if x < 0:\n            raise KeyError(x)\n        return x\n    print(x)\n"
            "    return inner\n", "make", "Return a function that gives x.\n\n>>> make(3)()\n3\n3",
        ),
        (
            "def each(items, do):\n    for one in items:\n        (lambda: (yield one))\n        do(one)\n", "each",
            "Call do with each of items.\n\n>>> each([1, 2], print)\n1\n2",
        ),
    ],
)  # fmt: skip
def test_every_kind_of_function_can_be_shown(code: str, name: str, doc: str, verifier: Verifier) -> None:
    verdict = judged(verifier, doc, code, name)
    assert (verdict.outcome, verdict.reason) == (Outcome.PASSED, "")


def test_a_function_that_does_nothing_shows(verifier: Verifier) -> None:
    code = "def push(items, x):\n    items.append(x)\n"
    verdict = judged(verifier, "Append x to items.\n\n>>> a = [1]\n>>> push(a, 2)\n>>> a[0]\n1", code, "push")
    assert verdict.reason == "no example calls push and shows what comes: they hold whatever it does"


def test_a_generator_must_be_read_to_show(verifier: Verifier) -> None:
    code = "def up(n):\n    yield from range(n)\n"
    verdict = judged(verifier, "Yield numbers below n.\n\n>>> up(3) is not None\nTrue", code, "up")
    assert verdict.reason == "no example calls up and shows what comes: they hold whatever it does"


def test_a_function_is_the_same_by_way_of_its_package(verifier: Verifier) -> None:
    doc = f"{PROSE}>>> from box import half\n>>> half(2)\n1"
    assert judged(verifier, doc, box____init__="from m import half\n").outcome is Outcome.FAILED
    doc = f"{PROSE}>>> import box\n>>> box.half(2)\n1"
    assert judged(verifier, doc, box____init__="from m import half\n").outcome is Outcome.PASSED
