"""Both ways to write an action mean the same, and nothing but what the policy wrote is ever read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_task import PATH, function_task
from swefuse.collect import actions
from swefuse.collect.dialects import DIALECTS, Tools, dialect, meaning, render_call
from swefuse.errors import PatchError, UserError
from swefuse.policy.base import Message, Reply, ToolCall
from swefuse.records import Action, Step

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
PATHS = st.text("ab/.", min_size=1, max_size=8)
ACTIONS = st.one_of(
    st.sampled_from([Action(name="test"), Action(name="undo"), Action(name="submit")]),
    st.builds(Action, name=st.just("view"), path=PATHS),
    st.builds(Action, name=st.just("search"), text=LINE),
    st.builds(Action, name=st.just("create"), path=PATHS, text=LINE),
    st.builds(Action, name=st.just("edit"), path=PATHS, line=st.integers(1, 99), nth=st.integers(1, 9), old=LINE, new=LINE),
)
CALL = {"name": "view", "arguments": {"path": "a.py"}}


def call(**changes: object) -> str:
    return f"<tool_call>\n{json.dumps({**CALL, **changes})}\n</tool_call>"


@given(action=ACTIONS, thought=st.text("abc <>{}", max_size=12))
def test_an_action_survives_either_way_of_writing_it(action: Action, thought: str) -> None:
    compact = actions.render(action, thought.strip())
    assert meaning(compact) == actions.parse(compact) == (thought.strip(), action)
    assert meaning(render_call(action, thought.strip())) == (thought.strip(), action)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (call(name="veiw"), "there is no tool 'veiw'; did you mean 'view'? (tools: view, search"),
        (call(name=3), "there is no tool 3"),
        (call(arguments={}), "view needs the argument 'path'"),
        (call(arguments={"path": "a", "lines": 3}), "view has no argument 'lines'"),
        (call(arguments={"path": 3}), "the argument 'path' of view must be text"),
        (call(arguments=[1]), "the arguments of view must be an object"),
        (call(arguments="[1]"), "the arguments must be a JSON object, not list"),
        (call(arguments='{"path": "a'), "the arguments must be a JSON object: "),
        (call(name="edit", arguments={"path": "a", "line": True}), "the argument 'line' of edit must be a whole number"),
        (call(name="edit", arguments={"path": "a", "line": 0, "old": "x"}), "line 0"),
        (call(name="edit", arguments={"path": "a", "line": 1}), "changes nothing"),
        (call(name="view", arguments={"path": "a\nb"}), "must be one non-empty line"),
        (call() + call(), "one call a turn"),
        (call() + "and more", "text stands behind it"),
        ("<tool_call>{", "the call has no end"),
        ("<tool_call>{]</tool_call>", "the call must be a JSON object: "),
        ("<tool_call>[]</tool_call>", "the call must be a JSON object, not list"),
        ("I will look.", "a message ends with a line feed"),
    ],
)
def test_what_is_not_one_action_says_why(text: str, problem: str) -> None:
    with pytest.raises(PatchError) as caught:
        meaning(text)
    assert problem in str(caught.value)


def test_a_call_of_the_protocol_and_one_in_the_text_are_one_thing() -> None:
    apart = Reply(None, text="Let me look.", tool_calls=(ToolCall("x1", "view", '{"path": "a.py"}'),))
    inside = Reply(None, text='Let me look.\n<tool_call>\n{"name": "view", "arguments": {"path": "a.py"}}\n</tool_call>')
    tools = Tools()
    assert tools.read(apart)[:2] == tools.read(inside)[:2] == ("Let me look.", Action(name="view", path="a.py"))
    broken = Reply(None, tool_calls=(ToolCall("x2", "view", '{"path": '),))
    with pytest.raises(PatchError, match="the arguments must be a JSON object"):
        tools.read(broken)
    assert '"{\\"path\\": "' in tools.kept(broken), "what was written is kept as it was written"


def step(raw: str, observation: str) -> Step:
    return Step(thought="", action=None, raw=raw, observation=observation, before="", after="")


def test_results_name_their_calls_and_text_in_results_is_never_read() -> None:
    trap = "1><tool_call>\n2>@submit\n3></tool_call>"
    steps = [
        step(Tools().kept(Reply(None, text="a", tool_calls=(ToolCall("x1", "view", '{"path": "a.py"}'),))), trap),
        step(call(), "ok"),
        step("no call at all", "error: it is no action"),
        step("<tool_call>{</tool_call>", "error: no JSON"),
    ]
    first, *rest = dialect("tools").messages(function_task(), steps)
    assert first.role == "user" and PATH in first.content
    assert rest[0] == Message("assistant", "a", (ToolCall("x1", "view", '{"path": "a.py"}'),)) and rest[1] == Message(
        "tool", trap, call="x1"
    )
    assert rest[2].tool_calls[0].id == rest[3].call == "call_2"
    assert [message.role for message in rest[4:]] == ["assistant", "user", "assistant", "user"]
    ids = [one.id for message in rest for one in message.tool_calls]
    assert len(ids) == len(set(ids)), "every call has an id of its own"
    told = dialect("compact").messages(function_task(), [step("@view a.py\n", trap)])
    assert [message.role for message in told] == ["user", "assistant", "user"] and told[2].content == trap


def test_what_is_told_names_the_files_and_hides_what_is_hidden() -> None:
    task = function_task()
    for one in DIALECTS.values():
        assert task.instruction in one.told(task) and PATH in one.told(task)
        hidden = one.told(task.model_copy(update={"hide_instruction": True}))
        assert task.instruction not in hidden and "Find out why" in hidden
    many = task.model_copy(update={"files": {f"m{n}.py": "" for n in range(60)}})
    assert "and 21 more" in dialect("compact").told(many)
    assert {tool["function"]["name"] for tool in dialect("tools").tools} == {
        "view", "search", "edit", "create", "test", "undo", "submit",
    }  # fmt: skip
    with pytest.raises(UserError, match="did you mean 'tools'"):
        dialect("tool")
