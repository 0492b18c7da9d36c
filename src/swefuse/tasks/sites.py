"""Places where a bug can be put: functions and methods of a module, and the whole-line edits that break them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache

from swefuse.code.functions import Source
from swefuse.code.operators import apply, breaks
from swefuse.errors import DataError
from swefuse.records import Action
from swefuse.workspace import Files, apply_edit


@dataclass(frozen=True, slots=True)
class Site:
    """A function (``name``) or method (``Class.name``) of a file; ``first`` is the line on which its decorators or it begin."""

    path: str
    name: str
    first: int


@dataclass(frozen=True, slots=True)
class Flaw:
    """A bug: ``old``, which is one line or several whole ones with their line feeds, becomes ``new``, or goes if that is empty."""

    path: str
    function: str
    kind: str
    line: int
    old: str
    new: str

    def row(self) -> dict[str, str | int]:
        """As it is written down."""
        return asdict(self)

    @property
    def breaking(self) -> Action:
        """The edit that puts it in."""
        return Action(name="edit", path=self.path, line=self.line, old=self.old, new=self.new)

    @property
    def mending(self) -> Action:
        """The edit that takes it out again; those of several bugs of one file apply from the top down."""
        old, new = (self.new, self.old) if self.new else ("", self.old.removesuffix("\n"))
        return Action(name="edit", path=self.path, line=self.line, old=old, new=new)


def injected(files: Files, flaws: tuple[Flaw, ...]) -> dict[str, str]:
    """The state with these bugs, which lie in different functions; lines are those of ``files``, so it goes from the bottom up."""
    state = dict(files)
    for flaw in sorted(flaws, key=lambda one: -one.line):
        state = apply_edit(state, flaw.breaking)
    return state


@lru_cache(maxsize=512)
def _defined(text: str) -> tuple[tuple[str, ast.FunctionDef], ...]:
    try:
        return tuple(_walk(Source(text).tree.body, ""))
    except DataError:
        return ()


def _walk(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield owner + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _walk(node.body, f"{owner}{node.name}.")


def sites(path: str, text: str) -> list[Site]:
    """Functions and methods of a file, in order; none of one that does not parse."""
    return [Site(path, name, _first(node)) for name, node in _defined(text)]


def _first(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def node_of(text: str, site: Site) -> ast.FunctionDef:
    """The definition that stands at a site of this text."""
    return next(node for name, node in _defined(text) if (name, _first(node)) == (site.name, site.first))


def flaws(text: str, site: Site) -> list[Flaw]:
    """Every bug that the operators have for a function, in a stable order; two that give the same text count once.

    None for a function that cannot be looked at by itself, such as one in a block with strings that reach to the left of it.
    """
    node, lines = node_of(text, site), text.split("\n")
    own = lines[node.lineno - 1 : node.end_lineno]
    margin = own[0][: node.col_offset]
    if margin.strip() or any(line.strip() and not line.startswith(margin) for line in own):
        return []
    alone = "\n" * (node.lineno - 1) + "\n".join(line[len(margin) :] if line.strip() else line for line in own) + "\n"
    found: dict[str, Flaw] = {}
    try:
        for edit in breaks(alone, node.name):
            state = apply(alone, edit)
            at, new = edit.line, state.split("\n")[edit.line - 1]
            if edit.old.endswith("\n"):
                old = "".join(f"{line}\n" for line in lines[at - 1 : at - 1 + edit.old.count("\n")])
                found.setdefault(state, Flaw(site.path, site.name, edit.kind.value, at, old, ""))
            else:
                found.setdefault(state, Flaw(site.path, site.name, edit.kind.value, at, lines[at - 1], margin + new))
    except DataError:
        return []
    return [flaw for flaw in found.values() if flaw.old != flaw.new]
