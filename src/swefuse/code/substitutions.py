"""Edits that replace something inside a line: the substitutions of one function in its present state."""

from __future__ import annotations

import ast
from collections.abc import Callable

from swefuse.code.edit import Bug, Edit
from swefuse.code.functions import BUILTINS, Span
from swefuse.code.scope import UNKNOWN, fits
from swefuse.code.shape import NOWHERE, Shape

ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
EQUAL: dict[type[ast.cmpop], str] = {ast.Eq: "==", ast.NotEq: "!="}
MEMBER: dict[type[ast.cmpop], str] = {ast.In: "in", ast.NotIn: "not in"}
IDENTITY: dict[type[ast.cmpop], str] = {ast.Is: "is", ast.IsNot: "is not"}
COMPARE_GROUPS = (ORDER, EQUAL, MEMBER, IDENTITY)
SLIDE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ARITHMETIC_GROUPS = (("+", "-", "*"), ("//", "%", "/"), ("*", "//"), ("&", "|", "^"), ("<<", ">>"))
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
OTHER_SIGNS = {sign: sorted({o for group in ARITHMETIC_GROUPS if sign in group for o in group} - {sign}) for sign in SIGNS.values()}
TWIN_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
EFFECTS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "reverse", "setdefault", "sort", "update"}
)
_MOVABLE = (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp)
_NEGATABLE = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Compare)


def substitutions(shape: Shape) -> list[Edit]:
    """All of them, without duplicates; each result parses."""
    sites = _Sites(shape)
    sites.visit()
    unique: dict[tuple[int, int, str, str], Edit] = {}
    for kind, span, new in sites.found:
        edit = _edit(shape, kind, span, new)
        if edit is not None and edit.old != edit.new:
            unique.setdefault(edit[1:], edit)
    return list(unique.values())


