"""The gate refuses for the right reason, names all reasons, and never stumbles over what a policy wrote."""

from __future__ import annotations

import itertools

import pytest
from library_samples import FIX, TASK, WAY, item, passing, walk

from swefuse.errors import ConfigError
from swefuse.library import CHECKS, GATE_VERSION, gate
from swefuse.library.conformance import failures, samples, sound
from swefuse.library.gate import Item, passed, static, syntax, trainable
from swefuse.records import Outcome, Suite, Task, TestResult, TokenTrace, Trajectory, Verdict


def final(text: str, path: str = "m.py") -> Trajectory:
    return walk(WAY, files={path: text})


def test_an_honest_trajectory_is_accepted_and_what_was_seen_is_kept() -> None:
    (decision,) = gate([item()])
    assert (decision.accepted, decision.reasons, decision.gate_version) == (True, (), GATE_VERSION)
    assert list(decision.seen) == list(CHECKS)
    assert decision.seen["syntax"] == "m.py"
    assert decision.seen["verdict"].startswith("PASSED, 1 tests as calls")


def test_every_reason_is_named_in_the_order_of_the_checks_and_of_the_batch() -> None:
    bad: Item = (TASK, final("import os\ndef f(:\n"), passing().model_copy(update={"outcome": Outcome.FAILED}))
    decisions = gate([item(), bad, item()])
    assert [decision.accepted for decision in decisions] == [True, False, True]
    assert [reason.partition(": ")[0] for reason in decisions[1].reasons] == ["syntax", "verdict", "coherence"]
    assert gate([]) == []


def test_syntax_means_that_it_compiles() -> None:
    for text, reason in [
        ("def f(:\n", "m.py, line 1: invalid syntax"),
        ("x = 1\nreturn x\n", "m.py, line 2: 'return' outside function"),
        ("x = '\0'\n", "m.py: source code"),
    ]:
        assert (syntax(TASK, final(text), passing()) or "").startswith(reason)
    assert syntax(TASK, final('x = "\\d"\n'), passing()) is None  # only a warning
    assert syntax(TASK, final("def f(:\n", "notes.txt"), passing()) is None
    broken = TASK.model_copy(update={"files": {**TASK.files, "old.py": "print 1\n"}})
    everything = {**broken.files, **walk(WAY).files}
    assert syntax(broken, walk(WAY, broken, files=everything), passing()) is None  # not the trajectory's fault


def test_the_given_verdict_counts_not_the_stored_one() -> None:
    stored = walk(WAY, verdict=passing())
    for outcome in Outcome:
        reason = passed(TASK, stored, passing().model_copy(update={"outcome": outcome}))
        assert (reason is None) == (outcome is Outcome.PASSED)
        assert (reason or "").startswith("not graded") == (outcome in (Outcome.FLAKY, Outcome.INFRA))


def test_every_expected_test_must_have_passed() -> None:
    suites = (Suite(form="calls", fail_to_pass=("a",), pass_to_pass=("b", "c")), Suite(form="pytest", pass_to_pass=()))
    task = TASK.model_copy(update={"suites": suites})
    good = {id_: TestResult(outcome="passed") for id_ in "abc"}
    for results, form, reason in [
        (good, "calls", None),
        ({id_: good[id_] for id_ in "ab"}, "calls", "1 of 3 expected tests did not pass, first c"),
        ({**good, "b": TestResult(outcome="skipped")}, "calls", "1 of 3 expected tests did not pass, first b"),
        ({}, "calls", "3 of 3 expected tests did not pass, first a"),
        (good, "pytest", "the task has no tests of the form 'pytest'"),
        (good, "command", "the task has no tests of the form 'command'"),
    ]:
        assert passed(task, walk(WAY), Verdict(outcome=Outcome.PASSED, form=form, tests=results)) == reason


