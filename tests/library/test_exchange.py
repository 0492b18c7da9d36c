"""Trajectories of others become entries that were verified, and entries become theirs again."""

from __future__ import annotations

import json

import pytest
from library_samples import TASK, item, passing

from swefuse.collect.dialects import conversation
from swefuse.errors import DataError
from swefuse.library import Entry, gate
from swefuse.library.exchange import adopt, judged, known_by, preferences, stored, transcribed
from swefuse.library.formats import FORMATS
from swefuse.library.formats.transcript import Call, Transcript, Turn
from swefuse.library.parts import foreign
from swefuse.records import Decision, Outcome
from swefuse.scale import InlineExecutor
from swefuse.verify.patch import make_patch

FIXED = {**TASK.files, "m.py": TASK.files["m.py"].replace("x - 1", "x + 1")}
PATCH = make_patch(TASK.files, FIXED).decode()
TURNS = (
    Turn(role="system", text="You repair."),
    Turn(role="user", text="Mend m.py."),
    Turn(role="assistant", text="I look.", calls=(Call(id="c1", name="bash", arguments='{"command": "cat m.py"}'),), trained=False),
    Turn(role="tool", text="def f", answers="c1"),
    Turn(role="assistant", text="Done.", thinking="It was a sign."),
)
KNOWN = known_by([TASK])


def brought(**fields: object) -> Transcript:
    return Transcript(**{"instance": TASK.id, "turns": TURNS, "patch": PATCH, **fields})  # type: ignore[arg-type]


def test_the_patch_of_a_known_task_is_verified_and_the_gate_decides() -> None:
    good, bad, none = (adopt(brought(patch=patch), "atif", KNOWN) for patch in (PATCH, "", None))
    right, wrong, unknown = judged([good, bad, none], InlineExecutor())
    assert right.verdict.outcome is Outcome.PASSED and right.decision.accepted, right.decision
    assert right.trajectory.files == {"m.py": FIXED["m.py"]}
    assert not wrong.decision.accepted and wrong.verdict.outcome is Outcome.FAILED
    assert unknown.decision.reasons[0] == "verdict: unverified: it holds no patch"
    assert [step.keep for step in right.trajectory.steps] == [False, True]
    assert right.trajectory.steps[0].raw.endswith("</tool_call>") and right.trajectory.steps[1].raw.startswith("<think>\n")
    opened = conversation(right.task)
    assert opened is not None and [turn.role for turn in opened[0]] == ["system", "user"] and right.task.id == TASK.id


def test_what_nobody_can_verify_is_refused_unless_it_is_trusted() -> None:
    one = adopt(brought(instance="other__task-1", resolved=True), "openhands", KNOWN)
    (refused,), (trusted,) = (judged([one], InlineExecutor(), trust=trust) for trust in (False, True))
    assert not refused.decision.accepted and "unverified: no task 'other__task-1' is given" in refused.decision.reasons[0]
    assert trusted.decision.accepted and "trusted" in trusted.decision.seen["verdict"]
    assert refused.verdict.outcome is Outcome.INFRA, "never a grade"
    other = adopt(brought(instance="other__task-2"), "openhands", KNOWN)
    assert other.task.id != one.task.id and other.trajectory.id != one.trajectory.id


def test_a_claim_does_not_help_a_wrong_patch() -> None:
    (entry,) = judged([adopt(brought(patch="no patch", resolved=True, reward=1.0), "r2e", KNOWN)], InlineExecutor(), trust=True)
    assert not entry.decision.accepted and entry.verdict.outcome is Outcome.UNPARSED


def test_an_imported_trajectory_leaves_as_it_came() -> None:
    row = {
        "messages": [{"role": "user", "content": "a", "mood": 1}, {"role": "assistant", "content": "b"}],
        "instance_id": "x__y-1",
    }
    for name in ("swesmith-ticks", "trl"):
        one = adopt(FORMATS[name].read(row, "here"), name, {})
        (entry,) = judged([one], InlineExecutor())
        assert FORMATS[name].write(transcribed(entry))[0] == row
        kept = stored(entry.trajectory)
        assert kept is not None and kept[0] == name
    dropped = entry.trajectory.steps[0].model_copy(update={"keep": False})
    changed = Entry(entry.task, entry.trajectory.model_copy(update={"steps": (dropped,)}), entry.verdict, entry.decision)
    assert transcribed(changed).turns[1].trained is False


@pytest.mark.parametrize("name", ["openai", "trl", "atif", "sharegpt", "openhands"])
def test_our_own_trajectories_come_back_as_ours(name: str) -> None:
    task, one, verdict = item()
    given = transcribed(Entry(task, one, verdict, Decision(accepted=True)))
    text = json.dumps(FORMATS[name].write(given)[0])
    read = FORMATS[name].read(json.loads(text), "here").model_copy(update={"instance": task.id})
    again = adopt(read, name, KNOWN)
    assert not foreign(again.trajectory) and again.task == task
    assert [step.action for step in again.trajectory.steps] == [step.action for step in one.steps]
    assert (again.trajectory.final, again.trajectory.files) == (one.final, one.files)
    (entry,) = judged([again], InlineExecutor())
    assert entry.decision.accepted, entry.decision.reasons


def test_our_own_form_brings_the_very_records_which_are_verified_anew() -> None:
    task, one, verdict = item()
    value, _ = FORMATS["swefuse"].write(transcribed(Entry(task, one, verdict, Decision(accepted=True))))
    again = adopt(FORMATS["swefuse"].read(json.loads(json.dumps(value)), "here"), "swefuse", {})
    assert (again.task, again.trajectory) == (task, one)
    value["entry"]["trajectory"]["steps"] = 7
    with pytest.raises(DataError, match="cannot be read"):
        adopt(FORMATS["swefuse"].read(value, "here"), "swefuse", {})


def test_preferences_are_accepted_beside_failed_ones_of_one_task() -> None:
    failed = passing().model_copy(update={"outcome": Outcome.FAILED})
    items = [item(id="a"), (*item(id="b")[:2], failed), (*item(id="c")[:2], failed)]
    entries = [Entry(*each, decision) for each, decision in zip(items, gate(items, ["verdict"]), strict=True)]
    (pair,) = preferences(entries)
    assert pair.split == 1 and pair.turns[1:] and [turn.text for turn in pair.rejected] == [turn.text for turn in pair.turns[1:]]
    assert FORMATS["trl-preference"].write(pair)[0].keys() >= {"prompt", "chosen", "rejected"}
