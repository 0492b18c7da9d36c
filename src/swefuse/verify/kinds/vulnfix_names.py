"""Names that keep a hole open where an analyser, which looks at plain calls, no longer sees it.

Nothing here runs code or reads files: the text alone decides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

Node = ast.expr | ast.stmt | ast.alias | ast.keyword | ast.pattern
Sight = tuple[Node, str]


class Seen(NamedTuple):
    """Something that stands in a file. ``what`` is its spelling, by which a reference solution excuses it."""

    what: str
    line: int


class _Family(NamedTuple):
    """Rules about one kind of hole, and the names without which it cannot be."""

    rules: frozenset[str]
    names: re.Pattern[str]


_FAMILIES = tuple(
    _Family(frozenset(rules.split()), re.compile(names))
    for rules, names in (
        ("S102 S307", "eval|exec|compile"),
        ("S301 S302", "_?pickle|cPickle|dill|cloudpickle|jsonpickle|joblib|marshal|shelve|_?loads|_?Unpickler"),
        ("S311", "_?[Rr]andom"),
        ("S608", "a^"),
        ("S602 S604 S605", "system|popen|getoutput|getstatusoutput|create_subprocess_shell"),
        ("S303 S324", "(?i:_?md[245]|_?sha_?1)"),
        ("S202", "_extract_member|_extract_one|makelink|makefile|_NAMED_FILTERS|extraction_filter|(?:tar|fully_trusted)_filter"),
    )
)
_HARMLESS = frozenset(
    {"re.compile", "json.loads", "tomllib.loads", "random.SystemRandom", "platform.system", "pickle.dumps"}
    | {"pickle.PickleError", "pickle.PicklingError", "pickle.UnpicklingError"}
)
_BUILTINS = frozenset({"__import__", "globals", "locals", "vars", "exec", "eval", "importlib", "builtins"})
_INSIDE = frozenset(
    {"__import__", "__builtins__", "__self__", "__globals__", "__subclasses__", "__getattribute__", "__code__", "__loader__"}
    | {"__spec__", "f_globals", "f_locals", "f_builtins", "_getframe", "FunctionType", "LambdaType", "CodeType"}
    | {"builtins", "importlib", "import_module", "resolve_name"}
)
_MODULES = frozenset(
    {"builtins", "importlib", "runpy", "code", "codeop", "pdb", "bdb", "gc", "imp", "pkgutil", "pydoc", "zipimport", "timeit"}
    | {"ctypes", "cffi", "cProfile", "profile", "trace", "doctest"}
)
_NAMED = {"getattr": 1, "attrgetter": 0, "methodcaller": 0}
_SQL = re.compile(
    r"\bselect\b.*\bfrom\b|\b(?:insert|replace)\b.*\binto\b|\bupdate\b.*\bset\b|\bdelete\s+from\b", re.IGNORECASE | re.DOTALL
)
_SQL_CALLS = frozenset({"execute", "executemany", "executescript"})
_TEXT_CALLS = frozenset({"join", "format", "format_map", "replace", "substitute", "safe_substitute", "translate", "sub"})
_UNPACK = frozenset({"extract", "extractall", "unpack_archive"})
_SHELLS = re.compile(r"(?:/\S*/)?(?:sh|bash|dash|zsh|ksh|cmd|powershell)(?:\.exe)?")
_RUNS = frozenset({"Popen", "run", "call", "check_call", "check_output"})
_BEFORE_SHELL = 8  # arguments of Popen that come before ``shell``
_HASH_NAME = {"hashlib.new": 0, "hashlib.pbkdf2_hmac": 0, "hmac.new": 2, "hmac.digest": 2}
_DEEP = 8


class _File:
    """A parsed file: what stands in what, and which names its imports bind."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.nodes = list(ast.walk(self.tree))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        bound: dict[str, set[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
                    local = alias.asname or alias.name.partition(".")[0]
                    bound.setdefault(local, set()).add(whole if alias.asname or isinstance(node, ast.ImportFrom) else local)
        self.imported = {name: places.pop() if len(places) == 1 else "?" for name, places in bound.items()}

    def dotted(self, node: ast.AST) -> str:
        """The spelling of a name with its attributes, imports looked up; ``….x`` for one of something else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        parts.append(self.imported.get(node.id, node.id) if isinstance(node, ast.Name) else "…")
        return ".".join(reversed(parts))

    def called(self, node: ast.AST) -> ast.Call | None:
        """The call of which a node is the function."""
        parent = self.parents.get(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def texts(self) -> Iterator[tuple[ast.expr, str]]:
        """Texts known without running anything, put together where ``+`` does so. Docstrings are none."""
        for node in self.nodes:
            if not isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr) or (text := _text(node)) is None:
                continue
            parent = self.parents[node]
            call = self.parents[parent] if isinstance(parent, ast.keyword) else parent
            mode = isinstance(call, ast.Call) and self.dotted(call.func) == "ast.parse"  # parses only, in the mode "eval"
            if not mode and not isinstance(parent, ast.BinOp | ast.Expr):
                yield node, text


def _text(node: ast.AST | None) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    parts: list[ast.expr] = []
    if isinstance(node, ast.JoinedStr):
        parts = node.values
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    texts = [_text(part) for part in parts]
    return "".join(text or "" for text in texts) if texts and None not in texts else None


def _names(file: _File, names: Callable[[str], object]) -> Iterator[Sight]:
    """Wherever one of the names occurs: as a name, an attribute, in an import, or as a text that is such a name."""
    for node in file.nodes:
        if isinstance(node, ast.Name) and names(node.id):
            parent = file.parents[node]
            if file.dotted(node) not in _HARMLESS and file.dotted(parent) not in _HARMLESS:
                yield node, node.id
        elif isinstance(node, ast.Attribute) and names(node.attr):
            if file.dotted(node) not in _HARMLESS:
                yield node, file.dotted(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                # a plain import does nothing yet: what uses its name is seen there
                if alias.asname and any(map(names, (*alias.name.split("."), alias.asname))):
                    yield alias, f"import {alias.name} as {alias.asname}"
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                parts = [*(node.module or "").split("."), *alias.name.split("."), alias.asname or ""]
                if any(map(names, parts)) and f"{node.module}.{alias.name}" not in _HARMLESS:
                    yield alias, f"from {node.module or '.'} import {alias.name}"
        elif isinstance(node, ast.MatchClass):
            yield from ((node, f"{name}=") for name in node.kwd_attrs if names(name))
    for text_node, text in file.texts():
        if re.fullmatch(r"[\w.:-]+", text) and any(map(names, (text.replace("-", ""), *re.split(r"[.:-]", text)))):
            yield text_node, repr(text)


def _random(file: _File, names: Callable[[str], object]) -> Iterator[Sight]:
    """As ``_names``, but what a SystemRandom is called and its method ``random()`` are fine."""
    made = {node for node in file.nodes if isinstance(node, ast.Call) and file.dotted(node.func).endswith(".SystemRandom")}
    bound = [_value(file, node) for node in file.nodes if _stores(node, "random")]
    own = bool(bound) and "random" not in file.imported and all(value in made for value in bound)
    for node, what in _names(file, names):
        call = file.called(node)
        drawn = made and isinstance(node, ast.Attribute) and call is not None and not call.args and not call.keywords
        if not drawn and not (own and isinstance(node, ast.Name)):
            yield node, what


def _shell(file: _File) -> Iterator[Sight]:
    for node in file.nodes:
        if isinstance(node, ast.keyword) and node.arg == "shell":
            if not (isinstance(node.value, ast.Constant) and node.value.value in (False, None)):
                yield node, f"shell={ast.unparse(node.value)}"
        elif isinstance(node, ast.Call) and file.dotted(node.func).rpartition(".")[2] in _RUNS and len(node.args) > _BEFORE_SHELL:
            yield node, f"{file.dotted(node.func)} with more than {_BEFORE_SHELL} arguments in a row"
    for text_node, text in file.texts():
        if text == "shell" or _SHELLS.fullmatch(text):
            yield text_node, repr(text)


def _hashes(file: _File) -> Iterator[Sight]:
    """Hashes whose name is computed."""
    for node in file.nodes:
        if isinstance(node, ast.Call) and (place := _HASH_NAME.get(file.dotted(node.func))) is not None:
            given = [*node.args[place : place + 1], *(word.value for word in node.keywords if word.arg in ("name", "digestmod"))]
            if any(isinstance(one, ast.BinOp | ast.Call | ast.Subscript | ast.JoinedStr) and _text(one) is None for one in given):
                yield node, f"{file.dotted(node.func)} of a computed name"


def _unpacking(file: _File) -> Iterator[Sight]:
    """Entries of archives that reach the disk without the filter for data."""
    for node in file.nodes:
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in _UNPACK and isinstance(node, ast.Attribute | ast.Name):
            call = file.called(node)
            given = [word.value for word in call.keywords if word.arg == "filter"] if call else []
            if not any(_text(one) == "data" or file.dotted(one) == "tarfile.data_filter" for one in given):
                yield node, f"{file.dotted(node)} without filter='data'"
        elif name == "data_filter" and isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node, f"another {file.dotted(node)}"
    yield from ((node, repr(text)) for node, text in file.texts() if text in {*_UNPACK, "data_filter"})


def _statements(file: _File) -> Iterator[Sight]:
    """SQL that is put together, and calls of ``execute`` whose statement is no fixed text."""
    for node in file.nodes:
        composed = isinstance(node, ast.BinOp | ast.JoinedStr | ast.AugAssign) or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TEXT_CALLS
        )
        if composed and _text(node) is None and _SQL.search(_pieces(node)):
            assert isinstance(node, ast.expr | ast.stmt)
            yield node, f"a statement put together ({ast.unparse(node)[:100]})"
        elif isinstance(node, ast.Attribute) and node.attr in _SQL_CALLS:
            call = file.called(node)
            given = [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("sql", "statement"))] if call else []
            if call is None or not all(_fixed(file, one, node) for one in given):
                yield node, f"{file.dotted(node)}({', '.join(map(ast.unparse, given)) if call else ''})"
    yield from ((node, repr(text)) for node, text in file.texts() if text in _SQL_CALLS)


def _pieces(node: ast.AST) -> str:
    """The fixed texts below a node in the order in which they stand."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else " "
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in _TEXT_CALLS:
        return " "  # a method gets the text, and gives something else
    return " ".join(map(_pieces, ast.iter_child_nodes(node)))


