"""Which bugs to make, so that no kind carries the figures: rounds of orders until every kind has its share or is used up."""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from swefuse.code.operators import Bug
from swefuse.records import Task
from swefuse.scale import Executor
from swefuse.tasks.inject import Delivery, Order, inject
from swefuse.tasks.spec import FunctionSpec

SPARE = 1.05  # orders more than are lacking, since some functions have no bug of the kind


class Balance:
    """Tasks of one split so far, and how far each function's bugs of each kind are used.

    ``weights``: by family, how many times more tasks its functions give than others, as far as they have bugs; 1 where it is not
    named.
    """

    def __init__(
        self, specs: Sequence[FunctionSpec], total: int, most_each: int, seed: int, weights: Mapping[str, float] | None = None
    ) -> None:
        self.specs, self.total, self.most_each, self.seed = specs, total, most_each, seed
        self.weights = [(weights or {}).get(spec.family, 1.0) for spec in specs]
        self.numbers = {spec.key: at for at, spec in enumerate(specs)}
        self.positions: dict[tuple[Bug, int], int | None] = {(kind, at): 0 for kind in Bug for at in range(len(specs))}
        self.each: Counter[int] = Counter()
        self.by_kind: dict[Bug, list[Task]] = {kind: [] for kind in Bug}
        self.of_kind: Counter[tuple[Bug, int]] = Counter()
        self.dropped: Counter[str] = Counter()
        ranks = list(range(len(specs)))
        random.Random(f"balance|{seed}").shuffle(ranks)
        self.ranks = ranks

    def lacking(self) -> dict[Bug, int]:
        """How many tasks of each kind are wanted now: what is missing goes to the kinds with the fewest that have bugs left."""
        usable = [kind for kind in Bug if any(self._open(kind, at) for at in range(len(self.specs)))]
        have = {kind: len(self.by_kind[kind]) for kind in usable}
        level = dict(have)
        for _ in range(max(0, self.total - sum(map(len, self.by_kind.values())))):
            if level:
                lowest = min(level, key=lambda kind: (level[kind], kind))
                level[lowest] += 1
        return {kind: level[kind] - have[kind] for kind in usable if level[kind] > have[kind]}

    def orders(self) -> list[Order]:
        """One round: each lacking kind asks the functions that have given the fewest tasks of that kind, then of any."""
        wanted: dict[int, list[tuple[Bug, int, int]]] = defaultdict(list)
        each = Counter(self.each)
        for kind, lack in sorted(self.lacking().items(), key=lambda item: item[0]):
            usable = [at for at in range(len(self.specs)) if self._open(kind, at) and each[at] < self.most_each]
            given = {at: self.of_kind[kind, at] for at in usable}
            queue = [self._place(given[at], each[at], at) for at in usable]
            heapq.heapify(queue)
            asked: Counter[int] = Counter()
            for _ in range(int(lack * SPARE) + 1):
                if not queue:
                    break
                *_, at = heapq.heappop(queue)
                asked[at] += 1
                each[at] += 1
                given[at] += 1
                if each[at] < self.most_each:
                    heapq.heappush(queue, self._place(given[at], each[at], at))
            for at, count in asked.items():
                wanted[at].append((kind, self.positions[kind, at] or 0, count))
        return [Order(self.specs[at], tuple(wanted[at]), self.seed) for at in sorted(wanted)]

    def _place(self, given: int, total: int, at: int) -> tuple[float, float, int, int]:
        """Where a function stands in the queue for one kind: behind those that gave less of it, by its weight."""
        return given / self.weights[at], total / self.weights[at], self.ranks[at], at

    def take(self, order: Order, delivery: Delivery) -> None:
        """Enter what an order brought."""
        at = self.numbers[order.spec.key]
        for kind, task in delivery.tasks:
            self.by_kind[kind].append(task)
            self.of_kind[kind, at] += 1
            self.each[at] += 1
        for kind, position in delivery.positions:
            self.positions[kind, at] = position
        self.dropped.update(delivery.dropped)

    def result(self) -> list[Task]:
        """At most ``total`` tasks, the largest kinds cut first, in the order of their ids, which is as good as random."""
        share = {kind: len(tasks) for kind, tasks in self.by_kind.items()}
        while sum(share.values()) > self.total:
            share[max(share, key=lambda kind: (share[kind], kind))] -= 1
        tasks = {task.id: task for kind, made in self.by_kind.items() for task in made[: share[kind]]}
        return [tasks[id_] for id_ in sorted(tasks)]

    def _open(self, kind: Bug, at: int) -> bool:
        return self.positions[kind, at] is not None and self.each[at] < self.most_each


def make_tasks(balance: Balance, executor: Executor, made: Callable[[int], None]) -> list[Task]:
    """Run rounds until the split is full or nothing is left; ``made`` is told how many tasks each order brought."""
    while orders := balance.orders():
        for order, delivery in zip(orders, executor.map(inject, orders), strict=True):
            balance.take(order, delivery)
            made(len(delivery.tasks))
    return balance.result()
