"""Commits that are no repairs: what made code simpler becomes a ``refactor`` task, what added tests a ``testgen`` task."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from swefuse.code.complexity import complexity, decisions
from swefuse.code.functions import Function, functions
from swefuse.code.stubs import MISSING
from swefuse.records import Evidence, Kind, Provenance, Suite, Task
from swefuse.tasks.attempts import OLD, Attempt, Order, Refusal, Runs, ended
from swefuse.tasks.commits import Sides, is_source, is_test_file
from swefuse.tasks.git import opened
from swefuse.tasks.proving import How, prove_task
from swefuse.workspace import Files

MOST_TEST_FILES = 8


def tests_of(parts: Sides, after: Files) -> tuple[str, ...]:
    """Test files to run: those that the commit changed, those named like a changed source; where there is none, the first few."""
    if parts.run and not parts.sources:
        return parts.run
    stems = {PurePosixPath(path).stem.strip("_") for path in parts.sources if is_source(path)}
    every = [path for path in sorted(after) if is_test_file(path)]
    named = [path for path in every if stems & {PurePosixPath(path).stem.removeprefix("test_").removesuffix("_test")}]
    return tuple(dict.fromkeys([*parts.run, *named])) or tuple(every[:MOST_TEST_FILES])


def refactoring(order: Order, runs: Runs, own: str) -> Attempt:
    """A function that became simpler while the tests that reach it pass before and after."""
    simpler = sorted(_simpler(runs.initial, runs.reference), reverse=True)
    if not simpler:
        return Attempt(order.commit, None, Refusal.NOT_SIMPLER)
    seen = []
    for state in (runs.reference, runs.initial):
        outcomes, broken, output = runs.once(state)
        if output.limit:
            return Attempt(order.commit, None, Refusal.TOO_LONG, f"over the {output.limit} limit", runs.cpu_s)
        if not outcomes or not ended(output):
            return Attempt(order.commit, None, _why(broken), (broken or output.text)[-300:], runs.cpu_s)
        seen.append(outcomes)
    held = tuple(id_ for id_, outcome in seen[0].items() if outcome == "passed" and seen[1].get(id_) == "passed")
    for _, path, name in simpler:
        stubbed = {**runs.reference, path: _stub(runs.reference[path], name)}
        outcomes, _, _ = runs.once(stubbed)
        reached = [id_ for id_ in held if outcomes.get(id_) != "passed"]
        if reached:
            words = (
                f"`{name}` in {path} is more complicated than it has to be. Make it simpler: fewer branches, the same parameters, "
                "the same behaviour. The tests must stay as they are and go on passing."
            )
            suite = Suite(form="pytest", files=runs.run, pass_to_pass=held)
            goal = {"function": f"{path}:{name}"}
            return _proven(order, runs, _made(order, runs, own, Kind.REFACTOR, words, (goal, (suite,))))
    return Attempt(order.commit, None, Refusal.NOT_REACHED, ", ".join(name for _, _, name in simpler)[:300], runs.cpu_s)


def _why(broken: str) -> Refusal:
    kind = Refusal.MISSING_MODULE if "No module named" in broken else Refusal.NOTHING_COLLECTED
    return Refusal.TOO_OLD if OLD.search(broken) else kind


def _simpler(before: Files, after: Files) -> Iterator[tuple[int, str, str]]:
    """By how much, where and which: functions with less complexity and the same parameters, if all files have fewer decisions."""
    changed = [path for path in after if is_source(path) and before.get(path) not in (None, after[path])]
    try:
        trees = {path: (ast.parse(before[path]), ast.parse(after[path])) for path in changed}
        new = sum(decisions(ast.parse(after[path])) for path in after if is_source(path) and path not in before)
    except (SyntaxError, ValueError, RecursionError):
        return
    if new + sum(decisions(now) - decisions(was) for was, now in trees.values()) >= 0:
        return
    for path, (was, now) in trees.items():
        old = dict(_named(was))
        for name, node in _named(now):
            if name in old and ast.unparse(old[name].args) == ast.unparse(node.args):
                drop = complexity(old[name]) - complexity(node)
                if drop > 0:
                    yield drop, path, name


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions and methods with their dotted names."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{one.name}", one) for one in node.body if isinstance(one, Function))


def _stub(text: str, name: str) -> str:
    """The module with the body of a function replaced by an error; lines below it move."""
    tree = ast.parse(text)
    node = dict(_named(tree))[name]
    node.body = ast.parse(MISSING).body
    return ast.unparse(tree) + "\n"


def added_tests(order: Order, runs: Runs, own: str) -> Attempt:
    """Tests for a module that notice bugs which the tests before did not."""
    changed = [path for path in runs.run if runs.parent.get(path) != runs.reference.get(path)]
    found = ((tests, _module(runs.reference, tests)) for tests in changed)
    tests, module = next(((tests, module) for tests, module in found if module), ("", ""))
    if not tests:
        return Attempt(order.commit, None, Refusal.NO_MODULE, ", ".join(changed)[:300])
    runs.run = (tests,)
    outcomes, broken, output = runs.once(runs.reference)
    if output.limit:
        return Attempt(order.commit, None, Refusal.TOO_LONG, f"over the {output.limit} limit", runs.cpu_s)
    if not outcomes or not ended(output):
        return Attempt(order.commit, None, _why(broken), (broken or output.text)[-300:], runs.cpu_s)
    runs.initial = {**runs.reference, tests: runs.parent.get(tests, "")}
    words = (
        f"Bugs in {module} would go unnoticed. Write tests into {tests} that pass now and fail as soon as somebody breaks one of "
        "its functions; nothing else may change."
    )
    return _proven(order, runs, _made(order, runs, own, Kind.TESTGEN, words, ({"module": module, "tests": tests}, ())))


def _module(files: Files, tests: str) -> str:
    """The module with functions that a test file is about: the one named like it if it is imported, else the first import."""
    try:
        tree = ast.parse(files[tests])
    except (SyntaxError, ValueError, RecursionError):
        return ""
    named: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    stem = PurePosixPath(tests).stem.removeprefix("test_").removesuffix("_test")
    paths = [f"{root}{name.replace('.', '/')}.py" for name in named for root in ("", "src/", "lib/")]
    own = [path for path in dict.fromkeys(paths) if path in files and is_source(path) and _has_functions(files[path])]
    return next((path for path in own if PurePosixPath(path).stem.strip("_") == stem), own[0] if own else "")


def _has_functions(text: str) -> bool:
    try:
        return bool(functions(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return False


def _made(order: Order, runs: Runs, own: str, kind: Kind, words: str, rest: tuple[dict[str, str], tuple[Suite, ...]]) -> Task:
    """The task, unproven. ``rest``: goal and suites."""
    commit, name, (goal, suites) = order.commit, opened(order.repository).name, rest
    editable = tuple(sorted(path for path, text in runs.reference.items() if runs.initial.get(path) != text))
    protected = tuple(path for path in runs.protected if path not in editable)
    if kind is Kind.TESTGEN:
        protected = (*protected, goal["module"])
    return Task.make(
        kind, instruction=words, files=dict(runs.initial), editable=editable, protected=protected, suites=suites, goal=goal,
        reference=dict(runs.reference),
        evidence=Evidence(repeats=0, reference_passes=False, null_fails=False, environment=runs.environment),
        provenance=Provenance(
            source="commits", repo=name, commit=commit.sha, licence=own, topic=name,
            parameters={"parent": commit.parent, "date": commit.date, "subject": commit.subject[:300]},
        ),
    )  # fmt: skip


def _proven(order: Order, runs: Runs, task: Task) -> Attempt:
    found = prove_task(task, How(order.repeats))
    if found.refusal:
        return Attempt(order.commit, None, Refusal.NOT_PROVEN, f"{found.refusal}: {found.detail}"[:300], runs.cpu_s)
    return Attempt(order.commit, found.task, None, "", runs.cpu_s)


OF: dict[Kind, Callable[[Order, Runs, str], Attempt]] = {Kind.REFACTOR: refactoring, Kind.TESTGEN: added_tests}
