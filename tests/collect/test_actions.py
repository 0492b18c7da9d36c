"""The action grammar: rendering and parsing are inverse to each other, and everything else is refused."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swefuse.collect.actions import parse, render
from swefuse.errors import PatchError
from swefuse.records import Action

ANY = st.text(st.characters(codec="utf-8"), max_size=8) | st.text("#@+-:*\n\r 1ab", max_size=8)
LINE = ANY.map(lambda text: text.replace("\n", "") or "x")
PATH = LINE.map(lambda text: text.replace(":", "").replace("*", "") or "m.py")
BARE = st.sampled_from(["test", "undo", "submit"]).map(lambda name: Action.model_validate({"name": name}))
EDIT = st.builds(
    Action, name=st.just("edit"), path=PATH, line=st.integers(1, 9_999_999), nth=st.integers(1, 9999), old=ANY, new=ANY
).filter(lambda action: action.old or action.new)
ACTION = (
    BARE
    | EDIT
    | st.builds(Action, name=st.just("view"), path=PATH, line=st.integers(0, 9_999_999))
    | st.builds(Action, name=st.sampled_from(["search", "run"]), text=LINE)
    | st.builds(Action, name=st.just("create"), path=PATH, text=ANY)
)
SMALL = st.text("#@+-:*\n 019", max_size=2)


@st.composite
def nearly(draw: st.DrawFn) -> str:
    """A message in which a few characters were taken away and others put there."""
    message = render(draw(ACTION), draw(ANY))
    at = draw(st.integers(0, len(message)))
    return message[:at] + draw(SMALL) + message[at + draw(st.integers(0, 2)) :]


@given(ACTION, ANY)
def test_what_was_rendered_is_parsed_back(action: Action, thought: str) -> None:
    assert parse(render(action, thought)) == (thought, action)


@given(nearly())
@example("@edit a:1٢\n+x\n")  # a digit, but not of the grammar
@example("@edit a:2*10\n-\n-\n+\n+x\n")
@example("#\n#\n@create a\n+\n")
def test_what_was_parsed_is_rendered_back(message: str) -> None:
    try:
        thought, action = parse(message)
    except PatchError:
        return
    assert render(action, thought) == message


@pytest.mark.parametrize(
    ("message", "thought", "action"),
    [
        ("@view m.py\n", "", Action(name="view", path="m.py")),
        ("@view m.py:12\n", "", Action(name="view", path="m.py", line=12)),
        ("@view m:y\n", "", Action(name="view", path="m:y")),
        (
            "#why\n#so\n@edit m.py:3*2\n-a\n-b\n+c\n",
            "why\nso",
            Action(name="edit", path="m.py", line=3, nth=2, old="a\nb", new="c"),
        ),
        ("@edit m.py:3\n+c\n", "", Action(name="edit", path="m.py", line=3, new="c")),
        ("@edit m.py:3\n-a\n", "", Action(name="edit", path="m.py", line=3, old="a")),
        ("@edit m.py:3\n--\n++\n", "", Action(name="edit", path="m.py", line=3, old="-", new="+")),
        ("@create m.py\n+\n", "", Action(name="create", path="m.py", text="")),
        ("@run  ls\n", "", Action(name="run", text=" ls")),
    ],
)
def test_messages_by_hand(message: str, thought: str, action: Action) -> None:
    assert parse(message) == (thought, action)


@pytest.mark.parametrize(
    "message",
    [
        "", "\n", "@test", "@test \n", " @test\n", "@TEST\n", "@test\n\n", "@test\r\n", "test\n", "@submit x\n", "@test\n@submit\n",
        "#thought\n", "#\n@test\n", "thought\n@test\n", "@test\n#thought\n", "#a\n\n@test\n",
        "@view\n", "@view \n", "@view a\n+x\n", "@search\n", "@run \n", "@delete a\n", "@\n",
        "@create a\n", "@create \n+x\n", "@create a\n-x\n", "@create a:1\n+x\n", "@create a*\n+x\n", "@create a\n+x\ny\n",
        "@edit a:1\n", "@edit a\n+x\n", "@edit :1\n+x\n", "@edit a:0\n+x\n", "@edit a:01\n+x\n", "@edit a:-1\n+x\n",
        "@edit a:1*0\n-x\n", "@edit a:1*1\n-x\n", "@edit a:1*02\n-x\n", "@edit a:1*10000\n-x\n", "@edit a:10000000\n+x\n",
        "@edit a:1*٣\n-x\n", "@edit a:b:1\n+x\n", "@edit a:1 \n+x\n", "@edit a:1\n+x\n-y\n", "@edit a:1\n-x\n+y\n-z\n",
        "@edit a:1\n-\n", "@edit a:1\n+\n", "@edit a:1\n-x\n+\n", "@edit a:1\n-\n+x\n", "@edit a:1\nx\n", "@edit a:1\n-x\n\n",
    ],
)  # fmt: skip
def test_malformed_messages_are_refused(message: str) -> None:
    with pytest.raises(PatchError):
        parse(message)


@pytest.mark.parametrize(
    "action",
    [
        Action(name="view"),
        Action(name="view", path="a\nb"),
        Action(name="search"),
        Action(name="create", path="a:1"),
        Action(name="edit", path="a*", line=1, new="x"),
        Action(name="edit", path="a", line=0, new="x"),
        Action(name="edit", path="a", line=10_000_000, new="x"),
        Action(name="edit", path="a", line=1, nth=0, old="x"),
        Action(name="edit", path="a", line=1, nth=10_000, old="x"),
        Action(name="edit", path="a", line=1),
        Action(name="edit", path="a", line=1, new="x", text="lost"),
        Action(name="view", path="a:3"),
        Action(name="view", path="a", line=-1),
        Action(name="test", path="a"),
    ],
)
def test_actions_that_the_grammar_cannot_hold_are_not_rendered(action: Action) -> None:
    with pytest.raises(PatchError):
        render(action)
