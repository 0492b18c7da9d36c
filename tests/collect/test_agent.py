"""The loop: real episodes on a real task, and what happens when an action or the sandbox fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest

from function_task import BUGGY, MENDED, PATH, function_task
from swefuse.collect import actions
from swefuse.collect.agent import Judge, rollouts
from swefuse.collect.episode import Episode, Start, step
from swefuse.errors import SandboxError
from swefuse.library.coherence import coherence
from swefuse.policy.base import Choice, Reply, Request
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Action, Outcome, PolicyIdentity, TestResult, Trajectory, Verdict
from swefuse.sandbox.base import Job, Output
from swefuse.sandbox.local import LocalSandbox
from swefuse.verify import Verifier
from swefuse.verify.many import Candidate
from swefuse.workspace import ref


class Judged:
    """Verdicts by a rule, and what was asked."""

    def __init__(self, outcome: Outcome | None = None) -> None:
        self.outcome = outcome
        self.asked: list[str] = []

    def __call__(self, items: Sequence[Candidate]) -> Iterable[Verdict]:
        for item in items:
            self.asked.append(item.files[PATH])
            right = item.files[PATH] == MENDED
            outcome = self.outcome or (Outcome.PASSED if right else Outcome.FAILED)
            tests = {"t1": TestResult(outcome="passed" if right else "failed")} if outcome.graded else {}
            yield Verdict(outcome=outcome, form="calls", tests=tests, reason="" if outcome.graded else "no sandbox")


class Broken(LocalSandbox):
    """A sandbox that cannot run anything."""

    def run(self, job: Job) -> Output:
        raise SandboxError("out of order")


class Playing:
    """Answers the edit with an action of its own; plays what is forced."""

    identity = PolicyIdentity(model="scripted/own")

    def __init__(self, action: Action) -> None:
        self.action = action

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        return [Reply(r.choices[0] if len(r.choices) == 1 else Choice("mine", self.action)) for r in requests]


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier() as made:
        yield made


def chained(trajectory: Trajectory) -> bool:
    places = [trajectory.initial, *(s.after for s in trajectory.steps)]
    return [s.before for s in trajectory.steps] == places[:-1] and trajectory.final == places[-1]


def test_the_reference_episode_passes_and_its_steps_chain(verifier: Verifier) -> None:
    task = function_task()
    [made] = rollouts(
        [Start(task)],
        ScriptedPolicy("reference"),
        lambda items: [verifier.verify(item.task, item.files) for item in items],
        "replay",
    )
    assert made.verdict is not None and made.verdict.outcome is Outcome.PASSED
    assert [s.action.name for s in made.steps if s.action] == ["view", "test", "edit", "test", "submit"]
    assert (made.initial, made.final, made.files) == (ref(task.files), ref({PATH: MENDED}), {PATH: MENDED})
    assert chained(made) and all(s.keep for s in made.steps)
    assert coherence(task, made, made.verdict) is None
    assert made.steps[1].observation == "FAIL double(1,) gave 0, expected 2\nPASS double(0,) gave 0"
    assert made.steps[3].observation == "PASS double(0,) gave 0\nPASS double(1,) gave 2"
    assert (made.task_id, made.source, made.stop_reason, made.policy.model) == (task.id, "replay", "submit", "scripted/reference")


def test_an_edit_that_does_not_apply_changes_nothing_says_why_and_is_out_of_the_loss() -> None:
    task = function_task()
    [made] = rollouts([Start(task)], Playing(Action(name="edit", path=PATH, line=3, old="y", new="z")), Judged(), "own")
    failed = made.steps[2]
    assert failed.observation == f"error: 'y' (occurrence 1) is not on line 3 of {PATH}"
    assert failed.before == failed.after == made.initial == made.final
    assert [s.keep for s in made.steps] == [True, True, False, True, True]
    assert made.verdict is not None and made.verdict.outcome is Outcome.FAILED and made.files == {}
    assert coherence(task, made, made.verdict) is None


@pytest.mark.parametrize(
    ("action", "observation", "kept"),
    [
        (Action(name="undo"), "error: there is nothing to undo", False),
        (Action(name="view", path="x.py"), f"error: there is no file x.py; files: {PATH}", False),
        (Action(name="run", text="ls"), "error: the action run is not open to this agent", False),
        (Action(name="search", text="Twice"), f'{PATH}:2>    """Twice x."""', True),
        (Action(name="search", text="thrice"), "no match", True),
    ],
)
def test_single_actions(action: Action, observation: str, kept: bool) -> None:
    episode = Episode(function_task(), 0, False, {PATH: BUGGY})
    step(episode, "", action, Judge(Judged()).of)
    assert (episode.steps[0].observation, episode.steps[0].keep, episode.files) == (observation, kept, {PATH: BUGGY})


def test_undo_goes_back_one_edit() -> None:
    episode, judge = Episode(function_task(), 0, False, {PATH: BUGGY}), Judge(Judged())
    for action in (
        Action(name="edit", path=PATH, line=3, old="-", new="+"),
        Action(name="create", path="n.py"),
        Action(name="undo"),
    ):
        step(episode, "", action, judge.of)
    assert episode.files == {PATH: MENDED}
    step(episode, "", Action(name="undo"), judge.of)
    assert episode.files == {PATH: BUGGY} and [s.observation for s in episode.steps] == ["ok"] * 4


def test_a_state_is_verified_once_however_many_episodes_reach_it() -> None:
    judged = Judged()
    starts = [Start(function_task(), seed) for seed in range(5)]
    made = rollouts(starts, ScriptedPolicy("reference"), judged, "test")
    assert len(made) == 5 and judged.asked == [BUGGY, MENDED]
    other = function_task(visible=1)  # another task, though its files are the same
    judged.asked.clear()
    rollouts([starts[0], Start(other)], ScriptedPolicy("reference"), judged, "test")
    assert judged.asked == [BUGGY, BUGGY, MENDED, MENDED]


def test_a_broken_sandbox_ends_in_an_ungraded_verdict_not_in_a_loss() -> None:
    with Verifier(f"{__name__}:Broken") as verifier:
        [made] = rollouts(
            [Start(function_task())],
            ScriptedPolicy("reference"),
            lambda items: [verifier.verify(item.task, item.files) for item in items],
            "test",
        )
    assert made.verdict is not None and made.verdict.outcome is Outcome.INFRA and not made.verdict.outcome.graded
    assert made.verdict.reason == "out of order" and made.stop_reason == "submit" and made.files == {PATH: MENDED}


def test_an_episode_in_which_nothing_is_open_is_judged_like_any_other() -> None:
    bare = function_task("def double():\n    pass\n")
    made = rollouts([Start(bare), Start(function_task())], ScriptedPolicy("reference"), Judged(), "test")
    assert [t.stop_reason for t in made] == ["no action is left to try", "submit"]
    assert [t.verdict.outcome for t in made if t.verdict] == [Outcome.FAILED, Outcome.PASSED]
    assert [len(t.steps) for t in made] == [2, 5]


def test_a_policy_that_never_submits_is_stopped_and_judged() -> None:
    class Looking(Playing):
        def act(self, requests: Sequence[Request]) -> list[Reply]:
            return [Reply(Choice("", self.action)) for _ in requests]

    [made] = rollouts([Start(function_task())], Looking(Action(name="view", path=PATH)), Judged(), "test")
    assert made.stop_reason == "max_steps" and len(made.steps) == 5
    assert made.verdict is not None and made.verdict.outcome is Outcome.FAILED


def test_same_seed_same_trajectory_and_names_tell_episodes_apart() -> None:
    starts = [Start(function_task(), seed) for seed in range(8)]
    made, again = (rollouts(starts, ScriptedPolicy("random"), Judged(), "test") for _ in range(2))
    alone = [rollouts([start], ScriptedPolicy("random"), Judged(), "test")[0] for start in starts]
    assert made == again == alone
    assert len({t.id for t in made}) == 8 and len({t.final for t in made}) > 1


def test_what_was_written_is_what_was_done() -> None:
    for made in rollouts([Start(function_task(), seed) for seed in range(3)], ScriptedPolicy("random"), Judged(), "test"):
        assert [actions.parse(s.raw) for s in made.steps] == [(s.thought, s.action) for s in made.steps]
