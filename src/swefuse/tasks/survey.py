"""What the tests of a source tree show as it is: which pass every time, and which functions each test file reaches.

Each test file is run by itself, so that a bug costs the run of one file and not of all.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from swefuse.code.imports import imported_modules
from swefuse.errors import SandboxError
from swefuse.sandbox import environments
from swefuse.sandbox.base import Job, Output
from swefuse.tasks.attempts import MEMORY_MB, ended, results
from swefuse.tasks.commits import is_test
from swefuse.tasks.environment import supplied
from swefuse.tasks.git import opened
from swefuse.tasks.workers import sandbox

CPU_S = 10.0  # of one test file
TRACED = 10.0  # what a run that is looked at may take, as a multiple
_WATCH = "test_swefuse_watch.py"
_MARK = "swefuse-reached"
_WATCHING = """import json, os, sys, threading
import pytest

ROOT = os.path.dirname(os.path.abspath(__file__)) + os.sep
SEEN = {}


def trace(frame, event, value):
    SEEN.setdefault(id(frame.f_code), frame.f_code)  # kept, so that no other gets its id


@pytest.fixture(scope="session")
def watched():
    threading.settrace(trace)
    sys.settrace(trace)
    yield
    sys.settrace(None)
    found = {}
    for code in list(SEEN.values()):
        if code.co_filename.startswith(ROOT):
            found.setdefault(code.co_filename[len(ROOT):], []).append(code.co_firstlineno)
    os.write(1, f"\\nMARK {json.dumps(found)}\\n".encode())


def test_begin(watched):
    pass
"""


class Refusal(StrEnum):
    """Why there is no task: of a repository, of one of its test files, or of a bug."""

    LICENCE = "its licence is not among those allowed"
    NO_TESTS = "the repository has no test file"
    NOT_COLLECTED = "a test file cannot be collected"
    MISSING_MODULE = "a test file needs a module that is not installed"
    TOO_LONG = "a test file takes too long"
    NONE_PASSES = "a test file has no test that passes every time"
    NOT_WATCHED = "what a test file reaches cannot be seen"
    NO_FUNCTION = "the tests reach no function that a bug could be put into"
    NOT_NOTICED = "the bug is not noticed"
    PART_NOT_NOTICED = "one of the bugs is not noticed by itself"
    NOT_COLLECTED_WITH_BUG = "with the bug the tests cannot be collected"
    HANGS = "with the bug the tests come to no end"
    ALL_FAIL = "with the bug all tests fail"
    NOT_STEADY = "with the bug no test fails every time"
    SANDBOX = "the sandbox could not run it"
    ERROR = "it could not be read"


@dataclass(frozen=True, slots=True)
class Order:
    """One test file of a commit to look at. ``environment``: name of the one to run it in; empty for the program's own."""

    repository: Path
    commit: str
    tests: str
    environment: str = ""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What a test file showed: ids that pass every time, those that differed between runs, CPU seconds of a run, and functions.

    ``reached`` holds pairs of path and line on which a function begins. With a ``refusal`` nothing else counts but the detail.
    """

    tests: str
    passing: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    reached: tuple[tuple[str, int], ...] = ()
    cpu_s: float = 0.0
    refusal: str = ""
    detail: str = ""

    def row(self) -> dict[str, Any]:
        """As it is written down."""
        return asdict(self)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Surveyed:
        """What was written down."""
        reached = tuple((path, line) for path, line in row["reached"])
        return cls(**{**row, "passing": tuple(row["passing"]), "dropped": tuple(row["dropped"]), "reached": reached})


@lru_cache(maxsize=2)
def state(repository: Path, commit: str) -> dict[str, str]:
    """The files of a commit and what an installation would have added. Callers leave it as it is."""
    files = opened(repository).files(commit)
    return {**files, **supplied(files)}


def guards(files: Mapping[str, str], tests: str) -> tuple[str, ...]:
    """Paths that whoever works on the source must leave as they are: the test file, and all that may belong to it."""
    return (tests, *(path for path in files if path != tests and path.endswith(".py") and is_test(path)))


def run_tests(
    files: Mapping[str, str], tests: tuple[str, ...], protected: tuple[str, ...], environment: str, cpu_s: float
) -> Output:
    """One run of whole test files in this process's sandbox."""
    texts = tuple(text for path, text in sorted(files.items()) if path.endswith(".py") and path != _WATCH)
    job = Job(
        "pytest", files, tests=tests, protected=protected, nonce=secrets.token_hex(16), preload=imported_modules(texts),
        environment=environments.folder(environment), cpu_s=cpu_s, memory_mb=MEMORY_MB,
    )  # fmt: skip
    return sandbox().run(job)


def survey(order: Order) -> Surveyed:
    """Run a test file twice as it is and once more to see what it reaches. Runs in a worker process."""
    try:
        return _surveyed(order)
    except SandboxError as error:
        return Surveyed(order.tests, refusal=Refusal.SANDBOX, detail=str(error)[:300])
    except (OSError, ValueError, IndexError) as error:
        return Surveyed(order.tests, refusal=Refusal.ERROR, detail=f"{type(error).__name__}: {error}"[:300])


def _surveyed(order: Order) -> Surveyed:
    files, tests = state(order.repository, order.commit), order.tests
    protected = guards(files, tests)
    found: list[dict[str, str]] = []
    cpu_s = 0.0
    for _ in range(2):
        output = run_tests(files, (tests,), protected, order.environment, CPU_S)
        outcomes, broken = results(output)
        if output.limit:
            return Surveyed(tests, refusal=Refusal.TOO_LONG, detail=f"over the {output.limit} limit")
        if not outcomes or not ended(output):
            kind = Refusal.MISSING_MODULE if "No module named" in broken else Refusal.NOT_COLLECTED
            return Surveyed(tests, refusal=kind, detail=(broken or output.text[-300:])[-300:])
        found.append(outcomes)
        cpu_s = max(cpu_s, output.cpu_s)
    passing = tuple(id_ for id_, outcome in found[0].items() if outcome == "passed" == found[1].get(id_))
    if not passing:
        return Surveyed(tests, refusal=Refusal.NONE_PASSES, detail=f"{len(found[0])} tests")
    dropped = tuple(sorted({id_ for one in found for id_ in one if found[0].get(id_) != found[1].get(id_)}))
    watched = {**files, _WATCH: _WATCHING.replace("MARK", _MARK)}
    output = run_tests(watched, (_WATCH, tests), protected, order.environment, TRACED * CPU_S)
    reached = _reached(output.text)
    if not reached:
        return Surveyed(tests, refusal=Refusal.NOT_WATCHED, detail=output.text[-300:])
    return Surveyed(tests, passing, dropped, reached, round(cpu_s, 3))


def _reached(text: str) -> tuple[tuple[str, int], ...]:
    """Places that the watching test file has printed; nothing where it could not, or something else wrote in between."""
    line = next((line for line in reversed(text.split("\n")) if line.startswith(f"{_MARK} ")), "")
    try:
        found = json.loads(line.removeprefix(_MARK) or "{}")
        return tuple(sorted({(str(path), int(number)) for path, numbers in found.items() for number in numbers}))
    except (ValueError, TypeError, AttributeError):
        return ()
