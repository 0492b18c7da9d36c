"""Gold pairs, candidates of others, doubts and winners: what stage 2 does beside training the policy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from learn_samples import TASKS, episodes, first_round, group, model, refuse, right, tokenizer, verdict
from swefuse.errors import ConfigError, DataError
from swefuse.learn import manifest, suspects, winners
from swefuse.learn.foreign import extras, mixed
from swefuse.learn.gold import Gold, aside, make_gold
from swefuse.learn.keeper import Keeper
from swefuse.learn.rlvr import train
from swefuse.learn.rollouts import Rollouts, repeated
from swefuse.learn.settings import RlvrSettings, ValueSettings, WatchSettings, WeightSettings
from swefuse.learn.symptoms import SYMPTOMS
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models, Round
from swefuse.learn.value import Candidates, make_head
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Outcome, Pair, Verdict
from swefuse.verify import Verifier
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

OFF = WeightSettings(mode="off", warmup=0)
SETTINGS = RlvrSettings(tasks=2, rounds=2, samples=4, lr=1e-3, weight=OFF, value=ValueSettings(steps=1))


def made(seed: int = 0) -> Models:
    return Models(model(seed), model(), codec_for(tokenizer()))


def half(items: Sequence[Candidate]) -> list[Verdict]:
    return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]


def parameters(one: Models) -> torch.Tensor:
    return torch.cat([p.detach().flatten().clone() for p in one.policy.parameters()])


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_tasks_are_set_aside_once_and_for_all() -> None:
    kept, left = aside(TASKS, 2)
    assert len(kept) == 2 and [task for task in TASKS if task in kept or task in left] == list(TASKS)
    assert not any(task in left for task in kept) and aside(TASKS[::-1], 2)[0] == kept[::-1]
    assert aside(TASKS, 0) == ([], list(TASKS))


def test_gold_pairs_hold_a_reference_edit_and_one_that_fails() -> None:
    gold = make_gold(TASKS, made(), right, 16)
    passed = gold.known.passed.tolist()
    assert len(gold.pairs) >= 4 and all(passed[a] == 1 and passed[b] == 0 for a, b in gold.pairs)
    assert all(gold.known.task[a] == gold.known.task[b] for a, b in gold.pairs)
    with pytest.raises(ConfigError, match=r"watch\.gold: of the 4 tasks set aside none"):
        make_gold(TASKS, made(), refuse, 16)


def test_the_accuracy_on_gold_pairs_by_hand() -> None:
    numbers = torch.tensor([[0.0, 0, 0], [-2.0, 0, 0], [2.0, 0, 0], [0.0, 0, 0]])
    known = Candidates(numbers, torch.zeros(4, 8), torch.tensor([1.0, 0, 0, 0]), torch.ones(4, dtype=torch.bool), (0,) * 4)
    assert Gold(known, ((0, 1), (0, 2), (0, 3))).accuracy(make_head("platt", 8)) == pytest.approx((1 + 0 + 0.5) / 3)


def test_a_value_model_that_gets_worse_on_gold_ends_training_at_its_best_state(tmp_path: Path) -> None:
    watch = WatchSettings(gold=2, gold_drop=0.1, max_infra=0.5)
    keeper = Keeper.begin(made(), TASKS, right, SETTINGS.model_copy(update={"watch": watch}))
    assert len(keeper.tasks) == 2 and keeper.gold is not None
    head = make_head("platt", 64)
    best = parameters(keeper.models)
    assert keeper.calibrate({"round": 2, "gold_accuracy": 0.9}, head, tmp_path) == []
    with torch.no_grad():
        for parameter in [*keeper.models.policy.parameters(), *head.parameters()]:
            parameter.add_(1.0)
    assert keeper.calibrate({"round": 3}, head, tmp_path) == [], "not measured in this round"
    assert keeper.calibrate({"round": 4, "gold_accuracy": 0.81}, head, tmp_path) == [] and not keeper.ended
    (raised,) = keeper.calibrate({"round": 6, "gold_accuracy": 0.79}, head, tmp_path)
    assert (raised["event"], raised["value"], raised["limit"]) == ("collusion", 0.79, pytest.approx(0.8))
    assert keeper.ended and torch.equal(parameters(keeper.models), best)
    assert torch.equal(head.numbers.weight, make_head("platt", 64).numbers.weight)  # type: ignore[union-attr]


def test_a_verifier_that_turns_is_noticed_by_gold(tmp_path: Path) -> None:
    done = list[int]()

    def turned(items: Sequence[Candidate]) -> list[Verdict]:
        """Right for two rounds, then the other way round."""
        found = right(items)
        return found if len(done) < 2 else [verdict(one.outcome is not Outcome.PASSED) for one in found]

    chosen = SETTINGS.model_copy(
        update={
            "rounds": 5, "save_every": 1, "samples": 8, "tasks": 3,
            "value": ValueSettings(steps=1, memory=1, head="platt", noise="fixed"),
            "watch": WatchSettings(gold=1, gold_drop=0.2, max_infra=0.5),
        }
    )  # fmt: skip
    one = made()
    train(one, TASKS, turned, chosen, tmp_path, lambda number, total: done.append(number))
    told = [row for row in rows(tmp_path / "events.jsonl") if row["event"] == "collusion"]
    measured = rows(tmp_path / "metrics.jsonl")
    assert len(told) == 1 and told[0]["round"] == len(measured) < 5 and done[-1] == 5
    done.clear()  # gold pairs are verified anew, by a verifier that is right
    again = made()
    train(again, TASKS, turned, chosen, tmp_path, lambda number, total: pytest.fail("it has ended"))
    assert torch.equal(parameters(again), parameters(one))


def test_candidates_of_others_change_no_gradient_of_the_policy(tmp_path: Path) -> None:
    after, losses = [], []
    for share in (0.0, 1.0):
        one = made()
        chosen = SETTINGS.model_copy(update={"value": ValueSettings(steps=1, foreign=share)})
        train(one, TASKS, half, chosen, tmp_path / str(share))
        after.append(parameters(one))
        measured = rows(tmp_path / str(share) / "metrics.jsonl")
        losses.append([row["head_loss"] for row in measured])
        assert any(row["grad_norm"] > 0 for row in measured)
    assert torch.equal(*after) and losses[0] != losses[1], "while the value model learns something else"


def test_candidates_of_others_join_the_groups_of_their_tasks() -> None:
    one = made()
    chosen = SETTINGS.model_copy(update={"value": ValueSettings(foreign=0.75)})
    seen = first_round(one, right, chosen, TASKS[:2])
    known = extras(seen, one, right, chosen, 0)
    own = len(seen.known)
    assert own == 8 and own < len(known) <= own + 6
    assert torch.equal(known.numbers[:own], seen.known.numbers) and known.task[:own] == seen.known.task
    assert set(known.task) == {0, 1} and known.passed[own:].sum() >= 1, "a reference edit is among them"
    nothing = chosen.model_copy(update={"value": ValueSettings(foreign=0.01)})
    assert len(extras(seen, one, right, nothing, 0)) == own


def test_two_descriptions_are_mixed_by_place() -> None:
    def part(value: float, *tasks: int) -> Candidates:
        count = len(tasks)
        return Candidates(
            torch.full((count, 3), value), torch.full((count, 2), value), torch.zeros(count), torch.ones(count).bool(), tasks
        )

    both = mixed(part(1.0, 0, 0, 1, 2), part(2.0, 0, 1, 1), [2, 0])
    assert both.task == (0, 0, 1, 2, 2, 0, 0) and both.numbers[:, 0].tolist() == [1.0] * 4 + [2.0] * 3
    assert (0, 5) in both.pairs() and (3, 4) in both.pairs() and (0, 4) not in both.pairs()


def doubt(*pairs: Pair) -> Round:
    flat = tuple(one.model_copy(update={"verdict": verdict(n == 0)}) for n, one in enumerate(episodes(tasks=TASKS[:1], samples=3)))
    zeros = torch.zeros(3, 3)
    known = Candidates(zeros, zeros, torch.zeros(3), torch.ones(3).bool(), (0,) * 3)
    return Round(Rollouts(TASKS[:1], (flat,), ()), known, list(pairs), True)


def test_a_sure_verdict_for_the_loser_is_doubted_and_looked_at_again() -> None:
    def pair(a: int, b: int, label: str, *p: float) -> Pair:
        return Pair.model_validate({"task_id": TASKS[0].id, "a": a, "b": b, "label": label, "p": p})

    seen = doubt(pair(0, 1, "A", 0.02, 0.95, 0.03), pair(0, 2, "A", 0.95, 0.02, 0.03), pair(1, 2, "tie", 0.95, 0.0, 0.05))
    found = suspects.doubted(seen, 4, 0.9)
    assert [(row["round"], row["label"], row["a"]["outcome"], row["b"]["outcome"]) for row in found] == [
        (4, "A", "PASSED", "FAILED")
    ]
    assert suspects.doubted(seen, 4, 0.96) == []
    surer = [{**found[0], "round": 5, "p": [0.0, 0.99, 0.01]}]
    assert suspects.surest([*found, *surer]) == surer, "of the same two the surest alone"
    asked = list[Candidate]()

    def again(items: Sequence[Candidate]) -> list[Verdict]:
        asked.extend(items)
        return refuse(items)

    (row,) = suspects.verified_again(found, TASKS, again)
    assert row["again"] == ["FAILED", "FAILED"] and row["changed"] and all(one.fresh and one.repeats == 3 for one in asked)
    text = "\n".join(suspects.lines([row]))
    assert f"task {TASKS[0].id} (flaky; the value model gives 0.95 to the loser)" in text and "PASSED, now FAILED" in text
    assert suspects.verified_again([], TASKS, again) == []


def test_suspects_are_read_back_or_refused(tmp_path: Path) -> None:
    assert suspects.load(tmp_path) == []
    suspects.save(tmp_path / suspects.FILE, [{"task": "t", "p": [0.0, 1.0, 0.0]}])
    assert suspects.load(tmp_path) == [{"task": "t", "p": [0.0, 1.0, 0.0]}]
    (tmp_path / suspects.FILE).write_text('{"task')
    with pytest.raises(DataError, match="is damaged"):
        suspects.load(tmp_path)


def test_a_stopped_run_keeps_its_doubts_and_winners(tmp_path: Path) -> None:
    chosen = SETTINGS.model_copy(
        update={"rounds": 4, "save_every": 2, "winners": True, "watch": WatchSettings(doubt=0.5, max_infra=0.5)}
    )
    train(made(), TASKS, half, chosen, tmp_path / "whole")

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(made(), TASKS, half, chosen, tmp_path / "cut", stop)
    train(made(), TASKS, half, chosen, tmp_path / "cut")
    for name in (suspects.FILE, winners.FILE, "events.jsonl"):
        assert (tmp_path / "cut" / name).read_text() == (tmp_path / "whole" / name).read_text()
    kept = [(row["task_id"], row["final"]) for row in rows(tmp_path / "whole" / winners.FILE)]
    assert kept and len(set(kept)) == len(kept)


def test_winners_grow_a_library_once(tmp_path: Path) -> None:
    with Verifier() as verifier:

        def judge(items: Sequence[Candidate]) -> list[Verdict]:
            return [verifier.verify(item.task, item.files) for item in items]

        played = episodes(ScriptedPolicy("reference"), TASKS[:2], judge, samples=2)
        kept = winners.passed(Rollouts(TASKS[:2], (tuple(played),), ()))
        assert len(played) == 4 and [one.task_id for one in kept] == [task.id for task in TASKS[:2]]
        lost = kept[0].model_copy(update={"id": "x", "files": {"m.py": TASKS[0].files["m.py"] + "\n"}, "final": "none"})
        winners.save(tmp_path / winners.FILE, [*kept, lost])
        first = winners.grow(tmp_path / "library.db", tmp_path / winners.FILE, TASKS, judge)
        assert first == (2, 1, 0), "what does not pass when it is looked at again is refused"
        winners.save(tmp_path / winners.FILE, [one.model_copy(update={"id": f"other-{one.id}"}) for one in kept])
        assert winners.grow(tmp_path / "library.db", tmp_path / winners.FILE, TASKS, judge) == (0, 0, 2)
    assert manifest.library(tmp_path / "library.db")["trajectories"] == 2


def test_a_manifest_tells_what_made_a_model(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no manifest"):
        manifest.read(tmp_path)
    (tmp_path / "metrics.jsonl").write_text('{"round": 1}\n{"round": 2, "pass_rate": 0.5}\n')
    manifest.write(tmp_path, "rlvr", SETTINGS, {"base": "abc", "split": "train"})
    told = manifest.read(tmp_path)
    assert told["figures"] == {"round": 2, "pass_rate": 0.5} and told["base"] == "abc" and told["seed"] == 0
    assert RlvrSettings.model_validate(told["settings"]) == SETTINGS and told["code"] == manifest.code()
    assert len(told["code"]["sources"]) == 20 and told["code"]["torch"]
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_the_share_of_repeats_by_hand() -> None:
    groups = (group((1,), (2,), (2,), (3,), (2,)), group((1,), (2,), (3,), (4,), (5,)))
    assert repeated(Rollouts((), (), groups)) == pytest.approx((2 / 3 + 0) / 2)
    assert repeated(Rollouts((), (), ())) == 0.0


def test_every_event_of_the_keeper_is_explained() -> None:
    assert {"collusion", "suspects", "overfits_tests", "repeated", "one_class"} <= set(SYMPTOMS)


def test_a_temperature_is_fitted_where_the_settings_ask_for_it_and_once_something_was_taught(tmp_path: Path) -> None:
    value = ValueSettings(steps=1, calibrate=True)
    train(made(), TASKS, half, SETTINGS.model_copy(update={"value": value, "rounds": 3}), tmp_path / "on")
    train(made(), TASKS, half, SETTINGS.model_copy(update={"rounds": 3}), tmp_path / "off")
    told = [row.get("value_temperature") for row in rows(tmp_path / "on" / "metrics.jsonl")]
    assert told[0] is None and all(number is not None and number > 0 for number in told[1:])
    assert all("value_temperature" not in row for row in rows(tmp_path / "off" / "metrics.jsonl"))
