"""A map of solutions: what changes alike lies together, in the two directions in which words differ most (principal components)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

from swefuse.records import Task, Trajectory

SIZE = 64  # numbers that the words of a change are hashed to
TURNS = 20
LONGEST = 20_000  # characters of a file that is looked at
Vector = list[float]


def change(task: Task, trajectory: Trajectory) -> list[str]:
    """The words of the lines that a trajectory adds or takes away, each with its sign."""
    words: list[str] = []
    for path, text in sorted(trajectory.files.items()):
        before = task.files.get(path, "")[:LONGEST].splitlines()
        for line in list(difflib.unified_diff(before, text[:LONGEST].splitlines(), n=0, lineterm=""))[2:]:
            if not line.startswith("@@"):
                words += [line[0] + word for word in line[1:].split()]
    return words


def plane(texts: Sequence[Sequence[str]]) -> list[tuple[float, float]]:
    """A place for each list of words; the same lists give the same places. All at the origin where they do not differ."""
    rows = [_vector(words) for words in texts]
    if not rows:
        return []
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    rows = [[value - middle for value, middle in zip(row, mean, strict=True)] for row in rows]
    found: list[Vector] = []
    for _ in range(2):
        axis = _axis(rows)
        along = [_dot(row, axis) for row in rows]
        found.append(along)
        rows = [[value - far * one for value, one in zip(row, axis, strict=True)] for row, far in zip(rows, along, strict=True)]
    return list(zip(*found, strict=True))


def _vector(words: Sequence[str]) -> Vector:
    """Counts of words and of neighbours, hashed, of length 1; all 0 for no words."""
    counts = [0.0] * SIZE
    for one in [*words, *(f"{a} {b}" for a, b in pairwise(words))]:
        place = crc32(one.encode("utf-8", "replace"))
        counts[place % SIZE] += 1.0 if place & 0x10000 else -1.0
    size = math.sqrt(_dot(counts, counts))
    return [value / size for value in counts] if size else counts


def _axis(rows: Sequence[Vector]) -> Vector:
    """The direction of the largest spread, by power iteration from a fixed start."""
    axis = [1.0 + (number % 7) / 7 for number in range(SIZE)]
    for _ in range(TURNS):
        along = [_dot(row, axis) for row in rows]
        new = [0.0] * SIZE
        for row, far in zip(rows, along, strict=True):
            if far:
                new = [value + far * one for value, one in zip(new, row, strict=True)]
        size = math.sqrt(_dot(new, new))
        if size < 1e-12:
            return [0.0] * SIZE
        axis = [value / size for value in new]
    return axis


def _dot(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))
