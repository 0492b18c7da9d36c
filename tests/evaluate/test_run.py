"""Results of tasks and their summaries, by hand; an episode that could not be graded counts for nobody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from swefuse.errors import DataError
from swefuse.evaluate.bestof import Sample
from swefuse.evaluate.run import EvalConfig, Result, difference, evaluate, load_results, run, save_results, summarise
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Call, Kind, Outcome, PolicyIdentity, Provenance, Suite, Task, Trajectory, Verdict
from swefuse.tasks.store import save_tasks
from swefuse.verify.many import Candidate

GOOD, BAD, LOST = Outcome.PASSED, Outcome.FAILED, Outcome.INFRA
SOURCE = "def double(x: int) -> int:\n    return x - x\n"


def result(id_: str = "a", **values: object) -> Result:
    given = {"greedy": True, "passed": 2, "n": 8, "bestof4": 0.5, "ungraded": 0, "function": id_, **values}
    return Result(task_id=id_, split="unseen", kind="boundary", **given)  # type: ignore[arg-type]


def group(*outcomes: Outcome) -> list[Trajectory]:
    return [
        Trajectory(
            id=str(n), task_id="", initial="", steps=(), final="", files={}, stop_reason="", policy=PolicyIdentity(model="m"),
            verdict=Verdict(outcome=outcome, form="calls"),
        )
        for n, outcome in enumerate(outcomes)
    ]  # fmt: skip


def task(split: str = "unseen") -> Task:
    suites = (Suite(form="calls", entry="m.py:double", calls=(Call(id="t", args="(1,)", want="2"),), fail_to_pass=("t",)),)
    origin = Provenance(source="demo", operator="arithmetic", body_hash="hash")
    files = {"m.py": SOURCE}
    return Task(
        id=Task.make_id(Kind.BUGFIX, files, suites), kind=Kind.BUGFIX, instruction="", files=files, editable=("m.py",),
        suites=suites, provenance=origin, split=split,
    )  # fmt: skip


def verdicts(lost: Sequence[str] = ()) -> object:
    """Pass where ``x + x`` stands, no grade for the states in ``lost``, else fail."""

    def verify(items: Sequence[Candidate]) -> Iterable[Verdict]:
        for item in items:
            text = item.files["m.py"]
            outcome = LOST if any(part in text for part in lost) else GOOD if "x + x" in text else BAD
            yield Verdict(outcome=outcome, form="calls")

    return verify


def test_the_share_of_samples_and_pass_at_4() -> None:
    assert result(passed=2, n=8).sampled == 0.25
    assert result(passed=2, n=8).pass4 == pytest.approx(1 - 15 / 70)  # C(6,4) / C(8,4)
    assert (result(passed=3, n=3).sampled, result(passed=3, n=3).pass4) == (1.0, None)
    assert (result(passed=0, n=0).sampled, result(passed=0, n=0).pass4) == (0.0, None)


def test_a_summary_leaves_out_what_was_not_measured() -> None:
    rows = [
        result("a", greedy=True, passed=4, n=4, bestof4=1.0),
        result("b", greedy=None, passed=0, n=4, bestof4=None),
        result("c", greedy=False, passed=0, n=0, bestof4=0.0, ungraded=4),
    ]
    assert summarise(rows) == {"greedy": 0.5, "sampled": 0.5, "pass4": 0.5, "bestof4": 0.5, "n": 3}
    assert summarise([]) == {"greedy": None, "sampled": None, "pass4": None, "bestof4": None, "n": 0}


def scored(values: Sequence[float]) -> object:
    return lambda tasks, groups: [list(values) for _ in groups]


def test_an_evaluation_counts_the_episodes_it_ran() -> None:
    seen: list[tuple[int, int]] = []
    policy = ScriptedPolicy("first", lambda request, rng: request.choices[0])
    config = EvalConfig(samples=4, chunk=1)
    rows = evaluate(policy, [task(), task("real")], verdicts(), config, None, lambda d, t: seen.append((d, t)))  # type: ignore[arg-type]
    plain = {"kind": "arithmetic", "function": "hash", "greedy": False, "passed": 0, "n": 4, "bestof4": None, "ungraded": 0}
    wanted = [Result(task_id=task().id, split=split, source="demo", **plain) for split in ("unseen", "real")]  # type: ignore[arg-type]
    assert [replace(row, samples=()) for row in rows] == wanted
    sampled = rows[0].samples
    assert [one.passed for one in sampled] == [False] * 4 and len({one.final for one in sampled}) == 1
    assert all((one.value, one.tokens, one.logprob) == (None, 0, 0) for one in sampled), "a rule writes no tokens"
    assert seen == [(1, 2), (2, 2)]


def right(request: object, rng: object) -> object:
    return next(c for c in request.choices if (c.action.old, c.action.new) == ("-", "+"))  # type: ignore[attr-defined]


def test_a_repair_passes_and_the_chooser_sees_groups_of_the_samples() -> None:
    policy = ScriptedPolicy("right", right)  # type: ignore[arg-type]
    [row] = evaluate(policy, [task()], verdicts(), EvalConfig(samples=4), scored([0, 1, 2, 3]))  # type: ignore[arg-type]
    assert (row.greedy, row.passed, row.n, row.sampled, row.pass4, row.bestof4) == (True, 4, 4, 1.0, 1.0, 1.0)


def test_what_could_not_be_graded_is_none_and_no_failure() -> None:
    policy = ScriptedPolicy("right", right)  # type: ignore[arg-type]
    [row] = evaluate(policy, [task()], verdicts(lost=["x + x"]), EvalConfig(samples=4), scored([0, 1, 2, 3]))  # type: ignore[arg-type]
    assert (row.greedy, row.passed, row.n, row.bestof4, row.ungraded) == (None, 0, 0, None, 4)
    assert summarise([row, result(greedy=True)])["greedy"] == 1.0


def test_an_ungraded_sample_with_the_highest_score_does_not_lose_its_group() -> None:
    def mixed(request: object, rng: object) -> object:
        kept = request.seed % 5 == 0  # type: ignore[attr-defined]
        return next(c for c in request.choices if (c.action.old, c.action.new) == ("-", "*" if kept else "+"))  # type: ignore[attr-defined]

    # seeds 1 to 8: the fifth sample ends in x * x, which cannot be graded; seven remain, the first four of them make a group
    [row] = evaluate(
        ScriptedPolicy("mixed", mixed),  # type: ignore[arg-type]
        [task()],
        verdicts(lost=["x * x"]),  # type: ignore[arg-type]
        EvalConfig(samples=8),
        scored([0, 0, 0, 1, 9, 0, 0, 0]),  # type: ignore[arg-type]
    )
    assert (row.passed, row.n, row.ungraded, row.bestof4) == (7, 7, 1, 1.0)


def test_a_difference_is_paired_by_task_and_skips_what_one_side_lacks() -> None:
    a = [result("a", passed=8), result("b", passed=4), result("c", passed=8), result("d", n=0, passed=0), result("e", passed=8)]
    b = [result("b", passed=2), result("a", passed=4), result("d"), result("c", n=0, passed=0)]
    found = difference(a, b)
    assert found.mean == pytest.approx((0.5 + 0.25) / 2)
    assert found.low == pytest.approx(0.25) and found.high == pytest.approx(0.5)
    assert difference(b, a).mean == pytest.approx(-found.mean)


def test_a_difference_resamples_functions_not_tasks() -> None:
    a = [result(str(n), passed=8 * (n % 2), function="f" if n < 10 else "g") for n in range(20)]
    assert difference(a, [result(str(n), passed=0) for n in range(20)]) == (0.5, 0.5, 0.5)


def test_results_come_back_from_disk(tmp_path: Path) -> None:
    rows = [result("a", samples=(Sample(True, "f", -1.5, None, 3),)), result("\u2028ü\x85", greedy=None, bestof4=None)]
    save_results(tmp_path / "r.jsonl", rows)
    assert load_results(tmp_path / "r.jsonl") == rows


def test_a_file_of_something_else_is_no_evaluation(tmp_path: Path) -> None:
    for text in ("[1]", "{}", '{"task_id": "a"}', "no json"):
        (tmp_path / "r.jsonl").write_text(text)
        with pytest.raises(DataError, match="holds no results of an evaluation"):
            load_results(tmp_path / "r.jsonl")
    with pytest.raises(DataError, match="holds no results"):
        load_results(tmp_path / "none.jsonl")


@pytest.mark.parametrize(("split", "message"), [("", "has no held-out task$"), ("real", "has no held-out task of split real$")])
def test_nothing_to_evaluate_is_an_error(tmp_path: Path, split: str, message: str) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [task("train")])
    with pytest.raises(DataError, match=message):
        run(EvalConfig(split=split), tmp_path, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
