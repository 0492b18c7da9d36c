"""Candidates that the policy did not write: edits of the rules ``random`` and ``rule`` and the reference edit, verified alike.

The value model may learn from them; the policy never does, since they are no samples of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from swefuse.collect import protocol
from swefuse.collect.agent import Verify, rollouts
from swefuse.collect.episode import Start
from swefuse.learn.rollouts import Rollouts, choice_group, describe
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.tokens import Codec
from swefuse.learn.update import Models, Round
from swefuse.learn.value import Candidates
from swefuse.policy.base import Choice
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Task, TokenTrace, Trajectory

WRITERS = ("reference", "random", "rule")


def played(starts: Sequence[Start], name: str, codec: Codec, verify: Verify) -> list[Trajectory | None]:
    """What a rule does in each task, with the ids of the edit as a model would write it; None where it has no edit to play."""
    found = rollouts(starts, ScriptedPolicy(name), verify, "foreign")
    return [_traced(start.task, one, codec) for start, one in zip(starts, found, strict=True)]


def _traced(task: Task, trajectory: Trajectory, codec: Codec) -> Trajectory | None:
    open_ = protocol.open_edits(task)
    for place, step in enumerate(trajectory.steps):
        if step.action is not None and Choice(step.thought, step.action) in open_:
            ids = codec.messages(task, open_)[open_.index(Choice(step.thought, step.action))]
            zeros = (0.0,) * len(ids)
            trace = TokenTrace(token_ids=ids, logprobs=zeros, raw_logprobs=zeros, entropies=zeros)
            steps = list(trajectory.steps)
            steps[place] = step.model_copy(update={"trace": trace})
            return trajectory.model_copy(update={"steps": tuple(steps)})
    return None


def extras(seen: Round, models: Models, verify: Verify, settings: RlvrSettings, number: int) -> Candidates:
    """What the value model learns from a round: the policy's candidates and ``value.foreign`` times as many of others.

    The others stand in the groups of the same tasks, so that pairs are made across.
    """
    tasks = seen.data.tasks
    count = round(settings.value.foreign * len(seen.data.flat))
    members: dict[int, list[Trajectory]] = {}
    for turn, name in enumerate(WRITERS):
        places = [n for n in range(count) if (n // len(tasks) + n + number) % len(WRITERS) == turn]
        starts = [Start(tasks[n % len(tasks)], settings.seed * 100_003 + number * 1000 + n) for n in places]
        for n, one in zip(places, played(starts, name, models.codec, verify), strict=True):
            if one is not None:
                members.setdefault(n % len(tasks), []).append(one)
    groups = {place: choice_group(tasks[place], of, models.codec) for place, of in sorted(members.items())}
    used = {place: group for place, group in groups.items() if group is not None}
    if not used:
        return seen.known
    others = Rollouts(tuple(tasks[n] for n in used), tuple(tuple(members[n]) for n in used), tuple(used.values()))
    known = describe(models.reference, others, settings.micro_batch, models.pad)
    own = [seen.data.groups[n].candidates for n in used]
    votes = [math.log(max(1, ids.count(one))) for ids, group in zip(own, used.values(), strict=True) for one in group.candidates]
    numbers = torch.cat([known.numbers[:, :2], torch.tensor(votes)[:, None].to(known.numbers)], -1)
    return mixed(seen.known, replace(known, numbers=numbers), list(used))


def mixed(own: Candidates, other: Candidates, places: Sequence[int]) -> Candidates:
    """Both as one; task ``k`` of ``other`` is task ``places[k]`` of ``own``."""
    names = ("numbers", "hidden", "passed", "graded")
    numbers, hidden, passed, graded = (torch.cat([getattr(own, name), getattr(other, name)]) for name in names)
    tasks = (*own.task, *(places[task] for task in other.task))
    return Candidates(numbers, hidden, passed, graded, tasks, own.written + other.written)
