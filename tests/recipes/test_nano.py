"""Pretraining of the small model: the whole of it on a few functions, and what it says about itself."""

from __future__ import annotations

import json
import shutil
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from swefuse.config import load as load_settings
from swefuse.errors import ConfigError, DataError
from swefuse.learn.examples import load_examples
from swefuse.learn.model import NANO, load
from swefuse.learn.tokens import is_nano
from swefuse.recipes.contamination import SEEN, evaluation_functions
from swefuse.recipes.nano import NanoConfig, PretrainSettings, Progress, card, run

CONFIG = NanoConfig(
    packages=("mpmath",), text_functions=120, text_bugs=1, tested_tasks=40, composed_functions=40, vocabulary=600, threads=1,
    sft=PretrainSettings(steps=4, batch=4, warmup=1, save_every=2),
)  # fmt: skip
REPORT = {"packages": {"python": "3.11"}, "taken": 12, "left_out": [{"function": "a", "like": "b", "similarity": 0.8}]}


@pytest.mark.slow
def test_a_pretraining_from_reading_to_a_model(tmp_path: Path) -> None:
    titles: list[str] = []

    def bars(title: str) -> AbstractContextManager[Progress]:
        titles.append(title)
        return nullcontext(lambda done, total: None)

    first = run(CONFIG, tmp_path / "first", bars) / "model"
    assert titles == ["functions", "calls", "tasks", "exercises", "rows", "nano"]
    _, tokenizer = load(first)
    assert is_nano(tokenizer)
    assert len(tokenizer) == CONFIG.vocabulary
    assert 2_000_000 < (first / "model.safetensors").stat().st_size < 16_000_000
    assert load_settings(NanoConfig, first / "nano.toml") == CONFIG
    rows = load_examples(tmp_path / "first" / "examples.jsonl")
    assert len(rows) > 100
    assert all(len(row.ids) <= CONFIG.longest for row in rows)
    evaluated = {spec.body_hash for spec in evaluation_functions()}
    assert not evaluated & set((first / SEEN).read_text().split())
    assert json.loads((first / "contamination.json").read_bytes())["packages"] == {"mpmath": "1.3.0"}
    assert run(CONFIG, tmp_path / "first", bars) == tmp_path / "first", "nothing is made twice"
    assert titles[6:] == ["nano"]
    (first / SEEN).write_text("0ther\n")
    further = NanoConfig.model_validate({**CONFIG.model_dump(exclude={"vocabulary"}), "start": str(first), "tested_tasks": 8})
    second = run(further, tmp_path / "second", bars) / "model"
    one, two = (load(path / "model")[0].state_dict() for path in (tmp_path / "first", tmp_path / "second"))
    begun = load(tmp_path / "second" / "base")[0].state_dict()
    assert all(torch.equal(begun[name], tensor) for name, tensor in one.items()), "it goes on from these weights"
    assert not all(torch.equal(two[name], tensor) for name, tensor in one.items())
    assert "0ther" in (second / SEEN).read_text().split(), "what the first has seen, this one has seen too"
    assert f"from the weights in `{first}`" in (second / "README.md").read_text()


def test_a_start_that_cannot_be_gone_on_with_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    given = CONFIG.model_dump(exclude={"vocabulary"})
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
        shutil.copy(NANO / name, tmp_path / name)
    for start, error, message in ((tmp_path, ConfigError, "no functions.txt"), (tmp_path / "nowhere", DataError, "no model at")):
        with pytest.raises(error, match=message):
            run(NanoConfig.model_validate({**given, "start": str(start)}), tmp_path / "out", lambda _: nullcontext(print))
    assert not (tmp_path / "out").exists()
    with pytest.raises(ConfigError, match=r"vocabulary.*start"):
        load_settings(NanoConfig, None, [f'start="{tmp_path}"', "vocabulary=900"])


def test_the_card_says_what_was_seen_and_what_was_left_out() -> None:
    text = card(CONFIG, 160, REPORT)
    assert "160 rows in 4 steps of 4" in text
    assert "python 3.11 (12 functions)" in text
    assert "names the 1 that were" in text


def test_a_package_that_is_not_installed_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no_such_package is not installed"):
        run(CONFIG.model_copy(update={"packages": ("python", "no_such_package")}), tmp_path / "out", lambda _: nullcontext(print))
    assert not (tmp_path / "out").exists()


def test_settings_that_would_do_nothing_are_refused() -> None:
    assert NanoConfig(seed=3).sft.seed == 3
    for given, message in ((("seed", 4), "follows seed"), (("patience", 2), "no effect"), (("check_tasks", 2), "no effect")):
        with pytest.raises(ValidationError, match=message):
            NanoConfig.model_validate({"seed": 3, "sft": dict([given])})


def test_the_settings_that_come_along_can_be_used_again() -> None:
    kept = load_settings(NanoConfig, NANO / "nano.toml")
    assert (kept.sft.steps, kept.packages[0]) == (2400, "python")


def test_a_folder_of_another_pretraining_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nano.toml").write_text("seed = 1\n")
    with pytest.raises(ConfigError, match="was started with other settings"):
        run(CONFIG, tmp_path, lambda _: nullcontext(print))
    assert [path.name for path in tmp_path.iterdir()] == ["nano.toml"]
