"""Single edits of Python code: one set serves bug injection, mutants and the choice that a small model makes.

``edits(source, name)`` lists every edit that applies to a function in this state. The set is (almost) closed under inversion: what one
edit breaks, another edit of the broken state mends, so a bug that was injected here is within reach of a policy that chooses among the
edits. Insertions are templates over the names in scope; ``removals`` lists the statements that such a template can bring back.

Every edit is an ``edit`` action (line, occurrence, old text, new text) plus the kind of bug that it makes or mends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from swefuse.code.functions import BUILTINS, Source, Span, body_statements, function, local_names, walk_outside_fstrings
from swefuse.code.insertions import guard_templates, statement_templates
from swefuse.code.scope import UNKNOWN, coarse_types, fits
from swefuse.records import Action
from swefuse.workspace import apply_edit


class Bug(StrEnum):
    """Kinds of bugs. The model writes the kind as its diagnosis; results are balanced over kinds and shown by kind."""

    COMPARISON = "comparison"
    ARITHMETIC = "arithmetic"
    BOUNDARY = "boundary"
    CONSTANT = "constant"
    VARIABLE = "variable"
    GUARD = "guard"
    STATEMENT = "statement"
    CONDITION = "condition"
    RETURN = "return"


@dataclass(frozen=True)
class Edit:
    """One applicable edit: replace ``old`` (its ``nth`` occurrence that starts on 1-based ``line``) by ``new``."""

    kind: Bug
    line: int
    nth: int
    old: str
    new: str

    def action(self, path: str) -> Action:
        """The edit as an agent's action on ``path``."""
        return Action(name="edit", path=path, line=self.line, nth=self.nth, old=self.old, new=self.new)


ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
EQUAL = {ast.Eq: "==", ast.NotEq: "!="}
MEMBER = {ast.In: "in", ast.NotIn: "not in"}
IDENTITY = {ast.Is: "is", ast.IsNot: "is not"}
COMPARE_GROUPS: tuple[dict[type[ast.cmpop], str], ...] = (ORDER, EQUAL, MEMBER, IDENTITY)  # type: ignore[assignment]
SLIDE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ARITHMETIC_GROUPS = (("+", "-", "*"), ("//", "%", "/"), ("*", "//"), ("&", "|", "^"), ("<<", ">>"))
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
TWIN_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


