from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import exp
from pathlib import Path
from typing import Any

import pytest
import torch
from learn_samples import TASKS, episodes, model, refuse, tokenizer, verdict
from pydantic import ValidationError

from swefuse.errors import ConfigError, InfraError
from swefuse.learn.batch import Example
from swefuse.learn.entropy import Weigher
from swefuse.learn.rlvr import (
    Learnt,
    Models,
    RlvrSettings,
    Round,
    advantages,
    check_infra,
    fall_back,
    look,
    task_order,
    train,
    update,
    weigh,
)
from swefuse.learn.rollouts import Rollouts, describe
from swefuse.learn.tokens import codec_for
from swefuse.learn.value import HEADS, Candidates, make_head
from swefuse.records import Outcome, Pair, Verdict
from swefuse.scale.executor import InlineExecutor
from swefuse.verify import Verifier
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

SETTINGS = RlvrSettings(tasks=2, samples=4, micro_batch=16, lr=1e-3, warmup=0, max_infra=0.5, weights="off")


def models() -> Models:
    return Models(model(), model(), codec_for(tokenizer()))


def half(items: Sequence[Candidate]) -> list[Verdict]:
    """About every second state passes, always the same ones."""
    return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]


def settings(**changes: Any) -> RlvrSettings:
    return SETTINGS.model_copy(update=changes)


def seen(made: Models, verify: Any = half, chosen: RlvrSettings = SETTINGS) -> Round:
    head = make_head(chosen.head, made.reference.config.hidden_size)
    return look(made, TASKS[:2], verify, head, chosen, number=0)


def parameters(made: Models) -> torch.Tensor:
    return torch.cat([p.detach().flatten().clone() for p in made.policy.parameters()])


def stepped(made: Models, data: Round, chosen: RlvrSettings) -> dict[str, float]:
    return update(made, torch.optim.AdamW(made.policy.parameters(), lr=chosen.lr, weight_decay=0.0), data, chosen)


def test_every_task_comes_once_before_any_comes_again() -> None:
    order = task_order(5, RlvrSettings(tasks=3, rounds=20, seed=4))
    assert all(len(set(places)) == 3 for places in order), "and never twice in a round"
    flat = [place for places in order for place in places]
    for epoch in range(12):
        assert sorted(flat[5 * epoch : 5 * epoch + 5]) == list(range(5))
    assert order == task_order(5, RlvrSettings(tasks=3, rounds=20, seed=4)) != task_order(5, RlvrSettings(tasks=3, rounds=20))


def test_too_many_ungraded_candidates_stop_the_run() -> None:
    check_infra([True] * 19 + [False], 0.05)
    with pytest.raises(InfraError, match="2 of 20"):
        check_infra([True] * 18 + [False] * 2, 0.05)


def rollouts_with(passed: Sequence[bool | None]) -> Rollouts:
    made = episodes(tasks=TASKS[:1])[0]
    return Rollouts(TASKS[:1], (tuple(made.model_copy(update={"verdict": verdict(grade)}) for grade in passed),), ())


def test_advantages_by_hand() -> None:
    data = rollouts_with([True, False, None, False])
    weights = {(0, 1): 2.0, (0, 3): 1.0, (1, 3): 0.5}
    pairs = [Pair(task_id="t", a=a, b=b, label="A", weight=weight) for (a, b), weight in weights.items()]
    assert advantages(data, [], SETTINGS) == [1.0, -0.5, 0.0, -0.5]
    assert advantages(data, pairs, SETTINGS) == [1.0 * 1.5, -0.5 * 1.25, 0.0, -0.5 * 0.75]
    assert advantages(rollouts_with([True, None, None]), [], SETTINGS) == [0.0, 0.0, 0.0], "one alone has nothing to compare with"


@pytest.mark.parametrize("mode", ["soft", "hard", "posterior", "recorded", "random"])
@pytest.mark.parametrize("name", HEADS)
def test_what_was_not_graded_changes_no_advantage(name: str, mode: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    known = Candidates(
        torch.randn(5, 3, generator=generator), torch.randn(5, 8, generator=generator), torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0]),
        torch.tensor([True, True, False, True, True]), (0,) * 5,
    )  # fmt: skip
    torch.manual_seed(0)
    head = make_head(name, 8)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter)

    def gains(data: Rollouts, known: Candidates) -> list[float]:
        return advantages(data, weigh(data, known, head, Weigher(mode, tau=0.9, false_pass=0.2), SETTINGS), SETTINGS)

    found = gains(rollouts_with([True, False, None, False, True]), known)
    without = gains(rollouts_with([True, False, False, True]), known.only(known.graded))
    assert found[2] == 0 and found[:2] + found[3:] == pytest.approx(without)
    assert any(abs(value) > 1e-6 for value in without)


def test_pairs_carry_the_heads_verdict_and_count_over_the_round() -> None:
    made = models()
    data = seen(made, chosen=settings(weights="soft", lam=3.0))
    within = list(combinations(range(4), 2))
    assert data.weighted and [(p.a, p.b) for p in data.pairs] == within + [(a + 4, b + 4) for a, b in within]
    raw = [exp(-3.0 * pair.h) for pair in data.pairs]
    mean = sum(raw) / len(raw)
    assert [pair.weight for pair in data.pairs] == pytest.approx([weight / mean for weight in raw])
    late = seen(made, chosen=settings(weights="soft", warmup=1))
    assert not late.weighted and {pair.weight for pair in late.pairs} == {1.0}


