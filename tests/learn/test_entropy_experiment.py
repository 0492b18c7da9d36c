"""The experiment on entropy weights: on a tiny run, and its arithmetic by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from learn_samples import SOURCES, make_task, model, tokenizer
from swefuse.config import dump, load
from swefuse.errors import ConfigError, DataError
from swefuse.learn import model as models
from swefuse.recipes.config import QuickstartConfig
from swefuse.recipes.entropy import Arm, EntropyConfig, arms, parse_noise, rows, run, settings
from swefuse.recipes.entropy_report import markdown, sentences, summarise, write
from swefuse.tasks.store import save_tasks

TINY = ["seeds=1", "rounds=3", "tasks=1", "pool=2", "heldout=3", "warmup=0", "workers=1"]


def config(*given: str) -> EntropyConfig:
    return load(EntropyConfig, None, [*TINY, *given])


@pytest.fixture
def quickstart(tmp_path: Path) -> Path:
    """A folder as a quickstart leaves it, whose model knows nothing."""
    place = tmp_path / "quick"
    for name in ("models", "tasks"):
        (place / name).mkdir(parents=True)
    models.save(model().float(), tokenizer(), place / "models" / "sft")
    splits = ["train"] * 8 + ["unseen", "recombined", "real"]
    tasks = []
    for number, split in enumerate(splits):
        name, text, mend, answers = SOURCES[number % 4]
        tasks.append(make_task(name, f"{text}\n\n# {number}\n", mend, answers).model_copy(update={"split": split}))
    save_tasks(place / "tasks" / "tasks.jsonl", tasks)
    (place / "config.toml").write_text(dump(QuickstartConfig()), encoding="utf-8")
    return place


def test_arms_that_mean_the_same_are_run_once() -> None:
    full = load(EntropyConfig, None, ["budget=full", "seeds=2"])
    found = arms(full)
    assert len({arm.name for arm in found}) == len(found)
    assert not [arm for arm in found if arm.noise == "clean" and arm.mode in ("oracle", "agreement")]
    assert {arm.noise for arm in found if arm.mode == "agreement"} == {"flaky:0.2"}
    half = len(found) // 2
    assert {arm.seed for arm in found[:half]} == {0} and {arm.seed for arm in found[half:]} == {1}
    small = config()
    assert small.objectives == ["group"] and load(EntropyConfig, None, ['objectives=["bt"]']).objectives == ["bt"]


def test_an_arm_sets_what_acts_in_it_and_nothing_else() -> None:
    chosen = config("lam=3.0", "tau=0.4")
    soft, hard, off = (settings(chosen, Arm("group", "clean", mode, 7)) for mode in ("soft", "hard", "off"))
    assert soft.weight.lam == 3.0 and hard.weight.tau == 0.4 and off.weight.mode == "off" and soft.seed == 7
    assert load(type(soft), None, [f"{line}" for line in ("weight.mode=soft", "weight.lam=3.0")]).weight.lam == 3.0


def test_sweeps_are_arms_of_their_own() -> None:
    chosen = config("lams=[0.5, 4.0]", "taus=[0.3]", 'modes=["off", "soft", "hard"]', 'noises=["clean"]')
    found = arms(chosen)
    assert [arm.weights for arm in found] == ["off", "soft", "soft 0.5", "soft 4", "hard", "hard 0.3"]
    assert found[3].name == "group-clean-soft4-0"
    assert [settings(chosen, arm).weight.lam for arm in found[1:4]] == [2.0, 0.5, 4.0]
    assert [settings(chosen, arm).weight.tau for arm in found[4:]] == [0.5, 0.3]
    for wrong, why in (('modes=["off"]', "lams has no effect"), ("lam=4.0", "names a value twice"), ("lams=[1.0, 1.0]", "twice")):
        with pytest.raises(ConfigError, match=why):
            config("lams=[0.5, 4.0]", wrong)


def test_noises_by_name() -> None:
    assert parse_noise("clean", 1).rate == 0 and parse_noise("false_pass:0.2", 1).name == "false_pass 20%"
    for wrong, why in (("false:0.2", "there is no noise"), ("flaky:2", "rate"), ("flaky:much", "could not convert")):
        with pytest.raises(ValueError, match=why):
            parse_noise(wrong, 0)


def test_the_experiment_runs_goes_on_and_reports(quickstart: Path, tmp_path: Path) -> None:
    chosen, out, seen = config('modes=["off", "oracle"]', 'noises=["clean", "false_pass:0.5"]'), tmp_path / "out", list[Any]()
    run(chosen, quickstart, out, lambda done, total: seen.append((done, total)))
    found = rows(out)
    assert [row["arm"] for row in found] == ["group-clean-off-0", "group-false_pass0.5-off-0", "group-false_pass0.5-oracle-0"]
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert all(len(row["before"]) == len(row["after"]) == 3 and row["before"] != row["after"] for row in found)
    assert found[0]["wrong"] == 0 < found[1]["wrong"]
    text = (out / "rows.jsonl").read_text()
    (out / "rows.jsonl").write_text("".join(line + "\n" for line in text.splitlines()[:2]) + text.splitlines()[2][:40])
    run(chosen, quickstart, out)
    assert rows(out) == found, "an arm that was cut is run again, to the same figures"
    summary = write(chosen, quickstart, out, "swefuse bench entropy")
    assert json.loads((out / "entropy.json").read_text()) == summary and summary["arms"] == 3
    page = (out / "entropy.md").read_text()
    assert "| group | false_pass 50% | oracle |" in page and "`swefuse bench entropy`" in page
    with pytest.raises(ConfigError, match="experiment of other settings"):
        run(config("tau=0.1"), quickstart, out)
    with pytest.raises(DataError, match="no quickstart with a model"):
        run(chosen, tmp_path / "nothing", tmp_path / "other")


def row(mode: str, noise: str, seed: int, after: list[float]) -> dict[str, Any]:
    return {
        "arm": f"{mode}{noise}{seed}", "objective": "group", "noise": noise, "mode": mode, "seed": seed, "before": [0.5, 0.1, 0.3],
        "after": after, "best_before": [0.5, 0.2, 0.3], "best_after": [0.6, 0.3, 0.4],
        "wrong": 0.2, "fitted_false_pass": 0.1, "effective_share": 0.5, "decisive_accuracy": None, "kl": 0.1,
        "trained_tokens": 200.0 if mode == "soft" else 100.0,
        "policy_entropy": 1.0,
    }  # fmt: skip


def test_the_figures_by_hand(quickstart: Path, tmp_path: Path) -> None:
    made = [
        row("off", "clean", 0, [0.6, 0.2, 0.4]), row("off", "clean", 1, [0.8, 0.4, 0.6]),
        row("off", "false_pass:0.2", 0, [0.5, 0.1, 0.3]), row("off", "false_pass:0.2", 1, [0.6, 0.2, 0.4]),
        row("oracle", "false_pass:0.2", 0, [0.6, 0.2, 0.4]), row("oracle", "false_pass:0.2", 1, [0.7, 0.3, 0.5]),
        row("soft", "false_pass:0.2", 0, [0.4, 0.0, 0.2]), row("soft", "false_pass:0.2", 1, [0.5, 0.1, 0.3]),
        row("recorded", "false_pass:0.2", 0, [0.5, 0.1, 0.3]), row("random", "false_pass:0.2", 0, [0.5, 0.1, 0.35]),
    ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made))
    cold = {"1.0": [0.5, 0.1, 0.3], "0.6": [0.7, 0.1, 0.4], "0.2": [0.6, 0.1, 0.3]}
    (tmp_path / "sharpened.json").write_text(json.dumps(cold))
    summary = summarise(config(), quickstart, tmp_path)
    cells = {(c["noise"], c["mode"]): c for c in summary["cells"]}
    off, oracle, soft = (cells["false_pass:0.2", mode] for mode in ("off", "oracle", "soft"))
    assert cells["clean", "off"]["gain"] == pytest.approx([20, 20, 20]) and off["by_seed"] == pytest.approx([0, 10])
    assert off["kept"] == pytest.approx(0.25) and oracle["kept"] == pytest.approx(0.75)
    assert oracle["against_off"] == pytest.approx([10, 10, 10]) and soft["against_off"] == pytest.approx([-10, -10, -10])
    assert (off["tokens_x"], soft["tokens_x"]) == (1.0, 2.0)
    assert cells["false_pass:0.2", "recorded"]["against_off"] == pytest.approx([0, 0, 0]), "over the seed that both have"
    four = 100 * sum((1 - p) ** 4 - (1 - p - 0.1) ** 4 for p in (0.5, 0.1, 0.3)) / 3
    later = 100 * sum((1 - p) ** 4 - (1 - p - 0.2) ** 4 for p in (0.5, 0.1, 0.3)) / 3
    assert oracle["gain_best4"] == pytest.approx([10, 10, 10])
    assert oracle["gain_pass4"][0] == pytest.approx((four + later) / 2)
    told = "\n".join(sentences(summary))
    assert "the untrained model at temperature 0.6 gives +10.0 [" in told
    assert "knowing every error is worth +10.0 points [+10.0, +10.0]" in told
    assert "no weighting is better than `off`" in told and "worse than `off`: `soft` (-10.0 [-10.0, -10.0])" in told
    assert "within noise of `off`: `recorded`" in told and "`random`" in told
    assert markdown(summary, "x").count("\n| group |") == 6
    blind = {**summary, "cells": [{**oracle, "against_off": [0.5, -1.0, 2.0]}, off]}
    assert "no weighting can be ranked here" in sentences(blind)[1]


def test_nothing_done_is_told(quickstart: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no arm that is done"):
        summarise(config(), quickstart, tmp_path / "none")
