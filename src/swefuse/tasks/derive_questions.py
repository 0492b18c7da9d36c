"""Questions about a repository whose answers its syntax trees hold: callers, places of definitions, raised classes, defaults."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from swefuse.code.functions import Function, Source, walk
from swefuse.errors import DataError
from swefuse.tasks.commits import is_source, is_test
from swefuse.tasks.derive_parts import unique
from swefuse.tasks.sites import node_of, sites

MOST_NAMES = 12  # in an answer
CALLERS, DEFINED, RAISED, DEFAULTS = "callers", "defined", "raised", "defaults"
_WRITTEN = re.compile(r"(\w+)\(")  # a call in code that is written as a text
_Place = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Question:
    """A question about ``subject`` (``path:name``), with the text of its answer."""

    asked: str
    subject: str
    text: str
    want: str


@lru_cache(maxsize=2048)
def tree(text: str) -> ast.Module:
    """A parsed file; an empty module where it does not parse."""
    try:
        return Source(text).tree
    except DataError:
        return ast.Module([], [])


def questions(files: Mapping[str, str]) -> list[Question]:
    """All questions, in a stable order."""
    return [*_callers(files), *_defined(files), *_raised(files), *_defaults(files)]


def definitions(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Each name that Python outside of the tests binds at the top of a module by def, class or assignment -> paths, one for each
    time; also inside of ``if``, ``try`` and the like."""
    found: dict[str, list[str]] = {}
    for path in sorted(files):
        if path.endswith(".py") and not is_test(path):
            for name in _bound(tree(files[path]).body):
                found.setdefault(name, []).append(path)
    return found


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef):
            yield node.name
            continue
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.expr):
                yield from (leaf.id for leaf in ast.walk(one) if isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store))
            elif isinstance(one, ast.stmt):
                yield from _bound([one])
            elif isinstance(one, ast.ExceptHandler):
                yield from _bound(one.body)
        if isinstance(node, ast.Try):  # what is imported if it can be, and else made here
            yield from (
                alias.asname or alias.name for one in ast.walk(node) if isinstance(one, ast.ImportFrom) for alias in one.names
            )


def plain_functions(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Path and name of the functions at the top of source modules whose name is given once in all of the source."""
    given = definitions(files)
    for path in sorted(filter(is_source, files)):
        for site in sites(path, files[path]):
            if "." not in site.name and given.get(site.name) == [path]:
                yield path, site.name


def _callers(files: Mapping[str, str]) -> Iterator[Question]:
    uses = _Uses(files)
    for path, name in plain_functions(files):
        found = uses.callers(name, PurePosixPath(path).stem)
        if 2 <= len(found) <= MOST_NAMES and not any(one == f"{path}:{name}" for one in found):
            text = (
                f"Which functions and methods contain a call of `{name}`, which {path} defines? Test files do not count; to import "
                "the function or to hand it on without a call does not either. A call in a function inside of another counts for "
                "the outermost function or method. Give a sorted list of texts 'path:function' or 'path:Class.method'."
            )
            yield Question(CALLERS, f"{path}:{name}", text, repr(found))


class _Uses:
    """Where names are called, and which names cannot be told apart by their spelling."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._plain: dict[str, set[str]] = {}
        self._of_module: dict[tuple[str, str], set[str]] = {}  # calls of an attribute of a name
        self.odd = set[str]()  # bound elsewhere too, renamed, or called where no function is
        for path in sorted(files):
            if path.endswith(".py") and not is_test(path):
                top = Counter(_bound(tree(files[path]).body))
                self._seen: Counter[str] = Counter()
                self._visit(path, tree(files[path]), "", "")
                self.odd |= {name for name, times in self._seen.items() if times > top[name]}
                if not is_source(path):
                    self.odd |= {one.id for one in ast.walk(tree(files[path])) if isinstance(one, ast.Name)}

    def callers(self, name: str, module: str) -> list[str]:
        """Functions that call a name, as such or as an attribute of its module; none where that is not clear."""
        elsewhere = {base for base, attribute in self._of_module if attribute == name} - {module}
        if name in self.odd or elsewhere:
            return []
        return sorted(self._plain.get(name, set()) | self._of_module.get((module, name), set()))

    def _visit(self, path: str, node: ast.AST, owner: str, inside: str) -> None:
        """``owner``: class around the node; ``inside``: outermost function or method around it."""
        if isinstance(node, Function | ast.ClassDef):
            self._seen[node.name] += not owner or bool(inside)  # a method is no name of the module
            around = [*node.decorator_list, *(node.args.defaults if isinstance(node, Function) else node.bases)]
            around += [one for one in node.args.kw_defaults if one] if isinstance(node, Function) else []
            self.odd |= {one.id for part in around for one in ast.walk(part) if isinstance(one, ast.Name)}
            if not isinstance(node, ast.ClassDef):
                inside = inside or f"{path}:{owner}{node.name}"
            else:
                owner = f"{owner}{node.name}."
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._seen[node.id] += 1
        elif isinstance(node, ast.arg):
            self._seen[node.arg] += 1
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._seen[node.name] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.odd |= set(_WRITTEN.findall(node.value))
        elif isinstance(node, ast.alias) and node.asname:
            self.odd |= {node.name.rpartition(".")[2], node.asname}
        elif isinstance(node, ast.Attribute):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            self._of_module.setdefault((base, node.attr), set())
        if isinstance(node, ast.Call):
            self._called(node.func, inside)
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):  # a docstring
                self._visit(path, child, owner, inside)

    def _called(self, called: ast.expr, inside: str) -> None:
        if isinstance(called, ast.Name):
            self._plain.setdefault(called.id, set()).update([inside] if inside else [])
            self.odd |= set() if inside else {called.id}
        elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            self._of_module.setdefault((called.value.id, called.attr), set()).update([inside] if inside else [])
            self.odd |= set() if inside else {called.attr}


