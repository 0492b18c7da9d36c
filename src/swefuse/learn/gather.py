"""The candidates of one round: sampled and verified, with further tasks where all candidates of one earn the same."""

from __future__ import annotations

from collections.abc import Sequence

from swefuse.collect.agent import Verify
from swefuse.errors import DataError
from swefuse.learn.draws import Draws
from swefuse.learn.pairs import reward
from swefuse.learn.phases import Phases, TimedPolicy
from swefuse.learn.rollouts import Rollouts, sample
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.update import Models
from swefuse.policy.local import LocalPolicy
from swefuse.records import Outcome, Task, Trajectory


def gather(models: Models, draws: Draws, verify: Verify, settings: RlvrSettings, number: int, phases: Phases) -> Rollouts:
    """Candidates of the tasks that ``draws`` gives for round ``number``; what they earned is told to ``draws``.

    With ``sampling.resample`` further tasks are drawn for those that teach nothing, as many as are missing each time, so that there
    are never more that teach than ``tasks`` (dynamic sampling, Yu et al. 2025). Those that teach nothing stay: they cost an update
    nothing, and the value model needs to see what it is asked about.
    """
    how = settings.sampling
    policy = TimedPolicy(LocalPolicy(models.policy, models.codec, "policy", batch=how.batch, version=number), phases)
    seed, timed = settings.seed * 100_003 + number, phases.verifier(verify)
    draws.begin()

    def more(count: int) -> Rollouts:
        tasks = draws.take(count)
        found = sample(tasks, policy, models.codec, timed, settings.samples, seed, how.overlap)
        draws.learn(outcomes(tasks, found, settings.samples))
        return found

    data = more(settings.tasks)
    while missing := further(data, settings, len(draws.taken), draws.left):
        data = data.joined(more(missing))
    return data


def further(data: Rollouts, settings: RlvrSettings, drawn: int, left: int) -> int:
    """How many tasks are drawn next, when ``drawn`` were drawn so far and ``left`` others are there; 0 where the round is full."""
    missing = settings.tasks - sum(teaches(members, settings) for members in data.trajectories)
    return max(0, min(missing, settings.tasks * (1 + settings.sampling.resample) - drawn, left))


def teaches(members: Sequence[Trajectory], settings: RlvrSettings) -> bool:
    """Whether the graded candidates of a task earned unlike rewards."""
    verdicts = [t.verdict for t in members if t.verdict is not None and t.verdict.outcome.graded]
    return len({reward(verdict, settings.reward) for verdict in verdicts}) > 1


def outcomes(tasks: Sequence[Task], data: Rollouts, samples: int) -> dict[str, tuple[int, int]]:
    """How many graded candidates of each task passed and failed. One in which nothing was left to choose counts as failed by all:
    it teaches nothing, whatever came of it."""
    found = {task.id: (0, samples) for task in tasks}
    for task, members in zip(data.tasks, data.trajectories, strict=True):
        graded = [t.verdict.outcome for t in members if t.verdict is not None and t.verdict.outcome.graded]
        passed = graded.count(Outcome.PASSED)
        found[task.id] = (passed, len(graded) - passed)
    return found


def check_fresh(data: Rollouts, now: int, most: int) -> None:
    """Raise DataError, naming the first, where a candidate was sampled by a state of the policy more than ``most`` rounds back."""
    for one in data.flat:
        version = one.policy.parameters.get("version")
        if not isinstance(version, int) or not 0 <= now - version <= most:
            age = "an unknown state" if not isinstance(version, int) else f"the state of round {version + 1}"
            raise DataError(
                f"candidate {one.id} of task {one.task_id} was sampled by {age} of the policy, and this is round {now + 1}; "
                f"at most {most} rounds may lie between (off_policy.max_stale)"
            )
