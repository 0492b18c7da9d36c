"""The two families that ship with the package: the written corpus, read as text and never imported, and the composed one."""

from __future__ import annotations

import ast
from importlib.resources import files

from swefuse.code.functions import body_hash, function, functions
from swefuse.errors import DataError
from swefuse.tasks.compose import composed
from swefuse.tasks.inputs import argument_text
from swefuse.tasks.spec import FunctionSpec

LICENCE = "Apache-2.0"
_COMPOSED_SEEDS = (
    "([3, -1, 4, 1, 5], 2)", "([], 1)", "([2, 2, 7], 2)", "([0, 6, -3, 9], 0)", "([8, 1], -1)", "([5, 5, 5, 1, 2, 12], 5)",
)  # fmt: skip


def corpus_functions() -> list[FunctionSpec]:
    """Every function of every topic file, in the order of files and text. Raises DataError for a file without its ``INPUTS``."""
    found: list[FunctionSpec] = []
    for file in sorted(files("swefuse.tasks.corpus").iterdir(), key=lambda item: item.name):
        if file.name.endswith(".py") and file.name != "__init__.py":
            found += _topic(file.name.removesuffix(".py"), file.read_text(encoding="utf-8"))
    return found


def _topic(topic: str, text: str) -> list[FunctionSpec]:
    tree = ast.parse(text)
    inputs = _inputs(topic, tree)
    lines = text.split("\n")
    found = []
    for node in functions(tree):
        if node.name not in inputs:
            raise DataError(f"corpus topic {topic}: INPUTS has no entry for {node.name}; add at least one tuple of arguments")
        module = "\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n"
        found.append(FunctionSpec("corpus", topic, node.name, module, body_hash(node), LICENCE, inputs[node.name]))
    return found


def _inputs(topic: str, tree: ast.Module) -> dict[str, tuple[str, ...]]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "INPUTS" and node.value:
            rows = ast.literal_eval(node.value)
            return {name: tuple(argument_text(arguments) for arguments in seeds) for name, seeds in rows.items()}
    raise DataError(f"corpus topic {topic}: there is no 'INPUTS: dict[...] = {{...}}'")


def composed_functions(count: int) -> list[FunctionSpec]:
    """``count`` composed functions; the same ones whatever the seed of a run, so that ``recombined`` means the same everywhere."""
    found = []
    for item in composed(count):
        node = function(ast.parse(item.text), item.name)
        topic = item.parts[0]
        found.append(FunctionSpec("composed", topic, item.name, item.text, body_hash(node), LICENCE, _COMPOSED_SEEDS))
    return found
