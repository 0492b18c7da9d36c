"""Write tests for code that is right: they pass on it, and small bugs put into it make them fail.

>>> code = "def limit(x):\\n    if x > 9:\\n        return 9\\n    return x\\n"
>>> task = Task.make(
...     Kind.TESTGEN, instruction="Write tests for `limit` into test_m.py.", files={"m.py": code, "test_m.py": ""},
...     editable=("test_m.py",), protected=("m.py",), suites=(), goal={"module": "m.py", "tests": "test_m.py"},
...     provenance=Provenance(source="example"),
... )
>>> head = "from m import limit\\n\\n\\ndef test():\\n"
>>> judge(task, {"test_m.py": head + "    assert [limit(n) for n in (0, 8, 9, 10, 11)] == [0, 8, 9, 9, 9]\\n"}).outcome.value
'PASSED'
>>> judge(task, {"test_m.py": head + "    assert limit(1) == 1\\n"}).outcome.value
'FAILED'
>>> judge(task, {"test_m.py": head + "    assert limit(1) == 2\\n"}).score
0.0
>>> cheat = "def test():\\n    assert hash(open('m.py').read()) == hash(" + repr(code) + ")\\n"
>>> judge(task, {"test_m.py": cheat}).reason
'these tests look at how the code is spelled, not at what it does: a copy of the code'
"""

from __future__ import annotations

import ast
import random
import re
import secrets
from pathlib import PurePosixPath

from swefuse.code.duplicates import SIMILAR, similarity
from swefuse.code.functions import Function, Source, body_hash, functions, local_names, rename, walk
from swefuse.code.imports import imported_modules
from swefuse.code.operators import apply, breaks
from swefuse.errors import DataError
from swefuse.records import Kind, Outcome, TestResult
from swefuse.sandbox.base import Job, Output
from swefuse.verify.kinds.base import TAMPERED, Found, Report, Rules, Trial, report
from swefuse.verify.tests import environment_of, is_cold
from swefuse.workspace import Files, blob_ref

MOST_MUTANTS = 16
LEAST_STATEMENTS = 2  # of a function that can be a copy of another
ENOUGH = 0.8
_SLOWER, _LEAST_CPU_S = 10.0, 0.5
_SPELLING = "these tests look at how the code is spelled, not at what it does"
# what a test of behaviour does not need, and one that tells the right code from a bug by its text does
_LOOKING = frozenset(
    {"inspect", "ast", "dis", "tokenize", "linecache", "symtable", "getsource", "__code__", "co_code", "co_consts", "co_names"}
    | {"__file__", "exec", "eval", "compile", "pytestconfig", "getoption", "maxfail", "getrlimit", "settrace", "setprofile"}
)


