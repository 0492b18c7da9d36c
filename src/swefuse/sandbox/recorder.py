"""Runs pytest inside the sandbox and reports every phase of every test on file descriptor 3. Exit codes and text prove nothing.

Warm: ``run`` in a fork of a worker that has imported pytest. Cold: as a script, ``recorder.py SITE_FOLDERS ROOT``, with
``{"nonce": ..., "tests": [...], "fail_fast": ..., "shuffle": ..., "count_lines": ..., "markers": ..., "parse": [...]}`` on standard
input: the mark that each record carries, the node ids to run (or files to run whole), whether the first failure ends the run, the
seed of another order (0: as they stand), whether the end tells how many lines of Python the tests have run, pytest's ``-m``, and
files that must compile before anything runs. Runs with Python 3.7 and later: an environment may name another interpreter.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import types
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NoReturn

WANTED = ("nonce", "tests", "fail_fast", "shuffle", "count_lines", "markers")  # the parts of a job that matter here


class Recorder:
    """The pytest plugin."""

    def __init__(self, nonce: str, tests: list[str], shuffle: int = 0, counter: LineCounter | None = None) -> None:
        self._nonce, self._tests, self._write, self._dumps = nonce, frozenset(tests), os.write, json.dumps
        self._shuffle, self._counter = shuffle, counter
        self._failed_parts: dict[str, str] = {}

    def _emit(self, **record: Any) -> None:
        line = self._dumps({"nonce": self._nonce, **record}).encode("ascii") + b"\n"
        while line:
            line = line[self._write(3, line) :]

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep what was asked for. Ids as arguments would not do: one that cannot be collected stops all the others."""
        items[:] = [item for item in items if item.nodeid in self._tests or item.nodeid.partition("::")[0] in self._tests]
        if self._shuffle:
            random.Random(self._shuffle).shuffle(items)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase (setup, call, teardown) of one test."""
        outcome = "xfail" if hasattr(report, "wasxfail") else report.outcome
        crash = getattr(report.longrepr, "reprcrash", None)
        detail = "" if outcome == "passed" else str(crash.message if crash else report.longrepr)[:500]
        if type(report).__name__.lower() == "subtestreport":  # a part of a test; the whole says that it passed nevertheless
            if report.failed:
                self._failed_parts.setdefault(report.nodeid, detail)
            return
        if report.when == "call" and outcome == "passed" and report.nodeid in self._failed_parts:
            outcome, detail = "failed", self._failed_parts[report.nodeid]
        self._emit(id=report.nodeid, when=report.when, outcome=outcome, detail=detail)

    def pytest_collectreport(self, report: Any) -> None:
        """A file that could not be collected."""
        if report.failed:
            self._emit(collect=report.nodeid, detail=str(report.longrepr)[-200:])

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """The end of the session."""
        self._emit(end=int(exitstatus), **({"lines": self._counter.lines} if self._counter else {}))


class LineCounter:
    """A second plugin: counts the lines of Python that run inside of tests, in this thread, but not pytest's own."""

    def __init__(self, *own: types.ModuleType) -> None:
        self.lines = 0  # below zero: they were tampered with
        self._ours = True
        sys.addaudithook(self._audit)  # nobody can take it away again
        self._own = tuple(os.path.dirname(str(module.__file__)) + os.sep for module in own)
        self._theirs: dict[types.CodeType, bool] = {}

    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        """Around the call phase of each test. A wrapper, which ``run`` says once pytest is there."""
        sys.settrace(self._trace)
        self._ours = False
        try:
            return (yield)
        finally:
            self._ours = True
            sys.settrace(None)

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in ("sys.settrace", "sys.setprofile") and not self._ours:
            self.lines = -(1 << 60)  # whoever switches the counter off has no count

    def _trace(self, frame: types.FrameType, event: str, value: object) -> Callable[..., Any] | None:
        code = frame.f_code
        if code not in self._theirs:
            self._theirs[code] = not code.co_filename.startswith(self._own)
        return self._line if self._theirs[code] else None

    def _line(self, frame: types.FrameType, event: str, value: object) -> Callable[..., Any]:
        self.lines += event == "line"
        return self._line


def seed() -> None:
    """Give every candidate the same random numbers, as far as generators are loaded. In the fork: ``random`` seeds itself anew in
    each."""
    random.seed(0)
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(0)


# --tb=native: pytest's own tracebacks cost a failing test more than its collection and its run together
FIXED = (
    "-q", "-s", "--tb=native", "--continue-on-collection-errors", "-p", "no:cacheprovider", "-p", "no:unraisableexception",
    "-c", os.devnull,
)  # fmt: skip


