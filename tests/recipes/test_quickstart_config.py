"""Budgets set defaults, what is given wins, and seed and workers are set in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from swefuse.config import dump, load
from swefuse.errors import ConfigError
from swefuse.learn.sft import SftSettings
from swefuse.recipes.config import PRETRAINED, SMOKE, QuickstartConfig
from swefuse.tasks.build import TasksConfig


def given(*overrides: str) -> QuickstartConfig:
    return load(QuickstartConfig, None, overrides)


def flat(section: Any, small: dict[str, Any]) -> dict[str, Any]:
    """The settings of a section that ``small`` names, by dotted names."""
    found: dict[str, Any] = {}
    for key, value in small.items():
        inner = getattr(section, key)
        found |= {f"{key}.{name}": one for name, one in flat(inner, value).items()} if isinstance(value, dict) else {key: inner}
    return found


def named(key: str, value: Any) -> list[tuple[str, Any]]:
    """A setting of the smoke budget by its dotted name."""
    return [(f"{key}.{name}", one) for name, one in value.items()] if isinstance(value, dict) else [(key, value)]


def test_the_smoke_budget_lies_under_what_is_given() -> None:
    config = given("budget=smoke", "sft.steps=50", "sft.lr=0.1")
    assert (config.sft.steps, config.sft.lr, config.sft.batch, config.sft.warmup) == (50, 0.1, 8, 4)
    for part, small in SMOKE.items():
        section = getattr(given("budget=smoke"), part)
        usual, smoke = flat(type(section)(), small), flat(section, small)
        assert smoke == {name: value for key, one in small.items() for name, value in named(key, one)}
        assert all(usual[name] > value for name, value in smoke.items())  # smoke is smaller


def test_the_full_budget_is_the_default_of_every_stage() -> None:
    assert given("scratch=true").sft == given("base=other").sft == SftSettings()
    assert given().sft == SftSettings(**PRETRAINED) and given("sft.steps=9").sft == SftSettings(**{**PRETRAINED, "steps": 9})
    assert given("budget=full") == given() == QuickstartConfig()


def test_sections_may_be_given_as_objects() -> None:
    config = QuickstartConfig(budget="smoke", sft=SftSettings(steps=50))
    assert config.sft == SftSettings(steps=50) and config.tasks.train_tasks == SMOKE["tasks"]["train_tasks"]


def test_seed_and_workers_are_handed_down() -> None:
    config = given("seed=7", "workers=3", "budget=smoke")
    assert (config.tasks.seed, config.tasks.workers, config.sft.seed, config.rlvr.seed) == (7, 3, 7, 7)
    assert config.tasks.split_seed == TasksConfig().split_seed


@pytest.mark.parametrize(
    ("key", "above", "now"),
    [("tasks.seed", "seed", 0), ("tasks.workers", "workers", 2), ("sft.seed", "seed", 0), ("rlvr.seed", "seed", 0)],
)
def test_what_is_handed_down_is_not_set_below(key: str, above: str, now: int) -> None:
    with pytest.raises(
        ConfigError, match=f"--set {key}=5: .*{key} has no effect, it follows {above} \\(which is {now}\\); set {above} instead"
    ):
        given(f"{key}=5")


def test_a_run_s_own_config_loads_again(tmp_path: Path) -> None:
    config = given("seed=7", "workers=3", "budget=smoke")
    (tmp_path / "config.toml").write_text(dump(config), encoding="utf-8")
    assert load(QuickstartConfig, tmp_path / "config.toml") == config
    with pytest.raises(ConfigError, match="set seed instead"):
        load(QuickstartConfig, tmp_path / "config.toml", ["seed=8"])


def test_a_bad_value_above_is_told_once() -> None:
    with pytest.raises(ConfigError) as caught:
        given("workers=0")
    assert str(caught.value) == "--set workers=0: workers = 0: input should be greater than or equal to 1"
