"""What stage 2 refuses."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from learn_samples import TASKS, make_task, model, refuse, tokenizer, verdict
from swefuse.errors import ConfigError, DataError, UserError
from swefuse.learn.checkpoint import check_same
from swefuse.learn.guards import both_classes, check_tokenizers, teachable
from swefuse.learn.model import train_tokenizer
from swefuse.learn.rlvr import train
from swefuse.learn.settings import RlvrSettings, WatchSettings, WeightSettings
from swefuse.learn.tokens import codec_for, nano_text
from swefuse.learn.update import Models
from swefuse.learn.value import Candidates
from swefuse.records import Verdict
from swefuse.verify.many import Candidate
from swefuse.workspace import ref

ODD = WatchSettings(max_infra=0.5)
CLOSED = make_task("shut", "def shut():\n    pass\n", (2, "pass", "pass"), {"()": "None"})


def made() -> Models:
    return Models(model(), model(), codec_for(tokenizer()))


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, -0.01, 1.01])
def test_a_reward_outside_of_its_range_is_refused_with_its_task(tmp_path: Path, score: float) -> None:
    bad = TASKS[1].id

    def judge(items: Sequence[Candidate]) -> list[Verdict]:
        found = [verdict(False) for _ in items]
        return [
            one.model_copy(update={"score": score if item.task.id == bad else 0.0}) for one, item in zip(found, items, strict=True)
        ]

    with pytest.raises(DataError, match=rf"task {bad} was given the score {score}; a reward is a number in \[0, 1\]"):
        train(made(), TASKS, judge, RlvrSettings(rounds=1, tasks=4, samples=2), tmp_path)
    assert not (tmp_path / "metrics.jsonl").read_text(), "nothing was learnt from it"


def test_tasks_without_a_choice_are_left_out_or_refused() -> None:
    assert teachable(TASKS, 4) == list(TASKS)
    assert teachable([CLOSED, *TASKS], 4) == list(TASKS)
    with pytest.raises(DataError, match="none of the 1 tasks leaves a choice"):
        teachable([CLOSED], 1)
    with pytest.raises(ConfigError, match=r"4 tasks are fewer than one round needs \(5\); 1 more leave no choice"):
        teachable([CLOSED, *TASKS], 5)
    bare = TASKS[0].model_copy(update={"suites": ()})
    with pytest.raises(DataError, match=f"task {bare.id} has no tests by calls"):
        teachable([*TASKS, bare], 1)


def test_a_reference_with_another_tokenizer_is_refused() -> None:
    check_tokenizers(tokenizer(), tokenizer(), "same")
    other = train_tokenizer([nano_text(task, ()) for task in TASKS], 300)
    with pytest.raises(ConfigError, match=rf"--reference that: its tokenizer has {len(other)} tokens, of which \d+ are"):
        check_tokenizers(tokenizer(), other, "that")


def known(*passed: bool | None) -> Candidates:
    grades = torch.tensor([one is not None for one in passed])
    return Candidates(
        torch.zeros(len(passed), 3), torch.zeros(len(passed), 8), torch.tensor([float(bool(one)) for one in passed]),
        grades, (0,) * len(passed),
    )  # fmt: skip


def test_two_classes_are_needed() -> None:
    assert both_classes(known(True, False)) and both_classes(known(None, True, False))
    assert not both_classes(known(True, None)) and not both_classes(known(False, False)) and not both_classes(known(None, None))


def test_a_value_model_is_not_taught_one_class_alone(tmp_path: Path) -> None:
    chosen = RlvrSettings(rounds=3, tasks=2, watch=ODD, weight=WeightSettings(mode="soft", warmup=0), lr=1e-3)
    rounds = list[int]()

    def late(items: Sequence[Candidate]) -> list[Verdict]:
        """All fail in the first round, then some pass."""
        if not rounds:
            return refuse(items)
        return [verdict(int(ref(item.files), 16) % 2 == 0) for item in items]

    learnt = train(made(), TASKS, late, chosen, tmp_path, lambda done, total: rounds.append(done))
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    raised = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [row["head_loss"] is None for row in rows] == [True, False, False]
    assert [row["weights_on"] for row in rows] == [False, False, True], "what was never taught weighs nothing"
    assert [one["round"] for one in raised if one["event"] == "one_class"] == [1]
    assert torch.any(learnt.head.hidden.weight != 0)  # type: ignore[union-attr]

    alone = train(made(), TASKS, refuse, chosen, tmp_path / "alone")
    assert not torch.any(alone.head.hidden.weight != 0)  # type: ignore[union-attr]


def test_a_state_of_other_settings_names_them(tmp_path: Path) -> None:
    before = {"settings": RlvrSettings().model_dump(mode="json")}
    now = RlvrSettings(rounds=3, watch=WatchSettings(kl=0.5)).model_dump(mode="json")
    with pytest.raises(ConfigError, match=r"other settings \(rounds was 32, is 3, watch\.kl was 1\.0, is 0\.5\): go on"):
        check_same(tmp_path / "state.pt", before, "settings", now)
    with pytest.raises(ConfigError, match="other tasks: go on"):
        check_same(tmp_path / "state.pt", {"tasks": "a"}, "tasks", "b")
    with pytest.raises(ConfigError, match="other start: go on"):
        check_same(tmp_path / "state.pt", {}, "start", "b")


OUT_OF_RANGE: list[tuple[dict[str, Any], str]] = [
    ({"samples": 1}, "samples"), ({"weight": {"lam": -1.0}}, "lam"), ({"watch": {"max_infra": 2.0}}, "max_infra"),
]  # fmt: skip


@pytest.mark.parametrize(("setting", "told"), OUT_OF_RANGE)
def test_settings_out_of_range_name_themselves(setting: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        RlvrSettings.model_validate(setting)
    assert issubclass(ConfigError, UserError) and issubclass(DataError, UserError), "exit code 2"
