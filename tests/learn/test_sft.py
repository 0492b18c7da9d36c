from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from learn_samples import TASKS, episodes, model, tokenizer
from swefuse.errors import ConfigError
from swefuse.learn.batch import Example, collate
from swefuse.learn.examples import make_example
from swefuse.learn.sft import SftSettings, batch_order, fine_tune, learning_rate, sft_loss
from swefuse.learn.tokens import codec_for
from swefuse.policy.scripted import ScriptedPolicy


def examples() -> list[Example]:
    made = episodes(ScriptedPolicy("reference"))
    return [make_example(codec_for(tokenizer()), task, episode) for task, episode in zip(TASKS, made, strict=True)]


def test_the_learning_rate_rises_stays_and_falls() -> None:
    settings = SftSettings(steps=10, warmup=2, hold=0.5, final_lr=0.2)
    expected = [0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    assert [learning_rate(step, settings) for step in range(11)] == pytest.approx(expected)
    assert learning_rate(0, SftSettings(warmup=0)) == 1.0
    assert learning_rate(9, SftSettings(steps=10, warmup=0, hold=1.0)) == 1.0


@torch.no_grad()
def test_the_loss_by_hand() -> None:
    """Choices among what was open plus a tenth of the plain loss there, forced tokens plainly, observations at their share."""
    learner, two = model(), examples()[:2]
    settings = SftSettings(raw_loss=0.1, prompt_loss=0.3)
    chosen = raw = shown = 0.0
    for example in two:
        logits = learner(input_ids=torch.tensor([example.ids])).logits[0].double()
        trained = dict(zip(example.positions, example.allowed, strict=True))
        for place in range(1, len(example.ids)):
            row, target = logits[place - 1], example.ids[place]
            plain = float(row[target] - row.logsumexp(0))
            if place not in trained:
                shown += plain
            elif trained[place]:
                chosen += float(row[target] - row[list(trained[place])].logsumexp(0))
                raw += plain
            else:
                chosen += plain
    tokens = sum(len(example.positions) for example in two)
    others = sum(len(example.ids) - 1 for example in two) - tokens
    batch = collate(two, learner.config.vocab_size, 0)
    loss, _ = sft_loss(learner, batch, tokens, others, settings)
    assert loss.item() == pytest.approx(-(chosen + 0.1 * raw) / tokens - 0.3 * shown / others, rel=1e-5)
    plain, _ = sft_loss(learner, batch, tokens, others, SftSettings(raw_loss=0.0, prompt_loss=0.0))
    assert plain.item() == pytest.approx(-chosen / tokens, rel=1e-5)


def weights_after(out: Path, progress: list[tuple[int, int]] | None = None, **changes: Any) -> dict[str, torch.Tensor]:
    settings = SftSettings.model_validate({"steps": 2, "batch": 4, "warmup": 0, "lr": 1e-3, **changes})
    seen = progress if progress is not None else []
    trained = fine_tune(model(), tokenizer(), examples(), settings, out, lambda done, total: seen.append((done, total)))
    return {name: value.clone() for name, value in trained.state_dict().items()}


def apart(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]) -> float:
    return max(float((one[name] - two[name]).abs().max()) for name in one)


def test_accumulating_gradients_changes_nothing(tmp_path: Path) -> None:
    progress: list[tuple[int, int]] = []
    whole = weights_after(tmp_path / "whole", progress)
    assert progress == [(1, 2), (2, 2)]
    rows = [json.loads(row) for row in (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows[:2]] == [1, 2] and rows[1]["choice_loss"] < rows[0]["choice_loss"]
    assert apart(whole, model().state_dict()) > 1e-4
    assert apart(whole, weights_after(tmp_path / "single", micro_batch=1)) < 1e-5


def test_forward_passes_that_do_not_divide_the_batch_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="micro_batch 3 does not divide batch 4"):
        weights_after(tmp_path, micro_batch=3)


