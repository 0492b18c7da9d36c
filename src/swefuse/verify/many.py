"""Many candidates at once: a verifier in each process of an executor, and what it has saved."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from swefuse.errors import PatchError
from swefuse.records import Outcome, Task, Verdict
from swefuse.scale.executor import Executor
from swefuse.verify.measure import Measure
from swefuse.verify.patch import apply_patch
from swefuse.verify.tests import Limits
from swefuse.verify.verifier import Verifier, pick_suite


@dataclass(frozen=True, slots=True)
class Candidate:
    """One piece of work for ``verify_many``; the fields are the arguments of ``Verifier.verify``."""

    task: Task
    files: Mapping[str, str]
    form: str | None = None
    repeats: int = 1
    visible_only: bool = False
    fresh: bool = False
    fail_fast: bool = False


@dataclass(frozen=True, slots=True)
class Patched:
    """A candidate as a unified diff on the task's initial state, for ``verify_many``; the other fields are those of ``Candidate``.

    A patch that cannot be applied is UNPARSED, with the line and the reason; an empty one has FAILED. Neither is ever left out.
    """

    task: Task
    patch: bytes
    form: str | None = None
    repeats: int = 1
    fresh: bool = False
    fail_fast: bool = False


_verifier: Verifier | None = None


def init_worker(
    sandbox_name: str = "local",
    cache: bool = True,
    cache_path: Path | None = None,
    limits: Limits | None = None,
    measure: Collection[Measure] = (),
) -> Verifier:
    """Give this process its verifier; use it as an executor's initializer. Arguments: see ``Verifier``."""
    global _verifier
    if _verifier is not None:
        _verifier.close()
    _verifier = Verifier(sandbox_name, cache, cache_path, limits, measure=measure)
    atexit.register(_verifier.close)
    return _verifier


def verifier() -> Verifier:
    """This process's verifier, which is made with its defaults if ``init_worker`` has not run."""
    return _verifier or init_worker()


def verify_one(item: Candidate | Patched) -> Verdict:
    """Verify in this process's verifier."""
    own = verifier()
    if isinstance(item, Candidate):
        return own.verify(item.task, item.files, item.form, item.repeats, item.visible_only, item.fresh, item.fail_fast)
    form = pick_suite(item.task, item.form).form
    own.tally["candidates"] += 1
    own.tally["refused"] += 1
    if not item.patch.strip():
        return Verdict(outcome=Outcome.FAILED, form=form, reason="the patch is empty")
    try:
        files = apply_patch(item.task.files, item.patch).files
    except PatchError as error:
        return Verdict(outcome=Outcome.UNPARSED, form=form, reason=str(error)[:1000])
    own.tally.subtract(("candidates", "refused"))  # it is counted as a state
    return own.verify(item.task, files, item.form, item.repeats, fresh=item.fresh, fail_fast=item.fail_fast)


def verify_many(items: Iterable[Candidate | Patched], executor: Executor, tally: Counter[str] | None = None) -> Iterator[Verdict]:
    """Verdicts in the order of ``items``. What the verifiers did for them is added to ``tally``; see ``Verifier.tally``."""
    if tally is None:
        return executor.map(verify_one, items)
    return _tallied(executor.map(_counted, items), tally)


def _tallied(found: Iterator[tuple[Verdict, Counter[str]]], tally: Counter[str]) -> Iterator[Verdict]:
    for verdict, done in found:
        tally.update(done)
        yield verdict


def _counted(item: Candidate | Patched) -> tuple[Verdict, Counter[str]]:
    own = verifier()
    before = own.tally.copy()
    verdict = verify_one(item)
    return verdict, own.tally - before


def saved(tally: Counter[str]) -> str:
    """In words how many candidates there were and what did not have to be run for them."""
    parts = [f"{tally['candidates']:,} candidates, {tally['runs']:,} runs"]
    words = {
        "known": "known already",
        "refused": "refused before any run",
        "stopped_early": "stopped at the first failure",
        "retries": "runs repeated after a failure of the sandbox",
        "cold_disagreed": "PASSED WARM AND NOT COLD; 'swefuse tasks flaky' tells whether a warm worker can be trusted with them",
    }
    return "; ".join([*parts, *(f"{tally[key]:,} {text}" for key, text in words.items() if tally[key])])
