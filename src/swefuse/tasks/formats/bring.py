"""Bring rows in: each becomes a task if running it shows what it claims, or is refused by name and counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swefuse.errors import SandboxError
from swefuse.records import Evidence, Outcome, Suite, Task, Verdict
from swefuse.sandbox import image
from swefuse.sandbox.environments import IMAGE
from swefuse.scale import Executor
from swefuse.tasks.formats.convert import Refusal, Refused, States, states, task
from swefuse.tasks.formats.rows import Row
from swefuse.tasks.prove import evidence, failing
from swefuse.tasks.store import load_tasks, save_lines, save_tasks
from swefuse.tasks.workers import sandbox
from swefuse.verify.judge import ABSENT, MISSING, Judgement
from swefuse.verify.screen import changed_paths, screen
from swefuse.verify.tests import How, Limits, run_suite
from swefuse.verify.verifier import agreed

CPU_S = 60.0
SLOWER = 10.0  # what the initial state may take, as a multiple of what the reference does
Progress = Callable[[int, int], None]
# another pytest, or other libraries, may make the difference
_ELSEWHERE = (Refusal.NOTHING_COLLECTED, Refusal.MISSING_MODULE, Refusal.NO_SUCH_TEST, Refusal.REFERENCE_FAILS)


@dataclass(frozen=True, slots=True)
class Choices:
    """``repos``: folder of clones. ``licences``: those allowed, empty for all. ``environments``: tried where the tests do not run.
    ``repeats``: runs of the repaired state that must agree. ``pull``: fetch images that are not on this machine."""

    repos: Path | None = None
    licences: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    repeats: int = 2
    pull: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """One row to try. ``found``: its states where they are known without a clone, or a task that only has to prove itself."""

    row: Row
    choices: Choices
    found: States | Refused | Task | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a row: a task, or why it is none."""

    row: Row
    task: Task | None = None
    refused: Refused | None = None


def run(orders: Sequence[Order], out: Path, executor: Executor, progress: Progress = lambda done, total: None) -> dict[str, Any]:
    """Try every row and write ``tasks.jsonl`` and ``refused.jsonl`` into the folder; the summary.

    Rows whose task is in the folder already are not tried again, the refused ones are; other tasks there stay. What is known is
    written also when the call is ended early. The executor's processes must have been started with ``tasks.workers.init_worker``.
    """
    path = out / "tasks.jsonl"
    there = {one.provenance.parameters.get("row", one.id): one for one in load_tasks(path)} if path.exists() else {}
    done: list[Attempt] = []
    fresh: list[Order] = []
    seen: set[str] = set()
    for order in orders:
        if order.row.instance in seen:
            done.append(Attempt(order.row, None, Refused(Refusal.REPEATED, order.row.instance)))
        elif not _known(there.get(order.row.text), order):
            fresh.append(order)
        seen.add(order.row.instance)
    total = len(done) + len(fresh)
    try:
        for attempt in executor.map(try_row, fresh):
            done.append(attempt)
            there.pop(attempt.row.text, None)
            if attempt.task is not None:
                there[attempt.row.text] = attempt.task
            progress(len(done), total)
    finally:
        save_tasks(path, there.values())
        save_lines(out / "refused.jsonl", [json.dumps(row) for row in _rows(done)])
    refused = Counter(one.refused.reason.value for one in done if one.refused)
    made = len({order.row.text for order in orders} & there.keys())
    return {"tasks": made, "rows": len(orders), "refused": dict(refused.most_common()), "which": list(_rows(done))}


def _known(held: Task | None, order: Order) -> bool:
    allowed = order.choices.licences
    return held is not None and held.provenance.source == order.row.format and (not allowed or held.provenance.licence in allowed)


def _rows(done: Sequence[Attempt]) -> Iterator[dict[str, Any]]:
    for one in done:
        if one.refused is not None:
            row = {"instance": one.row.instance, "where": one.row.where, "reason": one.refused.reason.value}
            yield {**row, "detail": one.refused.detail, "format": one.row.format}


