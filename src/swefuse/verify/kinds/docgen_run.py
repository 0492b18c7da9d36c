"""The examples of a docstring: what they may do, whether each holds, and whether they show what the documented function does.

An example holds by itself, so that ``>>> 1 or half(0)`` does. They all run once more with the function replaced by one that answers
otherwise; one of them must notice. The arguments of a call go through the same signature, and what does not fit is refused by the
function itself: an example of a wrong call shows nothing.
"""

from __future__ import annotations

import ast
import doctest
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from swefuse.records import TestResult
from swefuse.sandbox.base import Job
from swefuse.sandbox.candidate import module_name
from swefuse.verify.canary import _DEFINITION
from swefuse.verify.kinds.base import Trial, report
from swefuse.verify.tests import environment_of, is_cold

_TESTS = "test_swefuse_examples.py"
_MOST_EXAMPLES = 50
_PROPERTIES = ("property", "cached_property", "functools.cached_property")
_HARMLESS = frozenset({
    "asyncio", "collections", "datetime", "decimal", "fractions", "functools", "io", "itertools", "json", "math", "operator",
    "pathlib", "re", "statistics", "string",
})  # fmt: skip
# what an example of ordinary use does not need, and one that deceives its runner does
_INNER = frozenset({"builtins", "ctypes", "doctest", "gc", "importlib", "inspect", "pytest", "unittest"})
_NAMES = _INNER | {
    "exec", "eval", "compile", "open", "setattr", "delattr", "globals", "locals", "vars", "breakpoint", "exit", "quit", "input",
    "attrgetter", "getattr", "methodcaller",
}  # fmt: skip
_ATTRIBUTES = _INNER | {
    "setattr", "delattr", "attrgetter", "methodcaller", "os", "sys", "modules", "settrace", "setprofile", "gi_frame", "cr_frame",
    "ag_frame", "tb_frame", "f_back", "f_globals", "f_locals", "f_builtins",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bounds:
    """What examples may do: ``module`` is where the function ``name`` is, ``roots`` are packages that they may import."""

    module: str
    name: str
    roots: frozenset[str]
    is_property: bool

    @classmethod
    def of(cls, trial: Trial, path: str, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Bounds:
        """The bounds of a task: examples may import its own modules, what the function's module imports, and harmless ones."""
        roots = set(_HARMLESS)
        for one in ast.walk(ast.parse(trial.files[path])):
            if isinstance(one, ast.Import):
                roots |= {alias.name.partition(".")[0] for alias in one.names}
            elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
                roots.add(one.module.partition(".")[0])
        roots = roots - _INNER | {module_name(one)[0].partition(".")[0] for one in trial.files if one.endswith(".py")}
        kinds = [ast.unparse(one) for one in node.decorator_list]
        return cls(module_name(path)[0], name, frozenset(roots), any(one in _PROPERTIES for one in kinds))

    def private(self, word: str) -> bool:
        """Whether a name is nobody's business, other than the documented function's own."""
        return word.startswith("_") and word != "_" and word not in self.name.split(".")

    def refuses(self, node: ast.AST) -> bool:
        """Whether an example must not hold this node."""
        match node:
            case ast.Name(id=word):
                return word in _NAMES or self.private(word)
            case ast.Attribute(attr=word):
                return word in _ATTRIBUTES or self.private(word)
            case ast.MatchClass(kwd_attrs=words):
                return any(word in _ATTRIBUTES or self.private(word) for word in words)
            case ast.Import(names=names):
                return any(self._foreign(alias.name, ()) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                return self._foreign(f"{self.module if level else ''}.{module or ''}".strip("."), [alias.name for alias in names])
        return False

    def _foreign(self, module: str, names: Sequence[str]) -> bool:
        root, *inner = module.split(".")
        return root not in self.roots or any(one in _ATTRIBUTES | _NAMES or self.private(one) for one in (*inner, *names))

    def rebinds(self, node: ast.AST) -> bool:
        """Whether a node gives the documented function's name, or that of its class, to something else."""
        root, last = self.name.split(".")[0], self.name.rpartition(".")[2]
        match node:
            case ast.Name(id=word, ctx=ast.Store() | ast.Del()) | ast.ExceptHandler(name=word) | ast.MatchAs(name=word):
                return word == root
            case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word) | ast.ClassDef(name=word) | ast.MatchStar(name=word):
                return word == root
            case ast.Attribute(attr=word, value=base, ctx=ast.Store() | ast.Del()):
                return word in (root, last) and not (self.is_property and not (isinstance(base, ast.Name) and base.id == root))
            case ast.Import(names=names):
                return any(alias.asname == root for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                near = level > 0 or f"{self.module}.".startswith(f"{module}.")
                return any((alias.asname or alias.name) == root and (alias.name != root or not near) for alias in names)
        return False


def examples_of(text: str, bounds: Bounds) -> tuple[list[doctest.Example], str]:
    """The examples of a docstring, and what is wrong with them."""
    try:
        found = doctest.DocTestParser().get_examples(text)
        trees = [ast.parse(one.source) for one in found]
    except (ValueError, SyntaxError) as error:
        return [], f"an example does not parse: {error}"[:200]
    if len(found) > _MOST_EXAMPLES:
        return [], f"more than {_MOST_EXAMPLES} examples"
    for one, tree in zip(found, trees, strict=True):
        if not set(one.options) <= {doctest.ELLIPSIS, doctest.NORMALIZE_WHITESPACE}:
            return [], "doctest directives are not accepted"
        if one.options.get(doctest.ELLIPSIS) and "..." in one.want and len("".join(one.want.replace("...", "").split())) < 3:
            return [], f"an answer that leaves out nearly all is none: {one.source.strip()}"[:200]
        for node in ast.walk(tree):
            if bounds.refuses(node):
                return [], f"an example must not need {ast.unparse(node)[:60]}"
            if bounds.rebinds(node):
                return [], f"an example must not give {bounds.name} another meaning"
    return found, "" if any(one.want.strip() for one in found) else unshown(bounds.name)


def unshown(name: str) -> str:
    """What is said of examples that tell nothing about a function."""
    return f"no example calls {name.rpartition('.')[2]} and shows what comes"


def run(trial: Trial, path: str, name: str, examples: Sequence[doctest.Example], gives: bool) -> tuple[dict[str, TestResult], bool]:
    """Result of each example that has an answer, in their order, under its source; and whether one tells what ``name`` does.

    Each must hold, and must not hold with another answer: what passes then has deceived its runner. The code is not the
    candidate's, so that only examples could try. ``gives``: whether the function returns or yields anything.
    """
    ids = [(number, one.source.strip()) for number, one in enumerate(examples) if one.want.strip()]
    known = {
        "_module": module_name(path)[0], "_name": name, "_modes": ("other", "copies") if gives else ("nothing",),
        "_examples": [(one.source, one.want, one.exc_msg, 0, 0, one.options) for one in examples],
    }  # fmt: skip
    text = "".join((
        _DEFINITION, *(f"{key} = {value!r}\n" for key, value in known.items()), _RUNNER,
        *(f"\n\ndef test_{number}():\n    _check({number})\n" for number, _ in ids), _LAST,
    ))  # fmt: skip
    nonce = secrets.token_hex(16)
    job = Job(
        "pytest", {**trial.files, _TESTS: text}, tests=(_TESTS,), protected=(_TESTS,), nonce=nonce,
        environment=environment_of(trial.task), fresh_process=is_cold(trial.task),
        cpu_s=min(trial.limits.pytest_cpu_s, 5.0),
    )  # fmt: skip
    seen = report(trial.sandbox.run(job), nonce)

    def passed(test: object) -> bool:
        return seen.results.get(f"{_TESTS}::test_{test}") == "passed"

    results: dict[str, TestResult] = {}
    for number, source in ids:
        if source not in results or results[source].outcome == "passed":  # of two that read the same, both must hold
            results[source] = TestResult(outcome="passed" if passed(number) else "failed")
    return results, passed("proves")


_RUNNER = """

import copy
import doctest
import functools
import importlib
import inspect
import sys

_calls = [0]
_most = [0]  # calls that an example may make: more than it did with the function itself, and it loops for want of its answer


class _Unlike(Exception):
    pass


class _Endless(BaseException):
    pass


def _unlike(value):
    kind = type(value)
    if kind is str:
        return "~" + value + "~"
    if kind in (list, tuple, set, frozenset):
        return kind([1017, *map(_unlike, value)])
    if kind is dict:
        return {1017: 1017, **{_unlike(key): _unlike(one) for key, one in value.items()}}
    if inspect.iscoroutine(value):
        return _unlike_later(value)
    return _unlike_each(value) if inspect.isgenerator(value) else _swefuse_other(value)


async def _unlike_later(value):
    try:
        return _unlike(await value)
    except Exception:
        raise _Unlike from None


def _unlike_each(values):
    try:
        for value in values:
            yield _unlike(value)
    except Exception:
        raise _Unlike from None
    yield 1017


async def _nothing():
    pass


def _copied(value):
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def _undone(call):  # what it does to the values of the module is taken back
    scope = vars(importlib.import_module(_module))
    before = {key: value for key, value in scope.items() if not key.startswith("__")}
    held = [(value, copy.copy(value)) for value in before.values() if type(value) in (list, dict, set)]
    try:
        value = call()
        return copy.copy(value) if type(value) in (list, dict, set) else value
    finally:
        scope.update(before)
        for value, was in held:
            value.clear()
            (value.extend if type(value) is list else value.update)(was)


def _stub(real, mode):
    active = []

    @functools.wraps(real)
    def stub(*args, **kwargs):
        try:
            inspect.signature(real).bind(*args, **kwargs)
        except TypeError:
            return real(*args, **kwargs)
        _calls[0] += 1
        if active or mode == "counts":
            return real(*args, **kwargs)
        if _calls[0] > _most[0]:
            raise _Endless
        if mode == "nothing":
            return _nothing() if inspect.iscoroutinefunction(real) else None
        active.append(1)
        try:
            if mode == "copies":
                args, kwargs = _copied((args, kwargs))
                return _undone(lambda: real(*args, **kwargs))
            return _unlike(real(*args, **kwargs))
        except Exception:
            if mode == "copies":
                raise
            raise _Unlike from None
        finally:
            active.clear()

    for name in set(dir(real)) - set(dir(stub)):  # such as cache_clear
        setattr(stub, name, getattr(real, name))
    return stub


def _replaced(raw, mode):
    if isinstance(raw, property):
        return property(_stub(raw.fget, mode), raw.fset, raw.fdel)
    if isinstance(raw, (staticmethod, classmethod)):
        return type(raw)(_stub(raw.__func__, mode))
    if callable(raw):
        return _stub(raw, mode)
    return property(_stub(lambda self: raw.__get__(self, type(self)), mode))


def _replace(mode):
    scope = vars(importlib.import_module(_module))
    if not mode:
        return []
    first, *inner = _name.split(".")
    if inner:
        holder = scope[first]
        for part in inner[:-1]:
            holder = vars(holder)[part]
        raw = vars(holder)[inner[-1]]
        setattr(holder, inner[-1], _replaced(raw, mode))
        return [(setattr, holder, inner[-1], raw)]
    raw, undo = scope[first], []
    stub = _stub(raw, mode)
    for module in [*sys.modules.values()]:
        names = getattr(module, "__dict__", None)
        for key in [key for key, value in names.items() if value is raw] if type(names) is dict else ():
            names[key] = stub
            undo.append((dict.__setitem__, names, key, raw))
    return undo


def _failed(upto, change=None, mode=""):
    rows = [doctest.Example(*one) for one in _examples[:upto]]
    if change is not None:
        source, want, error, _, _, options = _examples[change]
        rows[change] = doctest.Example(source, want + "~\\n", error and error + "~", options=options)
    runner = doctest.DocTestRunner(verbose=False)
    failed = []
    runner.report_failure = lambda out, test, example, got: failed.append(example)
    runner.report_unexpected_exception = lambda out, test, example, info: failed.append(example)
    undo = _replace(mode)
    scope = dict(vars(importlib.import_module(_module)))
    example = doctest.DocTest(rows, scope, "example", None, 0, None)
    try:
        _undone(lambda: runner.run(example, out=lambda text: None))
    finally:
        for way, place, key, value in undo:
            way(place, key, value)
    return {at for at, row in enumerate(rows) if row.want.strip() and row in failed}


def _check(at):
    assert at not in _failed(at + 1)
    assert at in _failed(at + 1, change=at)
"""
_LAST = """

def test_proves():
    _failed(None, mode="counts")
    _most[0] = 10 * _calls[0] + 100
    for mode in _modes:
        _calls[0] = 0
        if _failed(None, mode=mode) - _failed(None):
            return
    assert False
"""
