"""The stage behind ``swefuse collect``: many different trajectories a task, by one of four methods, and what they took.

The work is cut into parts that are the same in every run. A part is logged as a whole, in one line, when it is done: after
``kill -9`` the same call goes on with the parts that are missing, and ends with the same trajectories. Parts in which the policy
or the sandbox failed are done again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swefuse.collect.parts import LOG, Log, Part
from swefuse.collect.plan import METHODS, GatherConfig, Method, check, check_policy, choose, head, pieces, shown_first
from swefuse.collect.summary import written
from swefuse.collect.work import Clock, Numbered, Progress, Worker
from swefuse.policy.base import Policy
from swefuse.scale.executor import Executor, InlineExecutor, ThreadExecutor

__all__ = ["LOG", "METHODS", "GatherConfig", "Method", "check", "run", "shown_first"]


def run(
    config: GatherConfig, method: Method, given: tuple[Path, Path], policy: Policy | None, executor: Executor,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:  # fmt: skip
    """Collect for the tasks of ``given[0]`` into the folder ``given[1]``; the summary, which is in ``summary.json`` too.

    ``policy`` None is for replay alone. The executor's processes must have been started with ``verify.many.init_worker``. What is
    known is written also when the call is ended early. ``progress`` is told attempts: of a replay or a search, tasks.

    Raises UserError for what cannot be, before anything is written, and where the folder holds another collection or another call
    is at work in it; DataError where there is no task, or the log is damaged.
    """
    place, out = given
    check(config, method)
    check_policy(config, policy)
    chosen = choose(config, method, place)
    todo = pieces(config, method, policy, chosen.tasks)
    described = {**head(config, method, policy, chosen.tasks), "part": max(map(len, todo))}
    with Log(out, described) as log:
        fresh = [(number, units) for number, units in enumerate(todo) if number not in log.parts or log.parts[number].open]
        again = {number for number, _ in fresh}
        clock = Clock(progress, sum(map(len, todo)), {n: len(units) for n, units in enumerate(todo) if n not in again})
        try:
            _done(Worker(config, method, policy, executor, chosen.tasks, clock), log, fresh)
        finally:
            summary = written(out, log, chosen, method, len(todo), config.keep_refused)
    return summary


def _done(worker: Worker, log: Log, fresh: list[Numbered]) -> None:
    """Do parts and log each, in whatever thread. When it is ended early, what ends soon all the same is logged too."""

    def one(numbered: Numbered) -> Part:
        part = worker(numbered)
        log.add(part)
        return part

    threads = getattr(worker.policy, "concurrent", 1)
    with ThreadExecutor(threads) if threads > 1 else InlineExecutor() as crew:
        try:
            for _ in crew.map(one, fresh):
                pass
        except BaseException:
            worker.halt()  # before the crew is waited for, which would play whole episodes to their ends
            raise