def check(trial: Trial) -> Found:
    """Run the tests on the code, on the same code spelled otherwise, and on the mutants."""
    module, tests = trial.goal("module"), trial.goal("tests")
    stray = [path for path in trial.changed if path != tests]
    if stray:
        return Found(f"{stray[0]}: only {tests} may change", share=0.0)
    if looks := _looks(trial.files.get(tests, ""), trial.task.files[module], module):
        return Found(f"{_SPELLING}: {looks}", share=0.0, outcome=Outcome.TAMPERED)
    output, seen = _run(trial, trial.files, trial.task.files[module], trial.limits.pytest_cpu_s)
    if output.limit in ("cpu", "wall"):
        return Found(f"over the {output.limit} time limit on the right code", 0.0, Outcome.TIMEOUT)
    shown = {id_: TestResult(outcome="passed" if one == "passed" else "failed", detail=one) for id_, one in seen.results.items()}
    if not seen.good:
        failed = f"fails on the right code: {', '.join(seen.failed[:5])}" if seen.failed else ""
        reason = failed or seen.broken or "no test ran to its end"
        return Found(reason[:500], 0.0, Outcome.TAMPERED if seen.broken == TAMPERED else Outcome.FAILED, tests=shown)
    cpu_s = min(trial.limits.pytest_cpu_s, max(_LEAST_CPU_S, _SLOWER * output.cpu_s))
    if spelled := _depend_on_spelling(trial, cpu_s):
        return Found(f"{_SPELLING}: {', '.join(spelled[:5])}", share=0.0, outcome=Outcome.TAMPERED, tests=shown)
    wanted = _wanted(trial, cpu_s)
    half = len(wanted) // 2
    killed = sum(_kills(trial, trial.files, number, cpu_s) for number in wanted[:half])
    _, control = _run(trial, trial.files, trial.task.files[module], cpu_s)  # among the others, and like them in all but the code
    if not control.good:
        reason = f"the right code fails when it is run like the bugs: {', '.join(control.failed[:5]) or control.broken}"
        return Found(reason[:500], share=0.0, outcome=Outcome.TAMPERED, tests=shown)
    killed += sum(_kills(trial, trial.files, number, cpu_s) for number in wanted[half:])
    share = killed / len(wanted)
    least = float(trial.task.goal.get("least", ENOUGH))
    parts = {"mutants": float(len(wanted)), "killed": float(killed)}
    reason = f"{killed} of {len(wanted)} bugs are noticed; {least:.0%} are needed" if share < least else ""
    return Found(reason, share=share, parts=parts, tests=shown)


def _looks(tests: str, module_text: str, module: str) -> str:
    """What in the tests looks at the module's text, or repeats it; empty when nothing does, and where the module does so itself."""
    tree = ast.parse(tests)  # the caller has seen that it parses
    own = set(re.findall(r"\w+", module_text))
    for node in ast.walk(tree):
        words = {node.id} if isinstance(node, ast.Name) else {node.attr} if isinstance(node, ast.Attribute) else set()
        if isinstance(node, ast.arg):
            words = {node.arg}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            words = {alias.name.partition(".")[0] for alias in node.names} | {str(getattr(node, "module", ""))}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            path = PurePosixPath(module).name
            words = {"_swefuse"} if "_swefuse" in node.value else {f"the file {path}"} if path in node.value else set()
            words |= {"a copy of the code"} if _repeats(node.value, module_text) else set()
        if found := sorted(word for word in words if word in _LOOKING - own or word.startswith(("_swefuse", "the file", "a copy"))):
            return found[0]
    return "a copy of the code" if _repeats(tests, module_text) else ""