def try_row(order: Order) -> Attempt:
    """Make a task of a row, or say why not. Runs in a worker process; one bad row never ends the others."""
    row, choices = order.row, order.choices
    try:
        found = order.found or states(row, choices.repos, choices.licences, choices.pull)
        if isinstance(found, Refused):
            return Attempt(row, None, found)
        if isinstance(found, Task):
            refused = _disproved(found, choices)
            return Attempt(row, None, refused) if refused else Attempt(row, found)
        first = _proven(found, choices.repeats, "")
        for name in _elsewhere(row, choices) if isinstance(first, Refused) and first.reason in _ELSEWHERE else ():
            other = _proven(found, choices.repeats, name)
            if isinstance(other, Task):
                return Attempt(row, other)
        return Attempt(row, None, first) if isinstance(first, Refused) else Attempt(row, first)
    except SandboxError as error:
        return Attempt(row, None, Refused(Refusal.SANDBOX, str(error)[:300]))
    except (OSError, ValueError, IndexError) as error:
        return Attempt(row, None, Refused(Refusal.ERROR, f"{type(error).__name__}: {error}"[:300]))


def _elsewhere(row: Row, choices: Choices) -> Iterator[str]:
    """Environments in which the tests may run that do not run in the program's own; the row's own image is the last."""
    yield from choices.environments
    if row.image and not image.usable(row.image, choices.pull):
        yield f"{IMAGE}{row.image}"


def _proven(found: States, repeats: int, environment: str) -> Task | Refused:
    """The task, once the reference passes all tests that the row lists, and the initial state fails and passes as it says."""
    draft = Evidence(repeats=repeats, reference_passes=False, null_fails=False, environment=environment)
    wanted, held = (tuple(dict.fromkeys(names)) for names in (found.row.fail_to_pass, found.row.pass_to_pass))
    if not wanted:
        sides = _sorted(task(found, (), (), draft))
        if isinstance(sides, Refused):
            return sides
        wanted, held = sides
    made = task(found, wanted, held, draft)
    good = _verdict(made, found.reference, repeats)
    if absent := [id_ for id_, result in good.tests.items() if result == ABSENT]:
        outcomes, broken = _collected(made, found.reference)
        there = list(outcomes)
        fitting = {id_: _full(id_, there) for id_ in absent}
        lost = [id_ for id_, full in fitting.items() if not full]
        if lost:
            return _not_there(lost, there, broken)
        wanted, held = (tuple(dict.fromkeys(fitting.get(id_, id_) for id_ in names)) for names in (wanted, held))
        made = task(found, wanted, held, draft)
        good = _verdict(made, found.reference, repeats)
    if refused := _fails(good):
        return refused
    null = _before(made, repeats, good)
    if refused := _differs(null, wanted, held):
        return refused
    shown = evidence(null, repeats).model_copy(update={"environment": environment})
    return task(found, wanted, held, shown)


def _verdict(made: Task, files: Mapping[str, str], repeats: int, cpu_s: float = CPU_S) -> Verdict:
    """What so many runs of a state show, each in another order of the tests; ``cpu_s`` bounds each of them.

    The verifier would also ask whether a candidate can be trusted that passes, at the price of several more runs.
    """
    suite, changed = made.suite("pytest"), changed_paths(made, files)
    assert suite is not None
    if reasons := screen(made, files, changed):
        return Verdict(outcome=Outcome.TAMPERED, form="pytest", reason="; ".join(reasons)[:300])
    runs: list[Judgement] = []
    spent = 0.0
    while len(runs) < repeats and not (runs and runs[-1].outcome is Outcome.TIMEOUT):
        judgement, output = run_suite(sandbox(), made, suite, files, changed, Limits(pytest_cpu_s=cpu_s), How(shuffle=len(runs)))
        runs.append(judgement)
        spent = max(spent, output.cpu_s)
    outcome, reason, matrix = agreed(runs)
    return Verdict(
        outcome=outcome, form="pytest", tests=runs[0].tests, reason=reason, cpu_s=spent, repeats=len(runs), matrix=matrix,
        sandbox=sandbox().identity,
    )  # fmt: skip


def _before(made: Task, repeats: int, good: Verdict) -> Verdict:
    """What runs of the initial state show, which may take some times as long as those of the reference."""
    return _verdict(made, made.files, repeats, min(CPU_S, max(5.0, SLOWER * good.cpu_s)))


