"""Work on a user's repository: read it, run its tests, find places to look at, make candidates, run the tests on each, choose.

The working copy is read and nothing else; what becomes of the chosen candidate is for the caller to say.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swefuse.collect.prompts import place_of_test
from swefuse.errors import UserError
from swefuse.evaluate.solve.copy import Snapshot, take
from swefuse.evaluate.solve.localise import Failing, Suspect, localise
from swefuse.evaluate.solve.propose import Proposer, Work
from swefuse.evaluate.solve.rank import Candidate, Confidence, Level, Probabilities, Proposal, confidence, judged, order
from swefuse.evaluate.solve.runs import Bench, Observed, guards, observe, read_command
from swefuse.evaluate.solve.runs import Wanted as Tests
from swefuse.records import Evidence, Kind, Provenance, Suite, Task, Verdict
from swefuse.sandbox import open_sandbox
from swefuse.scale.executor import ProcessExecutor
from swefuse.tasks.commits import is_source
from swefuse.tasks.environment import supplied
from swefuse.tasks.in_time import environment
from swefuse.verify.many import Candidate as Item
from swefuse.verify.many import init_worker, verify_many
from swefuse.verify.patch import make_patch
from swefuse.verify.tests import Limits

MOST = 16
AUTO = "auto"
SLOWER, LEAST_CPU_S = 10.0, 5.0  # what the tests may take on a candidate: a multiple of what they take now, at least so much
MOST_MISSING = 4  # modules that are added to an environment one after the other
_LACKS = re.compile(r"No module named '(\w+)")
Tell = Callable[[str], None]
Verify = Callable[[Sequence[Item]], Iterable[Verdict]]


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked. ``tests``: a pytest command, empty for all tests; ``run_tests`` False: none are run, and nothing is proven.

    ``hide_tests``: the model is told nothing of the tests, and they do not guide the search; they judge all the same. ``n``: how
    many candidates are verified; ``environment``: name of the one to run tests in, ``auto`` for one with what the project needs,
    installed on demand; ``limit_s``: CPU seconds for one run of the tests; ``sandbox``: name of one that is known to work.
    """

    repo: Path
    issue: str = ""
    tests: str = ""
    n: int = 4
    run_tests: bool = True
    hide_tests: bool = False
    environment: str = ""
    workers: int = 2
    limit_s: float = 120.0
    sandbox: str = "local"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Solution:
    """What came of it. ``candidates``: the best first; ``ran``: what was run, in words; ``seconds`` by what they were spent on."""

    snapshot: Snapshot
    observed: Observed | None
    suspects: tuple[Suspect, ...]
    candidates: tuple[Candidate, ...]
    confidence: Confidence
    ran: tuple[str, ...]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> Candidate | None:
        """The chosen candidate; None where there is none."""
        return self.candidates[0] if self.candidates else None

    @property
    def proven(self) -> bool:
        """Whether a test failed before and all pass with the chosen candidate."""
        return self.best is not None and self.best.level is Level.PROVEN

    def patch(self, candidate: Candidate) -> bytes:
        """A candidate as a unified diff on the working copy."""
        return make_patch(self.snapshot.files, self.after(candidate))

    def after(self, candidate: Candidate) -> dict[str, str]:
        """The whole working copy with a candidate."""
        return {**self.snapshot.files, **candidate.proposal.files}

    @property
    def says(self) -> list[str]:
        """What there is to know of the result, in plain sentences."""
        return list(_sentences(self))

    def row(self) -> dict[str, Any]:
        """As JSON; docs/solve.md says what the fields mean."""
        seen = self.observed
        return {
            "proven": self.proven,
            "patch": _text(self.patch(self.best)) if self.best else "",
            "confidence": self.confidence.value,
            "entropy": self.confidence.entropy,
            "says": self.says,
            "ran": list(self.ran),
            "tests": None if seen is None else {
                "files": list(seen.files), "failing": list(seen.failing), "passing": len(seen.passing),
                "unsteady": list(seen.unsteady), "broken": seen.broken,
            },
            "functions": [one._asdict() for one in self.suspects],
            "candidates": [self._candidate(one) for one in self.candidates],
            "skipped": self.snapshot.skipped,
            "seconds": self.seconds,
        }  # fmt: skip

    def _candidate(self, one: Candidate) -> dict[str, Any]:
        return {
            "level": one.level.name.lower(), "what": one.proposal.did, "mended": list(one.mended), "broken": list(one.broken),
            "chance": one.proposal.chance, "logprob": one.proposal.logprob, "value": one.value,
            "outcome": one.verdict.outcome.value if one.verdict else None, "reason": one.verdict.reason if one.verdict else "",
            "patch": _text(self.patch(one)),
        }  # fmt: skip


