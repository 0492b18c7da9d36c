"""What the edits of one function need to know about it, found out once."""

from __future__ import annotations

import ast

from swefuse.code.functions import Source, function, local_names, walk
from swefuse.code.scope import coarse_types

NOWHERE = 10**9


class Shape:
    """One top-level function of a module: its nodes, its local names in order of appearance, their coarse types and first lines.

    ``visited`` are the nodes that edits may touch: no f-string's inside, no signature, no annotation.
    """

    def __init__(self, text: str, name: str) -> None:
        self.source = Source(text)
        self.node = function(self.source.tree, name)
        self.names = local_names(self.node)
        self.types = coarse_types(self.node)
        self.parameters = {arg.arg for arg in walk(self.node.args) if isinstance(arg, ast.arg)}
        nodes = walk(self.node, into_fstrings=False)
        signature = [part for part in (self.node.args, self.node.returns) if part is not None]
        signature += [child.annotation for child in nodes if isinstance(child, ast.AnnAssign)]
        untouched = {id(child) for part in signature for child in walk(part)}
        self.visited = [child for child in nodes if id(child) not in untouched]
        self.returned = {child.value for child in nodes if isinstance(child, ast.Return)}
        self.first_line: dict[str, int] = dict.fromkeys(self.parameters, self.node.lineno)
        for child in walk(self.node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                self.first_line[child.id] = min(child.lineno, self.first_line.get(child.id, NOWHERE))

    def bound_before(self, line: int) -> tuple[str, ...]:
        """Names bound on an earlier line, or as a parameter, in order of appearance."""
        return tuple(name for name in self.names if self.first_line.get(name, NOWHERE) < line)
