from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import exp
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st
from pydantic import ValidationError

from learn_samples import TASKS, episodes, first_round, model, refuse, tokenizer, verdict
from swefuse.errors import ConfigError, InfraError
from swefuse.learn.batch import Example
from swefuse.learn.checkpoint import load_state
from swefuse.learn.entropy import Weigher
from swefuse.learn.learnt import Learnt
from swefuse.learn.rlvr import STATE, check_finite, check_infra, train, weigh, weigher_at
from swefuse.learn.rollouts import Rollouts, describe
from swefuse.learn.settings import RlvrSettings, ValueSettings, WatchSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Contest, Models, Round, advantages, contests, fall_back, update
from swefuse.learn.value import HEADS, Candidates, make_head
from swefuse.records import Outcome, Pair, Verdict
from swefuse.scale.executor import InlineExecutor
from swefuse.verify import Verifier
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

OFF = WeightSettings(mode="off", warmup=0)
SETTINGS = RlvrSettings(tasks=2, samples=4, micro_batch=16, lr=1e-3, weight=OFF, watch=WatchSettings(max_infra=0.5))


def models() -> Models:
    return Models(model(), model(), codec_for(tokenizer()))


def half(items: Sequence[Candidate]) -> list[Verdict]:
    """About every second state passes, always the same ones."""
    return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]


def settings(**changes: Any) -> RlvrSettings:
    return SETTINGS.model_copy(update=changes)


def seen(made: Models, verify: Any = half, chosen: RlvrSettings = SETTINGS) -> Round:
    return first_round(made, verify, chosen, TASKS[:2])


def parameters(made: Models) -> torch.Tensor:
    return torch.cat([p.detach().flatten().clone() for p in made.policy.parameters()])


def stepped(made: Models, data: Round, chosen: RlvrSettings) -> dict[str, float]:
    return update(made, torch.optim.AdamW(made.policy.parameters(), lr=chosen.lr, weight_decay=0.0), data, chosen)


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
    assert advantages(data, pairs, SETTINGS) == [1.5, -1.0, 0.0, -0.5]
    even = [pair.model_copy(update={"weight": 1.0}) for pair in pairs]
    assert advantages(data, even, SETTINGS) == [1.0, -0.5, 0.0, -0.5]
    assert advantages(rollouts_with([True, None, None]), [], SETTINGS) == [0.0, 0.0, 0.0], "one alone has nothing to compare with"


def test_the_expected_difference_counts_where_a_label_is_doubted() -> None:
    data = rollouts_with([True, False, None, False])
    expected = {(0, 1): (0.5, 0.1, 0.4), (0, 3): (0.7, 0.0, 0.3), (1, 3): (0.2, 0.3, 0.5)}
    pairs = [Pair(task_id="t", a=a, b=b, label="A", weight=2.0, expected=p) for (a, b), p in expected.items()]
    assert advantages(data, pairs, SETTINGS) == pytest.approx([0.4 + 0.7, -0.4 - 0.1, 0.0, -0.7 + 0.1])
    assert contests(pairs[0], ties=True) == [Contest(0, 1, False, 1.0), Contest(1, 0, False, 0.2), Contest(0, 1, True, 0.8)]
    assert contests(pairs[1], ties=False) == [Contest(0, 3, False, 1.4)]
    sure = [Pair(task_id="t", a=0, b=1, label=label, weight=3.0) for label in ("A", "B", "tie")]
    assert [contests(pair, ties=False) for pair in sure] == [[Contest(0, 1, False, 3.0)], [Contest(1, 0, False, 3.0)], []]


@pytest.mark.parametrize("objective", ["group", "bt", "bt_ties"])
def test_a_posterior_that_doubts_nothing_updates_as_without_weights(objective: Any) -> None:
    after = []
    for mode in ("off", "posterior"):
        weights = WeightSettings(mode=mode, lam=0.0, warmup=0) if mode == "posterior" else OFF
        chosen = settings(objective=objective, weight=weights, value=ValueSettings(noise="fixed", false_pass=1e-9))
        made = models()
        stepped(made, seen(made, chosen=chosen), chosen)
        after.append(parameters(made))
    torch.testing.assert_close(*after, atol=1e-5, rtol=0)


