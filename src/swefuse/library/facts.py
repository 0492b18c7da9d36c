"""What a library's index holds of an entry, worked out from its records alone, so that ``verify`` can work it out again."""

from __future__ import annotations

import hashlib
import keyword
import re
import unicodedata
from typing import Any

from swefuse.records import Action, Task, Trajectory

FACTS = ("repo", "by_repository", "by_function", "strength", "characters", "shape")
WORDS = ("instruction", "thoughts", "paths", "patch")
_WORD = re.compile(r"[^\W_]+")
_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum()}  # several times as fast as _WORD, where it serves
_LONGEST = 64  # characters of a word; what is longer is a hash or packed data
_COMMIT = re.compile(r"[.@-][0-9a-f]{7,40}$")
_TOKEN = re.compile(
    r"""(?P<text>[rbfuRBFU]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))|(?P<number>\d[\w.]*)|(?P<word>\w+)|\S"""
)
_KEPT = frozenset(keyword.kwlist)


def facts(task: Task, trajectory: Trajectory) -> tuple[Any, ...]:
    """The values of FACTS.

    ``by_repository`` and ``by_function`` are the units that a split never divides; ``characters``: what the agent wrote and saw.
    """
    origin = task.provenance
    function = origin.body_hash or (f"{origin.repo}:{origin.function}" if origin.repo and origin.function else f"task {task.id}")
    characters = sum(len(step.raw) + len(step.observation) for step in trajectory.steps)
    strength = task.evidence.strength if task.evidence else None
    return origin.repo, repository(origin.repo, origin.source), function, strength, characters, shape(trajectory)


def repository(repo: str, source: str) -> str:
    """The name of a repository without host, owner, commit and ``.git``, so that forks and mirrors count as one.

    Without a repository all tasks of a source belong together.

    Example: ``https://github.com/pallets/click.git``, ``pallets__click.8f1a2b3c`` and ``Click`` are all ``click``.
    """
    name = re.split(r"[/:]|__", repo.rstrip("/").removesuffix(".git"))[-1].lower()
    return _COMMIT.sub("", name) or f"source {source}"


def shape(trajectory: Trajectory) -> str:
    """A hash of the edits that were not undone, with every name, number and text made the same and layout left out.

    Empty where nothing was edited. Example: ``total - x`` to ``total + x`` has the shape of ``a - b`` to ``a + b``.
    """
    made: list[Action] = []
    for step in trajectory.steps:
        if step.action is None:
            continue
        if step.action.name in ("edit", "create"):
            made.append(step.action)
        elif step.action.name == "undo" and made:
            made.pop()
    forms = sorted({f"{_form(each.old)} > {_form(each.new or each.text)}" for each in made})
    return hashlib.sha256("\n".join(forms).encode()).hexdigest()[:12] if forms else ""


def _form(text: str) -> str:
    return " ".join(_kind(found) for found in _TOKEN.finditer(text))


def _kind(found: re.Match[str]) -> str:
    word = found[0]
    return {"text": "s", "number": "0", "word": word if word in _KEPT else "n"}.get(found.lastgroup or "", word)


def terms(text: str) -> list[str]:
    """The words of a text as the index knows them: letters and digits between anything else, in small letters.

    Example: ``parse_date(UTC)`` -> ``["parse", "date", "utc"]``.
    """
    return [word[:_LONGEST] for word in _cut(text)]


def _cut(text: str) -> list[str]:
    folded = text.casefold()
    if folded.isascii():
        return folded.translate(_BLANKS).split()
    return _WORD.findall(unicodedata.normalize("NFKC", folded).casefold())


def words(task: Task, trajectory: Trajectory) -> tuple[str, str, str, str]:
    """What can be searched for, in the order of WORDS: every word of a column once. Observations are left out.

    ``thoughts`` holds what was run and searched for, too; ``patch`` every line that an edit or the final state adds or takes away.
    """
    told, paths, patch = [], set(trajectory.files), []
    for step in trajectory.steps:
        action = step.action
        told.append(step.thought if action else step.raw)
        if action and action.name in ("edit", "create"):
            patch += [action.old, action.new, action.text]
        elif action:
            told.append(action.text)
        if action and action.path:
            paths.add(action.path)
    for path, text in trajectory.files.items():
        before, after = set(task.files.get(path, "").split("\n")), set(text.split("\n"))
        patch += before ^ after
    return _once(task.instruction), _once("\n".join(told)), _once("\n".join(paths)), _once("\n".join(patch))


def _once(text: str) -> str:
    return " ".join(dict.fromkeys(word[:_LONGEST] for word in dict.fromkeys(_cut(text))))
