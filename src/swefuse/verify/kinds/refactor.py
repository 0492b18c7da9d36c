"""Make code simpler that works: it still does the same, and fewer ways lead through it.

>>> before = "def sign(x):\\n    if x > 0:\\n        if x != 0:\\n            return 1\\n    return 0\\n"
>>> task = Task.make(
...     Kind.REFACTOR, instruction="Simplify `sign`.", files={"m.py": before}, editable=("m.py",), goal={"function": "m.py:sign"},
...     suites=(suite("m.py:sign", "(5,)", "1", fails=False),),
...     provenance=Provenance(source="example"),
... )
>>> judge(task, {}).reason
'the complexity of sign is 3, as before'
>>> judge(task, {"m.py": "def sign(x):\\n    if x > 0:\\n        return 1\\n    return 0\\n"}).outcome.value
'PASSED'
"""

from __future__ import annotations

import ast

from swefuse.code.complexity import complexity, decisions
from swefuse.code.functions import definition
from swefuse.errors import DataError
from swefuse.records import Kind
from swefuse.verify.kinds.base import Found, Rules, Trial, place
from swefuse.verify.kinds.others import other_suites
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files


def check(trial: Trial) -> Found:
    """Whether the function takes the same arguments and is simpler, without more decisions elsewhere, and all suites pass."""
    path, name = place(trial.goal("function"))
    try:
        before, now = (definition(ast.parse(state[path]), name) for state in (trial.task.files, trial.files))
    except (DataError, KeyError, SyntaxError):
        return Found(f"{name} is no longer in {path}", share=0.0)
    if ast.unparse(before.args) != ast.unparse(now.args):
        return Found(f"{name} takes other arguments than before", share=0.0)
    was, is_ = complexity(before), complexity(now)
    parts = {"complexity": float(is_), "complexity_before": float(was)}
    if is_ >= was:
        return Found(f"the complexity of {name} is {is_}, {'as before' if is_ == was else f'before {was}'}", share=0.0, parts=parts)
    more = _decisions(trial, trial.files) - _decisions(trial, trial.task.files)
    if more > 0:
        return Found(f"{name} is simpler, but the files hold {more} more decisions than before", share=0.0, parts=parts)
    reason = other_suites(trial)
    return Found(reason, share=0.0 if reason else 1.0, parts=parts)


def _decisions(trial: Trial, state: Files) -> int:
    """Decisions in all that a candidate may write, so that none can be hidden in a helper."""
    paths = {*trial.changed, *trial.task.editable} - set(protected_paths(trial.task))
    return sum(decisions(ast.parse(state[path])) for path in paths if path.endswith(".py") and path in state)


RULES = Rules(
    kind=Kind.REFACTOR,
    edits="the source of the project",
    protected="test files, generated calls with the answers of the code as it was, and what configures the runner",
    verified=(
        "tests and generated calls pass as before; the function's cyclomatic complexity is lower, its parameters are the same, "
        "and no more decisions stand in the files together"
    ),
    scored="share of tests that pass; 0 while the function is not simpler",
    goal={"function": "'path.py:name' of the function that is to be simpler; 'path.py:Class.name' for a method"},
    check=check,
)