def _defined(files: Mapping[str, str]) -> Iterator[Question]:
    """Names that another file imports from a module whose name does not say where they are."""
    given = definitions(files)
    own = {path.removeprefix("src/").partition("/")[0].removesuffix(".py") for path in files if is_source(path)}
    asked = set[str]()
    for path in sorted(files):
        for node in tree(files[path]).body if path.endswith(".py") else ():
            if not isinstance(node, ast.ImportFrom) or not (node.level or (node.module or "").partition(".")[0] in own):
                continue
            for alias in node.names:
                homes = given.get(alias.name, [])
                last = (node.module or "").rpartition(".")[2]
                if len(homes) == 1 and homes[0] != path and PurePosixPath(homes[0]).stem != last and alias.name not in asked:
                    asked.add(alias.name)
                    start = ast.unparse(node).partition(" import ")[0]
                    text = (
                        f"{path} imports the name `{alias.name}` by `{start} import ...`. Which file holds its definition (a def, "
                        "a class or an assignment, not another import)? Give its path as a text."
                    )
                    yield Question(DEFINED, f"{homes[0]}:{alias.name}", text, repr(homes[0]))


def _raised(files: Mapping[str, str]) -> Iterator[Question]:
    for path in sorted(filter(is_source, files)):
        for site in sites(path, files[path]):
            found = _classes(node_of(files[path], site))
            if found and unique(files, site):
                text = (
                    f"Which exception classes does `{site.name}` in {path} raise by raise statements of its own? What is raised in "
                    "functions that it calls does not count. Give a sorted list of the names of the classes, each once, without "
                    "modules."
                )
                yield Question(RAISED, f"{path}:{site.name}", text, repr(found))


def _classes(node: ast.FunctionDef) -> list[str]:
    """Names of the classes that a function raises; none where it is not plain which, or a function stands inside."""
    inside = walk(node)
    if any(isinstance(one, _Place) for one in inside[1:]):
        return []
    bound = {one.id for one in inside if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    bound |= {one.arg for one in inside if isinstance(one, ast.arg)}
    bound |= {one.name for one in inside if isinstance(one, ast.ExceptHandler) and one.name}
    found = set[str]()
    for one in inside:
        if isinstance(one, ast.Raise):
            error = one.exc.func if isinstance(one.exc, ast.Call) else one.exc
            if not isinstance(error, ast.Name | ast.Attribute):
                return []
            name = error.id if isinstance(error, ast.Name) else error.attr
            if name in bound or not name[:1].isupper():
                return []
            found.add(name)
    return sorted(found)


def _defaults(files: Mapping[str, str]) -> Iterator[Question]:
    for path in sorted(filter(is_source, files)):
        for site in sites(path, files[path]):
            spec = node_of(files[path], site).args
            plain = [one.arg for one in (*spec.posonlyargs, *spec.args)]
            given = plain[len(plain) - len(spec.defaults) :]
            given += [one.arg for one, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is not None]
            without = {*plain, *(one.arg for one in spec.kwonlyargs)} - {*given, "self", "cls"}
            if len(given) > 1 and without and unique(files, site):
                text = f"Which parameters of `{site.name}` in {path} have a default value? Give a sorted list of their names."
                yield Question(DEFAULTS, f"{path}:{site.name}", text, repr(sorted(given)))
