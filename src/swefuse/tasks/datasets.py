"""Tasks from datasets of functions, in the layouts in which they are published. Reference solutions are not believed, but run.

``humanevalfix``: JSON lines with a bug and its repair (``bugfix``). ``mbpp``: the sanitized JSON; ``humaneval``: JSON lines, maybe
gzipped. Both have a description and a solution (``complete``: the body is to be written).
"""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from swefuse.code.functions import body_hash, function, functions
from swefuse.errors import DataError, UserError
from swefuse.records import Kind, Provenance, Suite, Task, Verdict
from swefuse.scale import Executor
from swefuse.tasks.prove import Proof, Refusal, evidence, failing, unproven
from swefuse.tasks.spec import MODULE, TEST_MODULE
from swefuse.verify import Candidate, verify_many

_MISSING = 'raise RuntimeError("this body is to be written")'
Row = dict[str, Any]
Progress = Callable[[int, int], None]


def load(name: str, path: Path) -> list[Task]:
    """The tasks of a dataset, unproven. Raises UserError for an unknown name or a file that cannot be read, DataError for a row."""
    if name not in DATASETS:
        raise UserError(f"there is no dataset {name!r}; valid: {', '.join(DATASETS)}")
    found = []
    for number, row in enumerate(_rows(path), 1):
        try:
            found.append(DATASETS[name](row))
        except (KeyError, TypeError, AttributeError, SyntaxError, ValueError) as error:
            raise DataError(f"{path}, row {number}: not a row of {name}: {type(error).__name__}: {error}") from error
    if not found:
        raise DataError(f"{path} holds no row")
    return found


def prove_tests(
    tasks: Sequence[Task], executor: Executor, repeats: int = 2, progress: Progress = lambda done, total: None
) -> Proof:
    """Run reference and initial state of tasks in the ``pytest`` form; the tests that fail before become the fail-to-pass ones.

    The executor's processes must have been started with ``verify.init_worker``. A task whose reference does not pass, whose initial
    state does, or whose runs disagree is refused.
    """
    kept: list[Task] = []
    refused: list[Refusal] = []
    verdicts = verify_many(_sides(tasks, repeats), executor)
    for task, reference, null in zip(tasks, verdicts, verdicts, strict=False):
        if reason := unproven(reference, null, "initial state"):
            refused.append(Refusal(task, reason))
        else:
            kept.append(_settled(task, null, repeats))
        progress(len(kept) + len(refused), len(tasks))
    return Proof(kept, refused)


def _sides(tasks: Sequence[Task], repeats: int) -> Iterator[Candidate]:
    for task in tasks:
        yield Candidate(task, task.reference or {}, "pytest", repeats, fresh=True)
        yield Candidate(task, task.files, "pytest", repeats, fresh=True)


def _settled(task: Task, null: Verdict, repeats: int) -> Task:
    """The task with its tests sorted by what its initial state does with them, and its evidence."""
    (suite,) = task.suites
    missed = failing(null)
    decisive = tuple(id_ for id_ in suite.expected if id_ in missed)
    held = tuple(id_ for id_ in suite.expected if id_ not in missed)
    suites = (suite.model_copy(update={"fail_to_pass": decisive, "pass_to_pass": held}),)
    return task.revised(suites=suites, evidence=evidence(null, repeats))


def _rows(path: Path) -> list[Row]:
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    try:
        if text.lstrip()[:1] == "[":
            whole = json.loads(text)
            return whole if isinstance(whole, list) else []
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise DataError(f"{path}: no JSON: {error}") from error


