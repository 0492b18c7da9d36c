"""Pairs as runs keep them: read, ordered, and weighed anew by the formulas of ``learn/entropy.py``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swefuse.learn.entropy import LABELS, Known, Mode, Weigher, effective_size, normalised_entropy
from swefuse.web.files import Row, number, rows
from swefuse.web.places import Place

MODES: tuple[Mode, ...] = ("off", "soft", "hard", "posterior", "recorded", "prior")  # those that a kept pair is enough for


@dataclass(frozen=True, slots=True)
class Side:
    """One candidate: what the model wrote, the diff that it makes, and how its verification ended."""

    edit: str
    diff: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Kept:
    """One pair of a run, ``at`` its place in the file. ``q`` is None in what older runs kept, as is ``weight``."""

    at: int
    round: int
    task: str
    label: str
    p: tuple[float, float, float]
    h: float
    q: tuple[float, float] | None
    weight: float | None
    mode: str
    lam: float | None
    tau: float | None
    noise: tuple[float, float]
    a: Side
    b: Side

    @property
    def against(self) -> float:
        """The probability that the value model gave to the side that lost; 0 for a tie."""
        return {"A": self.p[1], "B": self.p[0]}.get(self.label, 0.0)

    @property
    def known(self) -> Known:
        """As a weigher takes it. Without the chances, the verdict alone tells ``soft``, ``hard``, ``recorded`` and ``prior``."""
        recorded = (self.a.outcome == "PASSED", self.b.outcome == "PASSED")
        return Known(self.p, self.q or (0.5, 0.5), recorded, self.label if self.label in LABELS else "tie")


def kept(place: Place) -> tuple[list[Kept], bool]:
    """The pairs of a run in the order in which they were kept, and whether they are but the suspects of an older run."""
    path = place.file("rlvr/pairs.jsonl", "pairs.jsonl")
    found = [one for at, row in enumerate(rows(path)) if (one := _pair(at, row)) is not None]
    if path is not None:
        return found, False
    doubted = rows(place.file("rlvr/suspects.jsonl", "suspects.jsonl"))
    return [one for at, row in enumerate(doubted) if (one := _pair(at, row)) is not None], True


def _pair(at: int, row: Row) -> Kept | None:
    """A row as a pair; None for what is none."""
    p, q, noise = (_numbers(row.get(name)) for name in ("p", "q", "noise"))
    if len(p) != 3 or not all(isinstance(row.get(side), dict) for side in "ab"):
        return None
    sides = [_side(row[side]) for side in "ab"]
    h = number(row, "h")
    return Kept(
        at, int(number(row, "round") or 0), str(row.get("task", "")), str(row.get("label", "")), (p[0], p[1], p[2]),
        normalised_entropy(p) if h is None else h, (q[0], q[1]) if len(q) == 2 else None, number(row, "weight"),
        str(row.get("mode", "")), number(row, "lam"), number(row, "tau"), (noise[0], noise[1]) if len(noise) == 2 else (0.0, 0.0),
        sides[0], sides[1],
    )  # fmt: skip


def _side(row: Row) -> Side:
    diff = str(row.get("diff", ""))
    if not diff and isinstance(row.get("files"), dict):
        diff = "\n".join(f"--- {path}\n{text}" for path, text in row["files"].items())
    return Side(str(row.get("edit", "")), diff, str(row.get("outcome", "")))


def _numbers(value: Any) -> list[float]:
    """The numbers of a list, each finite; none where one is not."""
    given = value if isinstance(value, list) else []
    found = [float(one) for one in given if isinstance(one, int | float) and math.isfinite(one)]
    return found if len(found) == len(given) else []


@dataclass(frozen=True, slots=True)
class Weighed:
    """Pairs under other settings: the weights (mean 1 where any is above 0), those before normalising, and what they amount to."""

    weights: list[float]
    raw: list[float]
    effective: float


def weigh(pairs: Sequence[Kept], mode: Mode, lam: float, tau: float) -> Weighed:
    """What the pairs would have counted, each under the noise that was fitted in its round."""
    raw = [Weigher(mode, lam, tau, *pair.noise).raw(pair.known) for pair in pairs]
    mean = sum(raw) / len(raw) if raw else 0.0
    weights = [one / mean for one in raw] if mean > 0 else raw
    return Weighed(weights, raw, effective_size(weights) / max(1, len(weights)))


def curve(mode: Mode, lam: float, tau: float, points: int = 101) -> list[tuple[float, float]]:
    """Weight over entropy where it depends on that alone; empty for the modes that ask for more."""
    if mode not in ("off", "soft", "hard"):
        return []
    places = [number / (points - 1) for number in range(points)]
    if mode == "soft":
        return [(h, math.exp(-lam * h)) for h in places]
    return [(h, float(mode == "off" or h < tau)) for h in places]
