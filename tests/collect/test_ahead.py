"""Judging what was chosen while more is chosen: the same trajectories, and it does happen at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from learn_samples import TASKS, verdict
from swefuse.collect.agent import rollouts
from swefuse.collect.episode import How, Start
from swefuse.errors import InfraError
from swefuse.policy.base import Reply, Request
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Verdict
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

STARTS = [Start(task, seed) for task in TASKS for seed in range(3)]
AHEAD = How(ahead=True)


class Parted:
    """A scripted policy that answers in parts of ``size``. ``chose``: set once it has answered a second part with real choices."""

    def __init__(self, size: int, fails_at: int = 99) -> None:
        self._policy, self._size, self._left = ScriptedPolicy("random"), size, fails_at
        self.identity = self._policy.identity
        self.chose = threading.Event()

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        return self._policy.act(requests)

    def parts(self, requests: Sequence[Request]) -> Iterator[list[tuple[int, Reply]]]:
        yield []
        for at in reversed(range(0, len(requests), self._size)):
            part = requests[at : at + self._size]
            if len(part[0].choices) > 1:
                self._left -= 1
                if self._left == 0:
                    raise InfraError("the model is gone")
                if at == 0:
                    self.chose.set()
            yield [(at + number, reply) for number, reply in enumerate(self.act(part))]


def half(items: Sequence[Candidate]) -> list[Verdict]:
    return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]


@pytest.mark.parametrize("size", [1, 5, 12])
def test_the_trajectories_are_those_of_one_after_the_other(size: int) -> None:
    asked: list[tuple[str, str]] = []

    def judge(items: Sequence[Candidate]) -> list[Verdict]:
        asked.extend((item.task.id, ref(item.files)) for item in items)
        return half(items)

    whole = rollouts(STARTS, ScriptedPolicy("random"), judge, "test")
    first, asked = sorted(asked), []
    assert rollouts(STARTS, Parted(size), judge, "test", AHEAD) == whole
    assert sorted(asked) == first and len(set(first)) == len(first), "every state is judged once, and no other"


@pytest.mark.parametrize("ahead", [True, False])
def test_verification_goes_on_while_the_policy_chooses(ahead: bool) -> None:
    policy, seen = Parted(6), list[bool]()

    def judge(items: Sequence[Candidate]) -> list[Verdict]:
        changed = [item for item in items if dict(item.files) != item.task.files]
        if changed and not seen:
            seen.append(policy.chose.wait(20 if ahead else 0))  # comes only if the policy goes on before there are verdicts
        return half(items)

    rollouts(STARTS, policy, judge, "test", How(ahead=ahead))
    assert seen == [ahead]


def test_a_failure_on_either_side_ends_the_episodes() -> None:
    def broken(items: Sequence[Candidate]) -> list[Verdict]:
        if any(dict(item.files) != item.task.files for item in items):
            raise InfraError("the sandbox is gone")
        return half(items)

    with pytest.raises(InfraError, match="sandbox is gone"):
        rollouts(STARTS, Parted(3), broken, "test", AHEAD)
    with pytest.raises(InfraError, match="model is gone"):
        rollouts(STARTS, Parted(3, fails_at=2), half, "test", AHEAD)


def test_a_policy_that_answers_in_one_piece_is_asked_as_ever() -> None:
    assert rollouts(STARTS, ScriptedPolicy("random"), half, "test", AHEAD) == rollouts(
        STARTS, ScriptedPolicy("random"), half, "test"
    )
