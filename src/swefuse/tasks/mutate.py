"""Tasks by mutation: a bug is put into a function that tests reach, and is a task if some of these tests notice it every time.

``survey_all`` runs each test file of a repository as it is; ``run`` tries bugs until there are enough tasks. What is tried, and in
which order, follows from the seed and the surveys alone, and results count in that order, however many processes there are.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from swefuse.code.functions import body_hash
from swefuse.errors import SandboxError
from swefuse.records import Evidence, Kind, ModelStep, Provenance, Suite, Task, content_hash
from swefuse.sandbox import environments
from swefuse.scale import Executor
from swefuse.tasks.attempts import ended, results, strays
from swefuse.tasks.commits import is_source, is_test_file
from swefuse.tasks.environment import licence
from swefuse.tasks.git import opened
from swefuse.tasks.sites import Flaw, Site, flaws, injected, node_of, sites
from swefuse.tasks.store import Keeper, load_tasks, logged, save_lines
from swefuse.tasks.survey import Order as TestFile
from swefuse.tasks.survey import Refusal, Surveyed, guards, run_tests, state, survey
from swefuse.tasks.symptoms import details, instruction
from swefuse.tasks.workers import sandbox

MOST_BUGS = 3
TRIED_FILES = 2  # test files that a bug is shown to
TRIES = 4  # bugs of a function that are tried for each task that may come of it
SLOWER, LEAST_CPU_S = 10.0, 2.0  # what tests may take with a bug: a multiple of what they take without it, at least so much
Progress = Callable[[int, int], None]
_VALUE, _SELF = re.compile(r"\s*\w+ = "), re.compile(r"\b(?:self|cls)\b")
_KEY = "attempt"  # the parameter of a task that names its attempt


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of each repository: ``tasks`` with ``bugs`` bugs each, at most ``per_function`` of a function.

    ``revision``: where the repository stands; ``environment``: in which its tests run; ``licences``: those allowed, empty for all.
    """

    tasks: int = 100
    bugs: int = 1
    per_function: int = 2
    seed: int = 0
    environment: str = ""
    licences: tuple[str, ...] = ()
    revision: str = "HEAD"


