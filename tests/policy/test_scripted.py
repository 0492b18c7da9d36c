from __future__ import annotations

import pytest

from learn_samples import TASKS, episodes
from swefuse.collect import protocol
from swefuse.policy.base import Choice, Reply, Request
from swefuse.policy.scripted import ScriptedPolicy, gives_itself_away
from swefuse.records import Action


def edit(kind: str, old: str, new: str, line: int = 2) -> Choice:
    return Choice(kind, Action(name="edit", path="m.py", line=line, old=old, new=new))


def picked(name: str, choices: tuple[Choice, ...], count: int = 1) -> list[Choice]:
    requests = [Request(TASKS[0], (), choices, seed) for seed in range(count)]
    return [reply.choice for reply in ScriptedPolicy(name).act(requests)]


def test_what_gives_itself_away() -> None:
    assert gives_itself_away(edit("return", "a + b", "return a + b"))
    assert gives_itself_away(edit("condition", "not a", "a"))
    for old, new in (("", "return "), ("a", "not a"), ("return a", "a"), ("not a", "b"), ("nota", "a"), ("a", "return b")):
        assert not gives_itself_away(edit("return", old, new))


def test_rule_takes_what_gives_itself_away_and_is_random_elsewhere() -> None:
    telling = (edit("condition", "not a", "a"), edit("return", "b", "return b"))
    others = tuple(edit("constant", "1", str(n)) for n in range(20))
    assert set(picked("rule", others + telling, 40)) == set(telling)
    assert picked("rule", others, 10) == picked("random", others, 10)


def test_random_draws_the_kind_first() -> None:
    choices = (edit("guard", "", "x"), *(edit("constant", "1", str(n)) for n in range(9)))
    found = picked("random", choices, 400)
    assert 160 < sum(choice.thought == "guard" for choice in found) < 240, "half of the draws, for one edit in ten"
    assert set(found) == set(choices)
    assert found == picked("random", choices, 400)


def test_the_reference_plays_the_stored_edit() -> None:
    for task, episode in zip(TASKS, episodes(), strict=True):
        choices = protocol.choices(task, task.files, episode.steps[:2])
        action = ScriptedPolicy("reference").act([Request(task, episode.steps[:2], choices)])[0].choice.action
        stored = task.provenance.parameters
        assert (str(action.line), action.old, action.new) == (stored["line"], stored["old"], stored["new"])
    others = (edit("constant", "1", "2"), edit("constant", "1", "3"))
    forced = Request(TASKS[0], (), others[:1])
    lacking, still = ScriptedPolicy("reference").act([Request(TASKS[0], (), others), forced])
    assert lacking.choice is None and "is not among the edits that are open" in lacking.problem
    assert still.choice == others[0], "the others of the batch are answered all the same"


def test_a_forced_move_carries_no_trace_and_the_rules_name_is_the_model() -> None:
    submit = Choice("", Action(name="submit"))
    assert ScriptedPolicy("rule").act([Request(TASKS[0], (), (submit,))]) == [Reply(submit)]
    assert ScriptedPolicy("rule").identity.model == "scripted/rule"
    with pytest.raises(KeyError):
        ScriptedPolicy("unknown")
