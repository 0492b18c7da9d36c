"""Tasks from a git history: each repair with its tests becomes one if running it shows that the tests notice the repair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from swefuse.errors import InfraError, SandboxError, UserError
from swefuse.records import Evidence, Kind, Provenance, Suite, Task
from swefuse.sandbox import environments
from swefuse.sandbox.pythons import Python
from swefuse.scale import Executor
from swefuse.tasks import in_time, other_kinds
from swefuse.tasks.attempts import CPU_S, ELSEWHERE, OLD, Attempt, Order, Refusal, Runs, ended, strays
from swefuse.tasks.commits import candidates, is_test_file, sides, states
from swefuse.tasks.environment import licence, supplied
from swefuse.tasks.git import opened
from swefuse.tasks.store import Keeper, load_tasks, logged
from swefuse.tasks.workers import sandbox
from swefuse.workspace import Files

AUTO = "auto"
MOST_MISSING = 4  # modules that are added to an environment one after the other
DISTRIBUTIONS = {"dateutil": "python-dateutil", "yaml": "PyYAML", "zope": "zope.interface", "pkg_resources": "setuptools<81"}
_LACKS = re.compile(r"No module named '(\w+)")
SLOWER = 10.0  # what the state without the repair may take, as a multiple of what it takes with it
SHOWN = 5  # failing tests that an instruction names
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which commits are tried: those after ``since`` (a date), at most ``most`` of each repository, under one of ``licences``.

    ``environments``, ``all_tests``, ``kinds``: see ``Order``.
    """

    since: str = ""
    most: int | None = None
    licences: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    all_tests: bool = False
    kinds: tuple[Kind, ...] = (Kind.BUGFIX,)


