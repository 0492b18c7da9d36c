"""From a function to its calls."""

from __future__ import annotations

import random

from small_functions import CLIP_ARGUMENTS, HELPED, make_spec

from swefuse.sandbox import Sandbox
from swefuse.tasks.inputs import candidates
from swefuse.tasks.prepare import prepare
from swefuse.tasks.spec import FunctionSpec


def test_calls_hold_the_own_arguments_first_and_true_answers(clip: FunctionSpec) -> None:
    assert len(clip.calls) == 16
    assert [call.args for call in clip.calls[:5]] == list(CLIP_ARGUMENTS)
    by_arguments = {call.args: call for call in clip.calls}
    assert by_arguments["([1, 5, 9], 2, 6)"].want == "[2, 5, 6]"
    assert by_arguments["([3], 5, 4)"].raises == "ValueError"
    assert len({call.id for call in clip.calls}) == 16


def test_arguments_of_a_check_are_recorded_in_the_sandbox(helped: FunctionSpec) -> None:
    assert [call.args for call in helped.calls] == ["(2, 3)", "(1.5, 1)", "(-1, 1)", "(0, 1)", "(1, 1)", "(2, 1)", "(3, 1)"]
    assert [call.want for call in helped.calls][:3] == ["12", "3", "-1"]


def test_functions_that_cannot_be_used_say_why(box: Sandbox) -> None:
    wrong = prepare(make_spec(HELPED, "area", tests="def check(candidate):\n    assert candidate(1, 1) == 7\n"))
    assert wrong.reason == "the reference does not pass the source's own check"
    odd = prepare(make_spec("def f(x: int) -> object:\n    return object()\n", "f", ("(1,)", "(2,)")))
    assert odd.reason == "fewer than 2 usable calls"
    assert odd.dropped["the answer has no literal"] > 10
    text = "def f(x: int) -> int:\n    total = 0\n    for i in range(30_000):\n        total += i\n    return total + x\n"
    assert prepare(make_spec(text, "f", ("(1,)", "(2,)"))).reason == "takes too long for the time limit of its tests"


def test_answers_that_differ_between_runs_are_left_out(box: Sandbox) -> None:
    text = "import time\n\n\ndef f(x: int) -> int:\n    return time.time_ns() if x > 5 else x\n"
    mixed = prepare(make_spec(text, "f", ("(1,)", "(9,)", "(8,)", "(2,)")))
    assert mixed.dropped["the answer differs between runs"] >= 2
    assert not {"(9,)", "(8,)"} & {call.args for call in mixed.spec.calls}


def test_candidates_keep_types_and_do_not_depend_on_hashing() -> None:
    found = candidates(random.Random(0), ["({'b', 'a'}, [1.5], {'k': (1, None)})"], 30)
    assert found[0] == "({'b', 'a'}, [1.5], {'k': (1, None)})"
    assert len(found) == len(set(found)) == 30
    assert found == candidates(random.Random(0), ["({'b', 'a'}, [1.5], {'k': (1, None)})"], 30)
