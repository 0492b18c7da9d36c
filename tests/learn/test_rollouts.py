from __future__ import annotations

from math import log

import pytest
import torch

from learn_samples import TASKS, episodes, model, refuse, tokenizer, verdict
from swefuse.learn.rollouts import Rollouts, choice_group, describe, per_candidate, sample
from swefuse.learn.tokens import codec_for
from swefuse.policy.local import LocalPolicy


def test_values_are_summed_for_each_candidate() -> None:
    found = per_candidate(torch.tensor([1.0, 2.0, 4.0, 8.0]), torch.tensor([0, 0, 2, 1]))
    assert found.tolist() == [3.0, 8.0, 4.0]


def test_what_the_value_model_sees_of_a_candidate() -> None:
    reference, codec = model(), codec_for(tokenizer())
    data = sample(TASKS[:2], LocalPolicy(reference, codec, "p"), codec, refuse, 4, seed=1)
    grades = [True, False, None, True] * 2
    members = tuple(
        tuple(t.model_copy(update={"verdict": verdict(grades[n])}) for n, t in enumerate(group)) for group in data.trajectories
    )
    same = members[0][0].steps[2]  # make two candidates of the first task equal
    members = ((*members[0][:3], members[0][3].model_copy(update={"steps": (*members[0][3].steps[:2], same)})), members[1])
    groups = tuple(choice_group(task, group, codec) for task, group in zip(data.tasks, members, strict=True))
    known = describe(reference, Rollouts(data.tasks, members, tuple(g for g in groups if g)), micro_batch=1, pad=0)
    assert known.task == (0, 0, 0, 0, 1, 1, 1, 1)
    assert known.passed.tolist() == [1, 0, 0, 1] * 2 and known.graded.tolist() == [True, True, False, True] * 2
    for group in (0, 1):
        for number, trajectory in enumerate(members[group]):
            trace = trajectory.steps[2].trace
            assert trace is not None
            total, mean, votes = known.numbers[4 * group + number].tolist()
            assert total == pytest.approx(sum(trace.logprobs), abs=1e-4), "the reference is the policy here"
            assert mean == pytest.approx(total / len(trace.token_ids), rel=1e-5)
            equal = sum(t.steps[2].trace == trace for t in members[group])
            assert votes == pytest.approx(log(equal))
    assert known.numbers[0, 2] > 0


def test_tasks_in_which_nothing_was_chosen_are_dropped() -> None:
    forced = episodes(tasks=TASKS[:1], samples=2)  # a scripted policy writes no tokens
    assert choice_group(TASKS[0], forced, codec_for(tokenizer())) is None
