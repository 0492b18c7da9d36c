"""Trajectories from a reference solution: what it changes as steps that are carried out for real, in several orders and sizes.

Every observation is the real one, and a thought says no more than was seen: which failure, which lines change, whether tests pass.
An ``order`` says what is looked at before the first edit, a ``grain`` how much one edit changes.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from swefuse.collect import protocol
from swefuse.collect.agent import Judge, rollouts
from swefuse.collect.episode import Episode, Start, begin, finished, step
from swefuse.collect.prompts import (
    AROUND,
    MOST_BLIND,
    defined,
    enclosing,
    names,
    place_of_test,
    reached,
    role,
    show_file,
    subjects,
    what_changes,
)
from swefuse.errors import DataError, PatchError
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Action, Kind, PolicyIdentity, Task, Trajectory
from swefuse.workspace import apply_edit

Order = Literal["look_first", "test_first", "search_first"]
Grain = Literal["narrow", "lines", "span"]
ORDERS: tuple[Order, ...] = ("test_first", "look_first", "search_first")
GRAINS: tuple[Grain, ...] = ("lines", "narrow", "span")
MOST_FILES = 8  # that a solution may change: more are hardly one thought
ASKED_ROOM = 40_000  # characters that are looked at of what a question is about, beside its first file
MOST_TESTS = 3  # failing tests whose text is looked at
SPAN = 12  # unchanged lines that an edit of the grain ``span`` takes in between two changes
_WIDER = (3, 8, 20, 60, 1_000_000)  # the same where a file would need more than MOST_BLIND edits
_WORD = re.compile(r"\w+|\s+|[^\w\s]+")
_NUMBER = re.compile(r"^(\d+)>", re.MULTILINE)
_CALLED = re.compile(r"::(?:test_)?([a-z_]+[a-z])|FAIL (\w+)\(")
_RED = re.compile(r"(?:FAIL|ERROR) |\d+ of \d+ tests fail|(?:yet )?the check says (?!PASSED)")
_GREEN = re.compile(r"PASS |all \d+ tests pass|the check says PASSED")
_WRITTEN = {
    Kind.QA: "I write the answer into {path}.",
    Kind.TESTGEN: "I write the tests into {path}.",
    Kind.DOCGEN: "I write the docstring into {path}.",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to tell a solution."""

    order: Order
    grain: Grain


def plans(task: Task, count: int) -> list[Plan]:
    """So many different plans, the same ones for the same task."""
    every = [Plan(order, grain) for grain in GRAINS for order in ORDERS]
    random.Random(task.id).shuffle(every)
    return every[:count]


def replays(task: Task, judge: Judge, count: int) -> tuple[list[Trajectory], str]:
    """At most ``count`` trajectories whose steps differ, and why there are none, if so.

    A task that small models can be asked about by choices begins with the one that ``collect.protocol`` knows. Raises DataError
    where a task has no reference.
    """
    found: dict[tuple[str, ...], Trajectory] = {}
    problem = ""
    if _closed(task):
        first = rollouts([Start(task)], ScriptedPolicy("reference"), judge.verify, "replay")[0]
        found[tuple(one.raw for one in first.steps)] = first
    for number, plan in enumerate(plans(task, len(ORDERS) * len(GRAINS))):
        if len(found) == count or (found and task.reference is None):
            break
        try:
            made = replay(task, judge, plan, number)
        except PatchError as error:
            problem = str(error)
            continue
        found.setdefault(tuple(one.raw for one in made.steps), made)
    return list(found.values()), "" if found else problem


def replay(task: Task, judge: Judge, plan: Plan, seed: int = 0) -> Trajectory:
    """One trajectory. Raises PatchError where the solution cannot be told in steps, DataError where there is none."""
    if task.reference is None:
        raise DataError(f"task {task.id} has no reference to replay")
    edits = list(changes(task, plan.grain))
    told = _Told(task, judge, begin(Start(task, seed)), edits)
    told.look(plan.order)
    for number in range(len(edits)):
        told.change(number)
    told.test()
    told.take(Action(name="submit"), told.claim())
    identity = PolicyIdentity(model="scripted/replay", parameters={"order": plan.order, "grain": plan.grain})
    return finished(told.episode, identity, "replay")


def _closed(task: Task) -> bool:
    return (
        task.suite("calls") is not None
        and {"line", "old", "new"} <= task.provenance.parameters.keys()
        and bool(protocol.choices(task, task.files, ()))
    )


