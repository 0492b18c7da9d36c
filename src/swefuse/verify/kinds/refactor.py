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
import copy

from swefuse.code.complexity import complexity, decisions
from swefuse.code.functions import definition
from swefuse.errors import DataError
from swefuse.records import Kind
from swefuse.verify.kinds.base import Found, Rules, Trial, place
from swefuse.verify.kinds.others import DYNAMIC, other_suites, strange_names
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files

ENOUGH = 0.5


def check(trial: Trial) -> Found:
    """Whether the function takes the same arguments and is simpler, without more decisions elsewhere, and all suites pass."""
    path, name = place(trial.goal("function"))
    try:
        before, now = (definition(ast.parse(state[path]), name) for state in (trial.task.files, trial.files))
    except (DataError, KeyError, SyntaxError):
        return Found(f"{name} is no longer in {path}", share=0.0)
    if _parameters(before) != _parameters(now):
        return Found(f"{name} takes other arguments than before", share=0.0)
    was, is_ = complexity(before), complexity(now)
    parts = {"complexity": float(is_), "complexity_before": float(was)}
    if is_ >= was:
        return Found(f"the complexity of {name} is {is_}, {'as before' if is_ == was else f'before {was}'}", share=0.0, parts=parts)
    total = _decisions(trial, trial.task.files)
    saved, reference = total - _decisions(trial, trial.files), trial.task.reference
    best = total - _decisions(trial, reference) if reference else 1
    if saved < max(1, best * ENOUGH):
        words = (
            f"the files together hold {abs(saved)} {'fewer' if saved > 0 else 'more'} decisions" if saved else "no decision is gone"
        )
        return Found(f"{name} is simpler, but {words}; the reference saves {best}", share=0.0, parts=parts)
    reason = strange_names(trial, DYNAMIC) or other_suites(trial)
    return Found(reason, share=0.0 if reason else 1.0, parts=parts)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The parameters with their defaults; annotations may come and go."""
    bare = copy.deepcopy(node.args)
    for one in ast.walk(bare):
        if isinstance(one, ast.arg):
            one.annotation = None
    return ast.unparse(bare)


def _decisions(trial: Trial, state: Files) -> int:
    """Decisions in all that a candidate may write, so that none can be hidden in a helper."""
    paths = {*trial.changed, *trial.task.editable} - set(protected_paths(trial.task))
    return sum(decisions(ast.parse(state[path])) for path in paths if path.endswith(".py") and path in state)


RULES = Rules(
    kind=Kind.REFACTOR,
    edits="the source of the project",
    protected="test files, generated calls with the answers of the code as it was, and what configures the runner",
    verified=(
        "tests and generated calls pass as before; the function's cyclomatic complexity is lower and its parameters are the same; "
        "the files together hold fewer decisions, at least by half of what the reference saves"
    ),
    scored="share of tests that pass; 0 while the function is not simpler",
    goal={"function": "'path.py:name' of the function that is to be simpler; 'path.py:Class.name' for a method"},
    check=check,
)
