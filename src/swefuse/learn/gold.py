"""Gold calibration: pairs of which the truth is known beforehand, on tasks that training never draws.

A value model that gets worse on them while it agrees with what it is trained on has learnt the errors of verifier and policy
together; nothing that training measures by itself would tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swefuse.collect.agent import Verify
from swefuse.collect.episode import Start
from swefuse.errors import ConfigError
from swefuse.learn.foreign import played
from swefuse.learn.rollouts import Rollouts, choice_group, describe
from swefuse.learn.update import Models
from swefuse.learn.value import Candidates, Judge
from swefuse.records import Outcome, Task, Trajectory, content_hash

WRONG = 6  # random edits that are tried in each task


@dataclass(frozen=True)
class Gold:
    """``known``: reference edits and edits that were verified to fail; ``pairs``: positions of one of each, of the same task."""

    known: Candidates
    pairs: tuple[tuple[int, int], ...]

    def accuracy(self, head: Judge) -> float:
        """The share of pairs in which the head prefers the reference edit; an even verdict counts half."""
        verdicts = head.verdicts(self.known, self.pairs)
        return sum((p[0] > p[1]) + 0.5 * (p[0] == p[1]) for p in verdicts) / len(verdicts)


def aside(tasks: Sequence[Task], count: int) -> tuple[list[Task], list[Task]]:
    """``count`` tasks for gold pairs, always the same ones, and the others in their order."""
    chosen = {task.id for task in sorted(tasks, key=lambda task: content_hash(["gold", task.id]))[:count]}
    return [task for task in tasks if task.id in chosen], [task for task in tasks if task.id not in chosen]


def make_gold(tasks: Sequence[Task], models: Models, verify: Verify, micro_batch: int) -> Gold:
    """Gold pairs of these tasks. Raises ConfigError where there is not one."""
    right = played([Start(task) for task in tasks], "reference", models.codec, verify)
    starts = [Start(task, seed) for task in tasks for seed in range(WRONG)]
    drawn = played(starts, "random", models.codec, verify)
    kept, groups, members = [], [], []
    for number, (task, reference) in enumerate(zip(tasks, right, strict=True)):
        others = {one.final: one for one in drawn[number * WRONG : (number + 1) * WRONG] if one is not None and _failed(one)}
        if reference is None or not _passed(reference) or not others:
            continue
        group = choice_group(task, all_ := (reference, *others.values()), models.codec)
        if group is not None:
            kept.append(task)
            groups.append(group)
            members.append(all_)
    if not kept:
        raise ConfigError(
            f"watch.gold: of the {len(tasks)} tasks set aside none has a reference edit that passes and an edit that fails; "
            "raise it, or set it to 0"
        )
    known = describe(models.reference, Rollouts(tuple(kept), tuple(members), tuple(groups)), micro_batch, models.pad)
    first = {task: at for at, task in reversed(list(enumerate(known.task)))}
    return Gold(known, tuple((first[task], at) for at, task in enumerate(known.task) if at != first[task]))


def _passed(one: Trajectory) -> bool:
    return one.verdict is not None and one.verdict.outcome is Outcome.PASSED


def _failed(one: Trajectory) -> bool:
    return one.verdict is not None and one.verdict.outcome.graded and not _passed(one)
