"""ClassEval: classes to be written from their docstrings. One JSON list; the tests are ``unittest`` classes, which pytest runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from swefuse.records import Kind, Provenance, Task
from swefuse.tasks.datasets.common import Row, made
from swefuse.tasks.spec import MODULE, TEST_MODULE


def tasks(row: Row) -> list[Task]:
    """The task of a row: its skeleton is the beginning, its solution the reference."""
    name, module = row["class_name"], MODULE.removesuffix(".py")
    skeleton, right = (_importing(row["import_statement"], row[key]) for key in ("skeleton", "solution_code"))
    # the tests were written to stand in the solution's own module: a star brings what it imports
    tests = f"from {module} import *\nfrom {module} import {name}\n{row['test'].strip()}\n"
    names = list(dict.fromkeys(_tests(tests, set(row["test_classes"]))))
    words = f"Write the class `{name}` in {MODULE}; its docstrings say what it does. {TEST_MODULE} must stay as it is."
    origin = Provenance(source="classeval", topic=row["task_id"], licence="MIT", function=name)
    return [made(Kind.COMPLETE, (skeleton, right), (tests, names), words, origin, _lacks(skeleton, names))]


def _lacks(skeleton: str, names: list[str]) -> str:
    """Why a row is no task; empty when it is one. Some published skeletons have broken quotes."""
    try:
        ast.parse(skeleton)
    except SyntaxError:
        return "its skeleton does not parse"
    return "" if names else "it has no tests"


def _importing(imports: list[str], text: str) -> str:
    """The text with those of the row's import statements that it lacks before it."""
    present = {line.strip() for line in text.splitlines()}
    missing = [line.strip() for line in imports if line.strip() and line.strip() not in present]
    return "".join(f"{line}\n" for line in missing) + text.rstrip() + "\n"


def _tests(text: str, classes: set[str]) -> Iterator[str]:
    """Names of the tests of these classes, as pytest has them."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and node.name in classes:
            methods = (child.name for child in node.body if isinstance(child, ast.FunctionDef))
            yield from (f"{node.name}::{method}" for method in methods if method.startswith("test"))