def _fails(good: Verdict) -> Refused | None:
    """Why the reference proves nothing."""
    if good.outcome is Outcome.TAMPERED:
        return Refused(Refusal.SCREENED, good.reason[:300])
    if good.outcome is Outcome.FLAKY or good.matrix:
        return Refused(Refusal.FLAKY, good.reason[:300])
    if good.outcome is Outcome.TIMEOUT:
        return Refused(Refusal.TOO_LONG, good.reason[:300])
    if good.outcome is not Outcome.PASSED:
        id_ = next((id_ for id_, result in good.tests.items() if result.outcome != "passed"), "")
        detail = f"{id_}: {good.tests[id_].detail}" if id_ else good.reason
        missing = "No module named" in f"{detail}{good.reason}"
        return Refused(Refusal.MISSING_MODULE if missing else Refusal.REFERENCE_FAILS, f"{detail} {good.reason}".strip()[:300])
    return None


def _differs(null: Verdict, wanted: Sequence[str], held: Sequence[str]) -> Refused | None:
    """Why the initial state is not as the row says."""
    if null.outcome is Outcome.TIMEOUT or MISSING in null.tests.values():  # in each order of the tests others are not reached
        return Refused(Refusal.NO_END, null.reason[:300])
    if null.outcome is Outcome.FLAKY or null.matrix:
        return Refused(Refusal.FLAKY, null.reason[:300])
    missed = failing(null)
    if passing := [id_ for id_ in wanted if id_ not in missed]:
        return Refused(Refusal.TESTS_AGREE, f"{len(passing)}: {passing[0]}"[:300])
    if broken := [id_ for id_ in held if id_ in missed]:
        return Refused(Refusal.HELD_FAIL, f"{len(broken)}: {broken[0]}: {null.tests[broken[0]].detail}"[:300])
    return None


def _disproved(made: Task, choices: Choices) -> Refused | None:
    """Why a task does not hold here; None where it does."""
    suite = made.suite("pytest")
    if suite is None or not suite.fail_to_pass:
        return Refused(Refusal.NO_TESTS, made.id)
    if choices.licences and made.provenance.licence not in choices.licences:
        return Refused(Refusal.LICENCE, made.provenance.licence or "none found")
    good = _verdict(made, made.reference or {}, choices.repeats)
    return _fails(good) or _differs(_before(made, choices.repeats, good), suite.fail_to_pass, suite.pass_to_pass)


def _sorted(made: Task) -> tuple[tuple[str, ...], tuple[str, ...]] | Refused:
    """Tests that turn from fail to pass, and those that pass throughout, of a task whose files are run whole."""
    after, broken = _collected(made, made.reference or {})
    before, _ = _collected(made, made.files)
    passing = [id_ for id_, good in after.items() if good]
    wanted = tuple(id_ for id_ in passing if not before.get(id_))
    if not wanted:
        agree = Refused(Refusal.TESTS_AGREE, f"{len(passing)} tests pass on both sides")
        return agree if passing else _not_there(["any that passes"], list(after), broken)
    return wanted, tuple(id_ for id_ in passing if before.get(id_))


def _collected(made: Task, files: Mapping[str, str]) -> tuple[dict[str, bool], str]:
    """All tests that the test files of the task hold, with whether they pass, and what could not be collected."""
    (suite,) = made.suites
    whole = Suite(form="pytest", files=suite.files, fail_to_pass=suite.files)
    _, output = run_suite(sandbox(), made, whole, files, changed_paths(made, files), Limits(pytest_cpu_s=CPU_S))
    records = [json.loads(line) for line in output.records.split("\n")[:-1]]
    broken = next((f"{one['collect']}: {one.get('detail', '')}" for one in records if "collect" in one), "")
    phases: dict[str, list[bool]] = {}
    for one in records:
        if "id" in one:
            phases.setdefault(str(one["id"]), []).append(one.get("outcome") == "passed")
    return {id_: len(found) == 3 and all(found) for id_, found in phases.items()}, broken


def _full(cut: str, there: Sequence[str]) -> str:
    """The one test whose id, cut at its first blank, is ``cut``; empty where there is none or more than one."""
    fitting = [id_ for id_ in there if id_.startswith(f"{cut} ")]
    return fitting[0] if len(fitting) == 1 else ""


def _not_there(lost: Sequence[str], there: Sequence[str], broken: str) -> Refused:
    if "No module named" in broken:
        return Refused(Refusal.MISSING_MODULE, broken[-300:])
    file = lost[0].partition("::")[0]
    if not any(id_.partition("::")[0] == file for id_ in there):
        return Refused(Refusal.NOTHING_COLLECTED, broken[-300:])
    return Refused(Refusal.NO_SUCH_TEST, f"{len(lost)}: {lost[0]}"[:300])
