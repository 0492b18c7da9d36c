"""Which tasks a round is about: each once before any comes again, or those first whose outcome is the least certain."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from swefuse.learn.settings import RlvrSettings
from swefuse.records import Task


def rate(passed: float, failed: float) -> float:
    """Mean of the Beta posterior of a pass rate whose prior is even: (passed + 1) / (passed + failed + 2)."""
    return (passed + 1) / (passed + failed + 2)


def least_certain(rates: Mapping[int, float], rng: random.Random) -> list[int]:
    """Tasks by how near their pass rate is to one half, the nearest first; ``rng`` decides among equals."""
    places = sorted(rates)
    rng.shuffle(places)
    return sorted(places, key=lambda place: round(abs(rates[place] - 0.5), 9))


class Draws:
    """Draws tasks, round by round. ``taken``: positions that this round has so far."""

    def __init__(self, tasks: Sequence[Task], settings: RlvrSettings) -> None:
        self._tasks, self._how, self._seed = tasks, settings.sampling, settings.seed
        self._place = {task.id: place for place, task in enumerate(tasks)}
        self._pool: list[int] = []
        self._epoch = self._turn = 0
        self._known: dict[int, tuple[float, float]] = {}
        self.taken: list[int] = []

    def begin(self) -> None:
        """Begin a round: what was known before fades."""
        fade = self._how.fade
        self._known = {place: (fade * passed, fade * failed) for place, (passed, failed) in self._known.items()}
        self.taken = []

    @property
    def left(self) -> int:
        """Tasks that the round has not had."""
        return len(self._tasks) - len(self.taken)

    def take(self, count: int) -> list[Task]:
        """The next ``count`` tasks, none of which the round has had; fewer where no others are left."""
        count = min(count, self.left)
        chosen = self._hard(count) if self._how.order == "difficulty" else self._next(count, ())
        self.taken += chosen
        return [self._tasks[place] for place in chosen]

    def learn(self, outcomes: Mapping[str, tuple[int, int]]) -> None:
        """Take in how many candidates passed and failed, by task id."""
        for name, (passed, failed) in outcomes.items():
            if passed + failed:
                place = self._place[name]
                before = self._known.get(place, (0.0, 0.0))
                self._known[place] = (before[0] + passed, before[1] + failed)

    def rates(self) -> dict[int, float]:
        """What is thought of the pass rate of each task that was tried."""
        return {place: rate(*counts) for place, counts in self._known.items()}

    def _next(self, count: int, without: Sequence[int]) -> list[int]:
        """The first of the pool that neither the round has had nor ``without`` holds; each task once before any comes again."""
        barred = {*self.taken, *without}
        if sum(place not in barred for place in set(self._pool)) < count:
            fresh = list(range(len(self._tasks)))
            random.Random(f"{self._seed}-{self._epoch}").shuffle(fresh)
            fresh.sort(key=self._pool.__contains__)  # those still waiting come last, so that no round holds a task twice
            self._pool, self._epoch = self._pool + fresh, self._epoch + 1
        chosen: list[int] = []
        for at, place in self._free(barred):
            if len(chosen) == count:
                break
            chosen.append(place)
            barred.add(place)
            self._pool[at] = -1
        self._pool = [place for place in self._pool if place >= 0]
        return chosen

    def _free(self, barred: set[int]) -> Iterator[tuple[int, int]]:
        return ((at, place) for at, place in enumerate(self._pool) if place not in barred)

    def _hard(self, count: int) -> list[int]:
        """A share of tasks that were never tried, and for the rest those whose pass rate is nearest to one half."""
        self._turn += 1
        rng = random.Random(f"difficulty-{self._seed}-{self._turn}")
        tried = least_certain({place: one for place, one in self.rates().items() if place not in self.taken}, rng)
        untried = len(self._tasks) - len({*self._known, *self.taken})
        fresh = min(untried, max(round(self._how.fresh * count), count - len(tried)))
        chosen = tried[: count - fresh]
        return [*chosen, *self._next(fresh, [*self._known])]

    def state(self) -> dict[str, Any]:
        """What ``resume`` takes."""
        known = [[place, *counts] for place, counts in self._known.items()]
        return {"pool": list(self._pool), "epoch": self._epoch, "turn": self._turn, "known": known}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on after a stop."""
        self._pool, self._epoch, self._turn = list(state["pool"]), state["epoch"], state["turn"]
        self._known = {int(place): (passed, failed) for place, passed, failed in state["known"]}
