"""Tasks of further kinds from any repository with tests, at one commit: each is proven, and nobody's opinion is asked.

What is tried, and in which order, follows from the seed and the surveys of the test files alone; results count in that order,
however many processes there are.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swefuse.errors import SandboxError
from swefuse.records import Kind, Task
from swefuse.scale import Executor
from swefuse.tasks import mutate
from swefuse.tasks.derive_answers import asked, qa
from swefuse.tasks.derive_code import bodies, complete, docgen, docstrings, files_of_tests, testgen
from swefuse.tasks.derive_parts import KEY, Made, Order, Refusal, View, view
from swefuse.tasks.mutate import Project
from swefuse.tasks.store import Keeper, load_tasks, logged
from swefuse.tasks.survey import Refusal as Unrun
from swefuse.tasks.survey import Surveyed

Progress = Callable[[int, int], None]
Plan = Callable[[View, random.Random], Iterator[tuple[str, str, tuple[str, ...], tuple[Surveyed, ...]]]]
KINDS: Mapping[Kind, tuple[Plan, Callable[[Order], Made]]] = {
    Kind.COMPLETE: (bodies, complete),
    Kind.TESTGEN: (files_of_tests, testgen),
    Kind.DOCGEN: (docstrings, docgen),
    Kind.QA: (asked, qa),
}
PYTEST_CPU_S = 10.0  # of a run of tests, as the survey allows
LOG = "derived.jsonl"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of each repository: ``tasks`` of each of ``kinds``.

    ``revision``: where the repository stands; ``environment``: in which its tests run; ``licences``: those allowed, empty for all.
    """

    tasks: int = 50
    kinds: tuple[Kind, ...] = tuple(KINDS)
    seed: int = 0
    environment: str = ""
    licences: tuple[str, ...] = ()
    revision: str = "HEAD"


def survey_all(
    repositories: Sequence[Path], out: Path, settings: Wanted, executor: Executor, progress: Progress = lambda done, total: None
) -> list[Project]:
    """See ``tasks.mutate.survey_all``."""
    same = mutate.Wanted(environment=settings.environment, licences=settings.licences, revision=settings.revision)
    return mutate.survey_all(repositories, out, same, executor, progress)


def run(
    projects: Sequence[Project], out: Path, settings: Wanted, executor: Executor, progress: Progress = lambda done, total: None
) -> dict[str, Any]:
    """Make tasks; the folder then holds ``tasks.jsonl`` and ``derived.jsonl``, from which a later call goes on.

    Returns counts: ``tasks``, ``tried``, both also by kind under ``kinds``, and ``refused`` by reason, test files included. The
    executor's processes must have been started with ``tasks.workers.init_worker``.
    """
    log, file = out / LOG, out / "tasks.jsonl"
    made = {task.provenance.parameters.get(KEY, task.id): task for task in load_tasks(file)} if file.exists() else {}
    rows = {row["key"]: row for row in logged(log) if row["refusal"] or row["key"] in made}
    refused, of = Counter[str](), {kind: Counter[str]() for kind in settings.kinds}
    done, total = 0, settings.tasks * len(projects) * len(settings.kinds)
    with Keeper(file, log, made, rows) as keeper:
        for project in projects:
            refused.update([project.refusal] if project.refusal else [one.refusal for one in project.surveys if one.refusal])
            seen = None if project.refusal else view(project)
            for kind in settings.kinds if seen else ():
                assert seen is not None
                count = tried = 0
                for row in _settled(plan(seen, kind, settings), rows, made, executor):
                    tried += 1
                    refused.update([row["refusal"]] if row["refusal"] else [])
                    count += not row["refusal"]
                    keeper.tick()
                    progress(done + count, total)
                    if count == settings.tasks:
                        break
                done += count
                of[kind].update(tasks=count, tried=tried)
                refused.update([] if tried else [Refusal.NOTHING])
    kinds = {kind.value: {"tasks": found["tasks"], "tried": found["tried"]} for kind, found in of.items()}
    return {
        "tasks": done,
        "tried": sum(one["tried"] for one in kinds.values()),
        "kinds": kinds,
        "refused": dict(refused.most_common()),
    }


def plan(seen: View, kind: Kind, settings: Wanted) -> Iterator[Order]:
    """What is tried of a kind, each once."""
    project, known = seen.project, set[str]()
    rng = random.Random(f"derive|{settings.seed}|{project.commit}|{kind}")
    for subject, what, data, tests in KINDS[kind][0](seen, rng):
        order = Order(
            project.repository,
            project.commit,
            project.licence,
            settings.environment,
            settings.seed,
            kind,
            subject,
            what,
            data,
            tests,
        )
        if order.key not in known:
            known.add(order.key)
            yield order


def _settled(
    orders: Iterator[Order], rows: dict[str, dict[str, Any]], made: dict[str, Task], executor: Executor
) -> Iterator[dict[str, Any]]:
    """What became of each order, in their order; those of which it is known are not tried again."""
    wanted, known = list(orders), frozenset(rows)
    found = executor.map(attempt, (order for order in wanted if order.key not in known))
    for order in wanted:
        if order.key not in known:
            got = next(found)
            made.update({order.key: got.task} if got.task is not None else {})
            rows[order.key] = _row(order, got)
        yield rows[order.key]


def attempt(order: Order) -> Made:
    """Make a task of an order, or say why not. Runs in a worker process; one bad order never ends the others."""
    try:
        return KINDS[order.kind][1](order)
    except SandboxError as error:
        return Made(refusal=Unrun.SANDBOX, detail=str(error)[:300])
    except (OSError, ValueError, LookupError, RecursionError) as error:
        return Made(refusal=Unrun.ERROR, detail=f"{type(error).__name__}: {error}"[:300])


def _row(order: Order, found: Made) -> dict[str, Any]:
    return {
        "key": order.key, "repo": order.repository.name, "commit": order.commit, "kind": order.kind, "subject": order.subject,
        "asked": order.asked, "task": found.task.id if found.task else "", "refusal": found.refusal, "detail": found.detail,
    }  # fmt: skip
