"""Do the observations show what is there? Told from the replayed files and the task's tests; runs nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from swefuse.library.claims import CUT
from swefuse.library.coherence import replay
from swefuse.records import Action, Outcome, Step, Suite, Task, Trajectory, Verdict

_ROW = re.compile(r"([1-9]\d{0,8})>(.*)", re.DOTALL)


def observed(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """What is shown of a file is the text that it has in that state, and what is shown of tests can be.

    A view shows lines of its file, numbered ones each in its place and none left out without a note; a search shows places that
    hold its text; a row ``PASS f(1,) gave 2`` or ``FAIL f(1,) gave 0, expected 2`` is of a test that the task has, with the value
    that it expects; and where the verdict is PASSED, no test that decides fails in the final state.

    Example: line 3 of ``m.py`` is ``return x``, and the view shows ``3>return y`` ->
    ``step 1: shows line 3 of m.py otherwise than it is``.
    """
    suite = task.suite("calls")
    rows = None if suite is None or not suite.calls else _Rows(suite)
    for number, step, before, _ in replay(task, trajectory):
        problem = None if step.action is None else _wrong(step, step.action, before, rows)
        if problem is None and step.action is not None and step.action.name == "test":
            problem = _against(step, trajectory.final, verdict)
        if problem is not None:
            return f"step {number}: {problem}"
    return None


class _Rows:
    """How results of a suite's calls can read."""

    def __init__(self, suite: Suite) -> None:
        self.name = suite.entry.partition(":")[2]
        self.passing: set[str] = set()
        self.failing: list[tuple[str, tuple[str, ...], str]] = []  # how a row begins, how it may end, how it cannot begin
        for call in suite.calls:
            want = call.want if call.raises is None else call.raises
            self.passing.add(f"PASS {self.name}{call.args} gave {want}")
            start = f"FAIL {self.name}{call.args}"
            ends = (f", expected {want}", *([f", expected to raise {want}"] if call.raises is not None else []))
            self.failing.append((start, ends, f"{start} gave {want}, expected"))

    def possible(self, row: str) -> bool:
        if row.startswith("PASS "):
            return row in self.passing
        return any(
            row.startswith(start) and not row.startswith(no) and (", expected " not in row or row.endswith(ends))
            for start, ends, no in self.failing
        )


def _wrong(step: Step, action: Action, files: Mapping[str, str], rows: _Rows | None) -> str | None:
    if step.observation.startswith("error:") and not step.keep:
        return None
    if action.name == "view" and action.path in files:
        return _view(action.path, files[action.path], step.observation)
    if action.name == "search":
        return _search(action.text, files, step.observation)
    if action.name == "test" and rows is not None:
        told = (row for row in step.observation.split("\n") if row.startswith((f"PASS {rows.name}(", f"FAIL {rows.name}(")))
        wrong = next((row for row in told if not rows.possible(row) and not CUT.search(row)), None)
        return None if wrong is None else f'shows "{wrong[:120]}", which no test of the task can give'
    return None


def _view(path: str, text: str, observation: str) -> str | None:
    lines = text.removesuffix("\n").split("\n")
    last, gap, numbered = 0, bool(CUT.search(observation)), False
    for row in observation.split("\n"):
        match = _ROW.fullmatch(row)
        if match is None or CUT.search(row):
            continue
        numbered, number = True, int(match[1])
        if number > len(lines) or lines[number - 1] != match[2]:
            return f"shows line {number} of {path} otherwise than it is"
        if number != last + 1 and not gap:
            return f"leaves lines of {path} out before line {number}, and does not say so"
        last = number
    if numbered and last < len(lines) and not gap:
        return f"leaves lines of {path} out behind line {last}, and does not say so"
    if not numbered and not gap and text.strip() and not any(line.strip() and line.strip() in observation for line in lines):
        return f"shows nothing of {path}"
    return None


def _search(text: str, files: Mapping[str, str], observation: str) -> str | None:
    if observation == "no match":
        found = next((path for path, held in files.items() if text and "\n" not in text and text in held), None)
        return None if found is None else f"finds no {text[:80]!r}, which {found} holds"
    split: dict[str, list[str]] = {}
    for row in observation.split("\n"):
        path, colon, rest = row.partition(":")
        match = _ROW.fullmatch(rest) if colon and path in files else None
        if match is None or CUT.search(row):
            continue
        lines = split.setdefault(path, files[path].split("\n"))
        if int(match[1]) > len(lines) or lines[int(match[1]) - 1] != match[2] or text not in match[2]:
            return f"shows line {match[1]} of {path} otherwise than it is"
    return None


def _against(step: Step, final: str, verdict: Verdict) -> str | None:
    """A test in the final state that shows failures, where the verdict has none."""
    if verdict.outcome is not Outcome.PASSED or step.before != final or step.after != final:
        return None
    red = next((row for row in step.observation.split("\n") if row.startswith(("FAIL ", "ERROR "))), None)
    return None if red is None else f'shows "{red[:120]}" in the final state, of which the verdict is PASSED'
