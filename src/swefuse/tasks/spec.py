"""A function that tasks can be made from, whatever its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from swefuse.records import Call

Family = Literal["corpus", "composed", "real", "text"]
MODULE = "solution.py"
TEST_MODULE = "test_solution.py"


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """One function as text. Nothing of it has run when a source hands it out.

    ``text`` is a module with the function and whatever it needs. ``arguments``: texts of argument tuples known to be good (empty
    for ``real``, whose arguments are recorded from ``tests``, and for ``text``, which is only read). ``tests`` is the source's own
    check, ``""`` where it has none. ``split`` and ``calls`` are filled on the way: where the function belongs, and what it answers.
    """

    family: Family
    topic: str
    name: str
    text: str
    body_hash: str
    licence: str
    arguments: tuple[str, ...] = ()
    tests: str = ""
    split: str = ""
    calls: tuple[Call, ...] = ()

    @property
    def key(self) -> str:
        """Unique among the functions of one run, and stable: seeds of random choices are made of it."""
        return f"{self.family}/{self.topic}/{self.name}"
