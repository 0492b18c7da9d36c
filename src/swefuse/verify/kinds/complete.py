"""Write what is missing: the body of a function or class whose docstring and tests say what it does.

>>> body = "raise " + "NotImplemented" + "Error"
>>> task = Task.make(
...     Kind.COMPLETE, instruction="Write the body of `double`.",
...     files={"m.py": f'def double(x):\\n    \"\"\"Twice x.\"\"\"\\n    {body}\\n'}, editable=("m.py",),
...     suites=(suite("m.py:double", "(3,)", "6", fails=True),),
...     provenance=Provenance(source="example"),
... )
>>> judge(task, {"m.py": "def double(x):\\n    return x * 2\\n"}).outcome.value
'PASSED'
"""

from __future__ import annotations

from swefuse.records import Kind
from swefuse.verify.kinds.base import Rules

RULES = Rules(
    kind=Kind.COMPLETE,
    edits="the module with the gap",
    protected="test files and what configures their runner",
    verified="every test passes, those that fail while the body is missing among them",
    scored="share of tests that pass; 1 only if all do",
)