def _text(patch: bytes) -> str:
    return patch.decode("utf-8", "backslashreplace")


def solve(ask: Ask, proposer: Proposer, tell: Tell = lambda text: None) -> Solution:
    """Work on a repository. ``tell`` hears what is being done.

    Raises UserError for what cannot be asked, where no test could be run, and where nothing says where to look.
    """
    if not 1 <= ask.n <= MOST:
        raise UserError(f"-n {ask.n}: from 1 to {MOST} candidates are compared")
    clock = _Clock()
    snapshot = take(ask.repo)
    state = {**snapshot.files, **supplied(snapshot.files)}
    wanted = read_command(ask.tests) if ask.tests else Tests()
    ran: list[str] = []
    observed, name = None, ask.environment
    if ask.run_tests:
        tell("running the tests as they are")
        observed, name = _observed(ask, state, wanted)
        ran.append(_told(observed, ask.sandbox, name))
    clock.stop("tests")
    failing = Failing() if observed is None or ask.hide_tests else _evidence(observed, state)
    suspects = localise(snapshot.files, failing, ask.issue)
    if not suspects and not ask.issue.strip():
        raise UserError("nothing says where to look: no test fails, and there is no issue; give --issue TEXT")
    clock.stop("search")
    task = _task(state, observed, suspects, name)
    details = {} if observed is None or ask.hide_tests else observed.details
    work = Work(task, suspects, ask.issue, details, ask.hide_tests, ask.seed)
    most = min(ask.limit_s, max(LEAST_CPU_S, SLOWER * (observed.cpu_s if observed else 0.0)))
    with ProcessExecutor(ask.workers, init_worker, (ask.sandbox, True, None, Limits(pytest_cpu_s=most))) as executor:

        def verify(items: Sequence[Item]) -> Iterable[Verdict]:
            return verify_many(items, executor)

        tell(f"asking the model about {len(suspects)} suspicious functions")
        proposals = proposer.propose(work, ask.n, verify)
        clock.stop("model")
        tell(f"running the tests on {len(proposals)} candidates")
        candidates = _judge(proposals, proposer.scores(proposals), task, observed, verify)
        clock.stop("candidates")
    if observed is not None:
        ran.append(f"the same tests on {len(candidates)} candidates, each in a copy of its own")
    places = order(candidates)
    sure = _confidence(proposer, proposals, places)
    clock.stop("choice")
    return Solution(snapshot, observed, tuple(suspects), tuple(candidates[at] for at in places), sure, tuple(ran), clock.total())


class _Clock:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.start = self.last = time.monotonic()
        self.spent: dict[str, float] = {}

    def stop(self, what: str) -> None:
        now = time.monotonic()
        self.spent[what], self.last = round(now - self.last, 3), now

    def total(self) -> dict[str, float]:
        return {**self.spent, "total": round(time.monotonic() - self.start, 3)}


def _observed(ask: Ask, state: dict[str, str], wanted: Tests) -> tuple[Observed, str]:
    """What the tests show, and the environment that they ran in; with ``auto`` a module that is lacking is added, a few times."""
    missing: list[str] = []
    name = ask.environment
    with open_sandbox(ask.sandbox) as sandbox:
        while True:
            if ask.environment == AUTO:
                name = environment(datetime.now(UTC).date().isoformat(), state, missing)
            try:
                return observe(Bench(sandbox, name, ask.limit_s), state, wanted, not ask.hide_tests), name
            except UserError as error:
                lacks = _LACKS.search(str(error))
                if ask.environment != AUTO or not lacks or lacks[1] in missing or len(missing) == MOST_MISSING:
                    raise
                missing.append(lacks[1])