@settings_of_hypothesis(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([True, False, None]), min_size=2, max_size=6))
def test_even_weights_make_the_leave_one_out_advantage(passed: list[bool | None]) -> None:
    data = rollouts_with(passed)
    graded = [n for n, one in enumerate(passed) if one is not None]
    pairs = [Pair(task_id="t", a=a, b=b, label="tie") for a, b in combinations(graded, 2)]
    expected = [0.0] * len(passed)
    for own in graded if len(graded) > 1 else []:
        others = [float(bool(passed[n])) for n in graded if n != own]
        expected[own] = float(bool(passed[own])) - sum(others) / len(others)
    assert advantages(data, pairs, SETTINGS) == pytest.approx(expected)


@pytest.mark.parametrize("mode", ["soft", "hard", "posterior", "recorded", "random", "agreement"])
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
        return advantages(data, weigh(data, known, head, (Weigher(mode, tau=0.9, false_pass=0.2), 0.0), SETTINGS), SETTINGS)

    found = gains(rollouts_with([True, False, None, False, True]), known)
    without = gains(rollouts_with([True, False, False, True]), known.only(known.graded))
    assert found[2] == 0 and found[:2] + found[3:] == pytest.approx(without)
    assert any(abs(value) > 1e-6 for value in without)


def test_pairs_carry_the_heads_verdict_and_count_over_the_round() -> None:
    made = models()
    data = seen(made, chosen=settings(weight=WeightSettings(mode="soft", lam=3.0, warmup=0)))
    within = list(combinations(range(4), 2))
    assert data.weighted and [(p.a, p.b) for p in data.pairs] == within + [(a + 4, b + 4) for a, b in within]
    raw = [exp(-3.0 * pair.h) for pair in data.pairs]
    mean = sum(raw) / len(raw)
    assert [pair.weight for pair in data.pairs] == pytest.approx([weight / mean for weight in raw])
    late = seen(made, chosen=settings(weight=WeightSettings(mode="soft", warmup=1)))
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
    rings = WatchSettings(alarm=1e-6, fallback=2, max_infra=0.5)  # at the least rise after five rounds
    chosen = settings(rounds=10, weight=WeightSettings(mode="soft", warmup=0), value=ValueSettings(steps=1), watch=rings)
    train(models(), TASKS, half, chosen, tmp_path, gold=lambda: [Example((1, 9, 12), (2,), ((),))])
    rows = [json.loads(row) for row in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    events = [json.loads(row) for row in (tmp_path / "events.jsonl").read_text().splitlines()]
    rung = {event["round"] for event in events if event["event"] == "alarm"}
    assert rung and min(rung) > 5 and all(event["value"] > event["limit"] for event in events if event["event"] == "alarm")
    quiet = {number for first in rung for number in (first, first + 1)} & set(range(1, 11))
    assert {row["round"] for row in rows if "fallback_loss" in row} == quiet, "the round of the alarm and the next"
    assert all(row["trained_tokens"] == 0 for row in rows if row["round"] in quiet)
    assert any(row["trained_tokens"] > 0 for row in rows if row["round"] not in quiet)


def test_settings_that_cannot_work_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="false_pass above 0"):
        RlvrSettings(weight=WeightSettings(mode="posterior"), value=ValueSettings(noise="fixed"))
    with pytest.raises(ValidationError, match=r"value\.head = residual"):
        RlvrSettings(weight=WeightSettings(mode="posterior"), value=ValueSettings(head="davidson"))
    with pytest.raises(ConfigError, match="2 tasks are fewer than one round needs"):
        train(models(), TASKS[:2], half, RlvrSettings(tasks=3), tmp_path)


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier() as made:
        yield made


