"""From a function's text to its calls: find arguments, run the reference in the sandbox, keep what can be a test."""

from __future__ import annotations

import ast
import random
from collections import Counter
from dataclasses import dataclass, field, replace

from swefuse.code.operators import edits
from swefuse.errors import DataError
from swefuse.records import Call, TestResult
from swefuse.sandbox.base import Sandbox
from swefuse.tasks.humaneval import RECORDER, check_file, recorder_file
from swefuse.tasks.inputs import argument_text, candidates
from swefuse.tasks.observe import is_slow, observe, results
from swefuse.tasks.spec import MODULE, TEST_MODULE, FunctionSpec
from swefuse.tasks.suites import FEWEST_CALLS, MOST_CALLS, choose_calls
from swefuse.tasks.workers import sandbox as worker_sandbox

CANDIDATES = 40
MOST_EDITS = 600  # of a function, whole or broken: more make no choice that a small model can learn
RECORD_CPU_S = 5.0
CHECK_CPU_S = 2.0
# all calls together, some 10 ms: near a time limit chance would decide what passes. Of the shipped functions one runs 59,000 lines,
# the next 388,000, and nearly all fewer than 1,000
SLOW_LINES = 100_000
_CHECK = Call(id="test_check", args="()", want="None")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A function with its calls, or without any and with the reason. ``dropped`` counts calls by why they cannot be tests."""

    spec: FunctionSpec
    reason: str = ""
    dropped: Counter[str] = field(default_factory=Counter)


def prepare(spec: FunctionSpec) -> Prepared:
    """Fill the calls of a function. Runs in a worker process; the same function always gets the same calls."""
    sandbox = worker_sandbox()
    if len(edits(spec.text, spec.name)) > MOST_EDITS:
        return Prepared(spec, f"more than {MOST_EDITS} edits apply")
    try:
        if spec.tests and check_result(sandbox, spec, spec.text).outcome != "passed":
            return Prepared(spec, "the reference does not pass the source's own check")
        if spec.tests:
            arguments = _recorded(sandbox, spec)
            spec = replace(spec, arguments=tuple(arguments))
        else:
            arguments = candidates(random.Random(spec.key), spec.arguments, CANDIDATES)
        files, entry = {MODULE: spec.text}, f"{MODULE}:{spec.name}"
        answers = list(zip(arguments, observe(sandbox, files, entry, arguments), strict=True))
    except DataError as error:
        return Prepared(spec, str(error)[:200])
    dropped = Counter(got.trouble for _, got in answers if got.trouble)
    chosen = choose_calls(spec, answers, random.Random(spec.key))
    again = results(sandbox, files, entry, chosen)
    calls = tuple(call for call in chosen if again[call.id].outcome == "passed")
    dropped["the answer differs between runs"] += len(chosen) - len(calls)
    if len(calls) < FEWEST_CALLS:
        return Prepared(spec, f"fewer than {FEWEST_CALLS} usable calls", +dropped)
    if is_slow(sandbox, files, entry, calls, SLOW_LINES):
        return Prepared(spec, "takes too long for the time limit of its tests", +dropped)
    return Prepared(replace(spec, calls=calls), "", +dropped)


def check_result(sandbox: Sandbox, spec: FunctionSpec, text: str) -> TestResult:
    """Result of the source's own check on a version of the module, run without pytest."""
    files = {MODULE: text, TEST_MODULE: check_file(spec)}
    return results(sandbox, files, f"{TEST_MODULE}:test_check", [_CHECK], CHECK_CPU_S)[_CHECK.id]


def _recorded(sandbox: Sandbox, spec: FunctionSpec) -> list[str]:
    """Texts of the first MOST_CALLS argument tuples of the source's check that are plain literals."""
    files = {MODULE: spec.text, RECORDER: recorder_file(spec)}
    [seen] = observe(sandbox, files, f"{RECORDER}:record", ["()"], RECORD_CPU_S, longest=1 << 16)
    if seen.want is None:
        raise DataError(f"the arguments of the source's check cannot be recorded: {seen.trouble or seen.raises}")
    found: dict[str, None] = {}
    for text in ast.literal_eval(seen.want):
        try:
            found.setdefault(argument_text(ast.literal_eval(text)))
        except (ValueError, SyntaxError):  # not a literal
            continue
    return list(found)[:MOST_CALLS]
