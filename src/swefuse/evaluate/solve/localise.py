"""Where to look: the functions of a project by what failing tests and an issue say of them.

Four kinds of evidence, each in [0, 1], are added with weights: how near a function stands to where errors of failing tests were
raised; how far it is called by failing tests rather than by passing ones (Ochiai's coefficient, Abreu et al. 2007); how much of
the issue's words it holds (BM25, Robertson and Zaragoza 2009); and whether the issue, or a failing test, names it.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from swefuse.code.functions import Function
from swefuse.tasks.commits import is_source
from swefuse.workspace import Files

RAISED, CALLED, WORDS, NAMED, TESTED = 1.0, 0.8, 0.6, 1.0, 0.5  # what each kind of evidence weighs
FURTHER = 0.6  # of a place's share, for each function further from where the error was raised
K1, B = 1.2, 0.75
LONGEST_ISSUE = 20_000  # characters that are read of one
_WORD = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TRACEBACK = re.compile(r"File \"([^\"\n]+)\", line (\d+)")
_PATH = re.compile(r"[\w./\\-]+\.py\b")
_ENDING = re.compile(r"(?<=\w{4})(?:ing|ed|es|s)$")
_COMMON = frozenset(
    _WORD.findall(
        """a an and are as assert at be but by can class def do does else error expected fail fails failed false file for from get
        got has have if import in instead is it its line none not of on or pass raise return self should so test tests than that the
        then there this to true try was we when which while will with would you"""
    )
)


class Definition(NamedTuple):
    """A function of a file: its dotted name (``Queue.put``, ``outer.<locals>.inner``), the line on which it or its first decorator
    begins, those of ``def`` and of its end, and its node."""

    name: str
    first: int
    line: int
    last: int
    node: ast.FunctionDef | ast.AsyncFunctionDef


class Suspect(NamedTuple):
    """A function with its share of the suspicion, in [0, 1] over all of them, and what it is suspected for."""

    path: str
    name: str
    line: int
    score: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failing:
    """What failing tests show. ``frames``: of each the places of its error's traceback, the outermost first; ``reached``: how many
    ``(failing, passing)`` tests call a function, by its file and first line; ``texts``: what these tests do and say."""

    frames: tuple[tuple[tuple[str, int], ...], ...] = ()
    reached: Mapping[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def definitions(text: str) -> tuple[Definition, ...]:
    """Every function of a file, those of classes and of functions too, in order; none of one that does not parse."""
    try:
        tree = ast.parse(text.removeprefix("\ufeff"))
        return tuple(sorted(_inside(tree.body, ""), key=lambda one: one.line))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _inside(body: Sequence[ast.AST], owner: str) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Function):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            yield Definition(owner + node.name, first, node.lineno, node.end_lineno or node.lineno, node)
            yield from _inside(node.body, f"{owner}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _inside(node.body, f"{owner}{node.name}.")
        elif not isinstance(node, ast.expr):
            yield from _inside(list(ast.iter_child_nodes(node)), owner)


def enclosing(text: str, line: int) -> Definition | None:
    """The innermost function around a line."""
    around = [one for one in definitions(text) if one.first <= line <= one.last]
    return max(around, key=lambda one: one.line, default=None)


Place = tuple[str, str]  # path and dotted name


def localise(files: Files, failing: Failing, issue: str, most: int = 50) -> list[Suspect]:
    """The functions that anything speaks for, the most suspicious first. Only source is looked at, no tests.

    Example: ``localise({"m.py": "def half(x):\\n    return x\\n"}, Failing(), "`half` gives x")[0].name`` is ``half``.
    """
    sources = {path: text for path, text in files.items() if is_source(path)}
    every = {(path, one.name): one for path in sorted(sources) for one in definitions(sources[path])}
    read = issue[:LONGEST_ISSUE]
    kinds = (
        (RAISED, "raised on the way of a failing test", _raised(sources, (*failing.frames, *_of_issue(sources, read)))),
        (CALLED, "called by failing tests rather than by passing ones", _called(every, failing)),
        (WORDS, "holds words of the issue", _words(sources, every, read)),
        (NAMED, "named by the issue", _named(every, read)),
        (TESTED, "named by a failing test", _tested(sources, every, failing.texts)),
    )
    scores: Counter[Place] = Counter()
    why: dict[Place, list[str]] = {}
    for weight, words, found in kinds:
        for place, value in found.items():
            if value > 0:
                scores[place] += weight * value  # type: ignore[assignment]
                why.setdefault(place, []).append(f"{words} ({value:.2f})")
    ranked = sorted(scores, key=lambda place: (-scores[place], place))[:most]
    total = sum(scores[place] for place in ranked)
    return [Suspect(*place, every[place].line, scores[place] / total, tuple(why[place])) for place in ranked]


def _raised(sources: Files, tracebacks: Sequence[Sequence[tuple[str, int]]]) -> dict[Place, float]:
    """The nearest to the end of each traceback counts 1, each further function less; the mean over the tracebacks."""
    found: Counter[Place] = Counter()
    told = 0
    for frames in tracebacks:
        share, seen = 1.0, set[Place]()
        for path, line in reversed(frames):
            one = enclosing(sources[path], line) if path in sources else None
            if one is not None and (path, one.name) not in seen:
                seen.add((path, one.name))
                found[path, one.name] += share  # type: ignore[assignment]
                share *= FURTHER
        told += bool(seen)
    return {place: value / told for place, value in found.items()}


def _of_issue(sources: Files, issue: str) -> list[tuple[tuple[str, int], ...]]:
    """A traceback in the issue, whose files may lie anywhere on the machine that it comes from."""
    frames = []
    for name, line in _TRACEBACK.findall(issue):
        path = _known(sources, name)
        frames += [(path, int(line))] if path else []
    return [tuple(frames)] if frames else []


def _known(sources: Files, name: str) -> str:
    """The source whose path is the end of a name, or ends with it; the longest one, else none."""
    parts = PurePosixPath(name.replace("\\", "/").removeprefix("./")).parts
    fits = [
        path
        for path in sources
        if (own := PurePosixPath(path).parts) and (parts[-len(own) :] == own or own[-len(parts) :] == parts)
    ]
    return max(fits, key=lambda path: (len(path), path), default="")


def _called(every: Mapping[Place, Definition], failing: Failing) -> dict[Place, float]:
    """Ochiai's coefficient: failing tests that call it, over the root of all failing times all that call it."""
    total = len(failing.frames) or max((failed for failed, _ in failing.reached.values()), default=0)
    found = {}
    for (path, name), one in every.items():
        failed, passed = failing.reached.get((path, one.first), (0, 0))
        if failed:
            found[path, name] = min(1.0, failed / math.sqrt(max(total, failed) * (failed + passed)))
    return found