class _Sites:
    """Collects (kind, span, new text); spans become (line, occurrence) at the end."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.source = shape, shape.source
        self.found: list[tuple[Bug, Span, str]] = []
        self.known = set(shape.names)
        self.boundaries = _boundary_positions(shape)
        self.negated = {id(n.operand) for n in shape.visited if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub)}
        self.handlers: dict[type[ast.AST], Callable[..., None]] = {
            ast.Compare: self.compare, ast.BinOp: self.arithmetic, ast.AugAssign: self.arithmetic, ast.BoolOp: self.boolean,
            ast.Return: self.returns, ast.Expr: self.bare, ast.Name: self.name, ast.Constant: self.constant,
            ast.UnaryOp: self.negative, ast.If: self.branch, ast.While: self.branch, ast.IfExp: self.branch,
            ast.comprehension: self.filters,
        }  # fmt: skip

    def visit(self) -> None:
        for node in self.shape.visited:
            handler = self.handlers.get(type(node))
            if handler:
                handler(node)
            if node in self.boundaries and isinstance(node, ast.expr):
                self.boundary(node)

    def put(self, kind: Bug, span: Span, new: str) -> None:
        self.found.append((kind, span, new))

    def between(self, left: ast.expr, right: ast.expr, sign: str) -> Span | None:
        """Where an operator stands between two operands; None when it is not written as ``sign`` ("not  in" with two spaces)."""
        at = self.source.text.find(sign, self.source.span(left).end, self.source.span(right).start)
        return None if at < 0 else Span(at, at + len(sign))

    def compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            group = next(g for g in COMPARE_GROUPS if type(operator) in g)
            sign = group[type(operator)]
            span = self.between(left, right, sign)
            left = right
            for other in group.values() if span else ():
                if span and other != sign:
                    self.put(Bug.BOUNDARY if SLIDE.get(sign) == other else Bug.COMPARISON, span, other)

    def arithmetic(self, node: ast.BinOp | ast.AugAssign) -> None:
        sign = SIGNS.get(type(node.op))
        if sign is None:
            return
        if isinstance(node, ast.BinOp):
            left, right, suffix = node.left, node.right, ""
            if isinstance(left, ast.JoinedStr) or (isinstance(left, ast.Constant) and isinstance(left.value, str)):
                return
        else:
            left, right, suffix = node.target, node.value, "="
        span = self.between(left, right, sign + suffix)
        for other in OTHER_SIGNS[sign] if span else ():
            if span:
                self.put(Bug.ARITHMETIC, span, other + suffix)

    def boundary(self, node: ast.expr) -> None:
        """Off by one in an index, a slice bound or a range argument."""
        span = self.source.span(node)
        value = _integer(node)
        if value is not None:
            self.put(Bug.BOUNDARY, span, str(value - 1))
            self.put(Bug.BOUNDARY, span, str(value + 1))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            if _integer(node.right) == 1:
                self.put(Bug.BOUNDARY, Span(self.source.span(node.left).end, span.end), "")
        elif isinstance(node, _MOVABLE):
            self.put(Bug.BOUNDARY, Span(span.end, span.end), " + 1")
            self.put(Bug.BOUNDARY, Span(span.end, span.end), " - 1")

    def constant(self, node: ast.Constant) -> None:
        if node in self.boundaries or id(node) in self.negated:
            return
        if isinstance(node.value, bool):
            if node not in self.shape.returned:
                self.put(Bug.CONSTANT, self.source.span(node), str(not node.value))
        elif isinstance(node.value, int):
            for value in sorted({node.value - 1, node.value + 1} | ({1 - node.value} if node.value in (0, 1) else set())):
                self.put(Bug.CONSTANT, self.source.span(node), str(value))

    def negative(self, node: ast.UnaryOp) -> None:
        value = _integer(node)
        if value is not None and node not in self.boundaries:
            for other in (value - 1, value + 1):
                self.put(Bug.CONSTANT, self.source.span(node), str(other))

    def name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node not in self.shape.returned:
            self.variable(node, Bug.VARIABLE)
            if node.id in TWIN_CALLS and node.id not in self.known:
                self.put(Bug.ARITHMETIC, self.source.span(node), TWIN_CALLS[node.id])

    def variable(self, node: ast.Name, kind: Bug) -> None:
        """Another name of a type that may stand there, bound on this line (a comprehension's) or before."""
        if node.id in BUILTINS or node.id not in self.known:
            return
        types, first = self.shape.types, self.shape.first_line
        own = types.get(node.id, UNKNOWN)
        span = self.source.span(node)
        for other in self.shape.names:
            if other != node.id and first.get(other, NOWHERE) <= node.lineno and fits(types.get(other, UNKNOWN), own):
                self.put(kind, span, other)

    def branch(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self.condition(node.test)

    def filters(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.condition(test)

    def condition(self, test: ast.expr) -> None:
        start = self.source.span(test).start
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            if self.source.text.startswith("not ", start) and not isinstance(test.operand, ast.BoolOp):
                self.put(Bug.CONDITION, Span(start, start + len("not ")), "")
        elif isinstance(test, _NEGATABLE):
            self.put(Bug.CONDITION, Span(start, start), "not ")

    def boolean(self, node: ast.BoolOp) -> None:
        sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            span = self.between(left, right, sign)
            if span:
                self.put(Bug.CONDITION, span, other)

    def returns(self, node: ast.Return) -> None:
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
            first, second = (self.source.span(part) for part in value.elts)
            swapped = f"{self.source.segment(value.elts[1])}, {self.source.segment(value.elts[0])}"
            self.put(Bug.RETURN, Span(first.start, second.end), swapped)

    def bare(self, node: ast.Expr) -> None:
        """An expression statement of no effect: a ``return`` may have stood there."""
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in EFFECTS:
            return
        if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
            start = self.source.span(node).start
            self.put(Bug.RETURN, Span(start, start), "return ")


def _boundary_positions(shape: Shape) -> set[ast.expr]:
    found: set[ast.expr] = set()
    for child in shape.plain:
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "range":
            found.update(child.args)
        elif isinstance(child, ast.Subscript):
            inner = child.slice
            parts = (inner.lower, inner.upper, inner.step) if isinstance(inner, ast.Slice) else (inner,)
            found.update(part for part in parts if part is not None)
    return found


def _integer(node: ast.expr) -> int | None:
    """The value of an integer written with or without a minus sign; True and False are none."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer(node.operand) if isinstance(node.operand, ast.Constant) else None
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    return None


def _edit(shape: Shape, kind: Bug, span: Span, new: str) -> Edit | None:
    """A span as an edit. A pure insertion takes the word before or after it along, so that ``old`` is not empty."""
    text = shape.source.text
    start, end = span
    if start == end:
        if new.startswith(" "):
            start = max(text.rfind("\n", 0, end) + 1, end - 1)
            while start > 0 and _in_word(text[start - 1]) and _in_word(text[start]):
                start -= 1
        else:
            while end < len(text) and _in_word(text[end]):
                end += 1
            end = max(end, start + 1)
    old = text[start:end]
    if "\n" in old:
        return None
    line = shape.source.line_of(start)
    nth, at = 1, text.find(old, shape.source.starts[line - 1])
    while at < start:
        nth, at = nth + 1, text.find(old, at + 1)
    return Edit(kind, line, nth, old, text[start : span.start] + new + text[span.end : end])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
