"""What was accepted already, by what it edits, so that a trajectory that repeats one of these is found at once."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from swefuse.code.duplicates import similarity
from swefuse.library.parts import changed_files, replaced
from swefuse.records import Kind, Task, Trajectory
from swefuse.workspace import blob_ref

_WHOLE = 20_000  # characters of a file up to which all of it is compared; of longer ones what changed
_AROUND = 3
_TOKEN = re.compile(
    r"""(?P<text>[rbfuRBFU]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|(?P<remark>\#[^\n]*)"""
    r"""|(?P<attribute>\.\s*[^\W\d]\w*)|(?P<name>[^\W\d]\w*)|\w+|[^\w\s]""",
    re.DOTALL,
)
_PART = re.compile(r"^(?=\s*(?:async )?def )", re.MULTILINE)  # a function with what stands before the next one
_BOUND = re.compile(  # parameters, what is assigned, loops, what ``as`` names
    r"\bdef \w+\(([^)]*)\)|^\s*([\w, ()*]+?)\s*[-+*/|&]?=(?!=)|^[ \t]*(?!else\b|try\b|finally\b)(\w+)[ \t]*:[ \t]*(?=[\w\"'])"
    r"|\b(\w+)\s*:?=(?!=)|\bfor ([\w, ()]+) in\b|\bas (\w+)|\blambda ([\w, ]+):",
    re.MULTILINE,
)
_NAME = re.compile(r"[^\W\d]\w*(?=\s*(?:[:=,)]|$|\s))")
_INSIDE = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_BESIDE = (Kind.QA, Kind.TESTGEN, Kind.DOCGEN)  # what they change says little without the code that it is about


class Held:
    """An index of trajectories. ``load`` finds one that was added without its text, as those of a library are."""

    def __init__(self, load: Callable[[str], Trajectory] | None = None) -> None:
        self._load = load
        self._ids: dict[str, list[str]] = {}
        self._texts: dict[str, Trajectory] = {}

    def add(self, task: Task, trajectory: Trajectory) -> None:
        """Take one in. Where there is a ``load``, its text is kept until ``stored``."""
        for key in keys(task, trajectory):
            self._ids.setdefault(key, []).append(trajectory.id)
        self._texts[trajectory.id] = trajectory

    def stored(self) -> None:
        """What was added can be loaded now, and need not be kept here."""
        if self._load is not None:
            self._texts.clear()

    def repeated(self, task: Task, trajectory: Trajectory, similar: float) -> str | None:
        """The id of one that this one repeats, and in what; None if it repeats none. One of the same id is no other."""
        same, edit = keys(task, trajectory)
        for other in self._others(same, trajectory):
            if alike(trajectory, other, similar):
                return f"{other.id}, which solves the same task by the same edit in the same way"
        for other in self._others(edit, trajectory):
            if other.task_id != task.id and similarity(_told(trajectory), _told(other)) >= similar:
                return f"{other.id}, which makes the same edit on the same words in nearly the same text"
        return None

    def _others(self, key: str, trajectory: Trajectory) -> Iterator[Trajectory]:
        for id_ in self._ids.get(key, ()):
            if id_ != trajectory.id and (id_ in self._texts or self._load is not None):
                yield self._texts[id_] if id_ in self._texts or self._load is None else self._load(id_)


def keys(task: Task, trajectory: Trajectory) -> tuple[str, str]:
    """What trajectories share that may be near-duplicates: of one task, by their final files; of several, by their edit.

    The first is the same for other names of variables, comments and layout. The second holds what surrounds the edit, the
    instruction and the kind, but no path, so that a copy of a file in another project counts.
    """
    changed = changed_files(task, trajectory)
    same, edit = hashlib.sha256(task.id.encode()), hashlib.sha256(f"{task.kind}\0{' '.join(task.instruction.split())}".encode())
    for path in changed:
        before, after = task.files.get(path, ""), trajectory.files[path]
        whole = after if len(after) <= _WHOLE else "\n".join(replaced(before, after)[1])
        same.update(f"\0{path}\0{' '.join(renamed(whole))}".encode("utf-8", "surrogatepass"))
        for part in replaced(before, after, _AROUND):
            edit.update(f"\0{' '.join(''.join(part).split())}".encode("utf-8", "surrogatepass"))
    if task.kind in _BESIDE:
        beside = [blob_ref(text) for path, text in sorted(task.files.items()) if path not in task.protected]
        edit.update("\0".join(beside).encode())
    return f"same {same.hexdigest()[:32]}", f"edit {edit.hexdigest()[:32]}"


@lru_cache(maxsize=256)
def renamed(code: str) -> tuple[str, ...]:
    """The tokens of code, the variables of each function numbered in the order in which they first appear.

    Comments and layout are left out; names that are not bound in a function stay, such as those of other functions.
    Example: ``def f(a): return a + 1`` and ``def f(b): return b + 1`` give the same.
    """
    return tuple(token for part in _PART.split(code) for token in _numbered(part))


def _numbered(part: str) -> Iterator[str]:
    bound = {word for group in _BOUND.findall(part) for word in _NAME.findall(" ".join(group))} - {"self", "cls", *keyword.kwlist}
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"v{len(numbers)}") if match[0] in bound else match[0]

    for match in _TOKEN.finditer(part):
        if match.lastgroup == "name":
            yield number(match)
        elif match.lastgroup == "text" and "f" in match[0][:2].lower():
            yield _INSIDE.sub(lambda found: _WORD.sub(number, found[0]), match[0])
        elif match.lastgroup != "remark":
            yield match[0]


def alike(one: Trajectory, other: Trajectory, similar: float) -> bool:
    """Whether two trajectories of one task that end alike go the same way.

    With the same final files they have to look at the same things in the same order, and then edit nearly alike or say nearly the
    same. With other names in the final files, nearly the same things done to the same files are enough.
    """
    if one.final != other.final:
        return _ratio(_actions(one), _actions(other)) >= similar
    if _actions(one) != _actions(other):  # another order of looks is another way, whatever the words
        return False
    return _ratio(_edits(one), _edits(other)) >= similar or similarity(_said(one), _said(other)) >= similar


def _ratio(one: list[str], other: list[str]) -> float:
    return 1.0 if one == other else SequenceMatcher(None, one, other, autojunk=False).ratio()


def _actions(one: Trajectory) -> list[str]:
    return [f"{step.action.name} {step.action.path}" for step in one.steps if step.action is not None]


def _edits(one: Trajectory) -> list[str]:
    return [step.action.model_dump_json() for step in one.steps if step.action is not None]


def _said(one: Trajectory) -> str:
    return "\n".join(step.raw for step in one.steps)


def _told(one: Trajectory) -> str:
    return "\n".join(f"{step.raw}\n{step.observation}" for step in one.steps)
