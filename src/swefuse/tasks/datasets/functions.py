"""Datasets of functions. ``humanevalfix``: JSON lines with a bug and its repair (``bugfix``). ``mbpp``: the sanitized JSON, and
``humaneval``: JSON lines, maybe gzipped; both have a description and a solution (``complete``: the body is to be written).
"""

from __future__ import annotations

import ast

from swefuse.code.functions import functions
from swefuse.code.stubs import MISSING, without_body
from swefuse.records import Kind, Task
from swefuse.tasks.datasets.common import Row, made, origin
from swefuse.tasks.spec import MODULE, TEST_MODULE


def _checked(row: Row, name: str) -> tuple[str, list[str]]:
    text = f"from {MODULE.removesuffix('.py')} import *\n{row['test'].strip()}\n\n\ndef test_check():\n    check({name})\n"
    return text, ["test_check"]


def humanevalfix(row: Row) -> list[Task]:
    """The task of a row."""
    name, head = row["entry_point"], row["declaration"]
    broken, right = (head + row[key].rstrip("\n") + "\n" for key in ("buggy_solution", "canonical_solution"))
    words = f"`{name}` in {MODULE} has a bug. Repair it; {TEST_MODULE} must stay as it is."
    made_by = origin("humanevalfix", row["task_id"], "MIT", right, name, bug=row["bug_type"], symptom=row["failure_symptoms"])
    return [made(Kind.BUGFIX, (broken, right), _checked(row, name), words, made_by)]


def humaneval(row: Row) -> list[Task]:
    """The task of a row."""
    name = row["entry_point"]
    right = row["prompt"] + row["canonical_solution"].rstrip("\n") + "\n"
    words = f"Write the body of `{name}` in {MODULE}; its docstring says what it does."
    made_by = origin("humaneval", row["task_id"], "MIT", right, name)
    return [made(Kind.COMPLETE, (f"{row['prompt'].rstrip()}\n    {MISSING}\n", right), _checked(row, name), words, made_by)]


def mbpp(row: Row) -> list[Task]:
    """The task of a row."""
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
    made_by = origin("mbpp", row["task_id"], "CC-BY-4.0", right, name)
    return [made(Kind.COMPLETE, (without_body(right, name), right), (test_file, names), words, made_by)]
