"""Run what datasets claim: references must pass, initial states must not, and stated answers must be what the code gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from swefuse.records import Outcome, Task, Verdict
from swefuse.scale import Executor
from swefuse.tasks.datasets.common import LACKS
from swefuse.tasks.datasets.cruxeval import question
from swefuse.tasks.prove import Proof, Refusal, evidence, failing, unproven
from swefuse.verify import Candidate, verify_many

Progress = Callable[[int, int], None]
Key = tuple[str, str]


def prove_tests(
    tasks: Sequence[Task], executor: Executor, repeats: int = 2, progress: Progress = lambda done, total: None
) -> Proof:
    """Run reference and initial state of tasks; the tests that fail before become the fail-to-pass ones.

    The executor's processes must have been started with ``verify.init_worker``. A task whose reference does not pass, whose initial
    state does, or whose runs disagree is refused. Of tasks of one row, equal but for their reference, the first that holds is kept.
    """
    groups: dict[Key, list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.id, task.provenance.topic), []).append(task)
    found: dict[Key, Task | Refusal] = {}
    waiting, turn = list(groups), 0
    while waiting:
        chosen, again = [groups[key][turn] for key in waiting], list[Key]()
        for key, one in zip(waiting, _proven(chosen, executor, repeats), strict=True):
            if isinstance(one, Refusal) and "the reference does not" in one.reason and turn + 1 < len(groups[key]):
                again.append(key)
                continue
            found[key] = one
            progress(len(found), len(groups))
        waiting, turn = again, turn + 1
    ordered = [found[key] for key in groups]
    return Proof(
        [one for one in ordered if not isinstance(one, Refusal)], [one for one in ordered if isinstance(one, Refusal)]
    )  # fmt: skip


def _proven(tasks: Sequence[Task], executor: Executor, repeats: int) -> Iterator[Task | Refusal]:
    verdicts = verify_many((candidate for task in tasks for candidate in _sides(task, repeats)), executor)
    for task in tasks:
        if not task.suites:
            yield Refusal(task, task.provenance.parameters.get(LACKS, "it has no tests"))
            continue
        reference, null, *stated = [next(verdicts) for _ in _sides(task, repeats)]
        if stated and stated[0].outcome is not Outcome.PASSED:
            yield Refusal(task, "its code does not give the stated output")
        elif reason := unproven(reference, null, "initial state"):
            yield Refusal(task, reason)
        else:
            yield _settled(task, null, repeats)


def _sides(task: Task, repeats: int) -> list[Candidate]:
    """What is run for a task: reference, initial state and, for a question, the code that it is about."""
    if not task.suites:
        return []
    form = task.suites[0].form
    sides = [Candidate(task, files, form, repeats, fresh=True) for files in (task.reference or {}, task.files)]
    asked = question(task)
    return [*sides, Candidate(asked, asked.files, "calls", repeats, fresh=True)] if asked else sides


def _settled(task: Task, null: Verdict, repeats: int) -> Task:
    """The task with its tests sorted by what its initial state does with them, and its evidence."""
    (suite,) = task.suites
    missed = failing(null)
    decisive = tuple(id_ for id_ in suite.expected if id_ in missed)
    held = tuple(id_ for id_ in suite.expected if id_ not in missed)
    suites = (suite.model_copy(update={"fail_to_pass": decisive, "pass_to_pass": held}),)
    return task.revised(suites=suites, evidence=evidence(null, repeats))
