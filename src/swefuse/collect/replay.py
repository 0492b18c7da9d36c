"""Trajectories from a reference solution: what it changes as steps that are carried out for real, in several orders and sizes.

Every observation is the real one, and the diagnosis quotes the failure that was seen. An ``order`` says what is looked at before
the first edit, a ``grain`` how much one edit changes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from swefuse.collect import protocol
from swefuse.collect.agent import Judge, rollouts
from swefuse.collect.episode import Episode, Start, begin, finished, step
from swefuse.collect.prompts import AROUND
from swefuse.errors import DataError, PatchError
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Action, PolicyIdentity, Task, Trajectory
from swefuse.tasks.steps import solution
from swefuse.workspace import apply_edit

Order = Literal["look_first", "test_first", "search_first"]
Grain = Literal["narrow", "lines", "span"]
ORDERS: tuple[Order, ...] = ("test_first", "look_first", "search_first")
GRAINS: tuple[Grain, ...] = ("lines", "narrow", "span")
MOST_FILES = 8  # that a solution may change: more are hardly one thought
_WORD = re.compile(r"\w+|\s+|[^\w\s]+")
_NUMBER = re.compile(r"^(\d+)>", re.MULTILINE)
_CALLED = re.compile(r"::(?:test_)?([a-z_]+[a-z])|FAIL (\w+)\(")


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
    episode = begin(Start(task, seed))
    seen: list[str] = []

    def take(action: Action, thought: str = "") -> None:
        if action.name in ("test", "submit"):
            judge.ensure([episode])
        step(episode, thought, action, judge.of)

    for action in _before(task, plan.order, episode, edits):
        take(action)
        if action.name == "view":
            seen.append(action.path)
    failure = _failure(episode)
    for number, edit in enumerate(edits):
        if edit.name == "edit" and edit.path not in seen:
            take(Action(name="view", path=edit.path))
            seen.append(edit.path)
        for line in _unseen(edit, episode):
            take(Action(name="view", path=edit.path, line=line))
        take(edit, _diagnosis(edit, failure if number == 0 else "", number))
        if not episode.steps[-1].keep:
            raise PatchError(episode.steps[-1].observation)
    take(Action(name="test"))
    take(Action(name="submit"), "The tests pass now." if _passes(episode, judge) else "")
    identity = PolicyIdentity(model="scripted/replay", parameters={"order": plan.order, "grain": plan.grain})
    return finished(episode, identity, "replay")


def _closed(task: Task) -> bool:
    return (
        task.suite("calls") is not None
        and {"line", "old", "new"} <= task.provenance.parameters.keys()
        and bool(protocol.choices(task, task.files, ()))
    )


def _before(task: Task, order: Order, episode: Episode, edits: Sequence[Action]) -> Iterator[Action]:
    """What is looked at before the first edit; asked for step by step, because a search goes by what the tests said."""
    first = next((edit.path for edit in edits if edit.name == "edit"), "")
    if order == "look_first" and first:
        yield Action(name="view", path=first)
    yield Action(name="test")
    if order == "search_first":
        called = next((a or b for a, b in _CALLED.findall(_failure(episode))), "")
        if called and any(called in text for path, text in task.files.items() if path not in task.protected):
            yield Action(name="search", text=called)
    if order != "look_first" and first:
        yield Action(name="view", path=first)


def _unseen(edit: Action, episode: Episode) -> Iterator[int]:
    """Lines around which an edit of a long file asks to look, because no view has shown them."""
    if edit.name == "edit":
        views = [
            one.observation for one in episode.steps if one.action and one.action.name == "view" and one.action.path == edit.path
        ]
        shown = {int(number) for text in views for number in _NUMBER.findall(text)}
        wanted = range(edit.line, edit.line + edit.old.count("\n") + 1)
        missing = [line for line in wanted if line not in shown]
        while missing:
            line = min(missing[0] + AROUND, missing[-1])
            yield line
            missing = [one for one in missing if one > line + AROUND]


def _failure(episode: Episode) -> str:
    """The first failing test of the last test run, as it was shown."""
    shown = next((one.observation for one in reversed(episode.steps) if one.action and one.action.name == "test"), "")
    return next((row for row in shown.split("\n") if row.startswith("FAIL")), "")


def _passes(episode: Episode, judge: Judge) -> bool:
    return judge.of(episode).outcome.value == "PASSED"


def _diagnosis(edit: Action, failure: str, number: int) -> str:
    """Why this edit: the failure, and where it comes from."""
    place = f"line {edit.line} of {edit.path}" if edit.name == "edit" else edit.path
    if number:
        return f"This needs {place} as well."
    lines = edit.old.strip().split("\n")
    said = f", which reads `{lines[0].strip()[:100]}`" if len(lines) == 1 and lines[0].strip() else ""
    what = f"{place} is missing" if edit.name == "create" else f"The cause is {place}{said}."
    return f"`{failure[:300]}`\n{what}" if failure else what


def changes(task: Task, grain: Grain) -> Iterator[Action]:
    """Edits that turn the task's files into its reference, one after the other, each for the state that those before it left.

    Raises PatchError for what no edit can say: a file that goes, or too many that change.
    """
    try:
        edits = [one.action for one in solution(task.files, task.reference or {}) if one.action.name in ("edit", "create")]
    except DataError as error:
        raise PatchError(str(error)) from error
    if len({edit.path for edit in edits}) > MOST_FILES:
        raise PatchError(f"the solution changes more than {MOST_FILES} files")
    state, spanned = dict(task.files), set[str]()
    for whole in edits:
        edit = _trimmed(whole)
        if grain == "span" and edit.name == "edit":
            if edit.path in spanned:
                continue
            spanned.add(edit.path)
            edit = _span(edit.path, task.files[edit.path], (task.reference or {})[edit.path]) or edit
        elif grain == "narrow" and edit.old and "\n" not in edit.old:
            row = state[edit.path].split("\n")[edit.line - 1]
            edit = _narrowed(edit, row) if row == edit.old else edit
        state = apply_edit(state, edit)
        yield edit
    if state != task.reference:
        raise PatchError("the change cannot be told in edits of this size")


def _trimmed(edit: Action) -> Action:
    """The same edit without the line feed at the end of both texts."""
    if edit.old.strip() and edit.old.endswith("\n") and edit.new.endswith("\n") and len(edit.new) > 1:
        return edit.model_copy(update={"old": edit.old[:-1], "new": edit.new[:-1]})
    return edit


def _span(path: str, before: str, after: str) -> Action | None:
    """One edit from the first changed line to the last one; None where the lines between begin or end with nothing to quote."""
    old, new = before.split("\n"), after.split("\n")
    head = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - head
    tail = next((at for at, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=False)) if a != b), most)
    tail = min(tail, most)
    was, becomes = "\n".join(old[head : len(old) - tail]), "\n".join(new[head : len(new) - tail])
    if not was.strip() or not becomes.strip():
        return None
    return Action(name="edit", path=path, line=head + 1, old=was, new=becomes)


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
