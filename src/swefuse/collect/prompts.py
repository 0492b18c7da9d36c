"""What the agent gets to see: the text of every observation."""

from __future__ import annotations

from swefuse.errors import PatchError
from swefuse.records import Suite, Task, TestResult, Verdict

MAX_OBSERVATION = 20_000
CHARACTERS_PER_TOKEN = 3  # of code, for tokenizers that are not at hand: rather more tokens than fewer
AROUND = 40  # lines before and behind one that is asked for
SHOWN_PASSING = 5
SHOWN_FAILING = 20


def show_file(text: str, line: int = 0, characters: int = MAX_OBSERVATION) -> str:
    """A file with numbered lines, ``3>    if a < b:``; with a ``line`` at most AROUND lines before and behind that one.

    Long files are cut with a note. Raises PatchError for a line that the file does not have.
    """
    rows = [f"{number}>{row}" for number, row in enumerate(text.removesuffix("\n").split("\n"), 1)]
    if not line:
        return cut("\n".join(rows), characters)
    if line > len(rows):
        raise PatchError(f"line {line} does not exist: the file has {len(rows)} lines")
    most = AROUND
    while most and sum(map(len, rows[max(0, line - 1 - most) : line + most])) + 2 * most > characters - 60:
        most -= 1
    start, end = max(0, line - 1 - most), line + most
    before = [f"[... {start} lines left out ...]"] if start else []
    behind = [f"[... {len(rows) - end} lines left out ...]"] if end < len(rows) else []
    return "\n".join([*before, *rows[start:end], *behind])


def cut(text: str, characters: int) -> str:
    """At most about so many characters: whole lines of the beginning, two thirds, and of the end, with what is left out between.

    A line that is longer than its part of the room is cut itself.
    """
    if len(text) <= characters:
        return text
    rows = text.split("\n")
    head, tail = _fitting(rows, characters * 2 // 3), _fitting(rows[::-1], characters // 3)
    if head + tail == 0:
        half = max(1, characters // 2)
        return f"{text[:half]}[... {len(text) - 2 * half} characters left out ...]{text[-half:]}"
    return "\n".join([*rows[:head], f"[... {len(rows) - head - tail} lines left out ...]", *rows[len(rows) - tail :]])


def _fitting(rows: list[str], characters: int) -> int:
    """How many of the first rows have room."""
    count = 0
    for row in rows:
        characters -= len(row) + 1
        if characters < 0:
            break
        count += 1
    return count


def show_tests(task: Task, verdict: Verdict) -> str:
    """The results of the tests that the agent may see: failing ones first, shorter ones first. Hidden tests leave no trace."""
    suite = task.suite("calls")
    if suite is None or verdict.form != "calls":
        return _show_all(verdict)
    if not any(call.visible for call in suite.calls):
        return "there are no tests to show"
    rows = [(result.outcome == "passed", _row(suite, call.id, verdict)) for call in suite.calls if call.visible
            for result in [verdict.tests.get(call.id)] if result is not None]  # fmt: skip
    if not rows:
        return f"the tests did not run: {verdict.reason or verdict.outcome.value}"
    return "\n".join(row for _, row in sorted(rows, key=lambda item: (item[0], len(item[1]), item[1])))


def _show_all(verdict: Verdict) -> str:
    """Results of tests in files, which lie open to the agent; and what the check says of other kinds of work."""
    if not verdict.tests:
        return f"the check says {verdict.outcome.value}: {verdict.reason or 'no further reason'}"
    failed = {id_: result for id_, result in verdict.tests.items() if result.outcome != "passed"}
    passed = [id_ for id_ in verdict.tests if id_ not in failed]
    rows = [f"{len(failed)} of {len(verdict.tests)} tests fail" if failed else f"all {len(passed)} tests pass"]
    rows += [f"FAIL {id_}: {_detail(failed[id_])}" for id_ in list(failed)[:SHOWN_FAILING]]
    rows += [f"and {len(failed) - SHOWN_FAILING} more fail"] if len(failed) > SHOWN_FAILING else []
    rows += [f"PASS {id_}" for id_ in passed[:SHOWN_PASSING]]
    rows += [f"and {len(passed) - SHOWN_PASSING} more pass"] if len(passed) > SHOWN_PASSING else []
    if not failed and verdict.reason:
        rows.append(f"yet the check says {verdict.outcome.value}: {verdict.reason}")
    return "\n".join(rows)


def _detail(result: TestResult) -> str:
    lines = result.detail.strip().splitlines()
    return lines[0] if lines else result.outcome


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