def _fixed(file: _File, node: ast.expr, place: ast.AST, deep: int = 0) -> bool:
    """Whether an expression is one of the texts that stand in the file, whatever the caller passes."""
    if deep > _DEEP:
        return False
    if _text(node) is not None:
        return True
    if isinstance(node, ast.IfExp):
        return all(_fixed(file, one, place, deep + 1) for one in (node.body, node.orelse))
    if isinstance(node, ast.Tuple):
        return all(_fixed(file, one, place, deep + 1) for one in node.elts)
    if isinstance(node, ast.Dict):
        return all(_fixed(file, one, place, deep + 1) for one in node.values)
    if isinstance(node, ast.Subscript):
        return _fixed(file, node.value, place, deep + 1)
    if isinstance(node, ast.Name | ast.Attribute):
        bound = _bindings(file, node, place)
        return bool(bound) and all(one is not None and _fixed(file, one, place, deep + 1) for one in bound)
    return False


def _bindings(file: _File, node: ast.Name | ast.Attribute, place: ast.AST) -> list[ast.expr | None]:
    """Everything that a name of the function around a place, else of the module, or an attribute is bound to; None: unknown."""
    name = node.id if isinstance(node, ast.Name) else node.attr
    function: ast.AST | None = place
    while function is not None and not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        function = file.parents.get(function)
    inner = list(ast.walk(function)) if function is not None and isinstance(node, ast.Name) else []
    if any(isinstance(one, ast.arg) and one.arg == name for one in inner):
        return [None]
    changed = any(
        (isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store | ast.Del) and _called(one.value) == name)
        or (isinstance(one, ast.Attribute) and one.attr in ("update", "setdefault") and _called(one.value) == name)
        for one in file.nodes
    )
    if changed:
        return [None]
    return [_value(file, one) for one in inner if _stores(one, name)] or [
        _value(file, one) for one in file.nodes if _stores(one, name)
    ]


