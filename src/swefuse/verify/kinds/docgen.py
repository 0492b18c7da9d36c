"""Write the docstring of a function: it names parameters, result and errors, and its examples are true.

>>> code = "def half(x):\\n    if x % 2:\\n        raise ValueError(x)\\n    return x // 2\\n"
>>> task = Task.make(
...     Kind.DOCGEN, instruction="Document `half`.", files={"m.py": code}, editable=("m.py",), suites=(),
...     goal={"function": "m.py:half"}, provenance=Provenance(source="example"),
... )
>>> good = "    '''Return half of x; ValueError if x is odd.\\n\\n    >>> half(6)\\n    3\\n    '''\\n"
>>> head, rest = code.split("\\n", 1)
>>> judge(task, {"m.py": f"{head}\\n{good}{rest}"}).outcome.value
'PASSED'
>>> judge(task, {"m.py": f"{head}\\n{good.replace('ValueError', 'an error')}{rest}"}).reason
'the docstring does not mention: error ValueError'
>>> judge(task, {"m.py": f"{head}\\n{good.replace(chr(51) + chr(10), '4' + chr(10))}{rest}"}).reason
'an example does not hold: half(6)'
"""

from __future__ import annotations

import ast
import doctest
import re
import secrets
from collections.abc import Sequence

from swefuse.code.functions import Function, definition, walk
from swefuse.errors import DataError
from swefuse.records import Kind, TestResult
from swefuse.sandbox.base import Job
from swefuse.sandbox.candidate import module_name
from swefuse.verify.kinds.base import Found, Rules, Trial, place, report
from swefuse.verify.tests import environment_of, is_cold

_TESTS = "test_swefuse_examples.py"
_MOST_EXAMPLES = 50
# what an example of ordinary use does not need, and one that deceives its runner does
_REFUSED = frozenset(
    {"exec", "eval", "compile", "open", "setattr", "delattr", "globals", "locals", "vars", "breakpoint", "exit", "quit", "input"}
)


def check(trial: Trial) -> Found:
    """Whether only docstrings changed, the function's covers what it must, and its examples hold."""
    path, name = place(trial.goal("function"))
    for one in trial.changed:
        if not one.endswith(".py") or one not in trial.files or one not in trial.task.files:
            return Found(f"{one}: only docstrings may change", share=0.0)
        if _code(trial.files[one]) != _code(trial.task.files[one]):
            return Found(f"the code of {one} was changed, not only docstrings", share=0.0)
    try:
        node = definition(ast.parse(trial.files[path]), name)
    except (DataError, KeyError, SyntaxError):
        return Found(f"{name} is no longer in {path}", share=0.0)
    text = ast.get_docstring(node) or ""
    wanted = _wanted(node)
    missing = [label for label, words in wanted.items() if not any(_says(text, word) for word in words)]
    examples, problem = _examples(text, name)
    share = (len(wanted) + 1 - len(missing) - bool(problem)) / (len(wanted) + 1)
    parts = {"covered": share, "examples": float(len(examples))}
    if not text:
        return Found(f"{name} has no docstring", share=0.0, parts=parts)
    tests: dict[str, TestResult] = {}
    if not problem:
        tests = _run(trial, path, examples)
        false = [id_ for id_, result in tests.items() if result.outcome != "passed"]
        problem = f"an example does not hold: {false[0]}" if false else ""
    if missing:
        return Found(f"the docstring does not mention: {', '.join(missing)}", share=share, parts=parts, tests=tests)
    return Found(problem, share=share if not problem else min(share, 0.5), parts=parts, tests=tests)