def test_static_analysis_refuses_only_what_is_new() -> None:
    smelly = "import os\nimport re\n\n\ndef f(x):\n    return x - 1\n"
    task = TASK.model_copy(update={"files": {**TASK.files, "m.py": smelly}})
    moved = "# a line more\n" + smelly.replace("- 1", "+ 1")
    for text, reason in [
        (moved, None),
        (moved.replace("import re\n", ""), None),
        (moved.replace("import re", "import json"), "m.py: F401 `json` imported but unused"),
        (moved.replace("x + 1", "eval(x)"), "m.py: S307 Use of possibly insecure function"),
        (moved.replace("x + 1", "eval(x)  # noqa"), "m.py: S307 Use of possibly insecure function"),
        (moved.replace("x + 1", "y"), "m.py: F821 Undefined name `y`"),
        (moved + "assert f(1) == 2\n", None),
    ]:
        answer = static(task, final(text), passing())
        assert answer is None if reason is None else (answer or "").startswith(reason)
    assert static(task, final("import os\n", "new.py"), passing()) == "new.py: F401 `os` imported but unused"


def test_one_batch_gives_what_single_calls_give() -> None:
    bodies = ["x + 1", "eval(x)", "y", "x - 1", "eval(x)"]
    batch: list[Item] = [(TASK, final(f"def f(x):\n    return {body}\n"), passing()) for body in bodies]
    alone = [static(*each) for each in batch]
    assert [answer is None for answer in alone] == [True, False, False, True, False]
    together = [decision.reasons for decision in gate(batch, ["static"])]
    assert together == [() if answer is None else (f"static: {answer}",) for answer in alone]


def test_something_must_be_left_to_train_on() -> None:
    whole = TokenTrace(token_ids=(5, 6), logprobs=(-0.1, -0.2), raw_logprobs=(-0.3, -0.4), entropies=(0.1, 0.0))
    honest = walk(WAY)

    def traced(**change: object) -> Trajectory:
        step = honest.steps[2].model_copy(update={"trace": whole.model_copy(update=change)})
        return honest.model_copy(update={"steps": (*honest.steps[:2], step, *honest.steps[3:])})

    assert trainable(TASK, traced(), passing()) is None
    for change in ({"token_ids": (5,)}, {"entropies": (0.1,)}, {"raw_logprobs": ()}):
        assert trainable(TASK, traced(**change), passing()) == "step 3: the lists of its token trace are empty or differ in length"
    for bad in (float("nan"), float("-inf")):
        refusal = trainable(TASK, traced(logprobs=(bad, -0.2)), passing())
        assert refusal == "step 3: its token trace holds numbers that are not finite"
    unkept = tuple(step.model_copy(update={"keep": False}) for step in honest.steps)
    assert trainable(TASK, walk(WAY, steps=unkept), passing()) == "no step to train on"
    assert trainable(TASK, walk(WAY, steps=(*unkept[:-1], honest.steps[-1])), passing()) is None


@pytest.mark.parametrize("name", CHECKS)
def test_our_checks_conform(name: str) -> None:
    assert failures(CHECKS[name]) == {}


def test_of_the_odd_samples_only_the_sound_one_passes() -> None:
    decisions = gate(list(samples().values()))
    assert [name for name, decision in zip(samples(), decisions, strict=True) if decision.accepted] == ["sound"]
    assert all(decision.model_validate_json(decision.model_dump_json()) == decision for decision in decisions)


def brittle(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    return None if trajectory.steps[0].raw else ""


def short_ways_only(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    return "more than\n\x1b[31mtwo\ud800 steps" if len(trajectory.steps) > 2 else None


def test_conformance_finds_checks_that_misbehave() -> None:
    moods = itertools.cycle([None, "bad"])
    assert failures(lambda *_: next(moods))["sound"] == "answered None, then 'bad'"
    assert "changed the records" in failures(lambda *records: records[0].files.clear()).values()
    assert failures(brittle)["no steps"].startswith("raised IndexError")
    assert failures(lambda *_: "")["sound"].startswith("answered ''")
    assert failures(short_ways_only) == {}


def test_a_check_of_ones_own_joins_by_its_dotted_path() -> None:
    name = f"{__name__}:short_ways_only"
    long, short = gate([item(), item([FIX, "@submit\n"])], ["coherence", name])
    assert (short.accepted, long.reasons) == (True, (f"{name}: more than �[31mtwo� steps",))
    assert long.gate_version == f"{GATE_VERSION} with coherence, {name}"
    for wrong, hint in [("coherense", "did you mean 'coherence'"), (f"{__name__}:nothing", "cannot be loaded")]:
        with pytest.raises(ConfigError, match=hint):
            gate([sound()], [wrong])
    with pytest.raises(ConfigError, match="lets everything through"):
        gate([sound()], [])