def test_two_rounds_with_real_verdicts_are_the_same_for_the_same_seed(tmp_path: Path, verifier: Verifier) -> None:
    chosen = RlvrSettings(
        rounds=2, tasks=4, samples=4, reward="score", micro_batch=3, lr=1e-3, seed=1, value=ValueSettings(steps=2),
        weight=WeightSettings(mode="soft", warmup=1),
    )  # fmt: skip

    def judge(items: Sequence[Candidate]) -> Iterator[Verdict]:
        return InlineExecutor().map(lambda item: verifier.verify(item.task, item.files), items)

    results = []
    for name in ("one", "two"):
        made, progress = models(), list[tuple[int, int]]()
        learnt = train(made, TASKS, judge, chosen, tmp_path / name, lambda done, total, seen=progress: seen.append((done, total)))
        assert progress == [(1, 2), (2, 2)]
        rows = rows_of(tmp_path / name)
        reference = made.reference.state_dict()
        assert all(torch.equal(value, reference[name]) for name, value in model().state_dict().items()), "it is frozen"
        results.append((rows, parameters(made), learnt))
    (rows, weights, learnt), (again, weights_again, _) = results
    assert rows == again and torch.equal(weights, weights_again)
    assert [row["weights_on"] for row in rows] == [False, True]
    judged = {"value_accuracy", "value_majority", "value_auc", "value_ece", "logprob_decisive", "logprob_auc"}
    assert all(0 <= row[name] <= 1 for row in rows for name in judged), "the value model is measured before it learns from a round"
    assert all(sum(row["outcomes"].values()) == 16 and not {"INFRA", "FLAKY"} & set(row["outcomes"]) for row in rows)
    assert any(row["useful_groups"] > 0 and row["grad_norm"] > 0 for row in rows), "real verdicts told candidates apart"
    assert not torch.equal(weights, parameters(models()))
    assert Outcome.FAILED.value in rows[0]["outcomes"]

    learnt.save(tmp_path / "value.pt")
    loaded = Learnt.load(tmp_path / "value.pt", made.reference)
    for one, two in ((learnt.head, loaded.head), (learnt.baseline, loaded.baseline)):
        assert all(torch.equal(value, two.state_dict()[name]) for name, value in one.state_dict().items())
    assert [path.name for path in tmp_path.glob(".*")] == []