def _called(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and _called(node) == name


def _value(file: _File, node: ast.AST) -> ast.expr | None:
    parent = file.parents[node]
    if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
        return parent.value
    return parent.iter if isinstance(parent, ast.For | ast.comprehension) else None


def _ways(file: _File) -> Iterator[Sight]:
    """Ways to reach any name without writing it."""
    for node in file.nodes:
        if isinstance(node, ast.Name) and node.id in _BUILTINS | _INSIDE:
            yield node, node.id
        elif isinstance(node, ast.Name | ast.Attribute) and (place := _NAMED.get(_called(node))) is not None:
            call = file.called(node)
            if call is None or len(call.args) <= place or any(_text(one) is None for one in call.args[place : place + 1]):
                yield node, f"{_called(node)} of a computed name"
        elif isinstance(node, ast.Attribute):
            imported = node.attr == "__dict__" and file.dotted(node).partition(".")[0] in file.imported
            if node.attr in _INSIDE or file.dotted(node) == "sys.modules" or imported:
                yield node, file.dotted(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
                if whole.partition(".")[0] in _MODULES or whole == "sys.modules" or _INSIDE & {*whole.split(".")}:
                    yield alias, f"import of {whole}"
    for text_node, text in file.texts():
        if _INSIDE & {*re.split(r"[.:]", text)}:
            yield text_node, repr(text)


@lru_cache(maxsize=4096)
def holes(text: str, rules: frozenset[str]) -> tuple[Seen, ...]:
    """What in a file keeps a hole open that the rules are about. Raises SyntaxError, ValueError, RecursionError or MemoryError."""
    file = _File(text)
    found: list[Sight] = []
    for family in _FAMILIES:
        if family.rules & rules:
            names = family.names.fullmatch
            found += _random(file, names) if "S311" in family.rules else _names(file, names)
            for rule, look in (("S602", _shell), ("S324", _hashes), ("S202", _unpacking), ("S608", _statements)):
                found += look(file) if rule in family.rules else ()
    return _sorted(found)


@lru_cache(maxsize=4096)
def ways(text: str) -> tuple[Seen, ...]:
    """What in a file could reach names without writing them. Raises as ``holes`` does."""
    return _sorted(list(_ways(_File(text))))


def _sorted(found: list[Sight]) -> tuple[Seen, ...]:
    seen = {Seen(what, node.lineno) for node, what in found}
    return tuple(sorted(seen, key=lambda one: (one.line, one.what)))
