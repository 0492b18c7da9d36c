"""Which solutions count as the same program, and how far others are apart."""

from __future__ import annotations

import pytest

from swefuse.collect.diversity import Diversity, diversity, normal
from swefuse.records import Kind, Provenance, Task

CODE = "def f(x):\n    return x\n"
TOLD = 'def f(x):\n    """{}"""\n    return x\n'


def task(kind: Kind) -> Task:
    return Task.make(
        kind, instruction="", files={"m.py": CODE, "a.txt": "a"}, editable=("m.py",), suites=(), provenance=Provenance(source="t")
    )


@pytest.mark.parametrize("kind", Kind)
def test_docstrings_are_another_program_only_where_they_are_the_work(kind: Kind) -> None:
    both = [{"m.py": TOLD.format("Gives x.")}, {"m.py": TOLD.format("What it got.")}]
    assert len({normal(task(kind), one) for one in both}) == (2 if kind is Kind.DOCGEN else 1)
    assert diversity(task(kind), both).distinct == (2 if kind is Kind.DOCGEN else 1)
    assert (diversity(task(kind), both).distance > 0) == (kind is Kind.DOCGEN)


@pytest.mark.parametrize("kind", Kind)
def test_layout_and_comments_never_are(kind: Kind) -> None:
    laid = TOLD.format("Gives x.").replace("(x)", "( x )").replace("return x", "return x  # it")
    assert normal(task(kind), {"m.py": TOLD.format("Gives x.")}) == normal(task(kind), {"m.py": laid})
    assert normal(task(kind), {"m.py": CODE}) == normal(task(kind), {})
    assert normal(task(kind), {"m.py": "def f(x):\n    return -x\n"}) != normal(task(kind), {"a.txt": "b"})
    assert diversity(task(kind), []) == Diversity(0, 0.0)