@dataclass(slots=True)
class _Told:
    """A replay in progress. ``viewed``: files that were looked at as a whole, as far as they fit; ``sought``: what was searched
    for; ``untested``: edits since the last test run; ``tests``: what the test runs showed; ``news``: the last is yet to be told.
    """

    task: Task
    judge: Judge
    episode: Episode
    edits: Sequence[Action]
    viewed: set[str] = field(default_factory=set)
    sought: set[str] = field(default_factory=set)
    untested: int = 0
    tests: list[str] = field(default_factory=list)
    news: bool = False

    def take(self, action: Action, thought: str = "") -> None:
        """Carry out a step."""
        if action.name in ("test", "submit"):
            self.judge.ensure([self.episode])
        step(self.episode, thought, action, self.judge.of)
        self.untested += action.name in ("edit", "create")

    def test(self) -> None:
        """Run the tests, where there are some to be seen."""
        suite = self.task.suite("calls")
        if suite is None or any(call.visible for call in suite.calls):
            self.take(Action(name="test"))
            self.tests.append(self.episode.steps[-1].observation)
            self.news, self.untested = True, 0

    def look(self, order: Order) -> None:
        """What is looked at before the first edit."""
        first = next((edit for edit in self.edits[:1] if edit.name == "edit"), None)
        if order == "look_first" and first is not None and self._fits(first.path):
            self.view_for(first)
        self.test()
        asked, room = list[str](), ASKED_ROOM
        for path in (every := subjects(self.task)):
            if not asked or len(self.task.files[path]) <= room:
                asked.append(path)
                room -= len(self.task.files[path])
        if (order == "search_first" or len(asked) < len(every)) and (word := self._sought()):
            self.search(word)
        for id_ in self._failing():
            self._view_test(id_)
        for path in asked:
            self.view(path)
            if not self._fits(path) and (line := defined(self.episode.files[path], names(self.task))):
                self._view_lines(path, line, line)
        if first is not None:
            self.view_for(first)

    def change(self, number: int) -> None:
        """One edit, with what must be looked at before."""
        edit, last = self.edits[number], self.edits[number - 1] if number else None
        if last is not None and last.path != edit.path:
            more = sum(one.path == edit.path for one in self.edits)
            if role(last.path) < role(edit.path) or self.untested + more > MOST_BLIND:
                self.test()
        self.view_for(edit)
        self.take(edit, self._thought(edit, number))
        self.news = False
        if not self.episode.steps[-1].keep:
            raise PatchError(self.episode.steps[-1].observation)

    def view(self, path: str) -> None:
        """Look at a file, once."""
        if path not in self.viewed:
            self.viewed.add(path)
            self.take(Action(name="view", path=path))

    def search(self, word: str) -> None:
        """Look where something stands, once."""
        if word not in self.sought:
            self.sought.add(word)
            self.take(Action(name="search", text=word))

    def view_for(self, edit: Action) -> None:
        """Look at what an edit changes: the whole file, or in one that is too long its place, which is searched for."""
        if edit.name == "edit":
            if self._fits(edit.path):
                self.view(edit.path)
            elif self._unseen(edit.path, edit.line, edit.line) and (word := enclosing(self.episode.files[edit.path], edit.line)):
                self.search(word)
            self._view_lines(edit.path, edit.line, edit.line + edit.old.count("\n"))

    def claim(self) -> str:
        """What the last test run says of the present state; empty where it says nothing."""
        if not self.news or not _green(self.tests[-1]):
            return ""
        suite = self.task.suite("calls")
        what = "shown tests" if suite and not all(call.visible for call in suite.calls) else "tests"
        if self.task.kind is Kind.DOCGEN:
            return "The examples hold now."
        return f"The {what} {'still pass' if len(self.tests) > 1 and _green(self.tests[-2]) else 'pass now'}."

    def _fits(self, path: str) -> bool:
        text = self.episode.files[path]
        return len(show_file(text, 0, 20 * len(text) + 20)) <= self.episode.room

    def _unseen(self, path: str, first: int, last: int) -> list[int]:
        """Lines that no view of the file has shown; a place behind the last line asks for that one."""
        rows = self.episode.files[path].removesuffix("\n").count("\n") + 1
        views = [one for one in self.episode.steps if one.action and one.action.name == "view" and one.action.path == path]
        shown = {int(number) for one in views for number in _NUMBER.findall(one.observation)}
        return [line for line in range(min(first, rows), min(last, rows) + 1) if line not in shown]

    def _view_lines(self, path: str, first: int, last: int) -> None:
        """Look around lines that no view of the file has shown."""
        missing = self._unseen(path, first, last)
        while missing:
            line = min(missing[0] + AROUND, missing[-1])
            self.take(Action(name="view", path=path, line=line))
            missing = [one for one in missing if one > line + AROUND]

    def _view_test(self, id_: str) -> None:
        """Look at the text of a test, and where its file cannot be imported at its imports."""
        place = place_of_test(self.task.files, id_)
        if place is None:
            return
        path, first, last = place
        if self.episode.files[path].count("\n") <= 2 * AROUND and self._fits(path):
            self.view(path)
        elif path not in self.viewed:
            self._view_lines(path, first, min(last, first + 2 * AROUND))
            if "cannot collect" in self._failure():
                self._view_lines(id_.partition("::")[0], 1, 1)

    def _failing(self) -> list[str]:
        """Tests in files that the last run showed failing, each in another way."""
        suite = self.task.suite("pytest")
        rows = self.tests[-1].split("\n") if self.tests and suite else []
        found: dict[str, str] = {}
        for id_ in suite.expected if suite else ():
            if (row := next((row for row in rows if row.startswith(f"FAIL {id_}: ")), None)) is not None:
                found.setdefault(row.removeprefix(f"FAIL {id_}: "), id_)
        return list(found.values())[:MOST_TESTS]

    def _failure(self) -> str:
        """The first thing that the last test run says against this state, as it was shown."""
        rows = self.tests[-1].split("\n") if self.tests else []
        return next((row for row in rows if row.startswith("FAIL ")), next((row for row in rows if _RED.match(row)), ""))

    def _sought(self) -> str:
        """A name that is worth a search: one that a failing test is called after, else one that the task names."""
        called = next((a or b for a, b in _CALLED.findall(self._failure())), "")
        own = [self.task.files[path] for path in self.task.files if self.task.kind is Kind.QA or path not in self.task.protected]
        words = [word for word in (called, *names(self.task)) if word and any(defined(text, [word]) for text in own)]
        return next(iter(words), "")

    def _thought(self, edit: Action, number: int) -> str:
        """What the last test run says, what the model solution says, and what the edit changes."""
        said = [f"`{row[:300]}`" if (row := self._failure()) else self.claim() if number else ""] if self.news else []
        known = [one for one in self.task.solution if one.thought]
        rows = range(edit.line, edit.line + edit.old.count("\n") + 1)
        here = [one for one in known if one.action.path == edit.path and one.action.line in rows]
        said += [one.thought for one in (known[:1] if len(known) == 1 and not number else here if len(known) > 1 else [])]
        places = [one for one in self.edits if one.path == edit.path]
        if edit is places[0] and len(places) > 1 and self.task.kind not in _WRITTEN:
            order = ", from its end to its start, so that the numbers of its lines hold" if places[-1].line < edit.line else ""
            said.append(f"I change {edit.path} in {len(places)} places{order}.")
        if not number and self.task.kind in _WRITTEN:
            said.append(_WRITTEN[self.task.kind].format(path=edit.path))
        else:
            sole = self.task.kind in (Kind.BUGFIX, Kind.VULNFIX) and sum(role(one.path) < 2 for one in self.edits) == 1
            said.append(what_changes(edit, self.episode.files.get(edit.path, ""), sole and bool(self._failure())))
        return "\n".join(filter(None, said))


