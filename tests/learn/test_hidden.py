"""Tests that no reward sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learn_samples import CLIP, TASKS, episodes, model, refuse, tokenizer
from swefuse.errors import ConfigError
from swefuse.learn.hidden import HIDDEN, Hiding, check_hidden, figures, hidden_calls, without
from swefuse.learn.rlvr import train
from swefuse.learn.rollouts import Rollouts
from swefuse.learn.settings import RlvrSettings, WatchSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models
from swefuse.records import Call, Outcome, Suite, Task, TestResult, Verdict
from swefuse.verify.many import Candidate


def task(count: int, shown: int, turning: int) -> Task:
    calls = tuple(Call(id=f"t{n}", args=f"({n}, 3)", want="3", visible=n < shown) for n in range(count))
    ids = tuple(call.id for call in calls)
    suite = Suite(form="calls", entry="m.py:clip", calls=calls, fail_to_pass=ids[-turning:], pass_to_pass=ids[:-turning])
    return TASKS[0].revised(files={"m.py": CLIP}, suites=(suite,))


def verdict(outcome: Outcome, *failed: int, count: int = 6) -> Verdict:
    tests = {f"t{n}": TestResult(outcome="failed" if n in failed else "passed") for n in range(count)}
    return Verdict(outcome=outcome, form="calls", tests=tests, score=1 - len(failed) / count, reason="t5 gave 1")


@given(st.integers(2, 12), st.integers(0, 12), st.integers(1, 12), st.floats(0.01, 0.99))
def test_what_is_hidden_was_never_shown_and_a_test_of_the_repair_stays(count: int, shown: int, turning: int, share: float) -> None:
    one = task(count, shown, min(turning, count))
    suite = one.suites[0]
    found = hidden_calls(one, share)
    assert found == hidden_calls(one, share) and len(found) <= max(1, round(share * count))
    assert not found & {call.id for call in suite.calls if call.visible}
    assert set(suite.fail_to_pass) - found


def test_how_many_are_hidden() -> None:
    assert [len(hidden_calls(task(10, 2, 5), share)) for share in (0.0, 0.04, 0.3, 0.9)] == [0, 1, 3, 7]
    assert hidden_calls(TASKS[0], 0.5) == frozenset(), "all of its tests are shown"
    with pytest.raises(ConfigError, match=r"watch\.hidden has no effect"):
        check_hidden(TASKS, 0.5)
    check_hidden(TASKS, 0.0)
    check_hidden([TASKS[0], task(4, 1, 2)], 0.5)


def test_a_verdict_without_its_hidden_tests_by_hand() -> None:
    hidden = frozenset({"t4", "t5"})
    fitted = without(verdict(Outcome.FAILED, 5), hidden)
    assert (fitted.outcome, fitted.score, fitted.parts[HIDDEN], fitted.reason) == (Outcome.PASSED, 1.0, 0.0, "")
    assert set(fitted.tests) == {"t0", "t1", "t2", "t3"}
    wrong = without(verdict(Outcome.FAILED, 0, 5), hidden)
    assert (wrong.outcome, wrong.score, wrong.parts[HIDDEN]) == (Outcome.FAILED, 0.75, 0.0)
    half = without(verdict(Outcome.FAILED, 0), hidden)
    assert (half.outcome, half.score, half.parts[HIDDEN]) == (Outcome.FAILED, 0.75, 1.0)
    good = without(verdict(Outcome.PASSED), hidden)
    assert (good.outcome, good.score, good.parts[HIDDEN]) == (Outcome.PASSED, 1.0, 1.0)
    tampered = without(Verdict(outcome=Outcome.TAMPERED, form="calls"), hidden)
    assert (tampered.outcome, tampered.score, tampered.parts[HIDDEN]) == (Outcome.TAMPERED, 0.0, 0.0)
    lost = Verdict(outcome=Outcome.INFRA, form="calls")
    assert without(lost, hidden) is lost and without(fitted, frozenset()) is fitted


def test_the_gap_by_hand() -> None:
    hidden = frozenset({"t4", "t5"})
    kinds = [verdict(Outcome.PASSED), verdict(Outcome.FAILED, 5), verdict(Outcome.FAILED, 0), verdict(Outcome.FAILED, 0, 4)]
    made = episodes(tasks=TASKS[:1])[0]
    flat = tuple(made.model_copy(update={"verdict": without(one, hidden)}) for one in kinds)
    found = figures(Rollouts(TASKS[:1], (flat,), ()))
    assert found == {"visible_pass": 0.5, "hidden_pass": 0.5, "test_gap": 0.25}


def test_a_verifier_that_hides() -> None:
    one = task(6, 2, 3)
    (name,) = hidden_calls(one, 0.1)
    failed = verdict(Outcome.FAILED, int(name[1:]))
    (found,) = Hiding(lambda items: [failed for _ in items], 0.1)([Candidate(one, one.files)])
    assert found.outcome is Outcome.PASSED and name not in found.tests


def test_nothing_to_hide_is_told_before_the_first_step(tmp_path: Path) -> None:
    made = Models(model(), model(), codec_for(tokenizer()))
    with pytest.raises(ConfigError, match=r"watch\.hidden"):
        train(made, TASKS, refuse, RlvrSettings(tasks=2, watch=WatchSettings(hidden=0.3)), tmp_path / "out")
    assert not (tmp_path / "out").exists()
