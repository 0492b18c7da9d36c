"""States and edits, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.errors import PatchError
from swefuse.records import Action
from swefuse.workspace import apply_edit, check_path, line_offset, locate, ref

TEXT = "a = b + b\nc = a\n"


def edit(line: int, old: str, new: str, nth: int = 1) -> Action:
    return Action(name="edit", path="m.py", line=line, nth=nth, old=old, new=new)


def edited(text: str, action: Action) -> str:
    return apply_edit({"m.py": text}, action)["m.py"]


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4))
def test_a_state_is_named_by_its_content_alone(files: dict[str, str]) -> None:
    assert ref(dict(reversed(files.items()))) == ref(files)
    assert ref({**files, "another path": ""}) != ref(files)
    for path in files:
        assert ref({**files, path: files[path] + "!"}) != ref(files)


def test_moving_text_between_files_makes_another_state() -> None:
    assert len({ref(files) for files in ({"a": "x", "b": "y"}, {"a": "y", "b": "x"}, {"a": "xy", "b": ""}, {"a": "xy"})}) == 4


@pytest.mark.parametrize(
    ("text", "line", "offset"),
    [
        ("ab\nc\n", 1, 0),
        ("ab\nc\n", 2, 3),
        ("ab\nc\n", 3, 5),
        ("ab\nc", 2, 3),
        ("ab\nc", 3, 4),
        ("", 1, 0),
        ("\n", 2, 1),
        ("a", 2, 1),
    ],
)
def test_lines_start_where_counting_says(text: str, line: int, offset: int) -> None:
    assert line_offset(text, line) == offset


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("ab\nc\n", 4, "line 4 does not exist: the file has 2 lines"),
        ("ab\nc", 4, "line 4 does not exist: the file has 2 lines"),
        ("", 2, "line 2 does not exist: the file has 0 lines"),
        ("a", 0, "lines are counted from 1"),
        ("a", -1, "lines are counted from 1"),
    ],
)
def test_lines_outside_are_refused(text: str, line: int, message: str) -> None:
    with pytest.raises(PatchError) as caught:
        line_offset(text, line)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("line", "old", "nth", "at"),
    [(1, "b", 1, 4), (1, "b", 2, 8), (2, "a", 1, 14), (1, "b\nc", 1, 8), (1, "\n", 1, 9), (2, "", 1, 10), (1, " b", 2, 7)],
)
def test_an_occurrence_is_found_where_it_starts(line: int, old: str, nth: int, at: int) -> None:
    assert locate(TEXT, edit(line, old, "new", nth)) == at


def test_occurrences_may_overlap() -> None:
    assert edited("aaa\n", edit(1, "aa", "b", nth=2)) == "ab\n"


@pytest.mark.parametrize(("line", "old", "nth"), [(1, "b", 3), (1, "c", 1), (2, "b", 1), (3, "a", 1), (1, "b", 0), (1, "b", -1)])
def test_an_occurrence_that_is_not_there_is_refused(line: int, old: str, nth: int) -> None:
    with pytest.raises(PatchError):
        locate(TEXT, edit(line, old, "new", nth))


@pytest.mark.parametrize(
    ("text", "action", "result"),
    [
        (TEXT, edit(1, "b", "d", nth=2), "a = b + d\nc = a\n"),
        (TEXT, edit(1, " + b", ""), "a = b\nc = a\n"),
        (TEXT, edit(1, "b\nc", "e\nf"), "a = b + e\nf = a\n"),
        (TEXT, edit(1, "", "x = 1"), "x = 1\na = b + b\nc = a\n"),
        (TEXT, edit(3, "", "x = 1\ny = 2"), "a = b + b\nc = a\nx = 1\ny = 2\n"),
        ("a", edit(2, "", "b"), "a\nb\n"),  # the last line has no line feed
        ("a", edit(1, "", "b"), "b\na"),
        ("", edit(1, "", "b"), "b\n"),
        ("a\r\nb\r\n", edit(2, "b", "c"), "a\r\nc\r\n"),
        ("a\r\nb", edit(1, "a", "c"), "c\r\nb"),
    ],
)
def test_edits_by_hand(text: str, action: Action, result: str) -> None:
    assert edited(text, action) == result


def test_an_edit_leaves_the_given_state_as_it_was() -> None:
    files = {"m.py": TEXT, "n.py": ""}
    assert apply_edit(files, edit(2, "a", "b")) == {"m.py": "a = b + b\nc = b\n", "n.py": ""}
    assert apply_edit(files, Action(name="create", path="p/q.py", text="t")) == {**files, "p/q.py": "t"}
    assert files == {"m.py": TEXT, "n.py": ""}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (edit(1, "b", "b"), "the edit changes nothing"),
        (edit(1, "", ""), "the edit changes nothing"),
        (Action(name="edit", path="x.py", line=1, old="a", new="b"), "there is no file x.py; files: m.py"),
        (Action(name="create", path="m.py", text="t"), "m.py exists already; edit it instead"),
        (edit(2, "b", "d"), "'b' (occurrence 1) is not on line 2 of m.py"),
    ],
)
def test_what_does_not_apply_says_why(action: Action, message: str) -> None:
    with pytest.raises(PatchError) as caught:
        apply_edit({"m.py": TEXT}, action)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "path", ["", ".", "/etc/passwd", "//x", "..", "../x", "a/../b", ".git", ".git/hooks/x", "./.git/x", "a/.git/x", "a\0b"]
)
def test_paths_that_leave_the_workspace_are_refused(path: str) -> None:
    with pytest.raises(PatchError, match="leaves the workspace"):
        check_path(path)
    with pytest.raises(PatchError, match="leaves the workspace"):
        apply_edit({path: "a"}, Action(name="edit", path=path, line=1, old="a", new="b"))


@pytest.mark.parametrize("path", ["a", "a/b.py", ".gitignore", "x.git/y", "..a", "a b/ü.py"])
def test_plain_paths_are_taken(path: str) -> None:
    assert check_path(path) == path
