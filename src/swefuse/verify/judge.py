"""From what came out of the sandbox to test results. Runs in the caller, apart from the judged; treats every record as a claim.

Exit codes and printed text are never looked at. A record that an honest run cannot have written means TAMPERED; an expected test
that is not reported as passed, exactly once and before the ``end`` record, has not passed.
"""

from __future__ import annotations

import ast
import builtins
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from swefuse.errors import DataError
from swefuse.records import Call, Outcome, TestResult
from swefuse.sandbox.base import Output
from swefuse.sandbox.values import MAX_TEXT, UnrepresentableError, decode, encode, literal

PASSED = TestResult(outcome="passed")
MISSING = TestResult(outcome="missing", detail="no result: the process ended before this test")
ABSENT = TestResult(outcome="missing", detail="no result: the run came to its end without this test")
_REL, _ABS = 1e-6, 1e-9
_SHOWN = 300
_NAMED = 10  # files that cannot be collected
_RAISED = re.compile(r"(?:E\s+)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*: .*)")
_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """Outcome, the result of every expected id, and the reason when it is not a plain pass or fail."""

    outcome: Outcome
    tests: dict[str, TestResult]
    reason: str = ""


def judge_calls(calls: Sequence[Call], output: Output) -> Judgement:
    """Judge the ``calls`` form. Records come in the order of ``calls``. Raises DataError for a task whose literals do not parse."""
    return _judge_calls(tuple(calls), Output(output.records, output.limit))


@lru_cache(maxsize=64)  # a proof runs the same state several times and mostly gets the same records
def _judge_calls(calls: tuple[Call, ...], output: Output) -> Judgement:
    records = parsed_records(output.records, len(calls) + 2)
    if records is None:
        return _tampered(calls, "records that are no short JSON objects, or too many")
    if records and "unparsed" in records[0]:
        return _unparsed([call.id for call in calls], records)
    if records and "load" in records[0]:
        if len(records) > 1:
            return _tampered(calls, "records after a failed import")
        result = TestResult(outcome="error", detail=f"import failed: {_error(records[0])}"[:_SHOWN])
        return Judgement(Outcome.FAILED, {call.id: result for call in calls}, result.detail)
    tests: dict[str, TestResult] = {}
    ended = False
    for record in records:
        if ended:
            return _tampered(calls, "a record after the end")
        if "end" in record:
            ended = True
        elif len(tests) < len(calls) and record.get("id") == calls[len(tests)].id:
            call = calls[len(tests)]
            tests[call.id] = compare(call, record)
        else:
            return _tampered(calls, f"an unexpected record for test {str(record.get('id'))[:80]!r}")
    rest = [call.id for call in calls[len(tests) :]]
    if rest and output.limit in ("cpu", "wall") and not ended:
        tests[rest[0]] = TestResult(outcome="timeout", detail=f"over the {output.limit} time limit")
    return _conclude({**dict.fromkeys(rest, MISSING), **tests}, [call.id for call in calls], ended, output)


def judge_pytest(expected: Sequence[str], output: Output, nonce: str) -> Judgement:
    """Judge the ``pytest`` form: set-up, call and tear-down of every expected id must each be reported once, as passed."""
    records = parsed_records(output.records)
    if records is None:
        return _tampered(expected, "records that are no short JSON objects, or too many")
    if records and "unparsed" in records[0]:
        return _unparsed(expected, records)
    phases: dict[str, dict[str, TestResult]] = {}
    uncollected: list[str] = []
    ended, status = False, -1
    for record in records:
        if record.get("nonce") != nonce or ended:
            return _tampered(expected, "a record after the end" if ended else "a record with a wrong nonce")
        if "end" in record:
            ended, status = True, record["end"]
        elif "collect" in record:
            uncollected.append(f"cannot collect {record['collect']}: {collection_error(record)}")
        else:
            id_, when = str(record.get("id")), str(record.get("when"))
            if when in phases.setdefault(id_, {}):
                return _tampered(expected, f"two results for test {id_[:80]!r}")
            phases[id_][when] = _phase(record)
    tests = {id_: ABSENT if ended and id_ not in phases else _whole(phases.get(id_, {}), output) for id_ in expected}
    broken = "; ".join(_clean(one) for one in uncollected[:_NAMED])
    if ended and status not in (0, 1):
        ended, broken = False, broken or f"pytest ended with status {status}"
    return _conclude(tests, expected, ended, output, broken)


def collection_error(record: dict[str, Any]) -> str:
    """What was raised when a file was collected: the last line of its traceback that says so, else the last one.

    Example: ``… in <module>\\n    import n\\nE   ImportError: no n`` -> ``ImportError: no n``.
    """
    rows = [row.strip() for row in str(record.get("detail", "")).split("\n") if row.strip()]
    raised = [match[1] for row in rows if (match := _RAISED.fullmatch(row))]
    return (raised or rows or [""])[-1].removeprefix("E ").strip()


def compare(call: Call, record: dict[str, Any]) -> TestResult:
    """One call's record against what the task wants.

    Same answers as ``assert f(*args) == want`` and ``pytest.raises``, save that floats may differ by 1e-6 (absolute: 1e-9).
    """
    tree, value = wanted(call.want) if call.want is not None else (None, None)
    if "value" in record:
        got = record["value"]
        if call.raises is None and (got == tree or _same(value, got)):
            return PASSED
        return _wrong(call, _show(got))
    if "error" in record:
        names = record["error"] if isinstance(record["error"], list) else []
        if call.raises is not None and any(_named(name, call.raises) for name in names):
            return PASSED
        return _wrong(call, f"raised {_error(record)}")
    return _wrong(call, f"a value that has no literal ({_clean(str(record.get('odd')))})")


