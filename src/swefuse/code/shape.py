"""What the edits of one function need to know about it, found out once."""

from __future__ import annotations

import ast

from swefuse.code.functions import Source, function, functions, local_names, walk
from swefuse.code.scope import UNKNOWN, coarse_types, of_returns, of_uses

NOWHERE = 10**9


class Shape:
    """One top-level function of a module: its nodes, its local names in order of appearance, their coarse types and first lines.

    ``plain`` are its nodes without the inside of f-strings; ``visited`` those of them that edits may touch, which leaves out
    signature and annotations. ``guessed`` adds to ``types`` what the uses of a name suggest. ``occurrences``: every name in the
    function, with whether it is given a value there that does not depend on the one it had. ``outside``: what the module provides.
    """

    def __init__(self, text: str, name: str) -> None:
        self.source = Source(text)
        self.node = function(self.source.tree, name)
        everything = walk(self.node)
        self.names = local_names(self.node, everything)
        self.types = coarse_types(self.node, everything)
        self.parameters = {arg.arg for arg in self.node.args.args}
        formatted = any(isinstance(child, ast.JoinedStr) for child in everything)
        nodes = walk(self.node, into_fstrings=False) if formatted else everything
        signature = [part for part in (self.node.args, self.node.returns) if part is not None]
        signature += [child.annotation for child in nodes if isinstance(child, ast.AnnAssign)]
        untouched = {id(child) for part in signature for child in walk(part)}
        self.plain = nodes
        self.visited = [child for child in nodes if id(child) not in untouched]
        self.returned = {child.value for child in nodes if isinstance(child, ast.Return)}
        self.first_line: dict[str, int] = {}
        for child in everything:
            if isinstance(child, ast.arg):
                self._bind(child.arg, child.lineno)
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                self._bind(child.id, child.lineno)
        self.guessed = of_uses(self.visited, self.types)
        if self.types["return"] == UNKNOWN:
            self.guessed["return"] = of_returns(self.returned, self.guessed)
        self.occurrences = self._occurrences(everything)
        self.outside = {node.name for node in functions(self.source.tree)} | _imported(self.source.tree)

    def bound_before(self, line: int) -> tuple[str, ...]:
        """Names bound on an earlier line, or as a parameter, in order of appearance."""
        return tuple(name for name in self.names if self.first_line.get(name, NOWHERE) < line)

    def _bind(self, name: str, line: int) -> None:
        self.first_line[name] = min(line, self.first_line.get(name, NOWHERE))

    def _occurrences(self, everything: list[ast.AST]) -> list[tuple[ast.Name, bool]]:
        dependent: set[int] = set()
        for child in self.visited:
            if isinstance(child, ast.AugAssign):
                dependent.add(id(child.target))
            elif isinstance(child, ast.Assign):
                loaded = {name.id for name in walk(child.value) if isinstance(name, ast.Name)}
                stored = [name for target in child.targets for name in walk(target) if isinstance(name, ast.Name)]
                dependent.update(id(name) for name in stored if name.id in loaded)
        names = [child for child in everything if isinstance(child, ast.Name)]
        return [(name, isinstance(name.ctx, ast.Store) and id(name) not in dependent) for name in names]


def _imported(tree: ast.Module) -> set[str]:
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}
