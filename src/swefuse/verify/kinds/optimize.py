"""Make code faster: it still does the same, and executes fewer lines of Python for it, counted and not timed.

>>> slow = "def total(n):\\n    found = 0\\n    for i in range(n + 1):\\n        found += i\\n    return found\\n"
>>> quick = "def total(n):\\n    return n * (n + 1) // 2\\n"
>>> task = Task.make(
...     Kind.OPTIMIZE, instruction="Make `total` faster.", files={"m.py": slow}, reference={"m.py": quick}, editable=("m.py",),
...     suites=(suite("m.py:total", "(9,)", "45", fails=False),),
...     provenance=Provenance(source="example"),
... )
>>> judge(task, {}).reason
'it executes 23 lines, as before'
>>> judge(task, {"m.py": quick}).parts["lines"]
1.0
>>> judge(task, {"m.py": "def total(n):\\n    return sum(range(n + 1))\\n"}).outcome.value
'PASSED'
"""

from __future__ import annotations

import ast

from swefuse.records import Kind
from swefuse.verify.kinds.base import Found, Rules, Trial
from swefuse.verify.kinds.others import DYNAMIC, other_suites, strange_names
from swefuse.verify.measure import lines_run
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files

ENOUGH = 0.5
# where lines run that the counter does not see
_UNCOUNTED = frozenset(
    {"settrace", "setprofile", "gettrace", "_getframe", "f_trace", "f_trace_lines", "monitoring", "threading", "_thread"}
    | {"concurrent", "multiprocessing", "subprocess", "fork", "asyncio"}
)


def check(trial: Trial) -> Found:
    """Whether enough lines are saved, and all suites pass."""
    before = trial.remember("before", lambda: _lines(trial, trial.task.files))
    now = _lines(trial, trial.files) if trial.changed else before
    if before is None or now is None:
        return Found("the lines that it executes cannot be counted", share=0.0)
    parts = {"lines": float(now), "lines_before": float(before)}
    if now >= before:
        return Found(f"it executes {now} lines, {'as before' if now == before else f'before {before}'}", share=0.0, parts=parts)
    reference = trial.task.reference
    best = trial.remember("reference", lambda: _lines(trial, reference)) if reference else None
    share = min(1.0, (before - now) / (before - best)) if best is not None and best < before else 1.0
    if share < ENOUGH:
        return Found(
            f"it saves {share:.0%} of the lines that the reference saves; {ENOUGH:.0%} are needed", share=share, parts=parts
        )
    reason = strange_names(trial, DYNAMIC | _UNCOUNTED) or other_suites(trial)
    return Found(reason, share=0.0 if reason else share, parts=parts)


def _lines(trial: Trial, state: Files) -> int | None:
    """Lines run by the state as it would be laid out by a machine, so that writing more on one line gains nothing."""
    tests = set(protected_paths(trial.task))
    plain = {path: _laid_out(text) if path.endswith(".py") and path not in tests else text for path, text in state.items()}
    return lines_run(trial.sandbox, trial.task, trial.suite, plain, trial.limits)


def _laid_out(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text)) + "\n"
    except (SyntaxError, ValueError, RecursionError):
        return text


RULES = Rules(
    kind=Kind.OPTIMIZE,
    edits="the source of the project",
    protected="test files and what configures their runner",
    verified=(
        "every test passes, and they execute fewer lines of Python than before: at least half of what the reference saves. The "
        "number is the same in every run; work inside functions written in C is not seen"
    ),
    scored="share of tests that pass times the share of the reference's saving, at most 1",
    check=check,
)
