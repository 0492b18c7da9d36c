"""What the pretrained nano must not have seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from swefuse.errors import ConfigError
from swefuse.recipes.config import QuickstartConfig
from swefuse.recipes.contamination import SEEN, check_unseen, evaluation_functions, held_out
from swefuse.tasks.build import TasksConfig


def test_both_budgets_and_all_of_humaneval_are_evaluated_on() -> None:
    known = {spec.body_hash for spec in evaluation_functions()}
    for budget in ("full", "smoke"):
        tasks = QuickstartConfig.model_validate({"budget": budget}).tasks
        held = {spec.body_hash for spec in held_out(tasks)}
        assert held
        assert held <= known
    assert sum(spec.family == "real" for spec in evaluation_functions()) > 150


def config(**tasks: int) -> QuickstartConfig:
    return QuickstartConfig(scratch=False, tasks=TasksConfig(**tasks))


def test_other_splits_are_refused_where_the_weights_have_seen_one_of_theirs(tmp_path: Path) -> None:
    other = held_out(config(split_seed=1).tasks)
    (tmp_path / SEEN).write_text("0123\n" + other[0].body_hash + "\n")
    with pytest.raises(ConfigError, match=rf"1 of the functions .*{other[0].name}.*tasks.split_seed.*--from-scratch"):
        check_unseen(config(split_seed=1), tmp_path)
    check_unseen(config(), tmp_path)
    check_unseen(QuickstartConfig(scratch=True, tasks=TasksConfig(split_seed=1)), tmp_path)
    (tmp_path / SEEN).write_text("0123\n")
    check_unseen(config(split_seed=1), tmp_path)
