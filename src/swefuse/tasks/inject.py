"""Put one bug into a function and make a task of it. Runs in worker processes; what comes out depends on the order alone."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from swefuse.code.functions import Source, function, rename
from swefuse.code.operators import Bug, Edit, apply, breaks, edits, mending
from swefuse.errors import DataError
from swefuse.records import Kind, Provenance, Task
from swefuse.tasks.names import new_names
from swefuse.tasks.observe import results
from swefuse.tasks.prepare import MOST_EDITS, check_result
from swefuse.tasks.spec import MODULE, TEST_MODULE, FunctionSpec
from swefuse.tasks.suites import make_suites, module_of_tests
from swefuse.tasks.workers import sandbox as worker_sandbox

HANGS_CPU_S = 0.03  # all calls together; a bug that hangs shows nothing but a time-out, and each of its runs costs thirty others
HANGS_RUNS = 3  # in a row, before it counts: honest versions take a few milliseconds, which a busy machine stretches at times
# a dropped first value gives itself away by a NameError, so such bugs come last
_FIRST_VALUE = re.compile(r"\s*\w+ = (-?[\d.]+|\[\]|\{\}|\"\"|''|None|True|False|set\(\))\n")


@dataclass(frozen=True, slots=True)
class Order:
    """Make tasks of one function: for each kind of bug, ``count`` of them from position ``start`` in the function's list on."""

    spec: FunctionSpec
    wanted: tuple[tuple[Bug, int, int], ...]  # kind, start, count
    seed: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """The tasks of an order with their kinds, where each kind's list goes on (None: it is used up), and what came to nothing."""

    tasks: tuple[tuple[Bug, Task], ...]
    positions: tuple[tuple[Bug, int | None], ...]
    dropped: Counter[str] = field(default_factory=Counter)


def inject(order: Order) -> Delivery:
    """Fill one order."""
    bugs = bugs_of(order.spec, order.seed)
    made: list[tuple[Bug, Task]] = []
    positions: list[tuple[Bug, int | None]] = []
    dropped: Counter[str] = Counter()
    for kind, start, count in order.wanted:
        left, position = count, start
        while left and position < len(bugs[kind]):
            found = _attempt(order, bugs[kind][position], random.Random(f"{order.seed}|{order.spec.key}|{kind}|{position}"))
            position += 1
            if isinstance(found, str):
                dropped[found] += 1
            else:
                made.append((kind, found))
                left -= 1
        positions.append((kind, position if position < len(bugs[kind]) else None))
    return Delivery(tuple(made), tuple(positions), dropped)


def bugs_of(spec: FunctionSpec, seed: int) -> dict[Bug, list[Edit]]:
    """Every bug that the function can be given, by kind, in random order; two that give the same text count once."""
    unique: dict[str, Edit] = {}
    for edit in breaks(spec.text, spec.name):
        unique.setdefault(apply(spec.text, edit), edit)
    found: dict[Bug, list[Edit]] = defaultdict(list)
    for edit in unique.values():
        found[edit.kind].append(edit)
    for kind in sorted(found):
        random.Random(f"{seed}|{spec.key}|{kind}").shuffle(found[kind])
        found[kind].sort(key=lambda edit: bool(_FIRST_VALUE.fullmatch(edit.old)))
    return found


def _attempt(order: Order, bug: Edit, rng: random.Random) -> Task | str:
    """The task with that bug, or why there is none."""
    spec = order.spec
    original, broken = spec.text, apply(spec.text, bug)
    try:
        if spec.family != "real":
            names = new_names(spec, rng)
            original, broken = _renamed(original, spec.name, names), _renamed(broken, spec.name, names)
        choices = edits(broken, spec.name)
    except DataError:
        return "the broken version does not parse"
    if len(choices) > MOST_EDITS:
        return f"more than {MOST_EDITS} edits apply"
    mend = mending(original, broken, spec.name, choices)
    if mend is None:
        return "no single edit mends it"
    sandbox = worker_sandbox()
    for _ in range(HANGS_RUNS):
        got = results(sandbox, {MODULE: broken}, f"{MODULE}:{spec.name}", spec.calls, HANGS_CPU_S)
        if all(result.outcome != "timeout" for result in got.values()):
            break
    else:
        return "the broken version hangs"
    failing = frozenset(id_ for id_, result in got.items() if result.outcome != "passed")
    if not failing:
        return "the calls do not notice the bug"
    if spec.tests and check_result(sandbox, spec, broken).outcome == "passed":
        return "the source's own check does not notice the bug"
    return _task(spec, broken, bug.kind, mend, failing)


def _renamed(text: str, name: str, names: dict[str, str]) -> str:
    source = Source(text)
    return rename(source, function(source.tree, name), names)


def _task(spec: FunctionSpec, broken: str, kind: Bug, mend: Edit, failing: frozenset[str]) -> Task:
    suites = make_suites(spec, failing)
    files = {MODULE: broken, TEST_MODULE: module_of_tests(spec)}
    instruction = f"Some tests of `{spec.name}` in {MODULE} fail. Find the bug and repair it; {TEST_MODULE} must stay as it is."
    parameters = {"line": str(mend.line), "nth": str(mend.nth), "old": mend.old, "new": mend.new, "kind": mend.kind.value}
    return Task.make(
        Kind.BUGFIX, instruction=instruction, files=files,
        editable=(MODULE,), protected=(TEST_MODULE,), suites=suites, reference={**files, MODULE: apply(broken, mend)},
        provenance=Provenance(
            source=spec.family, licence=spec.licence, function=spec.name, body_hash=spec.body_hash, topic=spec.topic,
            operator=kind.value, parameters=parameters,
        ),
        split=spec.split,
    )  # fmt: skip