def _repeats(text: str, module_text: str) -> bool:
    """Whether a text holds functions that are, name for name or nearly, functions of the module: an oracle that states nothing."""
    try:
        here, there = functions(ast.parse(text)), functions(ast.parse(module_text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    bodies = [(body_hash(one), "\n".join(map(ast.unparse, one.body))) for one in there if len(one.body) >= LEAST_STATEMENTS]
    mine = [(body_hash(one), "\n".join(map(ast.unparse, one.body))) for one in here if len(one.body) >= LEAST_STATEMENTS]
    return any(a == c or similarity(b, d) >= SIMILAR for a, b in mine for c, d in bodies)


def _wanted(trial: Trial, cpu_s: float) -> list[int]:
    """Numbers of the mutants that count: those that the reference's tests notice, for some mean the same as the original."""
    numbers = list(range(len(_mutants(trial))))
    reference = trial.task.reference
    if reference is not None:
        numbers = trial.remember("killable", lambda: [one for one in numbers if _kills(trial, reference, one, cpu_s)])
    if not numbers:
        raise DataError(f"task {trial.task.id}: no bug in {trial.goal('module')} that tests could notice")
    return numbers


def _kills(trial: Trial, state: Files, number: int, cpu_s: float) -> bool:
    """Whether the tests of a state notice a mutant, which includes that they come to no end."""
    tests = trial.goal("tests")

    def run() -> bool:
        output, seen = _run(trial, state, _mutants(trial)[number], cpu_s)
        return bool(output.limit or seen.broken or seen.failed) or not seen.ended

    found: bool = trial.remember((blob_ref(state.get(tests, "")), number), run)
    return found


def _mutants(trial: Trial) -> list[str]:
    """Texts of the module, each with one bug; drawn by its content, so that all candidates meet the same."""

    def make() -> list[str]:
        text = trial.task.files[trial.goal("module")]
        found = {apply(text, edit): None for node in functions(ast.parse(text)) for edit in breaks(text, node.name)}
        drawn = random.Random(f"testgen|{blob_ref(text)}")
        return drawn.sample(sorted(found), min(MOST_MUTANTS, len(found)))

    texts: list[str] = trial.remember("mutants", make)
    return texts


def _depend_on_spelling(trial: Trial, cpu_s: float) -> list[str]:
    """Ids of tests that fail once local names, layout and bytecode are others; what the code does is the same."""
    text = respelled(trial.task.files[trial.goal("module")])
    reference = trial.task.reference

    def holds() -> bool:
        assert reference is not None
        return _run(trial, reference, text, trial.limits.pytest_cpu_s)[1].good

    if reference is not None and not trial.remember("respelled", holds):
        return []  # code that looks at itself
    seen = _run(trial, trial.files, text, cpu_s)[1]
    return [] if seen.good else seen.failed or [seen.broken or "no test ran to its end"]


def _run(trial: Trial, state: Files, module_text: str, cpu_s: float) -> tuple[Output, Report]:
    """One run to the first failure; only the module's text, and what it may take, tells one run from another."""
    module, tests = trial.goal("module"), trial.goal("tests")
    files = {**trial.task.files, tests: state.get(tests, ""), module: module_text}
    preload = imported_modules(tuple(text for path, text in sorted(trial.task.files.items()) if path.endswith(".py")))
    nonce = secrets.token_hex(16)
    job = Job(
        "pytest", files, parse=(tests,), tests=(tests,), protected=(module,), nonce=nonce, preload=preload, fail_fast=True,
        environment=environment_of(trial.task), fresh_process=is_cold(trial.task), cpu_s=cpu_s,
    )  # fmt: skip
    output = trial.sandbox.run(job)
    return output, report(output, nonce)


def respelled(text: str) -> str:
    """A module that does the same and has other local names, another layout and other bytecode."""
    source = Source(text)
    for node in functions(source.tree):
        inside = walk(node)
        if any(isinstance(one, Function | ast.ClassDef | ast.Lambda) for one in inside[1:]):
            continue  # a name of an inner scope may be an attribute or a keyword
        arguments = {one.arg for one in inside if isinstance(one, ast.arg)}
        taken = {one.id for one in walk(source.tree) if isinstance(one, ast.Name)}
        new = {name: f"{name}_x" for name in local_names(node) if name not in arguments and f"{name}_x" not in taken}
        source = Source(rename(source, next(one for one in functions(source.tree) if one.name == node.name), new))
    tree = ast.parse(source.text)
    for one in ast.walk(tree):
        if isinstance(one, Function):
            at = int(ast.get_docstring(one, clean=False) is not None)
            one.body[at:at] = ast.parse("_swefuse = None").body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


RULES = Rules(
    kind=Kind.TESTGEN,
    edits="the file of tests",
    protected="the code under test",
    verified=(
        "every test passes on the code, and on the same code with other local names, layout and bytecode; none looks at the "
        "code's text or repeats it; enough of the bugs put into the code make a test fail (at most 16, only those that the "
        "reference's tests notice)"
    ),
    scored="share of these bugs that are noticed; 0 if a test fails on the right code",
    goal={
        "module": "path of the code under test",
        "tests": "path of the file in which tests are written",
        "least": "share of bugs that must be noticed, 0.8 where it is not said",
    },
    check=check,
    alone=True,
)