def run(
    repositories: Sequence[Path],
    out: Path,
    settings: Selection,
    executor: Executor,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """Try the candidates of every repository, the newest first, and write ``tasks.jsonl`` and ``attempts.jsonl``; the summary.

    A commit that was tried into the same folder is not tried again; attempts are written every half minute. The executor's
    processes must have been started with ``tasks.workers.init_worker``. Raises UserError for what is no repository.
    """
    orders = []
    for path in repositories:
        repository = opened(path.resolve())
        if repository.shallow:
            raise UserError(f"{path} is a shallow clone, in which the states before the repairs are missing: git fetch --unshallow")
        for kind in settings.kinds:
            chosen = list(candidates(repository.commits(settings.since), kind))[: settings.most]
            orders += [
                Order(path.resolve(), commit, 2, settings.licences, settings.environments, settings.all_tests, kind)
                for commit in chosen
            ]
    log, tasks = out / "attempts.jsonl", out / "tasks.jsonl"
    made = {(task.provenance.commit, task.kind): task for task in load_tasks(tasks)} if tasks.exists() else {}
    rows = {(row["commit"], Kind(row.get("kind", Kind.BUGFIX))): row for row in logged(log)}
    tried = {key: row for key, row in rows.items() if row["refusal"] or key in made}
    fresh = [order for order in orders if (order.commit.sha, order.kind) not in tried]
    with Keeper(tasks, log, made, tried) as keeper:
        for number, (order, attempt) in enumerate(zip(fresh, executor.map(try_commit, fresh), strict=True), 1):
            tried[attempt.commit.sha, order.kind] = {**_row(attempt), "kind": order.kind.value}
            if attempt.task is not None:
                made[attempt.commit.sha, order.kind] = attempt.task
            keeper.tick()
            progress(number, len(fresh))
    refused = Counter(row["refusal"] for row in tried.values() if row["refusal"])
    return {"tasks": len(made), "tried": len(tried), "refused": dict(refused.most_common())}


def _row(attempt: Attempt) -> dict[str, Any]:
    commit = attempt.commit
    return {
        "commit": commit.sha, "date": commit.date, "subject": commit.subject, "task": attempt.task.id if attempt.task else "",
        "refusal": attempt.refusal.value if attempt.refusal else "", "detail": attempt.detail, "cpu_s": round(attempt.cpu_s, 3),
        "dropped": list(attempt.dropped),
    }  # fmt: skip


def try_commit(order: Order) -> Attempt:
    """Make a task of a commit, or say why not. Runs in a worker process; one bad commit never ends the others."""
    commit = order.commit
    try:
        repository = opened(order.repository)
        before, after = repository.files(commit.parent), repository.files(commit.sha)
        own = licence(after)
        if order.licences and own not in order.licences:
            return Attempt(commit, None, Refusal.LICENCE, own or "none found")
        parts = sides(commit, after, order.all_tests)
        judged: Callable[[Order, Runs, str], Attempt] = _judged
        if order.kind is not Kind.BUGFIX:
            judged = other_kinds.OF[order.kind]
            parts = replace(parts, run=other_kinds.tests_of(parts, after))
        if not parts.run:
            return Attempt(commit, None, Refusal.NO_TEST_FILE, ", ".join(parts.tests)[:300])
        added = supplied(after)
        initial, reference = ({**state, **added} for state in states(commit, parts, before, after))
        runs = Runs(initial, reference, parts.run, parts.tests)
        runs.parent = before
        first = judged(order, runs, own)
        for name in order.environments if first.refusal in ELSEWHERE else ():
            found = _in_its_time(order, runs, partial(judged, order, runs, own), after) if name == AUTO else None
            if found is None:
                runs.environment = name
                found = judged(order, runs, own)
            if found.task is not None:
                return found
            first = first if name != AUTO else replace(found, cpu_s=runs.cpu_s)  # it had what was said to be needed
        if first.refusal in ELSEWHERE and (elsewhere := repository.submodules(commit.sha)):
            return replace(first, refusal=Refusal.SUBMODULE, detail=f"{', '.join(elsewhere)}; {first.refusal}"[:300])
        return first
    except SandboxError as error:
        return Attempt(commit, None, Refusal.SANDBOX, str(error)[:300])
    except InfraError as error:
        return Attempt(commit, None, Refusal.NO_ENVIRONMENT, str(error)[:300])
    except (OSError, ValueError, IndexError) as error:
        return Attempt(commit, None, Refusal.ERROR, f"{type(error).__name__}: {error}"[:300])


def _in_its_time(order: Order, runs: Runs, judge: Callable[[], Attempt], files: Files) -> Attempt:
    """The attempt in an environment of the commit's time, and where that does not do with a Python of its time, if there is one."""
    found = _with_missing(order, runs, judge, files, None)
    python = in_time.python_of(order.commit.date) if found.refusal in ELSEWHERE else None
    if python is None:
        return found
    try:
        return _with_missing(order, runs, judge, files, python)
    except (InfraError, SandboxError):  # an interpreter that does not start, or that pip knows nothing for, is no reason
        return found


def _with_missing(order: Order, runs: Runs, judge: Callable[[], Attempt], files: Files, python: Python | None) -> Attempt:
    """The attempt in an environment of its time; a module that its tests lack then is added, a few times."""
    missing: list[str] = []
    while True:
        runs.environment = in_time.environment(order.commit.date, files, missing, python)
        found = judge()
        lacks = _LACKS.search(found.detail) if found.refusal in ELSEWHERE else None
        name = DISTRIBUTIONS.get(lacks[1], lacks[1]) if lacks else ""
        if not name or name in missing or len(missing) == MOST_MISSING or any(f"{name}/" in path for path in files):
            return found
        missing.append(name)


def _judged(order: Order, runs: Runs, own: str) -> Attempt:
    good = []
    for _ in range(order.repeats):
        outcomes, broken, output = runs.once(runs.reference)
        good.append(outcomes)
        if output.limit:
            return Attempt(order.commit, None, Refusal.TOO_LONG, f"over the {output.limit} limit", runs.cpu_s)
        if not outcomes or not ended(output):
            kind = Refusal.MISSING_MODULE if "No module named" in broken else Refusal.NOTHING_COLLECTED
            kind = Refusal.TOO_OLD if OLD.search(broken) else kind
            return Attempt(order.commit, None, kind, (broken or output.text[-300:])[-300:], runs.cpu_s)
    before, _, output = runs.once(runs.initial, min(CPU_S, max(5.0, SLOWER * output.cpu_s)))
    if output.limit or not ended(output):
        return Attempt(
            order.commit, None, Refusal.NO_END, f"over the {output.limit} limit" if output.limit else "it died", runs.cpu_s
        )
    steady = {id_ for id_ in good[0] if len({found.get(id_, "absent") for found in good}) == 1} - strays(good[0], before)
    dropped = tuple(sorted({id_ for found in good for id_ in found} - steady))
    passing = [id_ for id_ in good[0] if id_ in steady and good[0][id_] == "passed"]
    decisive = tuple(id_ for id_ in passing if before.get(id_) != "passed")
    if not decisive:
        kind = Refusal.TESTS_AGREE if all(before.get(id_) == "passed" for id_ in passing) and passing else Refusal.ALL_FAIL
        return Attempt(order.commit, None, kind, f"{len(passing)} tests pass", runs.cpu_s, dropped)
    held = tuple(id_ for id_ in passing if id_ not in decisive)
    return Attempt(order.commit, _task(order, runs, decisive, held, own, dropped), None, "", runs.cpu_s, dropped)


def _task(order: Order, runs: Runs, decisive: tuple[str, ...], held: tuple[str, ...], own: str, dropped: tuple[str, ...]) -> Task:
    commit, initial, name = order.commit, runs.initial, opened(order.repository).name
    suites = (Suite(form="pytest", files=runs.run, fail_to_pass=decisive, pass_to_pass=held),)
    changed = tuple(
        sorted(path for path in runs.reference.keys() | initial.keys() if runs.reference.get(path) != initial.get(path))
    )
    names = "\n".join(f"- {id_}" for id_ in decisive[:SHOWN]) + (
        f"\n- and {len(decisive) - SHOWN} more" if decisive[SHOWN:] else ""
    )
    instruction = f"These tests fail:\n{names}\nFind the cause in the source and repair it; the tests must stay as they are."
    evidence = Evidence(
        repeats=order.repeats, reference_passes=True, null_fails=True, failing_ids=tuple(sorted(decisive)),
        flake_rate=len(dropped) / max(1, len(dropped) + len(decisive) + len(held)), sandbox=sandbox().identity,
        python=environments.version(runs.environment), environment=runs.environment,
    )  # fmt: skip
    return Task.make(
        Kind.BUGFIX, instruction=instruction, files=initial,
        editable=tuple(path for path in changed if not is_test_file(path)), protected=runs.protected, suites=suites,
        reference=runs.reference, evidence=evidence,
        provenance=Provenance(
            source="commits", repo=name, commit=commit.sha, licence=own, topic=name,
            parameters={"parent": commit.parent, "date": commit.date, "subject": commit.subject[:300]},
        ),
    )  # fmt: skip
