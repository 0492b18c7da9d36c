"""Candidates from a model: one that chooses is shown functions one by one, one that writes works on the whole as an agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import exp
from typing import TYPE_CHECKING, Protocol

from swefuse.collect.agent import Judge, play
from swefuse.collect.episode import Episode, How, Start, StopReason
from swefuse.errors import UserError
from swefuse.evaluate.solve.localise import Suspect, definitions
from swefuse.evaluate.solve.rank import Probabilities, Proposal
from swefuse.evaluate.solve.views import View, edited, rows_of, view
from swefuse.policy.base import Policy, Reply, Request
from swefuse.records import Kind, Outcome, PolicyIdentity, Provenance, Step, Suite, Task, Trajectory, Verdict
from swefuse.tasks.commits import is_test
from swefuse.tasks.symptoms import instruction
from swefuse.verify.many import Candidate
from swefuse.workspace import Files, ref

if TYPE_CHECKING:
    from swefuse.collect.agent import Verify
    from swefuse.learn.assess import Assessor
    from swefuse.policy.local import LocalPolicy

FUNCTIONS = 12  # that a choosing model is shown
SPARE = 8  # edits of a function beyond those that are wanted: some give the same text, or none that parses


@dataclass(frozen=True, slots=True)
class Work:
    """What candidates are made for. ``task``: the working copy with the tests that decide. ``details``: what failing tests say,
    for as far as the model may know it; with ``hidden`` tests it may know nothing of them."""

    task: Task
    suspects: Sequence[Suspect]
    issue: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    hidden: bool = False
    seed: int = 0


class Proposer(Protocol):
    """Makes candidates, and says which of two it finds better."""

    def propose(self, work: Work, most: int, verify: Verify) -> list[Proposal]:
        """At most so many different candidates, the most probable first."""
        ...

    def scores(self, proposals: Sequence[Proposal]) -> list[float] | None:
        """The value model's score of each; None without one."""
        ...

    def verdicts(self, proposals: Sequence[Proposal], pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """(a better, b better, tie) of pairs of positions."""
        ...


def by_chance(proposals: Sequence[Proposal], pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
    """Verdicts by what the policy gives each, taken as independent probabilities of being right."""
    from swefuse.learn.entropy import verdict_probabilities

    return [verdict_probabilities(proposals[a].chance, proposals[b].chance) for a, b in pairs]


@dataclass(frozen=True, slots=True)
class Chosen:
    """How a chosen edit came about: the function as it was shown, and the model's answer."""

    view: View
    reply: Reply


class Chooser:
    """A model in this process that chooses among edits, and a value model where there is one."""

    def __init__(self, policy: LocalPolicy, assessor: Assessor | None = None) -> None:
        self.policy, self.assessor = policy, assessor

    def propose(self, work: Work, most: int, verify: Verify) -> list[Proposal]:
        """See ``Proposer``. An edit's chance: its function's share of suspicion times its probability among all that are open."""
        every = ((suspect, found) for suspect in work.suspects if (found := _view(work, suspect)) is not None)
        views = list(islice(every, FUNCTIONS))
        requests = [Request(one.task, one.steps, one.choices, work.seed) for _, one in views]
        replies = self.policy.likeliest(requests, most + SPARE) if requests else []
        shown = [(suspect, one, own) for (suspect, one), own in zip(views, replies, strict=True) if own]
        total = sum(suspect.score for suspect, _, _ in shown) or 1.0
        rows = [(suspect.score / total * _chance(reply), suspect, one, reply) for suspect, one, own in shown for reply in own]
        made: dict[tuple[str, str], Proposal] = {}
        for chance, suspect, one, reply in sorted(rows, key=lambda row: -row[0]):
            text = edited(one, reply.choice.action) if reply.choice else None
            if text is not None and (suspect.path, text) not in made:
                made[suspect.path, text] = Proposal(
                    {suspect.path: text}, _told(suspect, one, reply), chance, _logprob(reply), Chosen(one, reply)
                )
            if len(made) == most:
                break
        return list(made.values())

    def scores(self, proposals: Sequence[Proposal]) -> list[float] | None:
        """See ``Proposer``."""
        if self.assessor is None or not proposals:
            return None
        rows = self.assessor.choose(*self._groups(proposals))
        return [row[0] for row in rows]

    def verdicts(self, proposals: Sequence[Proposal], pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """See ``Proposer``."""
        if self.assessor is None or not pairs:
            return by_chance(proposals, pairs)
        return self.assessor.verdicts(*self._groups(proposals), pairs)

    def _groups(self, proposals: Sequence[Proposal]) -> tuple[list[Task], list[list[Trajectory]]]:
        """Each candidate as the only one of the small task in which it was chosen."""
        origins: list[Chosen] = [one.origin for one in proposals]
        return [one.view.task for one in origins], [[_trajectory(one, self.policy.identity)] for one in origins]


def _view(work: Work, suspect: Suspect) -> View | None:
    text = work.task.files[suspect.path]
    one = next((one for one in definitions(text) if (one.name, one.line) == (suspect.name, suspect.line)), None)
    if one is None:
        return None
    return view(text, one, [] if work.hidden else rows_of(one.node.name, list(work.details.values())))


def _chance(reply: Reply) -> float:
    return exp(_logprob(reply))


def _logprob(reply: Reply) -> float:
    return sum(reply.trace.logprobs) if reply.trace else 0.0


def _told(suspect: Suspect, one: View, reply: Reply) -> str:
    assert reply.choice is not None, "a choosing model answers with a choice"
    line = one.first + reply.choice.action.line - 1
    return f"{suspect.path}:{line} in {suspect.name} ({reply.choice.thought})"


def _trajectory(one: Chosen, identity: PolicyIdentity) -> Trajectory:
    task, reply = one.view.task, one.reply
    assert reply.choice is not None, "a choosing model answers with a choice"
    state = ref(task.files)
    step = Step(
        thought=reply.choice.thought, action=reply.choice.action, raw="", observation="", before=state, after=state,
        trace=reply.trace,
    )  # fmt: skip
    return Trajectory(
        id="", task_id=task.id, initial=state, steps=(*one.view.steps, step), final=state, files={}, stop_reason="",
        policy=identity,
    )  # fmt: skip


class Writer:
    """A model that writes, here or behind an endpoint: episodes of the open agent loop on the whole working copy."""

    def __init__(self, policy: Policy, how: How) -> None:
        self.policy, self.how = policy, how

    def propose(self, work: Work, most: int, verify: Verify) -> list[Proposal]:
        """See ``Proposer``. As many episodes as candidates are wanted; those that end in one state are one, and count for it.

        Raises UserError where no episode got an answer, with what the policy said.
        """
        task = agent_task(work)
        judged = hidden_verdicts if work.hidden else verify
        starts = [Start(task, work.seed * 1000 + number, greedy=number == 0) for number in range(most)]
        episodes = play(starts, self.policy, Judge(judged), self.how)
        if all(one.stop_reason == StopReason.POLICY for one in episodes):
            raise UserError(f"the model gave no answer: {episodes[0].problem}")
        ends = [{path: text for path, text in one.files.items() if task.files.get(path) != text} for one in episodes]
        votes = Counter(ref(end) for end in ends if end)
        first: dict[str, Proposal] = {}
        for end, episode in zip(ends, episodes, strict=True):
            if end:
                share = votes[ref(end)] / len(episodes)
                told = f"{', '.join(sorted(end))} in {len(episode.steps)} steps ({episode.stop_reason})"
                first.setdefault(ref(end), Proposal(end, told, share, _written(episode)))
        return sorted(first.values(), key=lambda one: -one.chance)

    def scores(self, proposals: Sequence[Proposal]) -> None:
        """See ``Proposer``: value models of this project read what was chosen, and nothing was."""
        return

    def verdicts(self, proposals: Sequence[Proposal], pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """See ``Proposer``: by the share of the episodes that ended there."""
        return by_chance(proposals, pairs)


def _written(episode: Episode) -> float | None:
    traces = [step.trace for step in episode.steps if step.trace is not None]
    return sum(sum(trace.raw_logprobs) for trace in traces) if traces else None


def agent_task(work: Work) -> Task:
    """The task as the agent is told of it; with hidden tests neither their files nor what they say are there."""
    told = [work.issue.strip()] if work.issue.strip() else []
    suite = work.task.suite("pytest")
    if not work.hidden:
        failing = suite.fail_to_pass if suite else ()
        shown = [(id_, work.details[id_]) for id_ in failing if work.details.get(id_)]
        told += [instruction(failing, shown, 1)] if failing else []
        return work.task.model_copy(update={"instruction": "\n\n".join(told)})
    files: Files = {path: text for path, text in work.task.files.items() if not is_test(path)}
    origin = Provenance(source="solve")
    return Task.make(
        Kind.BUGFIX, instruction="\n\n".join(told), files=dict(files), editable=work.task.editable,
        suites=(Suite(form="calls"),), provenance=origin,
    )  # fmt: skip


def hidden_verdicts(items: Iterable[Candidate]) -> list[Verdict]:
    """What an agent gets to know of tests that are hidden: that there are none to show."""
    return [Verdict(outcome=Outcome.FAILED, form="calls") for _ in items]
