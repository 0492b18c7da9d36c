from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from learn_samples import TASKS, episodes, model, tokenizer, verdict
from swefuse.errors import DataError
from swefuse.learn.draws import Draws
from swefuse.learn.gather import check_fresh, further, gather, outcomes, teaches
from swefuse.learn.phases import Phases
from swefuse.learn.rlvr import train
from swefuse.learn.rollouts import Rollouts
from swefuse.learn.settings import OffPolicySettings, RlvrSettings, SamplingSettings, WatchSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models
from swefuse.records import Trajectory, Verdict
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

MADE = Models(model(), model(), codec_for(tokenizer()))


def settings(**changes: Any) -> RlvrSettings:
    return RlvrSettings(
        **{"tasks": 2, "weight": WeightSettings(mode="off"), "watch": WatchSettings(max_infra=1.0), "lr": 1e-3, **changes}
    )


def half(items: Sequence[Candidate]) -> list[Verdict]:
    return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]


def members(*passed: bool | None) -> tuple[Trajectory, ...]:
    one = episodes(tasks=TASKS[:1])[0]
    return tuple(one.model_copy(update={"verdict": verdict(grade)}) for grade in passed)


def gathered(verify: Any, chosen: RlvrSettings, number: int = 0) -> tuple[Rollouts, Draws]:
    draws = Draws(TASKS, chosen)
    return gather(MADE, draws, verify, chosen, number, Phases()), draws


def test_a_task_teaches_where_graded_candidates_earned_unlike_rewards() -> None:
    assert teaches(members(True, False), settings())
    assert not teaches(members(True, None), settings()) and not teaches(members(False, False), settings())
    scored = (members(False)[0].model_copy(update={"verdict": verdict(False).model_copy(update={"score": 0.4})}), *members(False))
    assert not teaches(scored, settings()) and teaches(scored, settings(reward="score"))


def test_how_many_tasks_come_further_by_hand() -> None:
    data = Rollouts(TASKS[:3], (members(True, False), members(True, True), members(False, False)), ())

    def more(resample: int, drawn: int, left: int = 100) -> int:
        return further(data, settings(tasks=3, sampling=SamplingSettings(resample=resample)), drawn, left)

    assert more(0, 3) == 0, "off"
    assert [more(1, drawn) for drawn in (3, 4, 5, 6)] == [2, 2, 1, 0], "two are missing, as long as six were not drawn"
    assert (more(3, 3, left=1), more(3, 3, left=0)) == (1, 0)
    assert further(data, settings(tasks=1, sampling=SamplingSettings(resample=9)), 3, 9) == 0, "the round is full"


def test_what_passed_is_counted_by_task() -> None:
    data = Rollouts(TASKS[:2], (members(True, False, None), members(None, None, None)), ())
    found = outcomes(TASKS[:3], data, 3)
    assert [found[task.id] for task in TASKS[:3]] == [(1, 1), (0, 0), (0, 3)], "where nothing was to choose, nothing will ever be"


def test_tasks_that_teach_nothing_are_replaced_until_the_round_is_full_or_the_tasks_are_spent() -> None:
    asked = settings(tasks=1, sampling=SamplingSettings(resample=3))

    def only(name: str) -> Any:
        return lambda items: [one if i.task.id == name else verdict(False) for i, one in zip(items, half(items), strict=True)]

    whole, _ = gathered(half, settings(tasks=4))
    able = [task.id for task, row in zip(whole.tasks, whole.trajectories, strict=True) if teaches(row, asked)]
    assert able, "some task has candidates of both kinds"
    order = [task.id for task in Draws(TASKS, asked).take(4)]
    for name in able:
        data, draws = gathered(only(name), asked)
        assert [task.id for task in data.tasks] == order[: order.index(name) + 1], "one by one, and no further than needed"
        assert len(draws.taken) == len(data.tasks)
    none, draws = gathered(only(""), asked)
    assert len(none.tasks) == len(draws.taken) == 4
    assert gathered(only(""), settings(tasks=1))[0].groups == none.groups[:1], (
        "what is drawn first does not hang on what comes further"
    )


@pytest.mark.parametrize("batch", [1, 3])
def test_a_round_is_the_same_whether_verified_meanwhile_or_afterwards(batch: int) -> None:
    found = [
        gathered(half, settings(tasks=4, sampling=SamplingSettings(overlap=overlap, batch=batch)))[0] for overlap in (True, False)
    ]
    assert found[0] == found[1] and len(found[0].flat) == 16


def test_a_candidate_tells_which_state_sampled_it_and_one_too_old_is_refused_by_name() -> None:
    data, _ = gathered(half, settings(), number=3)
    assert {t.policy.parameters["version"] for t in data.flat} == {3}
    check_fresh(data, 3, 0)
    check_fresh(data, 5, 2)
    name = data.flat[0].id
    with pytest.raises(DataError, match=rf"candidate {name} .* sampled by the state of round 4 .* this is round 7; at most 2"):
        check_fresh(data, 6, 2)
    with pytest.raises(DataError, match="state of round 4"):
        check_fresh(data, 2, 2)
    old = Rollouts(TASKS[:1], (members(True),), ())
    with pytest.raises(DataError, match="sampled by an unknown state"):
        check_fresh(old, 0, 9)


@pytest.mark.parametrize("order", ["shuffled", "difficulty"])
def test_a_stopped_run_of_all_of_it_goes_on_to_the_same_end(tmp_path: Path, order: Any) -> None:
    chosen = settings(
        rounds=5,
        save_every=2,
        sampling=SamplingSettings(resample=1, order=order),
        off_policy=OffPolicySettings(updates=2, is_cap=2.0),
    )

    def play(name: str, stop: int = 0) -> tuple[list[Any], torch.Tensor]:
        made = Models(model(), model(), codec_for(tokenizer()))

        def progress(done: int, total: int) -> None:
            if done == stop:
                raise KeyboardInterrupt

        try:
            train(made, TASKS, half, chosen, tmp_path / name, progress)
        except KeyboardInterrupt:
            return [], torch.empty(0)
        rows = [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        seconds = [row.pop("seconds") for row in rows]
        assert all(one["total"] >= one["sample"] > 0 and 0 <= one["overlap"] <= 1 for one in seconds)
        return rows, torch.cat([p.detach().flatten() for p in made.policy.parameters()])

    rows, weights = play("whole")
    play("cut", stop=3)
    again, weights_again = play("cut")
    assert rows == again and torch.equal(weights, weights_again)
    assert all(2 <= row["tasks"] <= 4 for row in rows) and any(row["tasks"] > 2 for row in rows)
    assert all(row["importance"] == pytest.approx(1.0, abs=1e-5) for row in rows), "sampled by the state that is updated"
