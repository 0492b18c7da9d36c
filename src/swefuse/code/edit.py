"""One single edit of code and the kind of bug that it makes or mends."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from swefuse.records import Action


class Bug(StrEnum):
    """Kinds of bugs. The model writes the kind as its diagnosis; results are balanced over kinds and shown by kind."""

    COMPARISON = "comparison"
    ARITHMETIC = "arithmetic"
    BOUNDARY = "boundary"
    CONSTANT = "constant"
    VARIABLE = "variable"
    GUARD = "guard"
    STATEMENT = "statement"
    CONDITION = "condition"
    RETURN = "return"


class Edit(NamedTuple):
    """Replace ``old`` (its ``nth`` occurrence that starts on 1-based ``line``) by ``new``; an empty ``old`` inserts whole lines."""

    kind: Bug
    line: int
    nth: int
    old: str
    new: str

    def action(self, path: str) -> Action:
        """The edit as an agent's action on ``path``."""
        return Action(name="edit", path=path, line=self.line, nth=self.nth, old=self.old, new=self.new)
