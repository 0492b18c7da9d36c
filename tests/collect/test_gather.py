"""The stage: what is collected is what passed, told with what it took; a killed call goes on and ends with the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from written import Writing

from function_task import BUGGY, PATH, function_task
from swefuse.collect.gather import LOG, GatherConfig, Method, run, shown_first
from swefuse.collect.stage import load_trajectories
from swefuse.errors import DataError, UserError
from swefuse.library.gate import gate
from swefuse.policy.base import Policy, Reply, Request
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Action, Outcome
from swefuse.scale import InlineExecutor
from swefuse.tasks.store import load_tasks, save_tasks
from swefuse.verify import init_worker

RIGHT = (f"@edit {PATH}:3\n-x - x\n+x + x\n", f"@edit {PATH}:3\n-x - x\n+2 * x\n", f"@edit {PATH}:3\n-x - x\n+(x + x)\n")
CHOICES: dict[str, Any] = {"guide": "choices"}


@pytest.fixture(scope="module", autouse=True)
def _worker() -> None:
    init_worker()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    save_tasks(tmp_path / "tasks.jsonl", [function_task(f"{BUGGY}# {n}\n") for n in range(3)])
    return tmp_path


def collected(place: Path, out: str, method: Method, policy: Policy | None = None, **settings: Any) -> dict[str, Any]:
    return run(GatherConfig(**settings), method, (place, place / out), policy, InlineExecutor())


def said(request: Request) -> str | Reply:
    """Repairs in one of three ways, or gives up."""
    if request.steps and request.steps[-1].action == Action(name="test") and request.steps[-1].observation.startswith("PASS"):
        return "@submit\n"
    if any(step.action and step.action.name == "edit" for step in request.steps):
        return "@test\n"
    return random.Random(f"{request.task.id} {request.seed}").choice([*RIGHT, "@submit\n"])


def always(request: Request) -> str | Reply:
    """Repairs in the same way, whatever the seed."""
    return "@submit\n" if any(step.action and step.action.name == "edit" for step in request.steps) else RIGHT[0]


def kept(place: Path, out: str) -> list[str]:
    return [one.model_dump_json() for one in load_trajectories(place / out / "trajectories.jsonl")]


def test_replay_needs_no_policy_and_what_it_makes_passes_the_gate(place: Path) -> None:
    summary = collected(place, "r", "replay", samples=2)
    tasks = {task.id: task for task in load_tasks(place / "r" / "tasks.jsonl")}
    made = load_trajectories(place / "r" / "trajectories.jsonl")
    assert summary["accepted"] == len(made) >= 3 and summary["tasks_with_one"] == 3
    items = [(tasks[one.task_id], one, one.verdict) for one in made if one.verdict]
    assert len(items) == len(made) and all(decision.accepted for decision in gate(items))


def test_sampling_keeps_what_passes_once_for_each_program(place: Path) -> None:
    summary = collected(place, "s", "sample", Writing(said), samples=12)
    made = load_trajectories(place / "s" / "trajectories.jsonl")
    assert summary["tried"] == 36 and summary["accepted"] == len(made)
    assert all(one.verdict and one.verdict.outcome == "PASSED" for one in made)
    assert [step.action.name for step in made[0].steps if step.action][:2] == ["test", "view"]
    by_task = {one.task_id: sum(other.task_id == one.task_id for other in made) for one in made}
    assert max(by_task.values()) == 2, "brackets make no other program"
    assert 1 < summary["distinct_per_task"] <= 2 and 0 < summary["distance"] < 1
    assert set(summary["refused"]) == {"it ends as FAILED", "another attempt gave the same program"}
    assert summary["tokens_per_accepted"] == summary["tokens"] / len(made) > 0 and summary["cost"] > 0
    rows = [json.loads(line) for line in (place / "s" / "attempts.jsonl").read_text().splitlines()]
    assert len(rows) == 36 and sum(not row["why"] for row in rows) == len(made)


def test_search_finds_what_single_tries_miss(place: Path) -> None:
    free = collected(place, "f", "free", ScriptedPolicy("random"), samples=1, **CHOICES)
    found = collected(place, "g", "search", ScriptedPolicy("random"), samples=1, tries=300, **CHOICES)
    assert found["accepted"] == 3 > free["accepted"] and found["undone"] and found["verifications_per_accepted"] > 1
    assert found["attempts"] == 3 and found["tried"] > 3 and found["yield"] == 3 / found["tried"], "a path is what is tried"
    many = collected(place, "n", "search", Writing(said), samples=5)
    assert many["accepted"] > many["tasks"] and 0 < many["yield"] <= 1
    same = collected(place, "same", "search", Writing(always), samples=3)
    assert (same["accepted"], same["refused"], same["tried"]) == (3, {}, 9), "the same way three times is one trajectory"
    assert (place / "same" / "refused.jsonl").read_text() == ""


@pytest.mark.parametrize("cut", range(0, 400, 37))
def test_a_killed_call_goes_on_and_ends_with_the_same(place: Path, cut: int) -> None:
    settings: dict[str, Any] = {"samples": 4, "chunk": 2}
    whole = collected(place, "whole", "sample", Writing(said), **settings)
    log = (place / "whole" / LOG).read_bytes()
    (place / "again").mkdir()
    (place / "again" / LOG).write_bytes(log[: len(log) * cut // 400])  # wherever a kill leaves it
    policy = Writing(said)
    again = collected(place, "again", "sample", policy, **settings)
    assert kept(place, "again") == kept(place, "whole")
    timed = {"wall_s", "policy_s", "policy_s_per_accepted"}
    assert {key: value for key, value in again.items() if key not in timed} == {
        key: value for key, value in whole.items() if key not in timed
    }
    third = Writing(said)
    assert collected(place, "again", "sample", third, **settings)["accepted"] == whole["accepted"] and third.asked == []


def test_what_is_known_is_written_when_a_call_is_ended(place: Path) -> None:
    def interrupted(request: Request) -> str | Reply:
        if "# 2" in request.task.files[PATH]:
            raise KeyboardInterrupt
        return said(request)

    with pytest.raises(KeyboardInterrupt):
        collected(place, "k", "sample", Writing(interrupted), samples=4, chunk=4)
    before = kept(place, "k")
    assert before and json.loads((place / "k" / "summary.json").read_text())["parts"] == 2
    collected(place, "k", "sample", Writing(said), samples=4, chunk=4)
    assert kept(place, "k")[: len(before)] == before


def test_another_collection_is_not_gone_on_with(place: Path) -> None:
    collected(place, "x", "sample", Writing(said), samples=1)
    for method, settings in (("free", {"samples": 1}), ("sample", {"samples": 2}), ("sample", {"samples": 1, "seed": 1})):
        with pytest.raises(UserError, match="holds another collection"):
            collected(place, "x", method, Writing(said), **settings)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"\(seed was 0 and is now 3; temperature was not given and is now 0.5\): choose another"):
        collected(place, "x", "sample", Writing(said), samples=1, seed=3, temperature=0.5)
    collected(place, "x", "sample", Writing(said), samples=1, workers=1)


def test_a_share_of_the_tasks_hides_its_instruction(place: Path) -> None:
    for share, hidden in ((0.0, 0), (1.0, 3)):
        collected(place, f"h{share}", "replay", hide_instruction=share)
        assert sum(task.hide_instruction for task in load_tasks(place / f"h{share}" / "tasks.jsonl")) == hidden


def test_what_cannot_be_asked_is_refused_by_name(place: Path) -> None:
    with pytest.raises(DataError, match="no task of split 'trian'"):
        collected(place, "e", "replay", split="trian")
    with pytest.raises(UserError, match="no dialect 'xml'"):
        collected(place, "e", "free", Writing(said), dialect="xml")
    for method, given in (("replay", "dialect"), ("free", "tries"), ("sample", "reply_tokens")):
        with pytest.raises(UserError, match=f"'{given}' has no effect"):
            settings = {"dialect": "tools"} if given == "dialect" else {given: 3}
            collected(place, "e", method, ScriptedPolicy("random"), **settings, **({} if method == "replay" else CHOICES))  # type: ignore[arg-type]
    bare = function_task().revised(suites=())
    save_tasks(place / "tasks.jsonl", [bare])
    with pytest.raises(UserError, match="guide='choices' is for function tasks"):
        collected(place, "e2", "free", ScriptedPolicy("random"), **CHOICES)


def test_a_failure_of_the_policy_is_no_failure_of_the_task(place: Path) -> None:
    summary = collected(place, "p", "free", Writing(lambda request: Reply(None, problem="no answer in 3 s")), samples=1)
    assert summary["accepted"] == 0 and summary["refused"] == {"no answer in 3 s": 3}
    assert summary["tokens_per_accepted"] is None and summary["verifications"] == 3
    assert (summary["tried"], summary["open"], summary["unanswered"], summary["yield"]) == (0, 3, 3, 0.0)
    rows = [json.loads(line) for line in (place / "p" / "attempts.jsonl").read_text().splitlines()]
    assert {(row["outcome"], row["stop"], row["trajectory"]) for row in rows} == {("", "the policy gave no answer", "")}
    assert shown_first(function_task()) == (Action(name="test"), Action(name="view", path=PATH))


def test_a_policy_that_is_asked_for_several_at_once_has_a_part_for_each_attempt(place: Path) -> None:
    class Many(Writing):
        concurrent = 3

    summary = collected(place, "m", "sample", Many(said), samples=4)
    assert summary["parts"] == summary["parts_in_all"] == 12
    assert kept(place, "m") == kept_alone(place)


def test_what_failed_besides_the_policy_is_asked_again_and_the_rest_is_kept(place: Path) -> None:
    class Faulty(Writing):
        concurrent = 1  # as behind an endpoint

    def out_of_order(request: Request) -> str | Reply:
        return Reply(None, problem="it is out of order") if "# 1" in request.task.files[PATH] else said(request)

    first = collected(place, "o", "sample", Faulty(out_of_order), samples=4)
    assert (first["open"], first["unanswered"], first["tried"]) == (4, 4, 8)
    mended = Faulty(said)
    second = collected(place, "o", "sample", mended, samples=4)
    assert {request.task.files[PATH].rpartition("# ")[2] for request in mended.asked} == {"1\n"}
    assert (second["open"], second["tried"]) == (0, 12) and second["parts"] == 12
    assert kept(place, "o") == kept_alone(place)
    silent = Faulty(said)
    assert collected(place, "o", "sample", silent, samples=4)["accepted"] == second["accepted"] and silent.asked == []


def test_a_sandbox_that_failed_is_tried_again(place: Path) -> None:
    class Broken(InlineExecutor):
        def map(self, fn: Any, items: Any) -> Any:
            found = list(super().map(fn, items))
            return iter([one.model_copy(update={"outcome": Outcome.INFRA, "tests": {}, "reason": "no room"}) for one in found])

    for method, settings in (("sample", {"samples": 2}), ("search", {})):
        config = GatherConfig(**settings)  # type: ignore[arg-type]
        first = run(config, method, (place, place / method), Writing(said), Broken())  # type: ignore[arg-type]
        assert first["infra"] == first["open"] == first["attempts"] > 0 == first["tried"]
        assert list(first["refused"]) == ["the sandbox could not run it: no room"]
        second = run(config, method, (place, place / method), Writing(said), InlineExecutor())  # type: ignore[arg-type]
        assert second["open"] == 0 and second["accepted"] > 0


def test_a_policy_that_would_say_the_same_again_is_not_asked_again(place: Path) -> None:
    summary = collected(place, "ref", "search", ScriptedPolicy("reference"), **CHOICES)
    assert (summary["accepted"], summary["open"]) == (3, 0), "once its edit is played it knows no other, and that ends nothing"
    lacking = function_task().revised(provenance=function_task().provenance.model_copy(update={"parameters": {}}))
    save_tasks(place / "tasks.jsonl", [lacking])
    for method in ("search", "free"):
        summary = collected(place, f"l{method}", method, ScriptedPolicy("reference"), **CHOICES, samples=1)  # type: ignore[arg-type]
        [(reason, count)] = summary["refused"].items()
        assert "is not among the" in reason and count == 1 and (summary["tried"], summary["open"]) == (1, 0)


def test_what_refused_attempts_did_is_kept_and_can_be_left_out(place: Path) -> None:
    summary = collected(place, "s", "sample", Writing(said), samples=6)
    refused = {one.id: one for one in load_trajectories(place / "s" / "refused.jsonl")}
    rows = [json.loads(line) for line in (place / "s" / "attempts.jsonl").read_text().splitlines()]
    named = {row["trajectory"] for row in rows if row["why"]}
    assert named == set(refused) and len(refused) + summary["accepted"] == 18
    assert {one.verdict.outcome for one in refused.values() if one.verdict} == {Outcome.FAILED, Outcome.PASSED}, (
        "equal ones as well"
    )
    collected(place, "s", "sample", Writing(said), samples=6)
    assert set(refused) == {one.id for one in load_trajectories(place / "s" / "refused.jsonl")}
    collected(place, "t", "sample", Writing(said), samples=6, keep_refused=False)
    assert not (place / "t" / "refused.jsonl").exists() and kept(place, "t") == kept(place, "s")
    rows = [json.loads(line) for line in (place / "t" / "attempts.jsonl").read_text().splitlines()]
    assert {bool(row["trajectory"]) for row in rows if row["why"]} == {False}


def test_a_search_that_finds_nothing_leaves_its_last_path(place: Path) -> None:
    def wrong(request: Request) -> str | Reply:
        return "@submit\n" if len(request.steps) > 2 else f"@edit {PATH}:3\n-x - x\n+{request.seed % 97}\n"

    summary = collected(place, "w", "search", Writing(wrong))
    rows = [json.loads(line) for line in (place / "w" / "attempts.jsonl").read_text().splitlines()]
    lost = {one.id: one for one in load_trajectories(place / "w" / "refused.jsonl")}
    assert summary["accepted"] == 0 and [row["trajectory"] for row in rows] == list(lost) and len(lost) == 3
    for one in lost.values():
        assert one.verdict and one.verdict.outcome == "FAILED" and one.files and one.stop_reason
        assert one.steps[-1].after == one.final, "it is whole"
        assert all(left.after == right.before for left, right in zip(one.steps, one.steps[1:], strict=False))


def test_progress_is_told_within_a_part(place: Path) -> None:
    told: list[tuple[int, int]] = []

    def one_after_the_other(request: Request) -> str | Reply:
        return "@submit\n" if len(request.steps) > 2 + request.seed % 100 else "@undo\n"

    run(
        GatherConfig(samples=4), "sample", (place, place / "told"), Writing(one_after_the_other), InlineExecutor(),
        lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert {total for _, total in told} == {12} and {0, 3, 12} <= {done for done, _ in told}, "one part, and more than its ends"
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def kept_alone(place: Path) -> list[str]:
    collected(place, "alone", "sample", Writing(said), samples=4)
    return kept(place, "alone")
