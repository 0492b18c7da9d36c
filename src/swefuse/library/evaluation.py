"""Evaluation sets that must not be trained on: their functions by what they compute, and the runs of words of their texts."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from swefuse.code.functions import body_hash, body_statements, walk
from swefuse.errors import ConfigError, nearest
from swefuse.library.parts import tree_of
from swefuse.tasks.humaneval import humaneval_functions
from swefuse.tasks.spec import FunctionSpec

SHIPPED = ("heldout", "humaneval")
LEAST = 3  # statements of a function that is told by its body; shorter ones are everybody's
_TEXTS = ("prompt", "text", "docstring", "instruction", "problem_statement", "question")
_CODES = ("code", "canonical_solution", "buggy_solution", "solution")
_WORD = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """One named set. ``shapes``: hashes of what a function consists of, names left out, which are quick to compare.

    ``bodies``: body hash -> problem; ``grams``: run of ``words`` words -> problem; ``digest`` tells sets of one name apart.
    """

    name: str
    words: int
    shapes: frozenset[str] = frozenset()
    bodies: Mapping[str, str] = field(default_factory=dict)
    grams: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    @classmethod
    def made(cls, name: str, problems: Iterable[tuple[str, str, str]], words: int) -> EvaluationSet:
        """A set of ``(problem, texts, code)``; docstrings in the code count as texts too."""
        shapes: set[str] = set()
        bodies: dict[str, str] = {}
        grams: dict[str, str] = {}
        digest = hashlib.sha256()
        for problem, text, code in problems:
            digest.update(f"{problem}\0{text}\0{code}\0".encode("utf-8", "surrogatepass"))
            for node in definitions(code):
                shapes.add(shape(node))
                bodies.setdefault(body_hash(node), problem)
            for part in (text, *_docstrings(code)):
                for gram in runs(part, words):
                    grams.setdefault(gram, problem)
        return cls(name, words, frozenset(shapes), bodies, grams, digest.hexdigest()[:8])

    @classmethod
    def of(cls, name: str, functions: Iterable[FunctionSpec], words: int) -> EvaluationSet:
        """A set of known functions."""
        return cls.made(name, ((spec.key, "", spec.text) for spec in functions), words)


@lru_cache(maxsize=64)
def evaluation_set(source: str, words: int) -> EvaluationSet:
    """A set by name or path.

    ``heldout``: the functions that figures of this project are made on by default; ``humaneval``: of the package; a ``.jsonl`` or
    ``.json`` file of rows as MBPP, HumanEval and HumanEvalFix have them; a folder of Python files as QuixBugs has them.
    Raises ConfigError where there is no such thing or nothing in it, MissingExtraError without the package of HumanEval.
    """
    if source == "humaneval":
        return EvaluationSet.of(source, humaneval_functions(), words)
    if source == "heldout":
        text = files("swefuse.library").joinpath("heldout.jsonl").read_text(encoding="utf-8")
        return EvaluationSet.made(source, _rows(text, source), words)
    path = Path(source)
    try:
        if path.is_dir():
            modules = sorted(path.rglob("*.py"))
            problems = [(one.relative_to(path).as_posix(), "", one.read_text("utf-8", "replace")) for one in modules]
        else:
            problems = list(_rows(path.read_text(encoding="utf-8"), source))
    except (OSError, UnicodeDecodeError) as error:
        known = nearest(source, SHIPPED) if "/" not in source and "." not in source else ""
        raise ConfigError(f"evaluation = {source}: no evaluation set can be read there{known}: {error}") from error
    if not any(text or code for _, text, code in problems):
        raise ConfigError(f"evaluation = {source}: holds no problem; rows need one of {', '.join((*_TEXTS, *_CODES))}")
    return EvaluationSet.made(path.stem, problems, words)


def _rows(text: str, source: str) -> Iterator[tuple[str, str, str]]:
    try:
        rows = json.loads(text) if text.lstrip().startswith("[") else [json.loads(row) for row in text.split("\n") if row.strip()]
    except ValueError as error:
        raise ConfigError(f"evaluation = {source}: is neither JSON nor JSON lines: {error}") from error
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise ConfigError(f"evaluation = {source}: row {number + 1} is no object")
        yield str(row.get("task_id", row.get("name", number))), "\n".join(_held(row, _TEXTS)), "\n\n".join(_code(row))


def _held(row: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    return (row[name] for name in names if isinstance(row.get(name), str) and row[name].strip())


def _code(row: Mapping[str, Any]) -> Iterator[str]:
    """The code of a row; a solution that is only a body stands behind the declaration or prompt that it belongs to."""
    heads = ["", *_held(row, ("declaration", "prompt"))]
    for text in _held(row, _CODES):
        for head in heads:
            tree = tree_of(head + text)
            if tree is not None and any(isinstance(node, ast.FunctionDef) for node in tree.body):
                yield head + text
                break


@lru_cache(maxsize=8192)
def definitions(text: str) -> tuple[ast.FunctionDef, ...]:
    """The functions of a module, methods included, that are long enough to be told by their bodies."""
    tree = tree_of(text)
    found = [] if tree is None else [node for node in walk(tree) if isinstance(node, ast.FunctionDef)]
    return tuple(
        node for node in found if sum(isinstance(each, ast.stmt) for s in body_statements(node) for each in walk(s)) >= LEAST
    )


def shape(node: ast.FunctionDef) -> str:
    """What a function consists of, whatever the names in it."""
    return hashlib.sha256(
        " ".join(type(each).__name__ for statement in body_statements(node) for each in walk(statement)).encode()
    ).hexdigest()[:16]


def _docstrings(code: str) -> Iterator[str]:
    tree = tree_of(code) if code else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            yield ast.get_docstring(node) or ""


def runs(text: str, words: int) -> Iterator[str]:
    """Every run of so many words, in small letters. A shorter text has none."""
    found = _WORD.findall(text.lower())
    return (" ".join(found[at : at + words]) for at in range(len(found) - words + 1))
