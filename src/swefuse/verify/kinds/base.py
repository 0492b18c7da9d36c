"""What a kind of task says about itself, and what its own check gets to see."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from swefuse.errors import DataError
from swefuse.records import Kind, Outcome, Suite, Task, TestResult
from swefuse.sandbox.base import Output, Sandbox
from swefuse.verify.judge import collection_error, parsed_records
from swefuse.verify.tests import Limits
from swefuse.workspace import Files, ref

MOST_REMEMBERED = 4096
TAMPERED = "records that an honest run does not write"


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate to be looked at beyond the tests of its task, which it has passed.

    ``memo`` holds what is known about a task whatever the candidate, such as the cost of its reference; see ``remember``.
    """

    sandbox: Sandbox
    task: Task
    suite: Suite
    files: Files
    changed: tuple[str, ...]
    limits: Limits
    memo: dict[Hashable, Any]

    def remember(self, key: Hashable, find: Callable[[], Any]) -> Any:
        """What ``find`` gives, found once for each task and key."""
        whole = (self.task.id, ref(self.task.reference or {}), self.suite.form, key)
        if whole not in self.memo:
            if len(self.memo) >= MOST_REMEMBERED:
                self.memo.clear()
            self.memo[whole] = find()
        return self.memo[whole]

    def goal(self, name: str) -> str:
        """A value of the task's goal. Raises DataError naming task and key where it is missing."""
        if name not in self.task.goal:
            raise DataError(
                f"task {self.task.id}: a {self.task.kind} task needs '{name}' in its goal; has: {sorted(self.task.goal)}"
            )
        return self.task.goal[name]


@dataclass(frozen=True, slots=True)
class Found:
    """What the check of a kind found. ``reason``: why the candidate has not done what is asked; empty when it has.

    ``outcome`` counts where there is a reason. ``share`` of the work done, in [0, 1], scales the score. ``parts`` go into the
    verdict; so do ``tests``, of kinds whose check runs all tests itself.
    """

    reason: str = ""
    share: float = 1.0
    outcome: Outcome = Outcome.FAILED
    parts: Mapping[str, float] = field(default_factory=dict)
    tests: Mapping[str, TestResult] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rules:
    """A kind of task in words, for people and documentation, and its check.

    ``goal``: keys of ``Task.goal`` with what they mean. ``check`` is asked once the tests have passed; None where tests say it all.
    ``alone``: tasks have no suite, and the check runs whatever there is to run.
    """

    kind: Kind
    edits: str
    protected: str
    verified: str
    scored: str
    goal: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Trial], Found] | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of whole test files reported, whose ids nobody knows before.

    ``results``: outcome of every test, ``passed`` if each of its three phases did, else the first other one, or ``cut off``.
    ``broken``: what could not be collected, or was reported as no honest run does. ``ended``: the run came to its end.
    """

    results: Mapping[str, str]
    broken: str
    ended: bool

    @property
    def failed(self) -> list[str]:
        """Ids of the tests that failed; one that was skipped, or is expected to fail, has not."""
        return [id_ for id_, outcome in self.results.items() if outcome not in ("passed", "skipped", "xfail")]

    @property
    def good(self) -> bool:
        """Whether there were tests that passed and none failed."""
        return self.ended and not self.broken and "passed" in self.results.values() and not self.failed


def report(output: Output, nonce: str) -> Report:
    """Read the records of a run of test files. They are claims of the judged, so that none is taken for granted."""
    phases: dict[str, dict[str, str]] = {}
    broken, ended = "", False
    records = parsed_records(output.records)
    if records is None:
        return Report({}, TAMPERED, False)
    for record in records:
        if "unparsed" in record:
            return Report({}, f"{record['unparsed']} does not parse: {record.get('message')}", False)
        if record.get("nonce") != nonce or ended:
            return Report({}, TAMPERED, False)
        if "end" in record:
            ended = record["end"] in (0, 1)
        elif "collect" in record:
            broken = broken or f"{record['collect']}: {collection_error(record)}"
        else:
            phases.setdefault(str(record.get("id")), {})[str(record.get("when"))] = str(record.get("outcome"))
    results = {id_: _whole(reported) for id_, reported in phases.items()}
    return Report(results, broken, ended and not output.limit)


def _whole(phases: Mapping[str, str]) -> str:
    """The outcome of a test from those of its set-up, call and tear-down; a set-up that did not pass leaves out the call."""
    for when in ("setup", "call", "teardown"):
        if when not in phases:
            return "cut off"
        if phases[when] != "passed":
            return phases[when]
    return "passed"


def place(goal: str) -> tuple[str, str]:
    """``(path, name)`` of a goal such as ``pager.py:page_count``. Raises DataError where it has no name."""
    path, _, name = goal.rpartition(":")
    if not path or not name:
        raise DataError(f"{goal!r} should read 'path.py:name'")
    return path, name