def _made(kind: Kind, states: tuple[str, str], tests: tuple[str, list[str]], words: str, origin: Provenance) -> Task:
    """``states``: text of the module before and after; ``tests``: text of the test file and the names of its tests."""
    files = {MODULE: states[0], TEST_MODULE: tests[0]}
    ids = tuple(f"{TEST_MODULE}::{name}" for name in tests[1])
    suites = (Suite(form="pytest", files=(TEST_MODULE,), fail_to_pass=ids),)
    return Task.make(
        kind, instruction=words, files=files, editable=(MODULE,),
        protected=(TEST_MODULE,), suites=suites, reference={**files, MODULE: states[1]}, provenance=origin,
    )  # fmt: skip


def _origin(source: str, number: Any, licence: str, text: str, name: str, **parameters: str) -> Provenance:
    node = function(ast.parse(text), name)
    return Provenance(
        source=source, topic=str(number), licence=licence, function=name, body_hash=body_hash(node), parameters=parameters
    )


def _checked(row: Row, name: str) -> tuple[str, list[str]]:
    text = f"from {MODULE.removesuffix('.py')} import *\n{row['test'].strip()}\n\n\ndef test_check():\n    check({name})\n"
    return text, ["test_check"]


def _humanevalfix(row: Row) -> Task:
    name, head = row["entry_point"], row["declaration"]
    broken, right = (head + row[key].rstrip("\n") + "\n" for key in ("buggy_solution", "canonical_solution"))
    words = f"`{name}` in {MODULE} has a bug. Repair it; {TEST_MODULE} must stay as it is."
    origin = _origin("humanevalfix", row["task_id"], "MIT", right, name, bug=row["bug_type"], symptom=row["failure_symptoms"])
    return _made(Kind.BUGFIX, (broken, right), _checked(row, name), words, origin)


def _humaneval(row: Row) -> Task:
    name = row["entry_point"]
    right = row["prompt"] + row["canonical_solution"].rstrip("\n") + "\n"
    words = f"Write the body of `{name}` in {MODULE}; its docstring says what it does."
    origin = _origin("humaneval", row["task_id"], "MIT", right, name)
    return _made(Kind.COMPLETE, (f"{row['prompt'].rstrip()}\n    {_MISSING}\n", right), _checked(row, name), words, origin)


def _mbpp(row: Row) -> Task:
    right = row["code"].replace("\r\n", "\n").rstrip("\n") + "\n"
    called = {node.id for text in row["test_list"] for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    name = [one.name for one in functions(ast.parse(right)) if one.name in called][-1]
    tests = "".join(
        f"\n\ndef test_{number}():\n" + "\n".join(f"    {line}" for line in text.strip().splitlines()) + "\n"
        for number, text in enumerate(row["test_list"], 1)
    )
    names = [f"test_{number}" for number in range(1, len(row["test_list"]) + 1)]
    imports = "".join(f"{line}\n" for line in row["test_imports"])
    words = f"{row['prompt'].strip()} It is `{name}` in {MODULE}, whose body is missing."
    module = MODULE.removesuffix(".py")
    test_file = f"{imports}from {module} import *\nfrom {module} import {name}\n{tests}"  # a star leaves _names out
    origin = _origin("mbpp", row["task_id"], "CC-BY-4.0", right, name)
    return _made(Kind.COMPLETE, (_without_body(right, name), right), (test_file, names), words, origin)


def _without_body(text: str, name: str) -> str:
    """The module with the body of a function, its docstring excepted, replaced by an error."""
    node = function(ast.parse(text), name)
    first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
    lines = text.splitlines(keepends=True)
    indent = lines[first.lineno - 1][: first.col_offset]
    if first.lineno == node.lineno:  # all in one line
        head = lines[node.lineno - 1][: first.col_offset].rstrip()
        return "".join([*lines[: node.lineno - 1], f"{head} {_MISSING}\n", *lines[node.end_lineno or 0 :]])
    return "".join([*lines[: first.lineno - 1], f"{indent}{_MISSING}\n", *lines[node.end_lineno or 0 :]])


DATASETS: dict[str, Callable[[Row], Task]] = {"humanevalfix": _humanevalfix, "mbpp": _mbpp, "humaneval": _humaneval}
