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
from collections.abc import Iterator, Sequence

from swefuse.code.functions import Function, definition
from swefuse.errors import DataError
from swefuse.records import Kind, TestResult
from swefuse.verify.kinds.base import Found, Rules, Trial, place
from swefuse.verify.kinds.docgen_run import Bounds, examples_of, run, unshown

_RETURNED = ("return", "returns", "returned", "returning", "result", "results", "gives", "produces")
_YIELDED = ("yield", "yields", "yielded", "yielding", "iterator", "generator", "gives", "produces")


def check(trial: Trial) -> Found:
    """Whether only docstrings changed, the function's covers what it must, and its examples hold and say something about it."""
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
    missing = _missing(text, wanted)
    examples, problem = examples_of(text, Bounds.of(trial, path, name, node))
    tests: dict[str, TestResult] = {}
    false = ""
    if not problem:
        gives = "what is returned" in wanted or "what is yielded" in wanted
        tests, proven = run(trial, path, name, examples, gives)
        false = next((f"an example does not hold: {id_}" for id_, result in tests.items() if result.outcome != "passed"), "")
        if not false and not proven:
            problem = f"{unshown(name)}: they hold whatever it does"
    share = (len(wanted) + 1 - len(missing) - bool(problem)) / (len(wanted) + 1)
    parts = {"covered": share, "examples": float(len(examples))}
    if not text:
        return Found(f"{name} has no docstring", share=0.0, parts=parts)
    if missing:
        return Found(f"the docstring does not mention: {', '.join(missing)}", share=share, parts=parts, tests=tests)
    problem = problem or false
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
    inside = list(_own(node.body))
    if any(isinstance(one, ast.Return) and one.value is not None and not _is_none(one.value) for one in inside):
        wanted["what is returned"] = _RETURNED
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inside):
        wanted["what is yielded"] = _YIELDED
    for one in inside:
        if isinstance(one, ast.Raise) and one.exc is not None:
            called = one.exc.func if isinstance(one.exc, ast.Call) else one.exc
            error = ast.unparse(called).rpartition(".")[2]
            if error[:1].isupper():
                wanted[f"error {error}"] = (error,)
    return wanted


def _own(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """What runs when the function itself does: not what is inside functions and classes that it defines."""
    for node in nodes:
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            yield node
            yield from _own(list(ast.iter_child_nodes(node)))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _says(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE if word.islower() else 0) is not None


def _missing(text: str, wanted: dict[str, tuple[str, ...]]) -> list[str]:
    """What no sentence or entry says; nothing but wanted words says nothing, and an error may be shown by an example."""
    try:
        parts = doctest.DocTestParser().parse(text)
    except ValueError:
        parts = [text]
    shown = {one.exc_msg.partition(":")[0].strip().rpartition(".")[2] for one in parts if not isinstance(one, str) and one.exc_msg}
    listed = {word.lower() for words in wanted.values() for word in words}

    def tells(unit: str, entry: bool) -> bool:
        words = re.findall(r"\w+", unit.lower())
        others = sum(word not in listed and len(word) > entry for word in words)  # one letter describes nothing
        long = entry or others > 1 or len(words) > min(3, len(wanted))
        return long and others >= max(1, (len(words) - others) // 2)

    def bare(line: str) -> bool:
        words = set(re.findall(r"\w+", line.lower()))
        return len(wanted) > 1 and words <= listed and all(any(_says(line, word) for word in all_) for all_ in wanted.values())

    prose = "\n\n".join(one for one in parts if isinstance(one, str))
    prose = "\n".join(line for line in prose.split("\n") if not line.strip() or not bare(line))
    units = [unit for unit, entry in _units(prose) if tells(unit, entry)]
    return [
        label for label, words in wanted.items()
        if not any(_says(unit, word) for unit in units for word in words) and not (label.startswith("error ") and words[0] in shown)
    ]  # fmt: skip


_UNDERLINE = re.compile(r"\s*[-=~^]{3,}\s*$")
_LABEL = re.compile(r"\s*(?:[:@]\w|(?:[-*+]\s+)?[`*]*\w+[`*]*(?:\s*\([^()]*\))?\s*:(?:\s|$))")


def _units(prose: str) -> Iterator[tuple[str, bool]]:
    """Sentences, and entries such as ``x: a number`` or a heading with what stands below it, which are told by True."""
    for block in re.split(r"\n\s*\n", re.sub(r":[ \t]*\n\s*\n", ":\n", prose)):
        lines = block.split("\n")
        kept = [line.strip() for line in lines if not _UNDERLINE.match(line) and not _LABEL.match(line)]
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(kept)):
            yield sentence, False
        for at, line in enumerate(lines):
            below = lines[at + 1 :]
            if not (below and _UNDERLINE.match(below[0])):
                depth = len(line) - len(line.lstrip())
                deeper = [len(one) - len(one.lstrip()) > depth for one in below]
                below = below[: (*deeper, False).index(False)]
            if below or _LABEL.match(line):
                yield "\n".join((line, *below)), True


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
