"""The value model: which of two candidates is better, and how sure is it.

``residual`` (default) scores one candidate at a time: a Platt fit on what the reference policy already knows (sum and mean of its
log-probs, votes among the samples) plus a linear reading of the last hidden state that starts at zero. Trained by BCE on "does it
pass", it gives (p_A, p_B, p_tie) that agree when A and B are swapped. With the hidden part left out it is ``platt``, the
four-number baseline that any head has to beat. ``davidson`` scores candidates from the same readings and learns from pairs, ties
among them (Davidson 1970); under pass and fail its ties hang on the difference of scores alone, which is a weakness.
``linear3`` reads [h_A; h_B; h_A - h_B] and is averaged with its mirror image.

Every head has a ``temperature`` that its verdicts are divided by and its training never sees, see ``cool``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from swefuse.learn.calibration import auc, calibration_error
from swefuse.learn.entropy import LABELS, Probabilities, verdict_probabilities

RIDGE = 1e-3
HEADS = ("residual", "platt", "davidson", "linear3")


@dataclass(frozen=True)
class Candidates:
    """Candidates of many tasks, C in all. ``numbers`` [C, 3]: sum and mean log-prob under the reference, log votes; ``hidden``
    [C, D]. ``written`` [C]: prompt and ids of each, for a backbone that reads them itself; empty where none does."""

    numbers: Tensor
    hidden: Tensor
    passed: Tensor
    graded: Tensor
    task: tuple[int, ...]
    written: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()

    def __len__(self) -> int:
        return len(self.task)

    @staticmethod
    def join(parts: Sequence[Candidates]) -> Candidates:
        """All parts as one; tasks stay apart."""
        tasks: list[int] = []
        for part in parts:
            base = max(tasks, default=-1) + 1
            tasks += [base + number for number in part.task]
        names = ("numbers", "hidden", "passed", "graded")
        numbers, hidden, passed, graded = (torch.cat([getattr(part, name) for part in parts]) for name in names)
        return Candidates(numbers, hidden, passed, graded, tuple(tasks), tuple(one for part in parts for one in part.written))

    def only(self, keep: Tensor) -> Candidates:
        """Those where ``keep`` [C] is True."""
        kept = tuple(task for task, yes in zip(self.task, keep.tolist(), strict=True) if yes)
        written = tuple(one for one, yes in zip(self.written, keep.tolist(), strict=False) if yes)
        return Candidates(self.numbers[keep], self.hidden[keep], self.passed[keep], self.graded[keep], kept, written)

    def pairs(self) -> list[tuple[int, int]]:
        """Positions of every two candidates of one task."""
        members: dict[int, list[int]] = {}
        for position, task in enumerate(self.task):
            members.setdefault(task, []).append(position)
        return [pair for group in members.values() for pair in combinations(group, 2)]


class Reading(nn.Module):
    """A number for each candidate: ``a·sum + b·mean + c·votes + d + u·h``; ``use_hidden=False`` leaves ``u·h`` out."""

    temperature: Tensor

    def __init__(self, width: int, use_hidden: bool = True) -> None:
        super().__init__()
        self.numbers = nn.Linear(3, 1)
        self.hidden = nn.Linear(width, 1, bias=False)
        self.use_hidden = use_hidden
        self.register_buffer("temperature", torch.tensor(1.0))
        nn.init.zeros_(self.hidden.weight)
        with torch.no_grad():
            self.numbers.weight.copy_(torch.tensor([[0.5, 0.0, 0.0]]))
            self.numbers.bias.zero_()

    def logits(self, data: Candidates) -> Tensor:
        """The numbers, [C]."""
        out: Tensor = self.numbers(data.numbers).squeeze(-1)
        if self.use_hidden:
            out = out + self.hidden(data.hidden).squeeze(-1) / data.hidden.shape[-1] ** 0.5
        return out

    @torch.no_grad()
    def scores(self, data: Candidates) -> list[float]:
        """Probability of passing of each candidate; of ``davidson`` a number in [0, 1] of the same order as its scores."""
        return [float(q) for q in torch.sigmoid(self.logits(data) / self.temperature)]


class ResidualHead(Reading):
    """The number is the logit of passing.

    The verifier's noise is ``P(recorded pass) = e + (1 - e - f)·q``. ``learn_noise`` fits ``e``, in (0, 0.5); else ``noise`` holds.
    """

    def __init__(
        self, width: int, use_hidden: bool = True, noise: tuple[float, float] = (0.0, 0.0), learn_noise: bool = False
    ) -> None:
        super().__init__(width, use_hidden)
        self.fixed, self.learn_noise = noise, learn_noise
        if learn_noise:
            self.link = nn.Parameter(torch.tensor(-2.0))  # e = 0.06 to begin with

    def false_pass(self) -> Tensor:
        """The share ``e`` of failing candidates that are recorded as passed."""
        return torch.sigmoid(self.link) / 2 if self.learn_noise else torch.tensor(self.fixed[0])

    @property
    def noise(self) -> tuple[float, float]:
        """``(e, f)`` as they are now."""
        return float(self.false_pass().detach()), self.fixed[1]

    def loss(self, data: Candidates, temperature: float = 1.0) -> Tensor:
        """BCE on the recorded pass under the noise link, mean over C."""
        chance = torch.sigmoid(self.logits(data) / temperature)
        recorded = self.false_pass() + (1 - self.false_pass() - self.fixed[1]) * chance
        return functional.binary_cross_entropy(recorded.clamp(1e-6, 1 - 1e-6), data.passed)

    @torch.no_grad()
    def verdicts(self, data: Candidates, pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """(p_A, p_B, p_tie) of every pair."""
        q = self.scores(data)
        return [verdict_probabilities(q[a], q[b]) for a, b in pairs]


class DavidsonHead(Reading):
    """Bradley-Terry with ties on the numbers: logits ``(s_A, s_B, (s_A + s_B)/2 + ln nu)``; ``nu`` learns ten times as fast."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.log_nu = nn.Parameter(torch.tensor(0.0))

    def _logits(self, data: Candidates, pairs: Sequence[tuple[int, int]]) -> Tensor:
        scores = self.logits(data)
        a, b = (scores[torch.tensor(side)] for side in zip(*pairs, strict=True))
        return torch.stack([a, b, (a + b) / 2 + 10 * self.log_nu], -1)

    def loss(self, data: Candidates, temperature: float = 1.0) -> Tensor:
        """Cross-entropy of the label of every pair, mean over pairs."""
        pairs = data.pairs()
        labels = torch.tensor([pair_label(data, *pair) for pair in pairs])
        return functional.cross_entropy(self._logits(data, pairs) / temperature, labels)

    @torch.no_grad()
    def verdicts(self, data: Candidates, pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """(p_A, p_B, p_tie) of every pair."""
        if not pairs:
            return []
        found = torch.softmax(self._logits(data, pairs) / self.temperature, -1)
        return [(float(p[0]), float(p[1]), float(p[2])) for p in found]


class Linear3Head(nn.Module):
    """``softmax(W [h_A; h_B; h_A - h_B])``, averaged with the mirrored order in training and in use."""

    temperature: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(3 * width, 3)
        self.register_buffer("temperature", torch.tensor(1.0))
        nn.init.zeros_(self.linear.weight)

    def _probabilities(self, data: Candidates, pairs: Sequence[tuple[int, int]], temperature: float | Tensor) -> Tensor:
        a, b = (data.hidden[torch.tensor(side)] for side in zip(*pairs, strict=True))
        there = torch.softmax(self.linear(torch.cat([a, b, a - b], -1)) / temperature, -1)
        back = torch.softmax(self.linear(torch.cat([b, a, b - a], -1)) / temperature, -1)
        return (there + back[:, [1, 0, 2]]) / 2

    def loss(self, data: Candidates, temperature: float = 1.0) -> Tensor:
        """Cross-entropy of the label of every pair, mean over pairs."""
        pairs = data.pairs()
        labels = torch.tensor([pair_label(data, *pair) for pair in pairs])
        return functional.nll_loss(self._probabilities(data, pairs, temperature).clamp(min=1e-9).log(), labels)

    @torch.no_grad()
    def verdicts(self, data: Candidates, pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """(p_A, p_B, p_tie) of every pair."""
        if not pairs:
            return []
        return [(float(p[0]), float(p[1]), float(p[2])) for p in self._probabilities(data, pairs, self.temperature)]

    @torch.no_grad()
    def scores(self, data: Candidates) -> list[float]:
        """Mean chance of being the better one against the other candidates of the task; 0.5 for one alone."""
        won: list[list[float]] = [[] for _ in data.task]
        pairs = data.pairs()
        for (a, b), p in zip(pairs, self.verdicts(data, pairs), strict=True):
            won[a].append(p[0] + p[2] / 2)
            won[b].append(p[1] + p[2] / 2)
        return [sum(w) / len(w) if w else 0.5 for w in won]


Head = ResidualHead | DavidsonHead | Linear3Head


class Judge(Protocol):
    """What a value model is in use: a head, or one with a backbone of its own."""

    def verdicts(self, data: Candidates, pairs: Sequence[tuple[int, int]]) -> list[Probabilities]:
        """(p_A, p_B, p_tie) of every pair."""
        ...

    def scores(self, data: Candidates) -> list[float]:
        """A number in [0, 1] for each candidate, the better the higher."""
        ...


def pair_label(data: Candidates, a: int, b: int) -> int:
    """Position in ``LABELS`` of what the verifier said about two candidates."""
    if data.passed[a] == data.passed[b]:
        return 2
    return 0 if data.passed[a] > data.passed[b] else 1


def make_head(name: str, width: int, noise: tuple[float, float] = (0.0, 0.0), learn_noise: bool = False) -> Head:
    """A new head by name; ``residual``, and ``platt``, which is it without the hidden part, know of noise.

    Raises ValueError for a name that is not in ``HEADS``.
    """
    if name not in HEADS:
        raise ValueError(f"value head {name!r} is none of {', '.join(HEADS)}")
    if name in ("residual", "platt"):
        return ResidualHead(width, name == "residual", noise, learn_noise)
    return DavidsonHead(width) if name == "davidson" else Linear3Head(width)


def fit_baseline(data: Candidates, noise: tuple[float, float] = (0.0, 0.0), learn_noise: bool = False) -> ResidualHead:
    """The Platt baseline: four numbers fitted to the end, and the rate of false passes with them where it is learned."""
    head = ResidualHead(data.hidden.shape[-1], False, noise, learn_noise)
    fit_numbers(head, data.only(data.graded))
    return head


def fit_numbers(head: ResidualHead, data: Candidates) -> None:
    """Fit the four numbers, and the rate of false passes where it is learned, to the end by LBFGS; the rest of the head stays.

    A little ridge keeps them finite where few candidates are told apart without an error.
    """
    fitted = [*head.numbers.parameters(), *([head.link] if head.learn_noise else [])]
    optimizer = torch.optim.LBFGS(fitted, lr=0.5, max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = head.loss(data) + RIDGE * head.numbers.weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]


@torch.no_grad()
def cool(head: Head, data: Candidates) -> float:
    """Move the head's temperature half-way, in logarithms, to the one that fits ``data`` best, and return it.

    ``data``: candidates that the head was not trained on. The best one is found between 1/8 and 8 to a hundredth by golden
    sections of the head's own loss (temperature scaling, Guo et al. 2017). Nothing changes where only one outcome is seen.
    """
    data = data.only(data.graded)
    if len(set(data.passed.tolist())) < 2 or (not isinstance(head, ResidualHead) and not data.pairs()):
        return float(head.temperature)
    low, high = -math.log(8), math.log(8)
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 0.01:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if head.loss(data, math.exp(left)) <= head.loss(data, math.exp(right)):
            high = right
        else:
            low = left
    head.temperature.copy_(torch.exp((torch.log(head.temperature) + (low + high) / 2) / 2))
    return float(head.temperature)


def sum_only(width: int) -> ResidualHead:
    """The policy's own sum of log-probs taken as the logit of passing: no fit at all."""
    head = ResidualHead(width, use_hidden=False)
    with torch.no_grad():
        head.numbers.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
    return head


def train_head(head: Head, data: Candidates, optimizer: torch.optim.Optimizer, steps: int, seed: int) -> float:
    """``steps`` updates on random halves of the tasks; returns the last loss. Of ``residual`` the numbers are first fitted to the
    end, which takes milliseconds: so it knows at least what the baseline knows."""
    if isinstance(head, ResidualHead) and int(data.graded.sum()) > 1:
        fit_numbers(head, data.only(data.graded))
        if not head.use_hidden:
            return float(head.loss(data.only(data.graded)).detach())
    rng = random.Random(seed)
    tasks = sorted(set(data.task))
    value = 0.0
    for _ in range(steps):
        chosen = set(rng.sample(tasks, max(1, len(tasks) // 2)))
        keep = torch.tensor([t in chosen for t in data.task])
        part = data.only(keep & data.graded)
        if len(part) < 2 or (not isinstance(head, ResidualHead) and not part.pairs()):
            continue
        optimizer.zero_grad()
        loss = head.loss(part)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        value = loss.item()
    return value


@dataclass(frozen=True)
class Accuracy:
    """How good verdicts are: three-way and decisive accuracy, the majority class, AUC and calibration error of passing, pairs
    counted."""

    three_way: float
    majority: float
    decisive: float
    auc: float
    ece: float
    n: int


def measure(head: Judge, data: Candidates) -> Accuracy:
    """Accuracy on data that the head has not seen. Decisive: share of pairs with a winner where it got the higher probability."""
    data = data.only(data.graded)
    pairs = data.pairs()
    labels = [pair_label(data, a, b) for a, b in pairs]
    verdicts = head.verdicts(data, pairs)
    right = [max(range(3), key=lambda k: p[k]) == y for p, y in zip(verdicts, labels, strict=True)]
    decisive = [(p[0] > p[1]) == (y == 0) for p, y in zip(verdicts, labels, strict=True) if LABELS[y] != "tie"]
    counts = [labels.count(k) for k in range(3)]
    scores, passed = head.scores(data), [bool(x) for x in data.passed]
    return Accuracy(
        three_way=sum(right) / max(1, len(right)),
        majority=max(counts) / max(1, len(labels)),
        decisive=sum(decisive) / max(1, len(decisive)),
        auc=auc(scores, passed),
        ece=calibration_error(scores, passed),
        n=len(pairs),
    )