class _Sites:
    """Collects the substitutions of one function; spans become (line, occurrence) at the end."""

    def __init__(self, source: Source, node: ast.FunctionDef) -> None:
        self.source = source
        self.node = node
        self.names = local_names(node)
        self.types = coarse_types(node)
        self.found: list[tuple[Bug, Span, str]] = []
        self.boundary_positions = self._boundary_positions()

    def put(self, kind: Bug, span: Span, new: str) -> None:
        self.found.append((kind, span, new))

    def between(self, left: ast.expr, right: ast.expr, sign: str) -> Span:
        """Where an operator stands between two operands; parentheses around them may lie in between."""
        start = self.source.span(left).end
        at = self.source.text.index(sign, start, self.source.span(right).start)
        return Span(at, at + len(sign))

    def _boundary_positions(self) -> set[ast.expr]:
        found: set[ast.expr] = set()
        for child in walk_outside_fstrings(self.node):
            if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "range":
                found.update(child.args)
            elif isinstance(child, ast.Subscript):
                inner = child.slice
                parts = (inner.lower, inner.upper, inner.step) if isinstance(inner, ast.Slice) else (inner,)
                found.update(part for part in parts if part is not None)
        return found

    def compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            group = next(g for g in COMPARE_GROUPS if type(operator) in g)
            sign = group[type(operator)]
            try:
                span = self.between(left, right, sign)
            except ValueError:  # "not  in" written with two spaces and its like
                left = right
                continue
            for other in group.values():
                if other != sign:
                    self.put(Bug.BOUNDARY if SLIDE.get(sign) == other else Bug.COMPARISON, span, other)
            left = right

    def arithmetic(self, node: ast.BinOp | ast.AugAssign) -> None:
        sign = SIGNS.get(type(node.op))
        if sign is None:
            return
        if isinstance(node, ast.BinOp):
            left: ast.expr = node.left
            right = node.right
            if isinstance(left, ast.Constant | ast.JoinedStr) and isinstance(getattr(left, "value", ""), str):
                return
            suffix = ""
        else:
            left, right, suffix = node.target, node.value, "="
        try:
            span = self.between(left, right, sign + suffix)
        except ValueError:
            return
        others = {other for group in ARITHMETIC_GROUPS if sign in group for other in group} - {sign}
        for other in sorted(others):
            self.put(Bug.ARITHMETIC, span, other + suffix)

    def boundary(self, node: ast.expr) -> None:
        """Off by one in an index, a slice bound or a range argument."""
        span = self.source.span(node)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            for value in (node.value - 1, node.value + 1):
                self.put(Bug.BOUNDARY, span, str(value))
            return
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value = node.operand.value
            if type(value) is int:
                self.put(Bug.BOUNDARY, span, str(-value - 1))
                self.put(Bug.BOUNDARY, span, str(-value + 1))
            return
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            if isinstance(node.right, ast.Constant) and node.right.value == 1:
                end = self.source.span(node.left).end
                self.put(Bug.BOUNDARY, Span(end, span.end), "")
            return
        if isinstance(node, ast.Name | ast.Call | ast.Subscript | ast.Attribute | ast.BinOp):
            self.put(Bug.BOUNDARY, Span(span.end, span.end), " + 1")
            self.put(Bug.BOUNDARY, Span(span.end, span.end), " - 1")

    def constant(self, node: ast.Constant) -> None:
        span = self.source.span(node)
        if isinstance(node.value, bool):
            self.put(Bug.CONSTANT, span, str(not node.value))
        elif type(node.value) is int:
            for value in sorted({node.value - 1, node.value + 1} | ({1 - node.value} if node.value in (0, 1) else set())):
                self.put(Bug.CONSTANT, span, str(value) if value >= 0 else f"-{-value}")

    def negative(self, node: ast.UnaryOp) -> None:
        if isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
            for value in (-node.operand.value - 1, -node.operand.value + 1):
                self.put(Bug.CONSTANT, self.source.span(node), str(value))

    def variable(self, node: ast.Name, kind: Bug = Bug.VARIABLE) -> None:
        if node.id in BUILTINS or node.id not in self.names:
            return
        for other in self.names:
            same = fits(self.types.get(other, UNKNOWN), self.types.get(node.id, UNKNOWN))
            if other != node.id and same and self.bound_before(other, node):
                self.put(kind, self.source.span(node), other)

    def bound_before(self, name: str, node: ast.Name) -> bool:
        """Whether a name is bound on an earlier line or as a parameter; a name of the same line may be a comprehension's."""
        return self.first_line.get(name, 10**9) <= node.lineno

    @property
    def first_line(self) -> dict[str, int]:
        if not hasattr(self, "_first_line"):
            lines: dict[str, int] = {}
            for child in ast.walk(self.node):
                if isinstance(child, ast.arg):
                    lines[child.arg] = min(child.lineno, lines.get(child.arg, 10**9))
                elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                    lines[child.id] = min(child.lineno, lines.get(child.id, 10**9))
            self._first_line = lines
        return self._first_line

    def condition(self, test: ast.expr) -> None:
        span = self.source.span(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            if self.source.text[span.start :].startswith("not ") and not isinstance(test.operand, ast.BoolOp):
                self.put(Bug.CONDITION, Span(span.start, span.start + len("not ")), "")
        elif isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Compare):
            self.put(Bug.CONDITION, Span(span.start, span.start), "not ")

    def boolean(self, node: ast.BoolOp) -> None:
        sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            start, end = self.source.span(left).end, self.source.span(right).start
            at = self.source.text.index(sign, start, end)
            self.put(Bug.CONDITION, Span(at, at + len(sign)), other)

    def returned(self, node: ast.Return) -> None:
        value = node.value
        if value is None:
            return
        start = self.source.span(node).start
        self.put(Bug.RETURN, Span(start, start + len("return ")), "")
        if isinstance(value, ast.Name):
            self.variable(value, Bug.RETURN)
        elif isinstance(value, ast.Constant) and isinstance(value.value, bool):
            self.put(Bug.RETURN, self.source.span(value), str(not value.value))
        elif isinstance(value, ast.Tuple) and len(value.elts) == 2:
            first, second = (self.source.segment(part) for part in value.elts)
            span = Span(self.source.span(value.elts[0]).start, self.source.span(value.elts[1]).end)
            self.put(Bug.RETURN, span, f"{second}, {first}")

    def bare(self, node: ast.Expr) -> None:
        """An expression statement of no effect: a ``return`` may have stood there."""
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            effect = {"append", "add", "extend", "insert", "pop", "remove", "discard", "update", "sort", "reverse", "clear", "setdefault"}
            if node.value.func.attr in effect:
                return
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return
        start = self.source.span(node).start
        self.put(Bug.RETURN, Span(start, start), "return ")


