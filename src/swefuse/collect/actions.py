"""The action grammar: one strict, compact text form for everything an agent does.

::

    message := thought* action
    thought := "#" TEXT "\\n"                      any number of lines
    action  := "@view " PATH [":" LINE] "\\n"
             | "@search " TEXT "\\n"
             | "@edit " PATH ":" LINE ["*" NTH] old* new* "\\n"
             | "@create " PATH new+ "\\n"
             | "@run " TEXT "\\n" | "@test\\n" | "@undo\\n" | "@submit\\n"
    old     := "\\n-" TEXT                        the lines of the replaced text
    new     := "\\n+" TEXT                        the lines of its replacement

TEXT is anything without a line feed. A ``view`` with a LINE shows what stands around it. An ``edit`` without ``-`` lines inserts
before LINE, one without ``+`` lines deletes. Rendering and parsing are inverse to each other, and whatever does not follow the
grammar to the letter is refused: nothing is guessed at, so a message either means exactly one thing or is UNPARSED.
"""

from __future__ import annotations

import re

from swefuse.errors import PatchError
from swefuse.records import Action

_EDIT = re.compile(r"@edit ([^\n:*]+):([1-9][0-9]{0,6})(?:\*([2-9]|[1-9][0-9]{1,3}))?\Z")
_VIEW = re.compile(r"(.+):([1-9][0-9]{0,6})\Z", re.DOTALL)
_BARE = {"@test": "test", "@undo": "undo", "@submit": "submit"}
_TEXT = {"@view": "view", "@search": "search", "@run": "run"}
_WRITTEN = {
    "view": ("path", "line"), "search": ("text",), "run": ("text",), "create": ("path", "text"),
    "edit": ("path", "line", "nth", "old", "new"),
}  # fmt: skip
_UNUSED = Action(name="test").model_dump(exclude={"name"})


def render(action: Action, thought: str = "") -> str:
    """The message for a thought and an action. Raises PatchError if a field cannot be written in the grammar."""
    return _head(thought) + _render_action(action) + "\n"


def render_edit(path: str, line: int, nth: int, old: str, new: str, thought: str = "") -> str:
    """``render`` of an edit given by its fields: a hundred of them are open in a state, and making each an ``Action`` costs more
    than writing it."""
    return f"{_head(thought)}{_edit(path, line, nth, old, new)}\n"


def _head(thought: str) -> str:
    return "".join(f"#{line}\n" for line in thought.split("\n")) if thought else ""


def _render_action(action: Action) -> str:
    for name, nothing in _UNUSED.items():
        if name not in _WRITTEN.get(action.name, ()) and getattr(action, name) != nothing:
            raise PatchError(f"the action {action.name} has no {name}")
    if action.name in _BARE.values():
        return f"@{action.name}"
    if action.name == "view":
        if not 0 <= action.line <= 9_999_999:
            raise PatchError(f"line {action.line}: counted from 1 up to 9999999")
        if not action.line and _VIEW.match(action.path):
            raise PatchError(f"path {action.path!r} cannot be written in the action grammar: its end reads as the number of a line")
        return f"@view {_field(action.path)}" + (f":{action.line}" if action.line else "")
    if action.name in ("search", "run"):
        return f"@{action.name} {_field(action.text)}"
    if action.name == "create":
        return f"@create {_place(action.path)}" + _lines("+", action.text)
    return _edit(action.path, action.line, action.nth, action.old, action.new)


def _edit(path: str, line: int, nth: int, old: str, new: str) -> str:
    if not 1 <= line <= 9_999_999 or not 1 <= nth <= 9999:
        raise PatchError(f"line {line}, occurrence {nth}: counted from 1 up to 9999999 and 9999")
    if not old and not new:
        raise PatchError("an edit without old and new text changes nothing")
    place = f"{_place(path)}:{line}" + (f"*{nth}" if nth > 1 else "")
    return f"@edit {place}{_lines('-', old) if old else ''}{_lines('+', new) if new else ''}"


def _place(path: str) -> str:
    if ":" in path or "*" in path:
        raise PatchError(f"path {path!r} cannot be written in the action grammar (':' and '*' are taken)")
    return _field(path)


def _field(value: str) -> str:
    if not value or "\n" in value:
        raise PatchError(f"{value!r} must be one non-empty line")
    return value


def _lines(mark: str, text: str) -> str:
    return "".join(f"\n{mark}{line}" for line in text.split("\n"))


def parse(message: str) -> tuple[str, Action]:
    """``(thought, action)`` of a message. Raises PatchError, naming what is wrong, if it does not follow the grammar exactly."""
    if not message.endswith("\n"):
        raise PatchError("a message ends with a line feed")
    rows = message[:-1].split("\n")
    thoughts = 0
    while thoughts < len(rows) and rows[thoughts].startswith("#"):
        thoughts += 1
    if thoughts == len(rows):
        raise PatchError("the message holds no action")
    thought = "\n".join(row[1:] for row in rows[:thoughts])
    if thoughts and not thought:
        raise PatchError("an empty thought is left out, not written")
    return thought, _parse_action(rows[thoughts], rows[thoughts + 1 :])


def _parse_action(head: str, rest: list[str]) -> Action:
    if head.startswith("@edit "):
        return _parse_edit(head, rest)
    if head.startswith("@create "):
        if not rest or any(not row.startswith("+") for row in rest):
            raise PatchError("'@create PATH' is followed by '+' lines only")
        path = _path(head[len("@create ") :])
        return Action(name="create", path=path, text="\n".join(row[1:] for row in rest))
    if rest:
        raise PatchError(f"{rest[0]!r} follows a complete action; one action a message")
    if head in _BARE:
        return Action.model_validate({"name": _BARE[head]})
    word, _, value = head.partition(" ")
    if word in _TEXT and value:
        if word == "@view":
            placed = _VIEW.match(value)
            return Action(name="view", path=placed[1] if placed else value, line=int(placed[2]) if placed else 0)
        field = "text"
        return Action.model_validate({"name": _TEXT[word], field: value})
    raise PatchError(f"{head!r} is no action; actions: view, search, edit, create, run, test, undo, submit")


def _path(value: str) -> str:
    if not value or ":" in value or "*" in value:
        raise PatchError(f"{value!r} is no path of the grammar")
    return value


def _parse_edit(head: str, rest: list[str]) -> Action:
    match = _EDIT.match(head)
    if match is None:
        raise PatchError(f"{head!r} should read '@edit PATH:LINE' or '@edit PATH:LINE*NTH'")
    split = 0
    while split < len(rest) and rest[split].startswith("-"):
        split += 1
    old, new = rest[:split], rest[split:]
    if any(not row.startswith("+") for row in new):
        raise PatchError("an edit holds '-' lines, then '+' lines, and nothing else")
    if not rest:
        raise PatchError("an edit without '-' and '+' lines changes nothing")
    if old == ["-"] or new == ["+"]:
        raise PatchError("an empty old or new text is left out, not written")
    return Action(
        name="edit",
        path=match[1],
        line=int(match[2]),
        nth=int(match[3] or 1),
        old="\n".join(row[1:] for row in old),
        new="\n".join(row[1:] for row in new),
    )
