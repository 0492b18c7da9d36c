"""The two forms of a task's tests."""

from __future__ import annotations

from swefuse.records import Call
from swefuse.tasks.spec import FunctionSpec
from swefuse.tasks.suites import CHECK_ID, make_suites, module_of_tests, node_ids, show

CALLS = tuple(Call(id=f"t{at}", args=f"({'9' * (at + 1)},)", want="0") for at in range(16))


def test_six_short_calls_are_visible_and_two_of_them_fail() -> None:
    shown = show(CALLS, {"t9", "t12", "t15"})
    assert [call.id for call in shown if call.visible] == ["t0", "t1", "t2", "t3", "t9", "t12"]
    assert [call.id for call in shown] == [call.id for call in CALLS]
    assert [call.id for call in show(CALLS, {"t15"}) if call.visible] == ["t0", "t1", "t2", "t3", "t4", "t15"]


def test_of_few_calls_half_stay_hidden() -> None:
    assert [call.id for call in show(CALLS[:5], {"t4"}) if call.visible] == ["t0", "t1", "t4"]


def test_both_forms_name_the_same_tests(clip: FunctionSpec) -> None:
    failing = {clip.calls[0].id, clip.calls[2].id}
    calls, pytest = make_suites(clip, failing)
    nodes = node_ids("clip", clip.calls)
    assert set(calls.fail_to_pass) == failing
    assert [nodes[id_] for id_ in calls.expected] == list(pytest.expected)
    assert nodes[clip.calls[2].id] == "test_solution.py::test_clip_raises[3_5_4]"
    assert f'pytest.param({clip.calls[0].args}, {clip.calls[0].want}, id="{clip.calls[0].id}"),' in module_of_tests(clip)


def test_a_source_with_its_own_check_keeps_it_untouched(helped: FunctionSpec) -> None:
    calls, pytest = make_suites(helped, {helped.calls[0].id})
    assert pytest.expected == (CHECK_ID,)
    assert helped.tests.strip() in module_of_tests(helped)
    assert calls.pass_to_pass
