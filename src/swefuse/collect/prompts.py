"""What the agent gets to see: the text of every observation."""

from __future__ import annotations

from swefuse.records import Suite, Task, Verdict

MAX_OBSERVATION = 20_000


def show_file(text: str) -> str:
    """A file with numbered lines, ``3>    if a < b:``; long files are cut with a note."""
    rows = [f"{number}>{row}" for number, row in enumerate(text.removesuffix("\n").split("\n"), 1)]
    shown = "\n".join(rows)
    return shown if len(shown) <= MAX_OBSERVATION else shown[:MAX_OBSERVATION] + "\n[cut]"


def show_tests(task: Task, verdict: Verdict) -> str:
    """The results of the tests that the agent may see: failing ones first, shorter ones first. Hidden tests leave no trace."""
    suite = task.suite("calls")
    assert suite is not None, "function tasks carry the calls form"
    if not any(call.visible for call in suite.calls):
        return "there are no tests to show"
    rows = [(result.outcome == "passed", _row(suite, call.id, verdict)) for call in suite.calls if call.visible
            for result in [verdict.tests.get(call.id)] if result is not None]  # fmt: skip
    if not rows:
        return f"the tests did not run: {verdict.reason or verdict.outcome.value}"
    return "\n".join(row for _, row in sorted(rows, key=lambda item: (item[0], len(item[1]), item[1])))


def _row(suite: Suite, call_id: str, verdict: Verdict) -> str:
    name = suite.entry.partition(":")[2]
    call = next(call for call in suite.calls if call.id == call_id)
    result = verdict.tests[call_id]
    if result.outcome == "passed":
        return f"PASS {name}{call.args} gave {call.want if call.raises is None else call.raises}"
    if " gave " in result.detail or " raised " in result.detail:
        return f"FAIL {name}{result.detail}"
    want = call.want if call.raises is None else call.raises
    return f"FAIL {name}{call.args} {result.detail or result.outcome}, expected {want}"
