"""Tasks prove themselves before they teach: the reference passes, the broken version fails, the same way every time."""

from __future__ import annotations

import platform
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from swefuse.code.operators import apply, edits
from swefuse.records import Evidence, Outcome, Task, Verdict
from swefuse.scale import Executor
from swefuse.tasks.spec import MODULE
from swefuse.tasks.suites import CHECK_ID, node_ids
from swefuse.verify import Candidate, verify_many

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A task that did not prove itself."""

    task: Task
    reason: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What proving showed: the tasks that hold, with their evidence, in the given order, and the others."""

    tasks: list[Task]
    refused: list[Refusal]

    @property
    def reasons(self) -> Counter[str]:
        """How many tasks were refused for which reason."""
        return Counter(refusal.reason for refusal in self.refused)


def prove(tasks: Sequence[Task], executor: Executor, repeats: int = 3, done: Callable[[], None] = lambda: None) -> Proof:
    """Run reference and unchanged state of every task ``repeats`` times, in the ``calls`` form.

    The run that a task was made from, which said what fails, counts as the first of its unchanged state: it must have shown the
    same. ``done`` is called after each task. A task whose runs end as INFRA is refused. Raises InfraError when the executor breaks
    down.
    """
    kept: list[Task] = []
    refused: list[Refusal] = []
    verdicts = verify_many(_sides(tasks, repeats), executor)
    for task, reference, null in zip(tasks, verdicts, verdicts, strict=False):
        reason = _reason(task, reference, null)
        if reason:
            refused.append(Refusal(task, reason))
        else:
            kept.append(task.model_copy(update={"evidence": evidence(null, repeats)}))
        done()
    return Proof(kept, refused)


def _sides(tasks: Sequence[Task], repeats: int) -> Iterator[Candidate]:
    for task in tasks:
        yield Candidate(task, task.reference or {}, "calls", repeats, fresh=True)
        yield Candidate(task, task.files, "calls", max(1, repeats - 1), fresh=True)


def unproven(reference: Verdict, null: Verdict, start: str) -> str:
    """Why two verdicts prove no task; empty when they do. ``start``: what the initial state is called."""
    for name, verdict in (("reference", reference), (start, null)):
        if verdict.outcome is Outcome.INFRA:
            return f"the sandbox could not run the {name}"
        if verdict.outcome is Outcome.FLAKY or verdict.matrix:
            return f"the {name} does not always give the same results"
    if reference.outcome is not Outcome.PASSED:
        return "the reference does not pass"
    return f"the {start} passes" if null.outcome is Outcome.PASSED else ""


def _reason(task: Task, reference: Verdict, null: Verdict) -> str:
    """Why the task is refused; empty when it holds."""
    if reason := unproven(reference, null, "broken version"):
        return reason
    suite = task.suite("calls")
    assert suite is not None
    if failing(null) != set(suite.fail_to_pass):
        return "the broken version fails other tests than the task says"
    return ""


def failing(verdict: Verdict) -> set[str]:
    """Ids of the tests that did not pass."""
    return {id_ for id_, result in verdict.tests.items() if result.outcome != "passed"}


def evidence(null: Verdict, repeats: int) -> Evidence:
    """What equal runs of both sides have shown."""
    return Evidence(
        repeats=repeats, reference_passes=True, null_fails=True, failing_ids=tuple(sorted(failing(null))), sandbox=null.sandbox,
        python=platform.python_version(),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many states were judged in both forms, by family, and those on which the forms differ (task id, state, what differs)."""

    counts: Counter[str] = field(default_factory=Counter)
    disagreements: list[tuple[str, str, str]] = field(default_factory=list)


STATES = ("reference", "broken", "wrong edit")


def agreement(
    tasks: Sequence[Task], executor: Executor, sample: int, seed: int, done: Callable[[], None] = lambda: None
) -> Agreement:
    """Judge ``sample`` tasks of each family in calls and in pytest form: the reference, the broken version and one wrong edit.

    Where the test file holds one test per call every test must agree, else the outcome. ``done`` is called after each state.
    """
    picked: list[Task] = []
    for family in sorted({task.provenance.source for task in tasks}):
        of_family = [task for task in tasks if task.provenance.source == family]
        picked += random.Random(f"agreement|{seed}|{family}").sample(of_family, min(sample, len(of_family)))
    items = [(task, name, files) for task in picked for name, files in zip(STATES, _states(task, seed), strict=True)]
    both = (Candidate(task, files, form, fresh=True) for task, _, files in items for form in ("calls", "pytest"))
    verdicts = verify_many(both, executor)
    found = Agreement()
    for (task, name, _), calls, pytest in zip(items, verdicts, verdicts, strict=False):
        found.counts[task.provenance.source] += 1
        difference = _difference(task, calls, pytest)
        if difference:
            found.disagreements.append((task.id, name, difference))
        done()
    return found


def _states(task: Task, seed: int) -> list[dict[str, str]]:
    broken = task.files[MODULE]
    wrong = [edit for edit in edits(broken, task.provenance.function) if apply(broken, edit) != (task.reference or {})[MODULE]]
    picked = random.Random(f"wrong|{seed}|{task.id}").choice(wrong)
    return [dict(task.reference or {}), dict(task.files), {**task.files, MODULE: apply(broken, picked)}]


def _difference(task: Task, calls: Verdict, pytest: Verdict) -> str:
    """What the two verdicts disagree on, or an empty text."""
    suite = task.suite("calls")
    assert suite is not None
    if CHECK_ID not in pytest.tests:
        nodes = node_ids(task.provenance.function, suite.calls)
        differing = [id_ for id_, node in nodes.items() if _passes(calls, id_) != _passes(pytest, node)]
        if differing:
            return f"tests {', '.join(differing)}"
    passed = [verdict.outcome is Outcome.PASSED for verdict in (calls, pytest)]
    return "" if passed[0] == passed[1] else f"calls {calls.outcome}, pytest {pytest.outcome}"


def _passes(verdict: Verdict, id_: str) -> bool:
    return id_ in verdict.tests and verdict.tests[id_].outcome == "passed"
