"""Exact figures of a policy that chooses: with every edit that is open in a task verified once, pass@1 is a sum of probabilities.

A model that samples k times tells pass@1 only to within noise; here nothing is sampled. ``1 - (1 - p)^k`` is then pass@k, exactly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from swefuse.collect import protocol
from swefuse.collect.agent import Verify
from swefuse.collect.episode import Start, begin, step
from swefuse.errors import DataError, InfraError
from swefuse.learn.batch import Group, open_tokens, pack
from swefuse.learn.rollouts import per_candidate, read
from swefuse.learn.tokens import Codec
from swefuse.policy.base import Choice
from swefuse.records import Action, Outcome, Step, Task, Verdict
from swefuse.tasks.store import save_lines
from swefuse.verify.many import Candidate
from swefuse.workspace import apply_edit

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Progress = Callable[[int, int], None]
_BATCH = 16


@dataclass(frozen=True, slots=True)
class Place:
    """A task at the one choice of the protocol: what came before it, and the choices that solve it, as positions."""

    task: Task
    steps: tuple[Step, ...]
    good: tuple[int, ...]


def choices(place: Place) -> tuple[Choice, ...]:
    """All that is open there."""
    return protocol.choices(place.task, place.task.files, place.steps)


def make_board(tasks: Sequence[Task], verify: Verify, progress: Progress = lambda done, total: None) -> list[Place]:
    """Verify every edit that is open in each task. Raises InfraError where one could not be graded."""
    first = list(verify([Candidate(task, task.files) for task in tasks]))
    steps = [_opening(task, verdict) for task, verdict in zip(tasks, first, strict=True)]
    found = []
    for number, (task, before) in enumerate(zip(tasks, steps, strict=True)):
        states = [{**task.files, **apply_edit(task.files, c.action)} for c in protocol.choices(task, task.files, before)]
        verdicts = list(verify([Candidate(task, state) for state in states]))
        if lost := [verdict for verdict in verdicts if not verdict.outcome.graded]:
            raise InfraError(f"{len(lost)} edits of task {task.id} could not be graded: {lost[0].reason}")
        good = tuple(n for n, verdict in enumerate(verdicts) if verdict.outcome is Outcome.PASSED)
        found.append(Place(task, before, good))
        progress(number + 1, len(tasks))
    return found


def _opening(task: Task, verdict: Verdict) -> tuple[Step, ...]:
    """What the protocol forces before the choice."""
    episode = begin(Start(task))
    for action in (Action(name="view", path=protocol.entry(task)[0]), Action(name="test")):
        step(episode, "", action, lambda _: verdict)
    return tuple(episode.steps)


def save_board(path: Path, board: Sequence[Place]) -> None:
    """One JSON line for each place; the file appears whole or not at all."""
    save_lines(path, (json.dumps([p.task.id, [one.model_dump(mode="json") for one in p.steps], p.good]) for p in board))


def load_board(path: Path, tasks: Sequence[Task]) -> list[Place]:
    """What ``save_board`` wrote, for the same tasks. Raises DataError where it is of others or damaged."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for line, task in zip(lines, tasks, strict=True):
            name, steps, good = json.loads(line)
            if name != task.id:
                raise ValueError(f"it is of the task {name}")
            found.append(Place(task, tuple(Step.model_validate(one) for one in steps), tuple(good)))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path} is no board of these {len(tasks)} tasks: {error}; delete it to make it anew") from error
    return found


@torch.no_grad()
def exact_pass(model: PreTrainedModel, codec: Codec, board: Sequence[Place], temperature: float = 1.0) -> list[float]:
    """The probability, for each place, that one sample at a temperature solves the task."""
    was_training = model.training
    model.train(False)
    chances = [0.0] * len(board)
    for batch, groups in _batches(codec, board):
        packed = pack(groups, model.config.vocab_size, model.config.pad_token_id or 0)
        totals = iter(per_candidate(read(model, packed, temperature).logprobs, packed.candidate).exp().tolist())
        for number, group in zip(batch, groups, strict=True):
            chances[number] = min(1.0, sum(next(totals) for _ in group.candidates))
    model.train(was_training)
    return chances


def _batches(codec: Codec, board: Sequence[Place]) -> Iterator[tuple[list[int], list[Group]]]:
    """Places with any solution, like lengths together. Choices that are the same message to the model count once."""
    groups: dict[int, Group] = {}
    for number, place in enumerate(board):
        if place.good:
            messages = codec.messages(place.task, choices(place))
            solving = tuple(dict.fromkeys(messages[at] for at in place.good))
            prompt = codec.row(place.task, place.steps, prompt=True).ids
            groups[number] = Group(prompt, solving, tuple(open_tokens(messages, ids) for ids in solving))
    order = sorted(groups, key=lambda number: groups[number].size)
    for at in range(0, len(order), _BATCH):
        yield order[at : at + _BATCH], [groups[number] for number in order[at : at + _BATCH]]
