"""How much each pair may teach: weights from the value model's verdict, its entropy, and what the verifier recorded.

``P = (p_A, p_B, p_tie)``; ``h = H(P) / ln 3`` lies in [0, 1]. Weights are plain numbers made from a lagged value model, so no
gradient can flow through them. What the modes can and cannot see is told in docs/algorithm.md section 4.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Probabilities = tuple[float, float, float]
Mode = Literal["off", "soft", "hard", "posterior", "recorded", "random", "agreement", "prior", "oracle"]
MODES: tuple[Mode, ...] = ("off", "soft", "hard", "posterior", "recorded", "random", "agreement", "prior", "oracle")
Course = Literal["fixed", "linear", "cosine"]
LABELS = ("A", "B", "tie")


class Known(NamedTuple):
    """What is known of a pair when it is weighed.

    ``prior``: the head's verdict; ``q``: the chances of passing that it gives the two; ``recorded``: whether the verifier passed
    them; ``label``: what follows from that. ``agreement`` in [0, 1]: the share of repeated verifications that would have given the
    same label. ``truth``: the label without the verifier's errors, which an experiment knows that made them, and nobody else.
    """

    prior: Probabilities
    q: tuple[float, float]
    recorded: tuple[bool, bool]
    label: str
    agreement: float = 1.0
    truth: str = ""


def verdict_probabilities(q_a: float, q_b: float) -> Probabilities:
    """The verdict on two candidates that pass with probabilities ``q_a``, ``q_b``, independently: swap-consistent by
    construction."""
    return q_a * (1 - q_b), q_b * (1 - q_a), q_a * q_b + (1 - q_a) * (1 - q_b)


def normalised_entropy(p: Sequence[float]) -> float:
    """``H(p) / ln 3``: 0 for a sure verdict, 1 for an even one."""
    return max(0.0, -sum(x * math.log(x) for x in p if x > 0)) / math.log(3)


def posterior_pass(q: float, recorded: bool, false_pass: float, false_fail: float) -> float:
    """Probability that a candidate truly passes, given what the verifier recorded under the noise link (algorithm.md section 3)."""
    said = q * (1 - false_fail) + (1 - q) * false_pass
    if recorded:
        return q * (1 - false_fail) / said if said > 0 else 0.0
    return q * false_fail / (1 - said) if said < 1 else 0.0


@dataclass(frozen=True)
class Weigher:
    """Turns verdicts into pair weights.

    ``lam``: strength of ``soft`` and ``posterior`` on ``h`` (0 is off, it acts at 1 to 5). A sure tie has no entropy either: under
    ``posterior`` a pair's loss is the expectation over ``posterior()`` (``Pair.expected``), in which a fake win hardly counts;
    ``prior`` is the control to that, the value model's own verdict whatever was recorded. ``tau``: ``hard`` keeps ``h < tau``.
    ``false_pass``, ``false_fail``: the verifier's noise as fitted. ``normalise``: scale to mean 1 over the batch.
    """

    mode: Mode = "soft"
    lam: float = 2.0
    tau: float = 0.8
    false_pass: float = 0.0
    false_fail: float = 0.0
    normalise: bool = True

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"weight mode {self.mode!r} is none of {', '.join(MODES)}")
        if self.lam < 0 or self.tau < 0:
            raise ValueError(f"lam and tau must not be negative; they are {self.lam} and {self.tau}")

    def raw(self, known: Known) -> float:
        """The weight of one pair before normalisation; ``random`` is shuffled later and starts from ``soft``.

        Raises ValueError for ``oracle`` where the truth is not known.
        """
        if self.mode in ("off", "prior"):
            return 1.0
        if self.mode == "hard":
            return float(normalised_entropy(known.prior) < self.tau)
        if self.mode == "recorded":
            return known.prior[LABELS.index(known.label)]
        if self.mode == "agreement":
            return known.agreement
        if self.mode == "oracle":
            if known.truth not in LABELS:
                raise ValueError("the weights 'oracle' are for experiments that make the verifier's errors and so know them")
            return float(known.truth == known.label)
        if self.mode == "posterior":
            return math.exp(-self.lam * normalised_entropy(self.posterior(known.q, known.recorded)))
        return math.exp(-self.lam * normalised_entropy(known.prior))

    def posterior(self, q: tuple[float, float], recorded: tuple[bool, bool]) -> Probabilities:
        """The verdict given what was recorded for both candidates."""
        a, b = (posterior_pass(x, r, self.false_pass, self.false_fail) for x, r in zip(q, recorded, strict=True))
        return verdict_probabilities(a, b)

    def expected(self, known: Known) -> Probabilities | None:
        """The verdict that a pair's loss is the expectation under; None where the label is taken as it is."""
        if self.mode == "posterior":
            return self.posterior(known.q, known.recorded)
        return known.prior if self.mode == "prior" else None

    def weights(self, rows: Sequence[Known], seed: int = 0) -> list[float]:
        """Weights of a batch of pairs. Mean 1 when normalised and any is above 0."""
        found = [self.raw(row) for row in rows]
        if self.mode == "random":
            random.Random(seed).shuffle(found)
        mean = sum(found) / len(found) if found else 0.0
        return [w / mean for w in found] if self.normalise and mean > 0 else found


def moved(start: float, end: float, done: float, course: Course) -> float:
    """A setting at ``done`` in [0, 1] of the rounds in which it acts: ``start`` throughout if fixed, else on the way to ``end``."""
    if course == "fixed":
        return start
    share = done if course == "linear" else (1 - math.cos(math.pi * done)) / 2
    return start + (end - start) * share


def kept_below(entropies: Sequence[float], share: float) -> float:
    """The ``tau`` under which ``hard`` keeps about a ``share`` of these pairs: at least one of them, and all for a share of 1."""
    if not entropies:
        return 1.0
    count = max(1, min(len(entropies), round(share * len(entropies))))
    ordered = sorted(entropies)
    return math.nextafter(ordered[count - 1], 2.0)


def effective_size(weights: Sequence[float]) -> float:
    """Effective sample size ``(Σw)² / Σw²`` (Kish 1965): how many equal pairs these weights amount to."""
    squares = sum(w * w for w in weights)
    return sum(weights) ** 2 / squares if squares > 0 else 0.0


@dataclass
class EntropyAlarm:
    """Rings when the batch mean of ``h`` jumps above its running mean by ``k`` standard deviations, after ``patience`` rounds."""

    k: float = 3.0
    patience: int = 5
    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def update(self, h: float) -> bool:
        """Take in one round's mean (Welford's update); True if it is an outlier, which then does not enter the statistics."""
        if self.count >= self.patience:
            deviation = math.sqrt(self.squares / (self.count - 1))
            if h > self.mean + self.k * max(deviation, 0.01):
                return True
        self.count += 1
        delta = h - self.mean
        self.mean += delta / self.count
        self.squares += delta * (h - self.mean)
        return False