@pytest.mark.parametrize("objective", ["group", "bt"])
def test_equal_rewards_leave_the_policy_as_it_was(objective: Any) -> None:
    made = models()
    before = parameters(made)
    done = stepped(made, seen(made, refuse), settings(objective=objective))
    assert torch.equal(parameters(made), before)
    assert (done["loss"], done["useful_groups"], done["grad_norm"]) == (0, 0, 0)


@pytest.mark.parametrize("objective", ["group", "bt", "bt_ties"])
def test_an_update_favours_what_passed_however_it_is_cut_up(objective: Any) -> None:
    after = []
    for micro_batch in (1, 16):
        made, chosen = models(), settings(objective=objective, micro_batch=micro_batch, beta=1.0)
        data = seen(made)
        assert 0 < sum(data.known.passed.tolist()) < len(data.known)
        before = describe(made.policy, data.data, 16, 0).numbers[:, 0]
        done = stepped(made, data, chosen)
        rise = describe(made.policy, data.data, 16, 0).numbers[:, 0] - before
        gains = torch.tensor(advantages(data.data, data.pairs, chosen))
        assert float((rise * gains).sum()) > 1e-3
        after.append((parameters(made), done))
    torch.testing.assert_close(after[0][0], after[1][0], atol=1e-5, rtol=0)
    assert after[0][1] == pytest.approx(after[1][1], abs=1e-5)


def test_a_fallback_step_needs_gold(tmp_path: Path) -> None:
    made = models()
    before, optimizer = parameters(made), torch.optim.AdamW(made.policy.parameters(), lr=1e-3)
    assert fall_back(made, optimizer, (), 0) == {"useful_groups": 0.0}
    assert torch.equal(parameters(made), before)
    done = fall_back(made, optimizer, [Example((1, 9, 12), (2,), ((),))], 0)
    assert done["fallback_loss"] > 0 and not torch.equal(parameters(made), before)


def test_after_an_alarm_the_policy_learns_from_gold_for_some_rounds(tmp_path: Path) -> None:
    chosen = settings(rounds=10, weights="soft", fallback=2, head_steps=1, alarm=1e-6)  # rings at the least rise after five rounds
    train(models(), TASKS, half, chosen, tmp_path, gold=lambda: [Example((1, 9, 12), (2,), ((),))])
    rows = [json.loads(row) for row in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    events = [json.loads(row) for row in (tmp_path / "events.jsonl").read_text().splitlines()]
    rung = {event["round"] for event in events}
    assert rung and min(rung) > 5 and all(event["event"] == "alarm" and event["mean_h"] > 0 for event in events)
    quiet = {number for first in rung for number in (first, first + 1)} & set(range(1, 11))
    assert {row["round"] for row in rows if "fallback_loss" in row} == quiet, "the round of the alarm and the next"
    assert all(row["trained_tokens"] == 0 for row in rows if row["round"] in quiet)
    assert any(row["trained_tokens"] > 0 for row in rows if row["round"] not in quiet)


def test_settings_that_cannot_work_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="false_pass above 0"):
        RlvrSettings(weights="posterior")
    with pytest.raises(ConfigError, match="2 tasks are fewer than one round needs"):
        train(models(), TASKS[:2], half, RlvrSettings(tasks=3), tmp_path)


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier() as made:
        yield made


def test_two_rounds_with_real_verdicts_are_the_same_for_the_same_seed(tmp_path: Path, verifier: Verifier) -> None:
    chosen = RlvrSettings(
        rounds=2, tasks=4, samples=4, reward="score", weights="soft", warmup=1, micro_batch=3, lr=1e-3, head_steps=2, seed=1
    )

    def judge(items: Sequence[Candidate]) -> Iterator[Verdict]:
        return InlineExecutor().map(lambda item: verifier.verify(item.task, item.files), items)

    results = []
    for name in ("one", "two"):
        made, progress = models(), list[tuple[int, int]]()
        learnt = train(made, TASKS, judge, chosen, tmp_path / name, lambda done, total, seen=progress: seen.append((done, total)))
        assert progress == [(1, 2), (2, 2)]
        rows = [json.loads(row) for row in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        reference = made.reference.state_dict()
        assert all(torch.equal(value, reference[name]) for name, value in model().state_dict().items()), "it is frozen"
        results.append((rows, parameters(made), learnt))
    (rows, weights, learnt), (again, weights_again, _) = results
    assert rows == again and torch.equal(weights, weights_again)
    assert [row["weights_on"] for row in rows] == [False, True]
    assert all(sum(row["outcomes"].values()) == 16 and not {"INFRA", "FLAKY"} & set(row["outcomes"]) for row in rows)
    assert any(row["useful_groups"] > 0 and row["grad_norm"] > 0 for row in rows), "real verdicts told candidates apart"
    assert not torch.equal(weights, parameters(models()))
    assert Outcome.FAILED.value in rows[0]["outcomes"]

    learnt.save(tmp_path / "value.pt")
    loaded = Learnt.load(tmp_path / "value.pt")
    for one, two in ((learnt.head, loaded.head), (learnt.baseline, loaded.baseline)):
        assert all(torch.equal(value, two.state_dict()[name]) for name, value in one.state_dict().items())
    assert [path.name for path in tmp_path.glob(".*")] == []
