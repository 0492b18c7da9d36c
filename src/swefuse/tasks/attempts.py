"""One commit to try, its runs, and what became of it, whatever kind of task it may be."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from swefuse.code.imports import imported_modules
from swefuse.records import Kind, Task
from swefuse.sandbox import environments
from swefuse.sandbox.base import Job, Output
from swefuse.tasks.commits import is_test
from swefuse.tasks.git import Commit
from swefuse.tasks.requirements import marker
from swefuse.tasks.workers import sandbox

CPU_S = 60.0
MEMORY_MB = 2048
# what was moved, removed or made a keyword since Python 3.4 or so
OLD = re.compile(
    r"module '(collections|inspect|asyncio|fractions|time|math|gettext)' has no attribute|SyntaxError|from 'collections'"
)


class Refusal(StrEnum):
    """Why a commit is no task; there is no other reason."""

    LICENCE = "its licence is not among those allowed"
    NO_TEST_FILE = "no test file to run"
    NOTHING_COLLECTED = "the tests cannot be collected"
    TOO_OLD = "the source is too old, or too new, for this Python"
    MISSING_MODULE = "the tests need a module that is not installed"
    TOO_LONG = "the tests take too long"
    NO_END = "without the repair the tests come to no end, so that those not reached say nothing"
    TESTS_AGREE = "the tests pass without the repair"
    ALL_FAIL = "no test that fails before passes with the repair"
    NOT_SIMPLER = "no function of it became simpler with the same parameters"
    NOT_REACHED = "no test reaches the function that became simpler"
    NO_MODULE = "no module with functions that its tests are about"
    NOT_PROVEN = "proving it showed otherwise"
    SUBMODULE = "part of it lies in a submodule, which is not here"
    NO_ENVIRONMENT = "what its tests need could not be installed"
    SANDBOX = "the sandbox could not run it"
    ERROR = "it could not be read"


# another pytest, other libraries or another Python may make the difference
ELSEWHERE = (Refusal.NOTHING_COLLECTED, Refusal.MISSING_MODULE, Refusal.ALL_FAIL, Refusal.TOO_OLD)


@dataclass(frozen=True, slots=True)
class Order:
    """One commit to try. ``repeats`` runs of the repaired state must agree; ``licences``: those allowed, empty for all.

    ``environments``: names of those that are tried one after the other where tests cannot be collected in the program's own;
    ``auto`` stands for one with what the tree says that its tests need, and the pytest and, where that alone does not do and this
    machine has it, the Python of its time, installed on demand.
    ``all_tests``: run every test file, not only those that the commit changed. ``kind``: what the commit is to become, a
    ``bugfix``, ``refactor`` or ``testgen`` task.
    """

    repository: Path
    commit: Commit
    repeats: int = 2
    licences: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    all_tests: bool = False
    kind: Kind = Kind.BUGFIX


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a commit: a task, or a refusal with the detail. ``cpu_s``: CPU time of its test runs."""

    commit: Commit
    task: Task | None = None
    refusal: Refusal | None = None
    detail: str = ""
    cpu_s: float = 0.0
    dropped: tuple[str, ...] = field(default_factory=tuple)


class Runs:
    """Runs of the two states of one commit in this process's sandbox."""

    def __init__(self, initial: dict[str, str], reference: dict[str, str], run: Sequence[str], tests: Sequence[str]) -> None:
        self.initial, self.reference, self.run, self.cpu_s = initial, reference, tuple(run), 0.0
        self.environment, self.parent = "", initial
        helpers = [path for path in initial if path.endswith(".py") and is_test(path)]  # tests may use any of them
        self.protected = tuple(dict.fromkeys([*run, *(path for path in (*tests, *helpers) if path in initial)]))
        self._markers = marker(reference)
        texts = [text for path, text in sorted(initial.items()) if path.endswith(".py")]
        self._preload = imported_modules(tuple(texts))

    def once(self, state: dict[str, str], cpu_s: float = CPU_S) -> tuple[dict[str, str], str, Output]:
        """Result of each test that was found, what could not be collected, and the raw output."""
        nonce = secrets.token_hex(16)
        job = Job(
            "pytest", state, tests=self.run, protected=self.protected, nonce=nonce, preload=self._preload,
            markers=self._markers, environment=environments.folder(self.environment), cpu_s=cpu_s, memory_mb=MEMORY_MB,
        )  # fmt: skip
        output = sandbox().run(job)
        self.cpu_s += output.cpu_s
        return *results(output), output


def results(output: Output) -> tuple[dict[str, str], str]:
    """Outcome of every test: ``passed`` if each of its three phases did, else the first other one; and what did not load."""
    phases: dict[str, list[str]] = {}
    broken = ""
    for line in output.records.split("\n")[:-1]:
        record = json.loads(line)
        if "when" in record:
            phases.setdefault(record["id"], []).append(record["outcome"])
        elif "collect" in record:
            broken = broken or f"{record['collect']}: {record['detail']}"
    outcomes = {id_: next((one for one in found if one != "passed"), "passed") for id_, found in phases.items()}
    return {id_: outcome if len(phases[id_]) == 3 else "cut off" for id_, outcome in outcomes.items()}, broken


def ended(output: Output) -> bool:
    """Whether pytest came to its end."""
    return any('"end":' in line and "end" in json.loads(line) for line in output.records.split("\n")[-3:] if line.endswith("}"))


def strays(expected: Collection[str], found: Collection[str]) -> set[str]:
    """Expected ids that are not there while the same test has parameters that nobody expected: such names hold a time, or chance.

    Two runs within a second agree on a name that holds the time of day, so that only a later run gives it away.
    """
    known = set(expected)
    bases = {id_.partition("[")[0] for id_ in found if id_ not in known}
    return {id_ for id_ in known.difference(found) if "[" in id_ and id_.partition("[")[0] in bases}
