"""Ask the sandbox what a function answers. Every task needs that several times: the reference once, each broken version once."""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swefuse.errors import DataError
from swefuse.records import Call, TestResult
from swefuse.sandbox.base import Job, Sandbox
from swefuse.sandbox.values import literal
from swefuse.verify.judge import judge_calls

CPU_S = 0.1
COUNTED_CPU_S = 4.0  # counting takes some forty times as long
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Observed:
    """What one call did: exactly one of the three is set. ``trouble`` says why it cannot be a test."""

    want: str | None = None
    raises: str | None = None
    trouble: str = ""


def observe(
    sandbox: Sandbox, files: Mapping[str, str], entry: str, arguments: Sequence[str], cpu_s: float = CPU_S, longest: int = LONGEST
) -> list[Observed]:
    """One answer for each text in ``arguments``, in order. ``cpu_s`` bounds all calls together; one that hangs is left out.

    Raises DataError when the module does not load, SandboxError when the sandbox fails.
    """
    found: list[Observed] = []
    while len(found) < len(arguments):
        calls = tuple((str(at), text) for at, text in enumerate(arguments) if at >= len(found))
        output = sandbox.run(Job("calls", files, entry=entry, calls=calls, cpu_s=cpu_s))
        records: list[dict[str, Any]] = [json.loads(line) for line in output.records.split("\n")[:-1]]
        if records and ("load" in records[0] or "unparsed" in records[0]):
            raise DataError(f"{entry}: the module does not load: {records[0]}"[:300])
        found += [_observed(record, longest) for record in records if "id" in record]
        if not records or "end" not in records[-1]:
            found.append(Observed(trouble="the call hangs" if output.limit else "the call ends the process"))
    return found


def _observed(record: dict[str, Any], longest: int) -> Observed:
    if "value" in record:
        want = literal(record["value"])
        if len(want) > longest:
            return Observed(trouble="the answer is too long")
        return Observed(want=want) if _parses(want) else Observed(trouble="the answer has no literal")
    if "error" in record:
        name = record["error"][0]
        return Observed(raises=name) if hasattr(builtins, name) else Observed(trouble="an error of no builtin class")
    return Observed(trouble="the answer has no literal")


def _parses(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # nan, or nested too deeply for the parser
        return False
    return True


def results(
    sandbox: Sandbox, files: Mapping[str, str], entry: str, calls: Sequence[Call], cpu_s: float = CPU_S
) -> dict[str, TestResult]:
    """Result of every call as the judge sees it. ``cpu_s`` bounds all calls together."""
    arguments = tuple((call.id, call.args) for call in calls)
    return judge_calls(calls, sandbox.run(Job("calls", files, entry=entry, calls=arguments, cpu_s=cpu_s))).tests


def is_slow(sandbox: Sandbox, files: Mapping[str, str], entry: str, calls: Sequence[Call], most: int) -> bool:
    """Whether the calls together execute more than ``most`` lines of Python: a count, which is the same on every machine."""
    arguments = tuple((call.id, call.args) for call in calls)
    output = sandbox.run(Job("calls", files, entry=entry, calls=arguments, cpu_s=COUNTED_CPU_S, count_lines=True))
    end = json.loads(output.records.rstrip("\n").rpartition("\n")[2] or "{}")
    return bool(output.limit) or not 0 <= end.get("lines", -1) <= most
