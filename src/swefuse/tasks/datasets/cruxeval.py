"""CRUXEval: what does a call return? JSON lines ``{code, input, output, id}``; ``input`` is what stands in ``f(…)``.

The stated output is not believed: ``question`` gives a task that runs the call itself and passes if the statement is true.
"""

from __future__ import annotations

import ast

from swefuse.errors import DataError
from swefuse.records import Call, Kind, Suite, Task
from swefuse.tasks.datasets.common import LACKS, Row, origin
from swefuse.tasks.spec import MODULE
from swefuse.verify.judge import wanted

SOURCE = "cruxeval"
ANSWER_MODULE = "answer.py"
ENTRY = f"{ANSWER_MODULE}:answer"
_ASKING = "asking.py"
_CALL = "call"  # the parameter that holds the text of the call


def tasks(row: Row) -> list[Task]:
    """The task of a row: ``answer.py`` is to return the literal."""
    code, stated = row["code"].rstrip("\n") + "\n", row["output"].strip()
    call = f"f({row['input']})"
    tree = ast.parse(call, mode="eval").body
    if not isinstance(tree, ast.Call) or ast.unparse(tree.func) != "f":
        raise ValueError(f"{call!r} is not one call of f")
    lacks = {} if _literal(stated) else {LACKS: "its stated output is no literal"}
    files = {MODULE: code, ANSWER_MODULE: _answer("None")}
    words = (
        f"What does `{call}` in {MODULE} return? Write it as a literal in {ANSWER_MODULE}, as what `answer()` returns; "
        f"{MODULE} must stay as it is, and is not there when the answer is judged."
    )
    suite = Suite(form="calls", entry=ENTRY, calls=(Call(id="answer", args="()", want=stated),), fail_to_pass=("answer",))
    made = Task.make(
        Kind.QA, instruction=words, files=files, editable=(ANSWER_MODULE,), protected=(MODULE,),
        goal={"answer": ANSWER_MODULE}, suites=() if lacks else (suite,), reference={**files, ANSWER_MODULE: _answer(stated)},
        provenance=origin(SOURCE, row["id"], "MIT", code, "f", **{_CALL: call}, **lacks),
    )  # fmt: skip
    return [made]


def question(task: Task) -> Task | None:
    """A task whose initial state passes if the code of ``task`` really gives the stated output; None for those that ask nothing."""
    if task.provenance.source != SOURCE:
        return None
    module = MODULE.removesuffix(".py")  # a star, because some arguments are names of the module
    asking = f"from {module} import *\nfrom {module} import f\n\n\ndef ask():\n    return {task.provenance.parameters[_CALL]}\n"
    suite = task.suites[0].model_copy(update={"entry": f"{_ASKING}:ask"})
    return Task.make(
        Kind.BUGFIX, instruction="", files={MODULE: task.files[MODULE], _ASKING: asking}, editable=(), suites=(suite,),
        provenance=task.provenance,
    )  # fmt: skip


def _answer(literal: str) -> str:
    return f"def answer():\n    return {literal}\n"


def _literal(text: str) -> bool:
    try:
        wanted(text)
    except DataError:
        return False
    return "\n" not in text
