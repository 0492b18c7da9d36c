"""Answer a question about code, whose answer was computed from that code: what a call gives, who calls a function, what is raised.

The answer is written as a literal into ``answer.py``; a function that works it out when it is asked does not count.

    >>> task = Task.make(
    ...     Kind.QA, instruction="What does `f(3)` in m.py return? Write it as a literal into answer.py.",
    ...     files={"m.py": "def f(x):\\n    return x * 2\\n", "answer.py": "def answer():\\n    return None\\n"},
    ...     editable=("answer.py",), protected=("m.py",), goal={"answer": "answer.py"},
    ...     suites=(suite("answer.py:answer", "()", "6", fails=True),),
    ...     provenance=Provenance(source="example"),
    ... )
    >>> judge(task, {"answer.py": "def answer():\\n    return 6\\n"}).outcome.value
    'PASSED'
    >>> judge(task, {"answer.py": "def answer():\\n    return 3 * 2\\n"}).reason
    'answer.py must hold one function without parameters that returns a literal, and nothing else'
"""

from __future__ import annotations

import ast

from swefuse.records import Kind
from swefuse.verify.kinds.base import Found, Rules, Trial

ANSWER = "answer.py"


def check(trial: Trial) -> Found:
    """Whether the answer is a literal."""
    path = trial.task.goal.get("answer", ANSWER)
    if any(one != path for one in trial.changed):
        return Found(f"only {path} may change", share=0.0)
    if _is_literal(trial.files.get(path, "")):
        return Found()
    return Found(f"{path} must hold one function without parameters that returns a literal, and nothing else", share=0.0)


def _is_literal(text: str) -> bool:
    try:
        body = ast.parse(text).body
        body = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
        if len(body) != 1 or not isinstance(body[0], ast.FunctionDef) or body[0].decorator_list:
            return False
        if ast.unparse(body[0].args) or body[0].returns or getattr(body[0], "type_params", []):  # code may hide in each
            return False
        statements = [one for one in body[0].body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
        if len(statements) != 1 or not isinstance(statements[0], ast.Return) or statements[0].value is None:
            return False
        ast.literal_eval(statements[0].value)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


RULES = Rules(
    kind=Kind.QA,
    edits="answer.py",
    protected="the code that the question is about",
    verified="the written literal equals what running or parsing the code gave when the task was made",
    scored="1 for the right answer, else 0",
    goal={"answer": "file of the answer; answer.py where it is not said"},
    check=check,
)