def _green(observation: str) -> bool:
    rows = observation.split("\n")
    return any(_GREEN.match(row) for row in rows) and not any(_RED.match(row) for row in rows)


def changes(task: Task, grain: Grain) -> Iterator[Action]:
    """Edits that turn the task's files into its reference, one after the other, each for the state that those before it left.

    Files come in the order of ``_ranked``; a file has at most MOST_BLIND edits. Raises PatchError for what no edit can
    say: a file that goes, or too many that change.
    """
    files, reference = task.files, task.reference or {}
    if gone := sorted(files.keys() - reference.keys()):
        raise PatchError(f"{gone[0]} is removed, for which there is no action")
    changed = _ranked(task, [path for path in sorted(reference) if files.get(path) != reference[path]])
    if len(changed) > MOST_FILES:
        raise PatchError(f"the solution changes more than {MOST_FILES} files")
    state = dict(files)
    for path in changed:
        if path not in files:
            edits = [Action(name="create", path=path, text=reference[path])]
        else:
            edits = _edits(path, files[path], reference[path], SPAN if grain == "span" else 0)
        for whole in edits:
            rows = whole.old.split("\n")
            edit = _narrowed(whole, rows[0]) if grain == "narrow" and whole.old and len(rows) == 1 else whole
            state = apply_edit(state, edit)
            yield edit
    if state != reference:
        raise PatchError("the change cannot be told in edits of this size")