def _visit(sites: _Sites) -> None:
    returned = {node.value for node in ast.walk(sites.node) if isinstance(node, ast.Return)}
    signature = {id(child) for part in (sites.node.args, sites.node.returns) if part is not None for child in ast.walk(part)}
    signature |= {id(child) for node in ast.walk(sites.node) if isinstance(node, ast.AnnAssign) for child in ast.walk(node.annotation)}
    negated = {id(node.operand) for node in ast.walk(sites.node) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)}
    for node in walk_outside_fstrings(sites.node):
        if id(node) in signature:
            continue
        if isinstance(node, ast.Compare):
            sites.compare(node)
        elif isinstance(node, ast.BinOp | ast.AugAssign):
            sites.arithmetic(node)
        elif isinstance(node, ast.BoolOp):
            sites.boolean(node)
        elif isinstance(node, ast.Return):
            sites.returned(node)
        elif isinstance(node, ast.Expr):
            sites.bare(node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in returned:
            sites.variable(node)
            if node.id in TWIN_CALLS and node.id not in sites.names:
                sites.put(Bug.ARITHMETIC, sites.source.span(node), TWIN_CALLS[node.id])
        elif isinstance(node, ast.Constant) and node not in sites.boundary_positions and id(node) not in negated:
            if node not in returned or not isinstance(node.value, bool):
                sites.constant(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and node not in sites.boundary_positions:
            sites.negative(node)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            sites.condition(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                sites.condition(test)
        if isinstance(node, ast.expr) and node in sites.boundary_positions:
            sites.boundary(node)


def _substitution(source: Source, kind: Bug, span: Span, new: str) -> Edit | None:
    """A span as (line, occurrence, old, new). A pure insertion takes the word before or after it along, so that ``old`` is not empty."""
    text = source.text
    start, end = span.start, span.end
    if start == end:
        if new.startswith(" "):
            start = max(text.rfind("\n", 0, end) + 1, end - 1)
            while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_") and (text[start].isalnum() or text[start] == "_"):
                start -= 1
        else:
            while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                end += 1
            end = max(end, start + 1)
    old = text[start:end]
    if "\n" in old:
        return None
    line = text.count("\n", 0, start) + 1
    row = text.rfind("\n", 0, start) + 1
    nth = 1
    at = text.find(old, row)
    while at < start:
        nth, at = nth + 1, text.find(old, at + 1)
    return Edit(kind, line, nth, old, text[start : span.start] + new + text[span.end : end])


def edits(source_text: str, name: str) -> list[Edit]:
    """Every edit that applies to function ``name`` in this state, without duplicates, in a stable order; each result parses.

    Raises DataError if the source does not parse or has no such function.
    """
    source = Source(source_text)
    node = function(source.tree, name)
    sites = _Sites(source, node)
    _visit(sites)
    unique: dict[tuple[int, int, str, str], Edit] = {}
    for kind, span, new in sites.found:
        edit = _substitution(source, kind, span, new)
        if edit is not None and edit.old != edit.new:
            unique.setdefault((edit.line, edit.nth, edit.old, edit.new), edit)
    for edit in _insertions(source, node, sites.names):
        unique.setdefault((edit.line, edit.nth, edit.old, edit.new), edit)
    return sorted(unique.values(), key=lambda e: (e.kind, e.line, e.old, e.nth, e.new))


def _starts_line(source: Source, statement: ast.stmt) -> bool:
    """False for what follows a colon or semicolon on one line, and for an ``elif``."""
    at = source.span(statement).start
    return not source.text[source.starts[statement.lineno - 1] : at].strip() and not source.text.startswith("elif", at)


def _blocks(source: Source, node: ast.FunctionDef) -> Iterator[tuple[list[ast.stmt], bool]]:
    """Every block of whole lines inside a function, docstring left out, with whether it is a loop's body."""
    candidates = [(body_statements(node), False)]
    for child in ast.walk(node):
        if child is not node and isinstance(child, ast.stmt | ast.ExceptHandler):
            for field in ("body", "orelse", "finalbody"):
                candidates.append((getattr(child, field, []), isinstance(child, ast.For | ast.While) and field == "body"))
    for block, in_loop in candidates:
        if block and all(_starts_line(source, statement) for statement in block):
            yield block, in_loop


def _insertions(source: Source, node: ast.FunctionDef, names: list[str]) -> Iterator[Edit]:
    first = {name: _first_binding(node, name) for name in names}
    updates: dict[tuple[str, ...], list[str]] = {}

    def bound(line: int) -> tuple[str, ...]:
        return tuple(name for name in names if first[name] < line)

    def statements_at(line: int, column: int) -> Iterator[Edit]:
        known = bound(line)
        if known not in updates:
            updates[known] = statement_templates(node, list(known))
        for template in updates[known]:
            yield _insert(Bug.STATEMENT, line, column, template)

    for block, in_loop in _blocks(source, node):
        known = bound(block[0].lineno)
        for template in guard_templates(node, list(known), in_loop):
            yield _insert(Bug.GUARD, block[0].lineno, block[0].col_offset, template)
        for statement in block:
            yield from statements_at(statement.lineno, statement.col_offset)
        last = block[-1]
        if not isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break):
            yield from statements_at((last.end_lineno or last.lineno) + 1, last.col_offset)


def _insert(kind: Bug, line: int, column: int, template: str) -> Edit:
    indent = " " * column
    return Edit(kind, line, 1, "", "\n".join(f"{indent}{row}" for row in template.split("\n")))


def _first_binding(node: ast.FunctionDef, name: str) -> int:
    lines = [c.lineno for c in ast.walk(node) if isinstance(c, ast.arg) and c.arg == name]
    lines += [c.lineno for c in ast.walk(node) if isinstance(c, ast.Name) and c.id == name and isinstance(c.ctx, ast.Store)]
    return min(lines, default=10**9)


def removals(source_text: str, name: str) -> list[Edit]:
    """Edits that drop one whole statement which an insertion template can bring back; a block never becomes empty."""
    source = Source(source_text)
    node = function(source.tree, name)
    found: list[Edit] = []
    for block, _ in _blocks(source, node):
        for statement in block:
            if len(block) < 2:
                continue
            kind = Bug.GUARD if isinstance(statement, ast.If) else Bug.STATEMENT
            if not isinstance(statement, ast.If | ast.Assign | ast.AugAssign | ast.Expr):
                continue
            end = statement.end_lineno or statement.lineno
            old = "".join(f"{row}\n" for row in source.lines[statement.lineno - 1 : end])
            if source.text.startswith(old, source.starts[statement.lineno - 1]):
                found.append(Edit(kind, statement.lineno, 1, old, ""))
    return found


def apply(source_text: str, edit: Edit) -> str:
    """The text after an edit."""
    return apply_edit({"f": source_text}, edit.action("f"))["f"]


def breaks(source_text: str, name: str) -> list[Edit]:
    """Every edit that may be injected as a bug: substitutions that leave a module that parses, and removals."""
    found = [edit for edit in edits(source_text, name) if edit.old != ""]
    return found + removals(source_text, name)


def _normal(text: str) -> str:
    """The code of a module without docstrings and messages of errors."""
    tree = ast.parse(text)
    for child in ast.walk(tree):
        if isinstance(child, ast.Raise) and isinstance(child.exc, ast.Call):
            child.exc = child.exc.func
    return ast.dump(tree)


def mending(original: str, broken: str, name: str, choices: list[Edit] | None = None) -> Edit | None:
    """The edit of the broken state that gives back the original (up to the message of a raised error), or None if no edit does.

    ``choices`` are the edits of the broken state, for callers that have them already.
    """
    wanted: str | None = None
    for edit in edits(broken, name) if choices is None else choices:
        result = apply(broken, edit)
        if result == original:
            return edit
        if edit.old == "" and abs(len(result.split("\n")) - len(original.split("\n"))) == 0:
            wanted = wanted or _normal(original)
            if _normal(result) == wanted:
                return edit
    return None