def _code(text: str) -> str:
    """A module's tree without docstrings. A text that does not parse is only equal to itself."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return ast.dump(tree)


def _wanted(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, tuple[str, ...]]:
    """What a docstring must mention, with the words that do."""
    spec = node.args
    names = [one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg)))]
    wanted: dict[str, tuple[str, ...]] = {f"parameter {one}": (one,) for one in names if one not in ("self", "cls")}
    inside = walk(node)
    if any(isinstance(one, ast.Return) and one.value is not None and not _is_none(one.value) for one in inside):
        wanted["what is returned"] = ("return", "returns", "returned")
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inside):
        wanted["what is yielded"] = ("yield", "yields", "yielded", "iterator", "generator")
    for one in inside:
        if isinstance(one, ast.Raise) and one.exc is not None:
            called = one.exc.func if isinstance(one.exc, ast.Call) else one.exc
            error = ast.unparse(called).rpartition(".")[2]
            if error[:1].isupper():
                wanted[f"error {error}"] = (error,)
    return wanted


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _says(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE if word.islower() else 0) is not None


def _examples(text: str, name: str) -> tuple[list[doctest.Example], str]:
    """The examples of a docstring, and what is wrong with them."""
    try:
        found = doctest.DocTestParser().get_examples(text)
        trees = [ast.parse(one.source) for one in found]
    except (ValueError, SyntaxError) as error:
        return [], f"an example does not parse: {error}"[:200]
    if len(found) > _MOST_EXAMPLES:
        return [], f"more than {_MOST_EXAMPLES} examples"
    for one, tree in zip(found, trees, strict=True):
        if one.options:
            return [], "doctest directives are not accepted"
        for node in ast.walk(tree):
            word = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if word in _REFUSED or (word.startswith("_") and word != "_") or isinstance(node, ast.Import | ast.ImportFrom):
                return [], f"an example must not need {ast.unparse(node)[:60]}"
    last = name.rpartition(".")[2]
    shown = [
        one for one, tree in zip(found, trees, strict=True)
        if one.want.strip() and any(isinstance(node, ast.Call) and _called(node) == last for node in ast.walk(tree))
    ]  # fmt: skip
    return found, "" if shown else f"no example calls {last} and shows what comes"


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _run(trial: Trial, path: str, examples: Sequence[doctest.Example]) -> dict[str, TestResult]:
    """Result of each example that has an answer, in their order, under its source.

    Each must hold, and must not hold with another answer: what passes then has deceived its runner. The code is not the
    candidate's, so that only examples could try.
    """
    ids = [(number, one.source.strip()) for number, one in enumerate(examples) if one.want.strip()]
    text = _RUNNER.format(
        module=module_name(path)[0], examples=[(one.source, one.want, one.exc_msg) for one in examples],
        tests="".join(f"\n\ndef test_{number}():\n    _check({number})\n" for number, _ in ids),
    )  # fmt: skip
    nonce = secrets.token_hex(16)
    job = Job(
        "pytest", {**trial.files, _TESTS: text}, tests=(_TESTS,), protected=(_TESTS,), nonce=nonce,
        environment=environment_of(trial.task), fresh_process=is_cold(trial.task),
        cpu_s=min(trial.limits.pytest_cpu_s, 5.0),
    )  # fmt: skip
    seen = report(trial.sandbox.run(job), nonce)
    return {
        source: TestResult(outcome="passed" if seen.results.get(f"{_TESTS}::test_{number}") == "passed" else "failed")
        for number, source in ids
    }


_RUNNER = """
import doctest
import importlib

_examples = {examples!r}


def _holds(at, change):
    scope = dict(vars(importlib.import_module({module!r})))
    rows = [doctest.Example(*one) for one in _examples[: at + 1]]
    if change:
        source, want, error = _examples[at]
        rows[at] = doctest.Example(source, want + "~\\n", error and error + "~")
    runner = doctest.DocTestRunner(verbose=False)
    failed = []
    runner.report_failure = lambda out, test, example, got: failed.append(example)
    runner.report_unexpected_exception = lambda out, test, example, info: failed.append(example)
    runner.run(doctest.DocTest(rows, scope, "example", None, 0, None), out=lambda text: None)
    return rows[at] not in failed


def _check(at):
    assert _holds(at, False)
    assert not _holds(at, True)
{tests}
"""

RULES = Rules(
    kind=Kind.DOCGEN,
    edits="docstrings",
    protected="the code: the syntax tree without docstrings must stay the same",
    verified=(
        "the docstring mentions every parameter, what is returned or yielded and every error class that is raised; it holds an "
        "example that calls the function and shows the answer; every example holds, and none holds with another answer"
    ),
    scored="share of what must be mentioned; at most a half while an example is false",
    goal={"function": "'path.py:name' of the function to document; 'path.py:Class.name' for a method"},
    check=check,
    alone=True,
)