def prepare(root: str) -> Any:
    """A parsed pytest configuration for work trees at ``root``, which is the working directory and still empty; a third of the
    time of a small run goes into it. None where this pytest has no such function."""
    import _pytest.config

    make = getattr(_pytest.config, "_prepareconfig", None)
    prepared = make and make([*FIXED, f"--rootdir={root}", f"--confcutdir={root}"])
    if prepared is not None:
        _know_fixtures(prepared)
    return prepared


def _know_fixtures(prepared: Any) -> None:
    """Show pytest the fixtures of its own plugins only: looking through all that the modules hold is a third of a small run."""
    import _pytest.fixtures as own

    definition, search = getattr(own, "FixtureFunctionDefinition", None), own.FixtureManager.parsefactories
    if definition is None:
        return
    light: dict[int, types.ModuleType] = {}
    for plugin in prepared.pluginmanager.get_plugins():
        if isinstance(plugin, types.ModuleType):
            light[id(plugin)] = types.ModuleType(plugin.__name__)
            vars(light[id(plugin)]).update({name: value for name, value in vars(plugin).items() if type(value) is definition})

    def known(*given: Any, **named: Any) -> None:  # where the plugin stands among the arguments differs between versions
        search(
            *(light.get(id(value), value) for value in given), **{key: light.get(id(value), value) for key, value in named.items()}
        )

    setattr(own.FixtureManager, "parsefactories", known)  # noqa: B010 - mypy refuses a plain assignment


MOST_REWRITTEN = 256
_rewritten: dict[tuple[str, bytes], Any] = {}


def rewrite(prepared: Any, path: str) -> None:
    """Have pytest compile a test file ahead, in the worker: all candidates of a task have it, and it costs as much as many
    tests. For the task's own files only. Where this pytest has no such function, nothing is gained and nothing lost."""
    import _pytest.assertion.rewrite as own

    compile_test = getattr(own, "_rewrite_test", None)
    file = Path(path)
    key = (path, file.read_bytes())
    if compile_test is None or key in _rewritten:
        return
    if not hasattr(compile_test, "ahead"):

        def known(fn: Path, config: Any) -> Any:
            return _rewritten.get((str(fn), fn.read_bytes())) or compile_test(fn, config)

        known.ahead = True  # type: ignore[attr-defined]
        own._rewrite_test = known
    if len(_rewritten) >= MOST_REWRITTEN:
        _rewritten.pop(next(iter(_rewritten)))
    with contextlib.suppress(Exception):  # a test file that does not parse is reported by the run
        _rewritten[key] = compile_test(file, prepared)


def run(wanted: dict[str, Any], root: str, prepared: Any = None) -> NoReturn:
    """Run pytest in this process on ``wanted``, then leave. pytest must be imported already: the work tree could have its own.

    ``prepared``: what ``prepare`` gave in the process that this one was forked from. It knows no ``conftest.py``.
    """
    import pytest

    files = list(dict.fromkeys(test.partition("::")[0] for test in wanted["tests"]))
    counter = None
    if wanted["count_lines"] and hasattr(sys, "addaudithook"):  # without it, in 3.7, a count could be forged
        import _pytest
        import pluggy

        counter = LineCounter(_pytest, pluggy)
        pytest.hookimpl(hookwrapper=True, tryfirst=True)(LineCounter.pytest_runtest_call)  # the newer form is unknown before 8
    plugins = [Recorder(wanted["nonce"], wanted["tests"], wanted["shuffle"], counter), *([counter] if counter else [])]
    most = int(wanted["fail_fast"])  # 0: no limit
    sys.argv[:] = ["pytest"]
    sys.path[:0] = [root, os.path.join(root, "src")]
    if prepared is None:
        own = [*FIXED, f"--rootdir={root}", f"--confcutdir={root}", f"--maxfail={most}", "-m", wanted["markers"]]
        os._exit(int(pytest.main([*own, *files], plugins=plugins)))
    prepared.args, prepared.option.maxfail, prepared.option.markexpr = files, most, wanted["markers"]
    for plugin in plugins:
        prepared.pluginmanager.register(plugin)
    os._exit(int(prepared.hook.pytest_cmdline_main(config=prepared)))


def main() -> NoReturn:
    """The cold way: read what is wanted, import pytest, run it. Perhaps in an old Python, which then says what does not parse."""
    site, root = sys.argv[1:]
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]  # -P is new in 3.11
    wanted = json.load(sys.stdin)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path.extend(site.split(os.pathsep))
    import pytest  # noqa: F401

    seed()
    os.write(3, b"+")  # what went wrong up to here is not the candidate's fault
    for path in wanted["parse"]:
        try:
            compile(Path(root, path).read_bytes(), path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            record = {"unparsed": path, "message": f"{type(error).__name__}: {error}"[:200]}
            os.write(3, json.dumps(record).encode("ascii") + b"\n")
            os._exit(0)
    run(wanted, root)


if __name__ == "__main__":
    main()