def test_the_first_steps_see_the_shorter_half_only() -> None:
    lengths = [10 * (number % 7) + number for number in range(40)]
    settings = SftSettings(steps=20, batch=4, short_first=0.5, seed=3)
    rows = [Example((1,) * length, (0,), ((),)) for length in [2, *lengths[1:]]]
    order = batch_order(rows, settings)
    median = sorted(lengths)[len(lengths) // 2]
    assert len(order) == 20 and all(len(batch) == 4 for batch in order)
    assert all(lengths[place] <= median for batch in order[:10] for place in batch)
    assert any(lengths[place] > median for batch in order[10:] for place in batch)
    assert order == batch_order(rows, settings)


@pytest.mark.parametrize("stopped", [3, 4, 5])
def test_a_stopped_run_goes_on_to_the_same_end(tmp_path: Path, stopped: int) -> None:
    settings = SftSettings(steps=6, batch=4, warmup=1, lr=1e-3, save_every=2, optimizer="muon")

    def run(out: Path, progress: Any) -> dict[str, torch.Tensor]:
        trained = fine_tune(model(), tokenizer(), examples(), settings, out, progress)
        return {name: value.clone() for name, value in trained.state_dict().items()}

    def stop(done: int, total: int) -> None:
        if done == stopped:
            raise KeyboardInterrupt

    whole = run(tmp_path / "whole", lambda done, total: None)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "cut", stop)
    seen: list[tuple[int, int]] = []
    again = run(tmp_path / "cut", lambda done, total: seen.append((done, total)))
    assert seen == [(step, 6) for step in range((stopped - 1) // 2 * 2 + 1, 7)], "from the last state on"
    assert apart(whole, again) == 0
    rows = [[json.loads(row) for row in (tmp_path / name / "metrics.jsonl").read_text().splitlines()] for name in ("whole", "cut")]
    losses = [[(row["step"], row["loss"], row["choice_loss"]) for row in found if "loss" in row] for found in rows]
    assert losses[0] == losses[1] and [step for step, *_ in losses[0]] == [1, 2, 3, 4, 5, 6]
    assert apart(whole, run(tmp_path / "cut", lambda done, total: pytest.fail("nothing was left to do"))) == 0
    with pytest.raises(ConfigError, match="made with other settings"):
        weights_after(tmp_path / "cut")


def test_adapters_train_and_are_merged(tmp_path: Path) -> None:
    before = model().state_dict()
    after = weights_after(tmp_path, lora=2, optimizer="adamw", lr=1e-2)
    assert after.keys() == before.keys(), "merged: nothing of the adapters is left"
    changed = {name for name in before if float((after[name] - before[name]).abs().max()) > 1e-6}
    assert changed == {name for name in before if name.endswith("_proj.weight")}
    one = "model.layers.0.self_attn.q_proj.weight"
    assert int(torch.linalg.matrix_rank(after[one] - before[one])) == 2


def test_computing_activations_again_changes_nothing(tmp_path: Path) -> None:
    assert apart(weights_after(tmp_path / "kept"), weights_after(tmp_path / "again", recompute=True)) < 1e-9


def checked(out: Path, values: list[float], progress: Any = None, **changes: Any) -> dict[str, torch.Tensor]:
    """Trained for six steps with a check every second one, which gives ``values`` in turn."""
    given = {"steps": 6, "batch": 4, "warmup": 0, "lr": 1e-3, "save_every": 2, **changes}
    rest, seen = iter(values), progress or (lambda done, total: None)
    chosen = SftSettings.model_validate(given)
    trained = fine_tune(model(), tokenizer(), examples(), chosen, out, seen, lambda: next(rest))
    return {name: value.clone() for name, value in trained.state_dict().items()}


def test_the_state_that_did_best_in_the_check_is_kept(tmp_path: Path) -> None:
    early = weights_after(tmp_path / "plain", steps=6, save_every=2)
    best = checked(tmp_path / "best", [0.2, 0.5, 0.4])
    last = checked(tmp_path / "last", [0.2, 0.3, 0.4])
    assert apart(last, early) == 0 < apart(best, last)
    rows = [json.loads(row) for row in (tmp_path / "best" / "metrics.jsonl").read_text().splitlines()]
    assert [(row["step"], row["pass1"]) for row in rows if "pass1" in row] == [(2, 0.2), (4, 0.5), (6, 0.4)]

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checked(tmp_path / "cut", [0.2, 0.5], stop)
    assert apart(best, checked(tmp_path / "cut", [0.4])) == 0, "what was best before the stop still counts"


def test_training_ends_where_nothing_gets_better(tmp_path: Path) -> None:
    seen: list[int] = []
    kept = checked(tmp_path / "out", [0.5, 0.4], lambda done, total: seen.append(done), patience=1)
    assert seen[-1] <= 5 and apart(kept, checked(tmp_path / "out", [], patience=1)) == 0, "and it has ended for a later call too"
    assert apart(kept, checked(tmp_path / "whole", [0.5, 0.4, 0.3])) == 0


def test_a_state_of_another_base_is_not_gone_on_with(tmp_path: Path) -> None:
    weights_after(tmp_path)
    settings = SftSettings(steps=2, batch=4, warmup=0, lr=1e-3)
    with pytest.raises(ConfigError, match="made with other base"):
        fine_tune(model(seed=1), tokenizer(), examples(), settings, tmp_path, lambda done, total: None)
