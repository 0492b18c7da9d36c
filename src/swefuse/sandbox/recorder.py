"""Runs pytest inside the sandbox and reports every phase of every test on file descriptor 3. Exit codes and text prove nothing.

Warm: ``run`` in a fork of a worker that has imported pytest. Cold: as a script, ``recorder.py SITE_FOLDERS ROOT``, with
``{"nonce": ..., "tests": [...], "fail_fast": ..., "shuffle": ...}`` on standard input: the mark that each record carries, the node
ids to run (or files to run whole), whether the first failure ends the run, and the seed of another order (0: as they stand).
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any, NoReturn


class Recorder:
    """The pytest plugin."""

    def __init__(self, nonce: str, tests: list[str], shuffle: int = 0) -> None:
        self._nonce, self._tests, self._write, self._dumps = nonce, frozenset(tests), os.write, json.dumps
        self._shuffle = shuffle

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
        self._emit(id=report.nodeid, when=report.when, outcome=outcome, detail=detail)

    def pytest_collectreport(self, report: Any) -> None:
        """A file that could not be collected."""
        if report.failed:
            self._emit(collect=report.nodeid, detail=str(report.longrepr)[-200:])

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """The end of the session."""
        self._emit(end=int(exitstatus))


def seed() -> None:
    """Give every candidate the same random numbers, as far as generators are loaded. In the fork: ``random`` seeds itself anew in
    each."""
    random.seed(0)
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(0)


FIXED = ("-q", "-s", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-c", os.devnull, "--continue-on-collection-errors")


def prepare(root: str) -> Any:
    """A parsed pytest configuration for work trees at ``root``, which is the working directory and still empty; a third of the
    time of a small run goes into it. None where this pytest has no such function."""
    import _pytest.config

    make = getattr(_pytest.config, "_prepareconfig", None)
    return make and make([*FIXED, f"--rootdir={root}", f"--confcutdir={root}"])


def run(wanted: dict[str, Any], root: str, prepared: Any = None) -> NoReturn:
    """Run pytest in this process on ``wanted``, then leave. pytest must be imported already: the work tree could have its own.

    ``prepared``: what ``prepare`` gave in the process that this one was forked from. It knows no ``conftest.py``.
    """
    import pytest

    files = list(dict.fromkeys(test.partition("::")[0] for test in wanted["tests"]))
    recorder = Recorder(wanted["nonce"], wanted["tests"], wanted["shuffle"])
    most = int(wanted["fail_fast"])  # 0: no limit
    sys.argv[:] = ["pytest"]
    sys.path[:0] = [root, os.path.join(root, "src")]
    if prepared is None:
        own = [*FIXED, f"--rootdir={root}", f"--confcutdir={root}", f"--maxfail={most}"]
        os._exit(int(pytest.main([*own, *files], plugins=[recorder])))
    prepared.args, prepared.option.maxfail = files, most
    prepared.pluginmanager.register(recorder)
    os._exit(int(prepared.hook.pytest_cmdline_main(config=prepared)))


def main() -> NoReturn:
    """The cold way: read what is wanted, import pytest, run it."""
    site, root = sys.argv[1:]
    wanted = json.load(sys.stdin)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path.extend(site.split(os.pathsep))
    import pytest  # noqa: F401

    seed()
    os.write(3, b"+")  # what went wrong up to here is not the candidate's fault
    run(wanted, root)


if __name__ == "__main__":
    main()