@lru_cache(maxsize=65536)
def wanted(text: str) -> tuple[Any, Any]:
    """Tree and value of the literal ``text``. The value is shared: never change it. Raises DataError when it is no literal."""
    try:
        value = ast.literal_eval(text)
        return encode(value), value
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, UnrepresentableError) as error:
        raise DataError(f"a task expects {text[:100]!r}, which is no Python literal: {error}") from error


def equal(want: Any, got: Any) -> bool:
    """``want == got`` with tolerance between numbers when one is a float. Lists and tuples differ, ``True == 1``."""
    if isinstance(want, float) or isinstance(got, float):
        if not isinstance(want, int | float) or not isinstance(got, int | float):
            return False
        try:
            return want == got or math.isclose(want, got, rel_tol=_REL, abs_tol=_ABS)
        except OverflowError:  # an int too large for a float
            return False
    if isinstance(want, list | tuple):
        return type(want) is type(got) and len(want) == len(got) and all(map(equal, want, got))
    if isinstance(want, dict):
        return (
            isinstance(got, dict)
            and len(want) == len(got)
            and all(key in got and equal(item, got[key]) for key, item in want.items())
        )
    return bool(want == got)


def _same(want: Any, tree: Any) -> bool:
    try:
        return equal(want, decode(tree))
    except (ValueError, TypeError, AttributeError, RecursionError):  # no tree that encode can have made
        return False


def parsed_records(text: str, most: int = _MOST) -> list[dict[str, Any]] | None:
    """All whole lines as objects; None when one is something else, too long or one too many. A cut last line is left out."""
    lines = text.split("\n")[:-1]
    if len(lines) > most or any(len(line) > MAX_TEXT for line in lines):
        return None
    records = []
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(record, dict):
            return None
        records.append(record)
    return records


def _conclude(tests: dict[str, TestResult], expected: Sequence[str], ended: bool, output: Output, reason: str = "") -> Judgement:
    ordered = {id_: tests[id_] for id_ in expected}
    if output.limit in ("cpu", "wall"):
        return Judgement(Outcome.TIMEOUT, ordered, f"over the {output.limit} time limit")
    if output.limit:
        return Judgement(Outcome.FAILED, ordered, f"over the {output.limit} limit")
    if not ended:
        return Judgement(Outcome.FAILED, ordered, reason or "the process ended before the last test had finished")
    good = bool(ordered) and all(result.outcome == "passed" for result in ordered.values())
    return Judgement(Outcome.PASSED if good else Outcome.FAILED, ordered, reason)


def _phase(record: dict[str, Any]) -> TestResult:
    outcome, detail = record.get("outcome"), _clean(str(record.get("detail", "")))
    if outcome == "passed":
        return PASSED
    if outcome == "failed":
        return TestResult(outcome="failed" if record.get("when") == "call" else "error", detail=detail)
    return TestResult(outcome="skipped", detail=_clean(f"{outcome}: {detail}"))  # skipped, xfail and whatever else is not a pass


def _whole(phases: dict[str, TestResult], output: Output) -> TestResult:
    for when in ("setup", "call", "teardown"):
        if when not in phases:
            hanging = bool(phases) and output.limit in ("cpu", "wall")
            return TestResult(outcome="timeout", detail=f"over the {output.limit} time limit") if hanging else MISSING
        if phases[when].outcome != "passed":
            return phases[when]
    return PASSED


def _tampered(expected: Sequence[str] | Sequence[Call], reason: str) -> Judgement:
    ids = [item.id if isinstance(item, Call) else item for item in expected]
    return Judgement(Outcome.TAMPERED, dict.fromkeys(ids, MISSING), f"the records were tampered with: {reason}")


def _unparsed(expected: Sequence[str], records: list[dict[str, Any]]) -> Judgement:
    reason = _clean(f"{records[0]['unparsed']} does not parse: {records[0].get('message')}")
    return Judgement(Outcome.UNPARSED, dict.fromkeys(expected, TestResult(outcome="error", detail=reason)), reason)


def _named(name: object, wanted_name: str) -> bool:
    """Builtin classes by plain name; the candidate's own, reported as ``module.Name``, by that or by the last part."""
    if not isinstance(name, str):
        return False
    return name == wanted_name or (not hasattr(builtins, wanted_name) and name.rpartition(".")[2] == wanted_name)


def _wrong(call: Call, got: str) -> TestResult:
    want = f"to raise {call.raises}" if call.raises is not None else call.want
    return TestResult(outcome="failed", detail=f"{call.args[:_SHOWN]} gave {got}, expected {want}"[: 3 * _SHOWN])


def _error(record: dict[str, Any]) -> str:
    names = record.get("error")
    name = names[0] if isinstance(names, list) and names else "an exception"
    return _clean(f"{name}: {record.get('message', '')}")


def _clean(text: str) -> str:
    """Text that can be written as UTF-8, for it comes from the candidate."""
    return text[:_SHOWN].encode("utf-8", "backslashreplace").decode()


def _show(tree: Any) -> str:
    try:
        return literal(tree)[:_SHOWN]
    except (ValueError, TypeError, AttributeError, RecursionError):
        return "something that is no value"