@dataclass(frozen=True, slots=True)
class Project:
    """A repository at a commit, and what its test files showed. With a ``refusal`` nothing can be made of it."""

    repository: Path
    commit: str
    licence: str
    surveys: tuple[Surveyed, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """Bugs to try together on test files, one after the other until one notices. ``function``: the one that they count for."""

    repository: Path
    commit: str
    environment: str
    function: str
    flaws: tuple[Flaw, ...]
    files: tuple[Surveyed, ...]

    @property
    def key(self) -> str:
        """Names the attempt, whatever else is tried."""
        bugs, files = [flaw.row() for flaw in self.flaws], [one.tests for one in self.files]
        return content_hash([self.commit, self.environment, bugs, files])[:16]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of bugs: with ``failing`` ids and those that go on passing a task, else a refusal. ``shown``: how some fail."""

    tests: str = ""
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    shown: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
    detail: str = ""
    cpu_s: float = 0.0
    sandbox: str = ""


def survey_all(
    repositories: Sequence[Path],
    out: Path,
    settings: Wanted,
    executor: Executor,
    progress: Progress = lambda done, total: None,
) -> list[Project]:
    """Look at every repository and run its test files; what is known from ``surveys.jsonl`` in the folder is not run again.

    The executor's processes must have been started with ``tasks.workers.init_worker``. Raises UserError for what is no repository.
    """
    log = out / "surveys.jsonl"
    known = {(row.pop("commit"), row.pop("environment"), row["tests"]): Surveyed.of(row) for row in logged(log)}
    projects, wanted = list[Project](), list[TestFile]()
    for path in map(Path.resolve, repositories):
        commit = opened(path).resolve(settings.revision)
        files = state(path, commit)
        own, tests = licence(files), sorted(filter(is_test_file, files))
        barred = bool(settings.licences) and own not in settings.licences
        refusal = Refusal.LICENCE if barred else "" if tests else Refusal.NO_TESTS
        projects.append(Project(path, commit, own, refusal=refusal))
        wanted += [] if refusal else [TestFile(path, commit, one, settings.environment) for one in tests]
    fresh = [one for one in wanted if (one.commit, one.environment, one.tests) not in known]
    try:
        for number, (order, found) in enumerate(zip(fresh, executor.map(survey, fresh), strict=True), 1):
            known[order.commit, order.environment, order.tests] = found
            progress(number, len(fresh))
    finally:
        rows = ({"commit": key[0], "environment": key[1], **found.row()} for key, found in known.items())
        save_lines(log, map(json.dumps, rows))

    def of(project: Project) -> tuple[Surveyed, ...]:
        files = [one for one in wanted if one.repository == project.repository]
        return tuple(known[one.commit, one.environment, one.tests] for one in files)

    return [Project(one.repository, one.commit, one.licence, of(one), one.refusal) for one in projects]


def run(
    projects: Sequence[Project], out: Path, settings: Wanted, executor: Executor, progress: Progress = lambda done, total: None
) -> dict[str, Any]:
    """Try bugs and write ``tasks.jsonl`` and ``attempts.jsonl``; the summary. A bug that was tried into the folder is not again."""
    log, file = out / "attempts.jsonl", out / "tasks.jsonl"
    made = {task.provenance.parameters.get(_KEY, task.id): task for task in load_tasks(file)} if file.exists() else {}
    rows = {row["key"]: row for row in logged(log) if row["refusal"] or row["key"] in made}
    refused, total = Counter[str](), settings.tasks * len(projects)
    done = tried = 0
    with Keeper(file, log, made, rows) as keeper:
        for project in projects:
            refused.update(one.refusal for one in project.surveys if one.refusal)
            tries = _Tries(project, settings, rows, made)
            for _ in () if project.refusal else tries.results(executor):
                keeper.tick()
                progress(done + tries.count, total)
            if project.refusal or not tries.settled:
                refused[project.refusal or Refusal.NO_FUNCTION] += 1
            refused.update(rows[key]["refusal"] for key in tries.settled if rows[key]["refusal"])
            done, tried = done + tries.count, tried + len(tries.settled)
    return {"tasks": done, "tried": tried, "refused": dict(refused.most_common())}


@dataclass(slots=True)
class _Tries:
    """The attempts on one project in their order; adds to ``rows`` and ``made``, which hold what is known from before."""

    project: Project
    settings: Wanted
    rows: dict[str, dict[str, Any]]
    made: dict[str, Task]
    settled: list[str] = field(default_factory=list)
    count: int = 0
    _of: Counter[str] = field(default_factory=Counter)
    _waiting: deque[Order] = field(default_factory=deque)

    def results(self, executor: Executor) -> Iterator[None]:
        """Give control back after each attempt, until there are tasks enough or no more bugs."""
        for attempt in executor.map(try_bugs, self._fresh()):
            self._settle_known()
            order = self._waiting.popleft()
            self._settle(order, attempt)
            self._settle_known()
            yield
            if self.count >= self.settings.tasks:
                break
        self._settle_known()

    def _full(self, function: str) -> bool:
        return self._of[function] >= self.settings.per_function or self.count >= self.settings.tasks

    def _fresh(self) -> Iterator[Order]:
        """Orders that nobody has tried; those that somebody has wait for their turn, so that all count in one order."""
        for order in plan(self.project, self.settings, self._full):
            self._waiting.append(order)
            if order.key not in self.rows:
                yield order
            elif self._waiting[0] is order:
                self._settle_known()

    def _settle_known(self) -> None:
        while self._waiting and self._waiting[0].key in self.rows:
            self._settle(self._waiting.popleft(), None)

    def _settle(self, order: Order, attempt: Attempt | None) -> None:
        if self._full(order.function):
            return
        key = order.key
        if attempt is not None:
            task = None if attempt.refusal else _task(self.project, self.settings, order, attempt)
            self.made.update({key: task} if task else {})
            self.rows[key] = _row(order, attempt, task.id if task else "")
        self.settled.append(key)
        if not self.rows[key]["refusal"]:
            self.count += 1
            self._of[order.function] += 1


def _row(order: Order, attempt: Attempt, task: str) -> dict[str, Any]:
    return {
        "key": order.key, "repo": opened(order.repository).name, "commit": order.commit, "function": order.function, "task": task,
        "refusal": attempt.refusal, "detail": attempt.detail, "tests": attempt.tests, "cpu_s": round(attempt.cpu_s, 3),
        "dropped": list(attempt.dropped), "bugs": [flaw.row() for flaw in order.flaws],
    }  # fmt: skip


def plan(project: Project, settings: Wanted, full: Callable[[str], bool] = lambda function: False) -> Iterator[Order]:
    """What is tried, in turns over all functions that tests reach; a function that is ``full`` is passed over."""
    files = state(project.repository, project.commit)
    reached = _reached(project, files)
    draw = f"mutate|{settings.seed}|{project.commit}"
    places = sorted(reached, key=lambda site: (site.path, site.first))
    random.Random(draw).shuffle(places)
    known, seen = dict[Site, list[Flaw]](), set[str]()

    def bugs_of(site: Site) -> list[Flaw]:
        if site not in known:
            known[site] = _mixed(flaws(files[site.path], site), random.Random(f"{draw}|{site.path}|{site.name}|{site.first}"))
        return known[site]

    for turn in range(TRIES * settings.per_function):
        for site in places:
            function = f"{site.path}:{site.name}"
            if full(function) or turn >= len(bugs_of(site)):
                continue
            tests, chosen = reached[site], [bugs_of(site)[turn]]
            if settings.bugs > 1:
                rng = random.Random(f"{draw}|{function}|{turn}")
                tests = tests[:1]
                others = [one for one in places if one != site and tests[0] in reached[one] and bugs_of(one)]
                if len(others) < settings.bugs - 1:
                    continue
                chosen += [rng.choice(bugs_of(one)) for one in rng.sample(others, settings.bugs - 1)]
            order = Order(project.repository, project.commit, settings.environment, function, tuple(chosen), tests)
            if order.key not in seen:  # drawn bugs may be drawn again
                seen.add(order.key)
                yield order


def _reached(project: Project, files: Mapping[str, str]) -> dict[Site, tuple[Surveyed, ...]]:
    """Each function of the source that tests reach, with the test files that say most about it: named like its file, reaching
    little else, and quick."""
    at = {(site.path, site.first): site for path in files if is_source(path) for site in sites(path, files[path])}
    found: dict[Site, list[Surveyed]] = {}
    for one in project.surveys:
        for place in () if one.refusal else one.reached:
            if place in at:
                found.setdefault(at[place], []).append(one)

    def order(site: Site, one: Surveyed) -> tuple[bool, int, str]:
        stem = PurePosixPath(site.path).stem.strip("_")
        return stem not in PurePosixPath(one.tests).name, len(one.reached), one.tests

    return {site: tuple(sorted(those, key=lambda one: order(site, one))[:TRIED_FILES]) for site, those in found.items()}


def _mixed(found: list[Flaw], rng: random.Random) -> list[Flaw]:
    """Bugs in random order, but one of every kind before the second of any: there are far more of some kinds than of others.

    Last come those that give themselves away: a NameError where a first value is dropped, another object in the place of ``self``.
    """
    rng.shuffle(found)
    turns = {kind: rng.random() for kind in sorted({flaw.kind for flaw in found})}
    seen: Counter[str] = Counter()
    ranks = []
    for flaw in found:
        obvious = bool(_VALUE.match(flaw.old)) if not flaw.new else len(_SELF.findall(flaw.old)) != len(_SELF.findall(flaw.new))
        ranks.append((obvious, seen[flaw.kind], turns[flaw.kind]))
        seen[flaw.kind] += 1
    return [found[at] for at in sorted(range(len(found)), key=ranks.__getitem__)]


def try_bugs(order: Order) -> Attempt:
    """See whether tests notice the bugs. Runs in a worker process; one bad bug never ends the others."""
    try:
        return _tried(order)
    except SandboxError as error:
        return Attempt(refusal=Refusal.SANDBOX, detail=str(error)[:300])
    except (OSError, ValueError, IndexError) as error:
        return Attempt(refusal=Refusal.ERROR, detail=f"{type(error).__name__}: {error}"[:300])


def _tried(order: Order) -> Attempt:
    files, spent = state(order.repository, order.commit), 0.0
    broken = injected(files, order.flaws)
    for one in order.files:
        runs = []
        for _ in range(2):
            got = _once(order, one, broken)
            spent += got.cpu_s
            if got.refusal:
                return Attempt(one.tests, refusal=got.refusal, detail=got.detail, cpu_s=spent)
            runs.append(got)
            if not got.failing:
                break
        first, last = runs[0], runs[-1]
        if len(runs) == 1:
            continue
        failing = tuple(id_ for id_ in first.failing if id_ in last.failing)
        passing = tuple(id_ for id_ in first.passing if id_ in last.passing)
        if not failing:
            return Attempt(one.tests, refusal=Refusal.NOT_STEADY, detail=", ".join(first.failing)[:300], cpu_s=spent)
        if not passing:
            return Attempt(one.tests, refusal=Refusal.ALL_FAIL, detail=f"{len(failing)} tests", cpu_s=spent)
        for flaw in order.flaws if len(order.flaws) > 1 else ():
            alone = _once(order, one, injected(files, (flaw,)))
            spent += alone.cpu_s
            if not alone.failing:
                where = f"{flaw.path}:{flaw.function}"
                return Attempt(one.tests, refusal=Refusal.PART_NOT_NOTICED, detail=where, cpu_s=spent)
        dropped = tuple(sorted({*one.dropped, *one.passing} - {*failing, *passing}))
        shown = tuple(pair for pair in first.shown if pair in last.shown and pair[0] in failing)
        return Attempt(one.tests, failing, passing, dropped, shown, cpu_s=spent, sandbox=sandbox().identity)
    return Attempt(refusal=Refusal.NOT_NOTICED, detail=", ".join(one.tests for one in order.files), cpu_s=spent)


def _once(order: Order, one: Surveyed, files: Mapping[str, str]) -> Attempt:
    """One run of a test file: which of the tests that pass without a bug fail, and how."""
    output = run_tests(
        files, (one.tests,), guards(files, one.tests), order.environment, max(LEAST_CPU_S, SLOWER * one.cpu_s)
    )  # fmt: skip
    outcomes, broken = results(output)
    if output.limit or (not ended(output) and not broken):
        why = f"over the {output.limit} limit" if output.limit else "it died"
        return Attempt(refusal=Refusal.HANGS, detail=why, cpu_s=output.cpu_s)
    if broken or not ended(output):
        return Attempt(refusal=Refusal.NOT_COLLECTED_WITH_BUG, detail=broken[-300:], cpu_s=output.cpu_s)
    gone = strays(one.passing, outcomes)
    failing = tuple(id_ for id_ in one.passing if outcomes.get(id_) != "passed" and id_ not in gone)
    passing = tuple(id_ for id_ in one.passing if outcomes.get(id_) == "passed")
    return Attempt(one.tests, failing, passing, shown=details(output, failing), cpu_s=output.cpu_s)


def _task(project: Project, settings: Wanted, order: Order, attempt: Attempt) -> Task:
    reference = state(project.repository, project.commit)
    broken, first = injected(reference, order.flaws), order.flaws[0]
    at = [next(site for site in sites(one.path, reference[one.path]) if site.name == one.function) for one in order.flaws]
    tests = len(attempt.failing) + len(attempt.passing) + len(attempt.dropped)
    parameters = {f"bug{number}": json.dumps(flaw.row()) for number, flaw in enumerate(order.flaws, 1)}
    steps = sorted(order.flaws, key=lambda flaw: (flaw.path, flaw.line))
    return Task.make(
        Kind.BUGFIX, instruction=instruction(attempt.failing, attempt.shown, len(order.flaws)), files=broken,
        editable=tuple(sorted({flaw.path for flaw in order.flaws})), protected=guards(broken, attempt.tests),
        suites=(
            Suite(form="pytest", files=(attempt.tests,), fail_to_pass=attempt.failing, pass_to_pass=attempt.passing),
        ), reference=dict(reference),
        solution=tuple(
            ModelStep(thought=f"`{one.function}` in {one.path} has a fault ({one.kind}).", action=one.mending) for one in steps
        ),
        provenance=Provenance(
            source="mutation", repo=opened(project.repository).name, commit=project.commit, licence=project.licence,
            function=first.function, body_hash=body_hash(node_of(reference[first.path], at[0])), topic=project.repository.name,
            operator="+".join(flaw.kind for flaw in order.flaws),
            parameters={**parameters, "seed": str(settings.seed), _KEY: order.key},
        ),
        evidence=Evidence(
            repeats=2, reference_passes=True, null_fails=True, failing_ids=tuple(sorted(attempt.failing)),
            flake_rate=len(attempt.dropped) / max(1, tests), sandbox=attempt.sandbox,
            python=environments.version(order.environment), environment=order.environment,
        ),
    )  # fmt: skip
