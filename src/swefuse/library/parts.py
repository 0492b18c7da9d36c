"""The parts of a trajectory that several checks look at: what it changed, what it wrote anew, and syntax trees."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache

from swefuse.records import Task, Trajectory


def foreign(trajectory: Trajectory) -> bool:
    """Whether its steps are in the actions of another agent: they are text to us, which cannot be carried out again."""
    return trajectory.source.startswith("import:") and any(step.action is None for step in trajectory.steps)


def changed_files(task: Task, trajectory: Trajectory) -> list[str]:
    """Paths that the trajectory leaves otherwise than it found them, sorted; unchanged ones are not its fault."""
    return sorted(path for path, text in trajectory.files.items() if task.files.get(path) != text)


def changed_sources(task: Task, trajectory: Trajectory) -> list[str]:
    """Those of them that are Python."""
    return [path for path in changed_files(task, trajectory) if path.endswith((".py", ".pyi"))]


@lru_cache(maxsize=4096)
def lines_of(text: str) -> frozenset[str]:
    """The different lines of a text, without white space around them."""
    return frozenset(line.strip() for line in text.split("\n"))


def known_lines(task: Task) -> frozenset[str]:
    """All lines that the task's own files and instruction hold; a check for what is new leaves them out."""
    return frozenset().union(lines_of(task.instruction), *(lines_of(text) for text in task.files.values()))


def written(task: Task, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """``(where, text)`` of everything that an agent wrote: each message, then the final text of each changed file."""
    for number, step in enumerate(trajectory.steps, 1):
        yield f"step {number}", step.raw
    for path in changed_files(task, trajectory):
        yield path, trajectory.files[path]


@lru_cache(maxsize=4096)
def tree_of(text: str) -> ast.Module | None:
    """The syntax tree of a module; None where it does not parse. Callers must leave it as it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def replaced(before: str, after: str, around: int = 0) -> tuple[list[str], list[str]]:
    """The lines that differ, from the first one to the last one, with so many equal ones around them, before and after.

    Example: ``replaced("a\\nb\\nc", "a\\nx\\nc")`` -> ``(["b"], ["x"])``.
    """
    old, new = before.split("\n"), after.split("\n")
    shorter = min(len(old), len(new))
    head = tail = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start, end = max(0, head - around), max(0, tail - around)
    return old[start : len(old) - end], new[start : len(new) - end]


def final_files(task: Task, trajectory: Trajectory) -> Mapping[str, str]:
    """All files as the trajectory leaves them."""
    return {**task.files, **trajectory.files}