def _evidence(observed: Observed, state: dict[str, str]) -> Failing:
    texts = []
    for id_ in observed.failing:
        place = place_of_test(state, id_)
        rows = state[place[0]].split("\n")[place[1] - 1 : place[2]] if place else []
        texts.append("\n".join([*rows, observed.details.get(id_, "")]))
    return Failing(tuple(observed.frames.get(id_, ()) for id_ in observed.failing), observed.reached, tuple(texts))


def _task(state: dict[str, str], observed: Observed | None, suspects: Sequence[Suspect], name: str) -> Task:
    """The working copy with the tests that decide; the files that are suspected come first among those that may be edited."""
    first = dict.fromkeys(one.path for one in suspects)
    editable = tuple(dict.fromkeys([*first, *(path for path in sorted(state) if is_source(path))]))
    suites: tuple[Suite, ...] = ()
    if observed is not None:
        suites = (
            Suite(form="pytest", files=observed.files, fail_to_pass=observed.failing, pass_to_pass=observed.passing),
        )  # fmt: skip
    return Task.make(
        Kind.BUGFIX, instruction="", files=state, editable=editable, protected=guards(state), suites=suites,
        provenance=Provenance(source="solve"),
        evidence=Evidence(
            repeats=1, reference_passes=False, null_fails=bool(observed and observed.failing), environment=name,
            failing_ids=observed.failing if observed else (),
        ),
    )  # fmt: skip


def _judge(
    proposals: Sequence[Proposal], scores: Sequence[float] | None, task: Task, observed: Observed | None, verify: Verify
) -> list[Candidate]:
    suite = task.suite("pytest") if observed is not None and (observed.failing or observed.passing) else None
    values = scores if scores is not None else [None] * len(proposals)
    verdicts: Iterable[Verdict | None] = [None] * len(proposals)
    if suite is not None:
        verdicts = verify([Item(task, {**task.files, **one.files}) for one in proposals])
    return [judged(one, verdict, suite, value) for one, verdict, value in zip(proposals, verdicts, values, strict=True)]


def _confidence(proposer: Proposer, proposals: Sequence[Proposal], places: Sequence[int]) -> Confidence:
    """The model's verdict on the chosen candidate against each of the others."""
    from swefuse.learn.entropy import normalised_entropy

    found: list[Probabilities] = proposer.verdicts(proposals, [(places[0], at) for at in places[1:]]) if places[1:] else []
    return confidence(found, [normalised_entropy(p) for p in found])


def _told(seen: Observed, sandbox: str, name: str) -> str:
    times = "twice, the second time watched" if seen.watched else "twice" if seen.failing else "once"
    where = f"sandbox {sandbox}" + (f", environment {name}" if name else "")
    return (
        f"pytest on {len(seen.files)} test files in the {where}, {times}: {len(seen.failing)} tests fail, {len(seen.passing)} pass"
    )


def _sentences(found: Solution) -> Iterable[str]:
    seen, best = found.observed, found.best
    if seen is not None and seen.unsteady:
        yield f"{len(seen.unsteady)} tests said now this and now that, and count for nothing: {seen.unsteady[0]}"
    if seen is not None and seen.broken:
        yield f"some tests could not be collected, and count for nothing: {seen.broken}"
    if best is None:
        yield "no candidate: the model has no edit for any function that is suspected"
        return
    if seen is None:
        yield "no test was run: the order is the model's alone, and nothing is proven"
    elif not seen.failing:
        yield "no test fails as it is, so nothing can be proven: a candidate can only be seen to break nothing"
    elif not found.proven:
        mended = f"{len(best.mended)} of {len(seen.failing)} failing tests pass with it, {len(best.broken)} others fail"
        yield f"UNPROVEN: none of {len(found.candidates)} candidates passes all tests; of the best, {mended}"
    else:
        yield "all tests pass with it; that proves what they test and no more"
        passing = sum(one.level is Level.PROVEN for one in found.candidates)
        if passing > 1:
            yield f"{passing} different candidates pass all tests, so the tests do not tell which is right: look at them all"
    yield _sure(found.confidence)


def _sure(found: Confidence) -> str:
    if found.value is None or found.entropy is None:
        return "confidence: there is no other candidate that the model could compare it with"
    return (
        f"confidence {found.value:.2f}: the model's verdict prefers it to {found.preferred} of {found.others} others "
        f"(mean entropy {found.entropy:.2f}; 0 is sure, 1 has no idea)"
    )
