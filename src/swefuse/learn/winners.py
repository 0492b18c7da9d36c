"""What passed in stage 2, kept once for each different solution, and put through the gate into a library afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from swefuse.collect.agent import Verify
from swefuse.collect.stage import load_trajectories
from swefuse.learn.rollouts import Rollouts
from swefuse.library.context import Context
from swefuse.library.gate import gate
from swefuse.library.held import Held
from swefuse.library.store import Entry, Filter, Library
from swefuse.records import Outcome, Task, Trajectory, to_json
from swefuse.tasks.store import save_lines
from swefuse.verify.many import Candidate

FILE = "winners.jsonl"
_BATCH = 64


class Grown(NamedTuple):
    """What became of winners: accepted and refused by the gate, and left out because the library holds the same solution."""

    accepted: int
    refused: int
    known: int


def passed(data: Rollouts, known: Sequence[Trajectory] = ()) -> list[Trajectory]:
    """``known``, and what passed in a round and is none of them: of candidates of one task with the same end the first counts."""
    found = {(one.task_id, one.final): one for one in known}
    for one in data.flat:
        if one.verdict is not None and one.verdict.outcome is Outcome.PASSED:
            found.setdefault((one.task_id, one.final), one)
    return list(found.values())


def save(path: Path, winners: Sequence[Trajectory]) -> None:
    """One JSON object a line; the file appears whole or not at all."""
    save_lines(path, map(to_json, winners))


def grow(library: Path, winners: Path, tasks: Sequence[Task], verify: Verify) -> Grown:
    """Judge what ``save`` wrote by fresh verdicts over all tests, and store it in the library, which is made where there is none.

    The trajectories keep the source ``rlvr``. A solution that the library holds already, accepted, is not stored again.
    """
    of = {task.id: task for task in tasks}
    found = [one for one in load_trajectories(winners) if one.task_id in of]
    accepted = refused = 0
    with Library(library, create=True) as store:
        new = [one for one in found if one.final not in _finals(store, one.task_id)]
        context = Context(held=Held(lambda id_: store.get(id_).trajectory))
        for at in range(0, len(new), _BATCH):
            part = new[at : at + _BATCH]
            items = [Candidate(of[one.task_id], {**of[one.task_id].files, **one.files}, fresh=True) for one in part]
            batch = [(of[one.task_id], one, verdict) for one, verdict in zip(part, verify(items), strict=True)]
            decisions = gate(batch, context=context)
            store.add_many(Entry(*item, decision) for item, decision in zip(batch, decisions, strict=True))
            context.held.stored()
            accepted += sum(one.accepted for one in decisions)
            refused += sum(not one.accepted for one in decisions)
    return Grown(accepted, refused, len(found) - len(new))


def _finals(store: Library, task_id: str) -> set[str]:
    """The final states of a task's accepted trajectories."""
    return {store.get(row.trajectory_id).trajectory.final for row in store.query(Filter(accepted=True, task_id=task_id))}
