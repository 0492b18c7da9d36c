"""Which messages are open to the agent in each state: the closed form of guidance for small models.

A repair goes view -> test -> edit -> test -> submit. Everything but the edit is forced by what has happened so far; at the
edit every
edit of ``code.operators`` that applies in this state is open, each with its kind as the diagnosis. A model of a few million
parameters
cannot write code that it has never seen, but it can learn to choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from swefuse.code.operators import edits
from swefuse.policy.base import Choice
from swefuse.records import Action, Step, Task

MAX_STEPS = 5


def entry(task: Task) -> tuple[str, str]:
    """``(path, function)`` of a function task's entry point."""
    suite = task.suite("calls")
    assert suite is not None, "function tasks carry the calls form"
    path, _, name = suite.entry.partition(":")
    return path, name


@lru_cache(maxsize=4096)
def _edit_choices(text: str, path: str, name: str) -> tuple[Choice, ...]:
    return tuple(Choice(edit.kind.value, edit.action(path)) for edit in edits(text, name))


def open_edits(task: Task) -> tuple[Choice, ...]:
    """The messages that are open at the one real choice. Raises DataError where the text has no such function."""
    path, name = entry(task)
    return _edit_choices(task.files[path], path, name)


def choices(task: Task, files: Mapping[str, str], steps: Sequence[Step]) -> tuple[Choice, ...]:
    """The messages that are open after ``steps``; empty when the episode is over. Same state, same choices, in the same order."""
    path, name = entry(task)
    done = [step.action.name for step in steps if step.action is not None]
    if not done:
        return (Choice("", Action(name="view", path=path)),)
    if done[-1] == "submit":
        return ()
    if done[-1] in ("view", "edit"):
        return (Choice("", Action(name="test")),)
    if "edit" in done:
        return (Choice("", Action(name="submit")),)
    return _edit_choices(files[path], path, name)
