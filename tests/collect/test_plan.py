"""What a collection is about, and what is refused before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from written import Writing

from function_task import BUGGY, function_task
from swefuse.collect.gather import GatherConfig, run
from swefuse.collect.plan import Method, check, check_policy, choose, head, pieces
from swefuse.errors import DataError, UserError
from swefuse.policy.endpoint import EndpointPolicy, EndpointSettings
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Kind, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.store import save_tasks

SUBMITTING = Writing(lambda request: "@submit\n")
CHOICES = GatherConfig(guide="choices")


def of_kind(kind: Kind, number: int = 0) -> Task:
    return function_task(f"{BUGGY}# {kind} {number}\n").revised(kind=kind)


def saved(folder: Path, *tasks: Task) -> Path:
    save_tasks(folder / "tasks.jsonl", tasks)
    return folder


def endpoint(**settings: Any) -> EndpointPolicy:
    return EndpointPolicy(EndpointSettings(**{"base": "http://127.0.0.1:9/v1", "model": "big"} | settings))


def test_only_where_failing_tests_tell_the_task_is_its_instruction_withheld(tmp_path: Path) -> None:
    place = saved(tmp_path, *(of_kind(kind) for kind in Kind), function_task(visible=1), function_task(visible=0))
    found = choose(GatherConfig(hide_instruction=1.0), "free", place)
    hidden = [task for task in found.tasks if task.hide_instruction]
    assert {task.kind for task in hidden} == {Kind.BUGFIX, Kind.VULNFIX, Kind.COMPLETE} and found.hidden == len(hidden) == 3
    assert not any(task.hide_instruction for task in found.tasks[-2:]), "what fails there is not shown to anybody"
    many = saved(tmp_path, *(of_kind(Kind.BUGFIX, number) for number in range(60)))
    assert 10 < choose(GatherConfig(hide_instruction=0.5), "free", many).hidden < 50
    few = saved(tmp_path, *(of_kind(Kind.BUGFIX, number) for number in range(2)))
    summary = run(GatherConfig(hide_instruction=1.0, samples=1), "free", (few, tmp_path / "o"), SUBMITTING, InlineExecutor())
    assert summary["hidden"] == 2
    with pytest.raises(UserError, match=r"'hide_instruction' has no effect.*\(qa\)"):
        choose(GatherConfig(hide_instruction=0.5), "free", saved(tmp_path, of_kind(Kind.QA)))


def test_tasks_that_a_guide_leaves_out_are_counted_with_the_reason(tmp_path: Path) -> None:
    bare = function_task().revised(suites=())
    place = saved(tmp_path, function_task(), bare, function_task(f"{BUGGY}# 1\n"))
    found = choose(CHOICES, "free", place)
    assert len(found.tasks) == 2 and list(found.left_out.values()) == [1] and "guide='choices'" in next(iter(found.left_out))
    summary = run(CHOICES, "free", (place, tmp_path / "o"), ScriptedPolicy("random"), InlineExecutor())
    assert summary["left_out"] == found.left_out and summary["tasks"] == 2
    assert choose(GatherConfig(), "free", place).left_out == {}


def test_a_split_that_there_is_not_gets_a_hint_or_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no task of split 'foo'; its tasks have no splits: leave 'split' out"):
        choose(GatherConfig(split="foo"), "free", saved(tmp_path, function_task(split="")))
    with pytest.raises(DataError, match="no task of split 'tain'; did you mean 'train'"):
        choose(GatherConfig(split="tain"), "free", saved(tmp_path, function_task()))
    with pytest.raises(DataError, match="holds no task"):
        choose(GatherConfig(), "free", saved(tmp_path))


@pytest.mark.parametrize(
    ("settings", "policy", "problem"),
    [
        ({"guide": "choices"}, endpoint(), "cannot be held to choices"),
        ({"guide": "grammar"}, endpoint(), "structured=vllm"),
        ({"cost": 1.0}, endpoint(), "'cost' bounds nothing without prices"),
        ({"chunk": 4}, endpoint(), "'chunk' has no effect"),
        ({}, ScriptedPolicy("rule"), "cannot write"),
    ],
)
def test_what_a_policy_cannot_do_is_refused_before_the_folder_is_written(
    settings: dict[str, Any], policy: Any, problem: str, tmp_path: Path
) -> None:
    place = saved(tmp_path, function_task())
    with pytest.raises(UserError, match=problem):
        run(GatherConfig(**settings), "free", (place, tmp_path / "o"), policy, InlineExecutor())
    assert not (tmp_path / "o").exists()
    check_policy(GatherConfig(cost=1.0), endpoint(prompt_price=1.0))
    check_policy(GatherConfig(guide="grammar"), endpoint(structured="vllm"))


def test_settings_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="grammar of the compact dialect"):
        check(GatherConfig(guide="grammar", dialect="tools"), "free")
    check(GatherConfig(), "replay")


def test_where_a_model_is_served_and_what_it_may_take_is_no_part_of_a_collection() -> None:
    tasks = [function_task()]

    def of(**settings: Any) -> tuple[Any, Any]:
        asked = endpoint(**settings)
        method: Method = "sample"
        return head(GatherConfig(), method, asked, tasks), pieces(GatherConfig(), method, asked, tasks)

    same = [{"base": "http://localhost:7/v1"}, {"concurrency": 1}, {"budget_tokens": 9}, {"attempts": 2, "deadline_seconds": 5.0}]
    assert all(of(**settings) == of() for settings in same)
    assert of(model="other") != of() and of(temperature=0.5) != of()