def _ranked(task: Task, changed: Sequence[str]) -> list[str]:
    """Source first, and of that what bears the name of a failing test's file, then what these tests reach, the nearest first; then
    other files, and documentation last."""
    tests = dict.fromkeys(id_.partition("::")[0] for suite in task.suites if suite.form == "pytest" for id_ in suite.fail_to_pass)
    near = {path: number for number, path in enumerate(reached(task.files, list(tests)))}
    stems = {re.sub(r"^test_?|_?test$", "", PurePosixPath(path).stem) for path in tests}
    return sorted(
        changed, key=lambda path: (role(path), PurePosixPath(path).stem.strip("_") not in stems, near.get(path, len(near)), path)
    )


def _edits(path: str, before: str, after: str, near: int) -> list[Action]:
    """Edits of one file, joined where at most ``near`` lines between them stay, or more where they would be too many.

    They go from the file's end to its start, so that line numbers are those that were shown; from its start where all numbers stay.
    """
    if not before:
        return [Action(name="edit", path=path, line=1, new=after.removesuffix("\n"))]
    old, new = before.split("\n"), after.split("\n")
    for most in (near, *(one for one in _WIDER if one > near)):
        blocks = _blocks(old, new, most)
        if len(blocks) > MOST_BLIND:
            continue
        fixed = all(b - a == d - c for a, b, c, d in blocks)
        edits = [_edit(path, old, new, one) for one in (blocks if fixed else blocks[::-1])]
        state = {path: before}
        try:
            for edit in edits:
                state = apply_edit(state, edit)
        except PatchError:  # two that had to take in the same line
            continue
        if state[path] == after:
            return edits
    return [Action(name="edit", path=path, line=1, old=before, new=after)]


def _blocks(old: Sequence[str], new: Sequence[str], near: int) -> list[tuple[int, int, int, int]]:
    """Where two lists of lines differ: from and to in both."""
    blocks: list[tuple[int, int, int, int]] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag != "equal" and blocks and a - blocks[-1][1] <= near:
            blocks[-1] = (blocks[-1][0], b, blocks[-1][2], d)
        elif tag != "equal":
            blocks.append((a, b, c, d))
    return blocks


def _edit(path: str, old: Sequence[str], new: Sequence[str], block: tuple[int, int, int, int]) -> Action:
    """The edit of a block, which takes in lines beside it until there is something to quote and to write."""
    a, b, c, d = block
    while True:
        was, becomes = "\n".join(old[a:b]), "\n".join(new[c:d])
        if a == b and becomes and a < len(old):
            return Action(name="edit", path=path, line=a + 1, new=becomes)
        if c == d and b < len(old):
            return Action(name="edit", path=path, line=a + 1, old=f"{was}\n")
        if was.strip() and c < d:
            return Action(name="edit", path=path, line=a + 1, old=was, new=becomes)
        if a:
            a, c = a - 1, c - 1
        elif b < len(old):
            b, d = b + 1, d + 1
        else:
            return Action(name="edit", path=path, line=1, old="\n".join(old), new="\n".join(new))


def _narrowed(edit: Action, row: str) -> Action:
    """The same edit of a line, of the words that differ alone."""
    left, right = _WORD.findall(row), _WORD.findall(edit.new)
    head = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    most = min(len(left), len(right)) - head
    tail = min(most, next((at for at, (a, b) in enumerate(zip(left[::-1], right[::-1], strict=False)) if a != b), most))
    while head + tail >= len(left) and (head or tail):  # something must be quoted
        head, tail = (head - 1, tail) if head else (head, tail - 1)
    old = "".join(left[head : len(left) - tail])
    start = len("".join(left[:head]))
    nth = sum(row.startswith(old, at) for at in range(start + 1))
    return edit.model_copy(update={"nth": nth, "old": old, "new": "".join(right[head : len(right) - tail])})
