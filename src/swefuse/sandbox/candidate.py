"""What the forked child does with one candidate: compile, import from memory, call, report. Untrusted once it has imported.

Everything written here may be forged by the candidate, for it shares this process. That is harmless: the child does not know what
the answers should be. Standard library only.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import json
import marshal
import os
import sys
import tempfile
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from swefuse.sandbox.values import MAX_TEXT, UnrepresentableError, encode

Emit = Callable[[dict[str, Any]], None]
_BUILTIN_ERRORS = {v: k for k, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException)}
_BUILTIN_ERRORS |= {OSError: "OSError"}  # also reachable as IOError and EnvironmentError
_mro_of = type.__dict__["__mro__"].__get__


class MemoryFinder:
    """Imports the candidate's modules from text, ahead of everything on disk. ``src/`` counts as a root, as it does for pytest."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.modules: dict[str, tuple[str, str, bool]] = {}
        for path, text in files.items():
            if path.endswith(".py"):
                name, package = module_name(path)
                self.modules[name] = (path, text, package)
        for name in list(self.modules):
            while "." in name:
                name = name.rpartition(".")[0]
                self.modules.setdefault(name, ("", "", True))
        self.code: dict[str, types.CodeType] = {}

    def load(self, name: str) -> types.ModuleType:
        """The entry module, without the import system's detour unless it lies in a package."""
        if "." in name or name not in self.modules:
            return importlib.import_module(name)
        module = sys.modules[name] = types.ModuleType(name)
        self.exec_module(module)
        return module

    def compile(self, path: str, text: str) -> None:
        """Compile one file ahead of its import. Raises what ``compile`` raises."""
        self.code[path] = compile(text, path, "exec", dont_inherit=True)

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """The import system asks here first."""
        if name not in self.modules:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=self.modules[name][0], is_package=self.modules[name][2])  # type: ignore[arg-type]

    def create_module(self, spec: object) -> None:
        """Default module objects will do."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module's code."""
        path, text, _ = self.modules[module.__name__]
        module.__file__ = path
        if path not in self.code:
            self.compile(path, text)
        exec(self.code[path], module.__dict__)  # noqa: S102 - this is what the sandbox is for


def module_name(path: str) -> tuple[str, bool]:
    """Dotted name of a file and whether it is a package: ``src/a/b.py`` gives ``("a.b", False)``."""
    stem = path.removeprefix("src/").removesuffix(".py")
    if stem.endswith("/__init__"):
        return stem.removesuffix("/__init__").replace("/", "."), True
    return stem.replace("/", "."), False


def describe(error: BaseException) -> dict[str, Any]:
    """Class names of an exception, most special first (builtin ones plain, others ``module.Name``), and a short message."""
    names = [_BUILTIN_ERRORS.get(kind) or f"{kind.__module__}.{kind.__name__}" for kind in _mro_of(type(error))[:-1]]
    try:
        message = str(error)[:200]
    except BaseException:  # noqa: BLE001 - the candidate's own __str__
        message = ""
    return {"error": [str(name)[:100] for name in names[:20]], "message": message if type(message) is str else ""}


def parse_all(finder: MemoryFinder, files: Mapping[str, str], paths: Sequence[str], emit: Emit) -> bool:
    """Compile the named files; report the first that does not."""
    for path in paths:
        try:
            finder.compile(path, files[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            emit({"unparsed": path, "message": f"{type(error).__name__}: {error}"[:200]})
            return False
    return True


def exec_pytest(wanted: Mapping[str, Any], python: str, recorder: str, site: Sequence[str], box: str) -> NoReturn:
    """Become a new interpreter that runs the tests which ``wanted`` names (see ``recorder``)."""
    with tempfile.TemporaryFile(dir=f"{box}/tmp") as given:  # not on the command line, which the candidate could read
        given.write(json.dumps(wanted).encode("ascii"))
        given.seek(0)
        os.dup2(given.fileno(), 0)
    command = [python, "-s", "-S", "-B", recorder, os.pathsep.join(site), f"{box}/repo"]
    os.execve(python, command, dict(os.environ))  # noqa: S606


def run_calls(job: Mapping[str, Any], packed: Sequence[tuple[str, bytes]], emit: Emit) -> None:
    """Import the entry point and make the calls in order, one record each, then an ``end`` record."""
    files = job["files"]
    finder = MemoryFinder(files)
    if not parse_all(finder, files, job["parse"], emit):
        return
    for name in finder.modules:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, finder)
    path, _, attribute = job["entry"].partition(":")
    try:
        function = getattr(finder.load(module_name(path)[0]), attribute)
    except BaseException as error:  # noqa: BLE001 - whatever the candidate raises is a result
        emit({"load": True, **describe(error)})
        return
    counter = LineCounter() if job.get("count_lines") else None
    for id_, arguments in packed:
        _call(id_, counter.watch(function) if counter else function, marshal.loads(arguments), emit)  # noqa: S302 - packed from a literal
    emit({"end": len(packed), "lines": counter.lines} if counter else {"end": len(packed)})


class LineCounter:
    """Counts the lines of Python that run inside the functions that it watches, those of the library included."""

    def __init__(self) -> None:
        self.lines = 0  # below zero: they were tampered with
        self._ours = True
        sys.addaudithook(self._audit)  # nobody can take it away again

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in ("sys.settrace", "sys.setprofile") and not self._ours:
            self.lines = -(1 << 60)  # whoever switches the counter off has no count

    def watch(self, function: Callable[..., object]) -> Callable[..., object]:
        """The function, counted while it runs."""

        def counted(*arguments: object) -> object:
            sys.settrace(self._trace)
            self._ours = False
            try:
                return function(*arguments)
            finally:
                self._ours = True
                sys.settrace(None)

        return counted

    def _trace(self, frame: types.FrameType, event: str, value: object) -> Callable[..., Any]:
        self.lines += event == "line"
        return self._trace


def _call(id_: str, function: Callable[..., object], arguments: tuple[Any, ...], emit: Emit) -> None:
    try:
        value = function(*arguments)
    except BaseException as error:  # noqa: BLE001 - whatever the candidate raises is a result
        emit({"id": id_, **describe(error)})
        return
    try:
        emit({"id": id_, "value": encode(value)})
    except (UnrepresentableError, ValueError, RecursionError, MemoryError) as error:
        emit({"id": id_, "odd": f"{type(error).__name__}: {error}"[:200]})


def emitter(fd: int) -> Emit:
    """Write records as JSON lines to ``fd``. Raises UnrepresentableError, before writing, for one of more than MAX_TEXT bytes."""
    dumps, write = json.dumps, os.write

    def emit(record: dict[str, Any]) -> None:
        line = dumps(record).encode("ascii") + b"\n"
        if len(line) > MAX_TEXT:
            raise UnrepresentableError("larger than 64 KB")
        while line:
            line = line[write(fd, line) :]

    return emit
