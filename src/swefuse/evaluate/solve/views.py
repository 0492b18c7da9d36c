"""One function of a real file as the small task that a choosing model was trained on, and its edits back in the real file.

What the model gets to see is the function alone, moved to the left margin, in four spaces for a tab and plain line ends, behind
what failing tests say in the form of its training's tests. What it chooses is carried over line by line, so that the file keeps
its indentation and line ends.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from swefuse.code.functions import walk
from swefuse.collect import actions, protocol
from swefuse.collect.prompts import NO_TESTS, show_file
from swefuse.errors import DataError, PatchError
from swefuse.evaluate.solve.localise import Definition
from swefuse.policy.base import Choice
from swefuse.records import Action, Kind, Provenance, Step, Suite, Task
from swefuse.tasks.spec import MODULE
from swefuse.workspace import apply_edit, ref

TAB = 4
MOST_LINES = 150  # of a function that is shown; the tasks of the training have some ten
MOST_SHOWN = 4  # failing tests whose words are shown
_ASYNC = re.compile(r"async\s+(?=def\b)")
_WHERE = re.compile(r"where (.+?) = (?:[\w.]*\.)?(\w+)\((.*)\)$")
_EQUAL = re.compile(r"assert (.+?) == (.+)")
_RAISED = re.compile(r"(?:[\w.]*\.)?(\w*(?:Error|Exception|Interrupt|Exit|Iteration|Warning)): ?(.*)")
_NOT_RAISED = re.compile(r"DID NOT RAISE.*?(\w+)'?>?\)?$")


@dataclass(frozen=True, slots=True)
class View:
    """A function of ``text``, the whole real file, as a task. ``kept``: of each of its rows the white space that was taken away;
    None for one that was left as it is, such as the inside of a string."""

    text: str
    first: int
    task: Task
    steps: tuple[Step, ...]
    choices: tuple[Choice, ...]
    kept: tuple[str | None, ...]
    tabs: bool
    is_async: bool

    def apply(self, action: Action) -> str:
        """The real file after an edit of the view. Raises PatchError where it does not apply."""
        shown = self.task.files[MODULE]
        after = apply_edit(self.task.files, action)[MODULE].split("\n")
        before, rows = shown.split("\n"), self.text.split("\n")
        old = action.old.count("\n") + 1 if action.old else 0
        at, start = action.line - 1, self.first + action.line - 2
        new: list[str] = []
        for n in range(old + len(after) - len(before)):
            pair = (before[at + n], rows[start + n].removesuffix("\r")) if n < old else None
            new.append(self._back(pair, after[at + n], at + n))
        ends = "\r" if rows[self.first - 1].endswith("\r") else ""
        last = start + old >= len(rows)  # the file ends without a line feed
        made = [row + ("" if last and n == len(new) - 1 else ends) for n, row in enumerate(new)]
        return "\n".join([*rows[:start], *made, *rows[start + old :]])

    def _back(self, pair: tuple[str, str] | None, new: str, at: int) -> str:
        """A row of the view in the real file; ``pair``: the row that it comes in the place of, in the view and really."""
        if pair is not None:
            shown, real = pair
            lead = len(shown) - len(shown.lstrip())
            if shown[:lead] == new[: len(new) - len(new.lstrip())]:
                word = _ASYNC.match(real.lstrip()) if self.is_async and at == 0 else None
                return real[: len(real) - len(real.lstrip())] + (word[0] if word else "") + new[lead:]
        margin = self.kept[at if pair is not None and at < len(self.kept) else 0] or ""
        if not self.tabs:
            return margin + new
        lead = len(new) - len(new.lstrip(" "))
        return margin + "\t" * (lead // TAB) + " " * (lead % TAB) + new[lead:]


def view(text: str, one: Definition, tests: Sequence[str], words: bool = True) -> View | None:
    """The function of a file as a task, with the rows of failing ``tests``; without ``words`` not even its name is told.

    None for a function that has no open edit, is longer than MOST_LINES, or cannot be shown by itself, such as one behind other
    code on its line.
    """
    if one.last - one.line >= MOST_LINES:
        return None
    rows = text.split("\n")[one.line - 1 : one.last]
    plain = [row.removesuffix("\r") for row in rows]
    margin = plain[0][: len(plain[0]) - len(plain[0].lstrip())] if plain else ""
    if any("\r" in row for row in plain) or not re.match(r"(async\s+)?def\b", plain[0].lstrip()):
        return None
    inside = _inside_strings(one)
    kept = tuple(margin if row.startswith(margin) and one.line + n not in inside else None for n, row in enumerate(plain))
    tabs = any("\t" in row[: len(row) - len(row.lstrip())] for row in plain)
    is_async = isinstance(one.node, ast.AsyncFunctionDef)
    shown = [_shown(row, taken, tabs) for row, taken in zip(plain, kept, strict=True)]
    shown[0] = _ASYNC.sub("", shown[0], count=1)
    name = one.node.name
    files = {MODULE: "\n".join(shown) + "\n"}
    task = Task.make(
        Kind.BUGFIX, instruction=f"Find the bug of `{name}` in {MODULE} and repair it.", hide_instruction=not words, files=files,
        editable=(MODULE,), suites=(Suite(form="calls", entry=f"{MODULE}:{name}"),),
        provenance=Provenance(source="solve", function=one.name),
    )  # fmt: skip
    try:
        choices = protocol.open_edits(task)
    except (DataError, RecursionError):
        return None
    if not choices:
        return None
    return View(text, one.line, task, _opening(files, tests), choices, kept, tabs, is_async)


def _shown(row: str, taken: str | None, tabs: bool) -> str:
    if taken is None:
        return row
    row = row[len(taken) :]
    lead = row[: len(row) - len(row.lstrip())]
    return lead.replace("\t", " " * TAB) + row[len(lead) :] if tabs else row


def _inside_strings(one: Definition) -> set[int]:
    """Lines that begin inside of a string, whose white space is part of it."""
    found: set[int] = set()
    for node in walk(one.node):
        text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        if text and isinstance(node, ast.expr) and (node.end_lineno or 0) > node.lineno:
            found.update(range(node.lineno + 1, (node.end_lineno or 0) + 1))
    return found


def _opening(files: dict[str, str], tests: Sequence[str]) -> tuple[Step, ...]:
    """What the protocol forces before the choice: a look, and the tests."""
    state = ref(files)
    seen = (
        (Action(name="view", path=MODULE), show_file(files[MODULE])),
        (Action(name="test"), "\n".join(tests) or NO_TESTS),
    )
    return tuple(
        Step(thought="", action=action, raw=actions.render(action), observation=told, before=state, after=state)
        for action, told in seen
    )


def rows_of(name: str, details: Sequence[str]) -> list[str]:
    """What failing tests say, in the words that the tests of function tasks have, as far as it can be told.

    Example: ``assert 3 == 4`` with ``where 3 = half(6)`` becomes ``FAIL half(6,) gave 3, expected 4``.
    """
    found = dict.fromkeys(row for detail in details if (row := _row(name, detail)))
    return sorted(found, key=len)[:MOST_SHOWN]


def _row(name: str, detail: str) -> str:
    lines = [line.strip().removeprefix("+").strip() for line in detail.strip().splitlines()]
    if not lines:
        return ""
    head = lines[0].removeprefix("AssertionError:").strip()
    where = next((match for line in lines[1:] if (match := _WHERE.match(line)) and match[2] == name), None)
    called = f"{name}({where[3]},)" if where and where[3] else f"{name}()"
    if match := _NOT_RAISED.search(head):
        return f"FAIL {called} gave None, expected {match[1]}"
    if match := _EQUAL.match(head):
        got, want = (match[2], match[1]) if where and where[1] == match[2] else (match[1], match[2])
        return f"FAIL {called} gave {got}, expected {want}"
    if match := _RAISED.match(head):
        return f"FAIL {called} gave raised {match[1]}: {match[2]}"
    return f"FAIL {called} {head}" if head else ""


def edited(one: View, action: Action) -> str | None:
    """The real file after an edit of the view; None where it changes nothing, or leaves a file that does not parse."""
    try:
        after = one.apply(action)
        ast.parse(after.removeprefix("\ufeff"))
    except (PatchError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return after if after != one.text else None