def words(text: str) -> Counter[str]:
    """The words of a text in small letters: names, the parts of those that are put together, and these without endings.

    The commonest words are left out.
    """
    found: Counter[str] = Counter()
    for name in _WORD.findall(text):
        parts = [part.lower() for part in _PART.findall(name)]
        every = {name.lower(), *parts}
        every |= {_ENDING.sub("", word) for word in every}
        found.update(word for word in every if len(word) > 1 and word not in _COMMON)
    return found


@lru_cache(maxsize=4096)
def _bag(path: str, name: str, text: str) -> Counter[str]:
    """The words of a function; those of its name and its file count more."""
    bag = words(text)
    for told, times in ((name, 3), (PurePosixPath(path).stem, 1)):
        for word in words(told.replace(".<locals>", "")):
            bag[word] += times
    return bag


def _bags(sources: Files, every: Mapping[Place, Definition]) -> dict[Place, Counter[str]]:
    rows = {path: text.split("\n") for path, text in sources.items()}
    return {
        place: _bag(*place, "\n".join(rows[place[0]][one.first - 1 : one.last])) for place, one in every.items()
    }  # fmt: skip


def _bm25(bags: Mapping[Place, Counter[str]], query: Mapping[str, float]) -> dict[Place, float]:
    """BM25 of each function for a query of weighted words, the best one 1."""
    if not bags or not query:
        return {}
    sizes = {place: bag.total() for place, bag in bags.items()}
    mean = sum(sizes.values()) / len(sizes) or 1.0
    holding = {word: sum(word in bag for bag in bags.values()) for word in query}
    rare = {word: math.log(1 + (len(bags) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
    found = {}
    for place, bag in bags.items():
        length = K1 * (1 - B + B * sizes[place] / mean)
        found[place] = sum(
            weight * rare[word] * bag[word] * (K1 + 1) / (bag[word] + length) for word, weight in query.items() if word in bag
        )
    best = max(found.values())
    return {place: value / best for place, value in found.items() if value > 0} if best > 0 else {}


def _words(sources: Files, every: Mapping[Place, Definition], issue: str) -> dict[Place, float]:
    """Names and quoted code weigh more than the other words of an issue."""
    quoted = " ".join(re.findall(r"`+([^`]+)`+", issue) + re.findall(r"^(?: {4}|\t|>>> )(.+)$", issue, re.MULTILINE))
    names = " ".join(name for name in _WORD.findall(issue) if "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name))
    query = {word: 1.0 for word in words(issue)}
    for word in words(f"{quoted} {names}"):
        query[word] = 2.0
    return _bm25(_bags(sources, every), query)


def _named(every: Mapping[Place, Definition], issue: str) -> dict[Place, float]:
    """1 for a function whose dotted name stands there, 0.7 where its own name is called or quoted, 0.3 for its file's name."""
    called = {name for name in re.findall(r"([A-Za-z_]\w*)\(", issue)}
    quoted = {name for part in re.findall(r"`+([^`\n]+)`+", issue) for name in _WORD.findall(part)}
    dotted = set(re.findall(r"[A-Za-z_]\w*(?:\.\w+)+", issue))
    ends = {".".join(one.split(".")[-2:]) for one in dotted}
    paths = [PurePosixPath(one.replace("\\", "/")).parts for one in _PATH.findall(issue)]
    found = {}
    for path, name in every:
        *owners, last = name.replace("<locals>.", "").split(".")
        own = ".".join([*owners[-1:], last])
        plain = last.strip("_")
        value = 0.3 if any(PurePosixPath(path).parts[-len(parts) :] == parts for parts in paths) else 0.0
        if last in called | quoted and plain and not last.startswith("__"):
            value = max(value, 0.7)
        spoken = called | quoted
        whole = own in dotted or (owners[-1] in spoken and last in spoken) if owners else False
        if whole or (not owners and f"{PurePosixPath(path).stem}.{last}" in ends):
            value = 1.0
        if value:
            found[path, name] = value
    return found


def _tested(sources: Files, every: Mapping[Place, Definition], texts: Sequence[str]) -> dict[Place, float]:
    """How much failing tests speak of it: half for their words, half where they call it or its class by name."""
    if not texts:
        return {}
    query: Counter[str] = Counter()
    for text in texts:
        query.update(dict.fromkeys(words(text), 1))
    alike = _bm25(_bags(sources, every), {word: count / len(texts) for word, count in query.items()})
    named = Counter(name for text in texts for name in set(re.findall(r"([A-Za-z_]\w*)\(", text)))
    found = {}
    for place in every:
        *owners, last = place[1].replace("<locals>.", "").split(".")
        called = named[last] / len(texts) if last in named else 0.0
        if last == "__init__" and owners:
            called = named[owners[-1]] / len(texts)
        value = 0.5 * alike.get(place, 0.0) + 0.5 * called
        if value > 0:
            found[place] = value
    return found
