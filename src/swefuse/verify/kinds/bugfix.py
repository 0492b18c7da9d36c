"""Repair a bug that tests show.

>>> task = Task.make(
...     Kind.BUGFIX, instruction="A test of `double` fails. Repair it.",
...     files={"m.py": "def double(x):\\n    return x + 2\\n"}, editable=("m.py",),
...     suites=(suite("m.py:double", "(3,)", "6", fails=True),),
...     provenance=Provenance(source="example"),
... )
>>> judge(task, {}).reason
'nothing was changed'
>>> judge(task, {"m.py": "def double(x):\\n    return x * 2\\n"}).outcome.value
'PASSED'
"""

from __future__ import annotations

from swefuse.records import Kind
from swefuse.verify.kinds.base import Rules

RULES = Rules(
    kind=Kind.BUGFIX,
    edits="the source of the project",
    protected="test files and what configures their runner",
    verified="every fail-to-pass and every pass-to-pass test passes",
    scored="share of tests that pass; 1 only if all do",
)