def rows_of(folder: Path, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [json.loads(row) for row in (folder / name).read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]  # no two calls take as long


@pytest.mark.parametrize("stopped", [1, 3, 4])
def test_a_stopped_run_goes_on_to_the_same_end(tmp_path: Path, stopped: int) -> None:
    weights = WeightSettings(mode="soft", warmup=1, course="linear", lam=0.5, lam_end=3.0)
    chosen = settings(rounds=5, save_every=2, optimizer="muon", weight=weights)
    whole = models()
    train(whole, TASKS, half, chosen, tmp_path / "whole")

    def stop(done: int, total: int) -> None:
        if done == stopped:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(models(), TASKS, half, chosen, tmp_path / "cut", stop)
    with (tmp_path / "cut" / "metrics.jsonl").open("a") as file:
        file.write('{"round": 9, "pass')  # what a kill leaves
    resumed, progress = models(), list[int]()
    train(resumed, TASKS, half, chosen, tmp_path / "cut", lambda done, total: progress.append(done))
    assert progress == list(range(1 + stopped // 2 * 2, 6)), "from the last state on"
    assert torch.equal(parameters(resumed), parameters(whole))
    assert rows_of(tmp_path / "cut") == rows_of(tmp_path / "whole") and len(rows_of(tmp_path / "whole")) == 5
    for name in ("events.jsonl", "pairs.jsonl"):
        assert rows_of(tmp_path / "cut", name) == rows_of(tmp_path / "whole", name)
    done = models()
    train(done, TASKS, half, chosen, tmp_path / "cut", progress=lambda done, total: pytest.fail("nothing was left to do"))
    assert torch.equal(parameters(done), parameters(whole))


def test_a_state_of_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    train(models(), TASKS, half, settings(rounds=1), tmp_path)
    with pytest.raises(ConfigError, match=r"state\.pt was made with other settings"):
        train(models(), TASKS, half, settings(rounds=2), tmp_path)
    with pytest.raises(ConfigError, match="other tasks"):
        train(models(), TASKS[:3], half, settings(rounds=1), tmp_path)
    assert load_state(tmp_path / STATE) is not None


def test_a_gradient_that_is_not_finite_changes_nothing_and_leaves_its_batch(tmp_path: Path) -> None:
    made = models()
    data = seen(made)
    torn = data._replace(known=replace(data.known, numbers=torch.full_like(data.known.numbers, float("nan"))))
    before = parameters(made)
    done = stepped(made, torn, settings(objective="bt"))
    assert torch.equal(parameters(made), before) and done["grad_norm"] != done["grad_norm"]
    with (tmp_path / "events.jsonl").open("w") as events, pytest.raises(InfraError, match="gradient is not finite"):
        check_finite(done, torn, tmp_path, events, 3)
    batch = json.loads((tmp_path / "bad_batch.json").read_text())
    assert batch["round"] == 4 and len(batch["candidates"]) == 8
    assert rows_of(tmp_path, "events.jsonl")[-1]["event"] == "not_finite"


def test_how_pairs_are_weighed_moves_from_the_first_weighted_round_to_the_last() -> None:
    head = make_head("residual", 8, (0.2, 0.1))
    hard = WeightSettings(mode="hard", warmup=2, course="linear", tau=0.9, tau_end=0.5)
    chosen = settings(rounds=7, weight=hard)
    found = [weigher_at(chosen, number, head) for number in range(7)]
    assert [one.mode for one in found] == ["off", "off", *["hard"] * 5]
    assert [one.tau for one in found[2:]] == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5])
    soft = settings(rounds=7, weight=WeightSettings(mode="posterior", warmup=0, normalise=False))
    one = weigher_at(soft, 3, head)
    assert (one.lam, one.false_pass, one.false_fail, one.normalise) == (2.0, pytest.approx(0.2), pytest.approx(0.1), False)


def test_hard_can_keep_a_share_of_the_pairs() -> None:
    data = seen(models(), chosen=settings(weight=WeightSettings(mode="hard", tau=0.0, warmup=0)))
    assert {pair.weight for pair in data.pairs} == {0.0}
    kept = seen(models(), chosen=settings(weight=WeightSettings(mode="hard", keep=0.5, warmup=0)))
    entropies = sorted(pair.h for pair in kept.pairs)
    below = [pair for pair in kept.pairs if pair.weight > 0]
    assert len(below) >= 6 and all(pair.h <= entropies[len(below) - 1] for pair in below)


def test_the_truth_that_noise_tells_is_what_the_oracle_weighs_by() -> None:
    def noisy(items: Sequence[Candidate]) -> list[Verdict]:
        found = []
        for item, one in zip(items, half(items), strict=True):
            true = one.outcome is Outcome.PASSED and int(ref(item.files), 16) % 3 > 0
            found.append(one.model_copy(update={"parts": {"truth": float(true), "agreement": 2 / 3}}))
        return found

    plain = WeightSettings(mode="oracle", warmup=0, normalise=False)
    data = seen(models(), noisy, settings(weight=plain))
    truth = [t.verdict.parts["truth"] if t.verdict else 0.0 for t in data.data.flat]
    for pair in data.pairs:
        right = "tie" if truth[pair.a] == truth[pair.b] else "A" if truth[pair.a] > truth[pair.b] else "B"
        assert pair.weight == float(right == pair.label)
    agreed = seen(models(), noisy, settings(weight=plain.model_copy(update={"mode": "agreement"})))
    assert {round(pair.weight, 6) for pair in agreed.pairs} == {round(4 / 9, 6)}
    with pytest.raises(ValueError, match="for experiments"):
        seen(models(), half, settings(weight=plain))
