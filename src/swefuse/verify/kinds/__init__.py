"""The eight kinds of tasks, one file each: what may be edited, how it is verified and how it is scored, with a worked example."""

from __future__ import annotations

from swefuse.records import Kind
from swefuse.verify.kinds import bugfix, complete, docgen, optimize, qa, refactor, testgen, vulnfix
from swefuse.verify.kinds.base import Found, Rules, Trial

RULES: dict[Kind, Rules] = {
    one.kind: one
    for one in (
        bugfix.RULES, vulnfix.RULES, complete.RULES, testgen.RULES, docgen.RULES, refactor.RULES, optimize.RULES, qa.RULES,
    )
}  # fmt: skip

__all__ = ["RULES", "Found", "Rules", "Trial"]
