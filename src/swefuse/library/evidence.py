"""Does an agent know what it acts on, and does every step bring something?

A line counts as shown once an observation held it with its place and its text: ``3>…`` of a viewed file, ``m.py:3>…`` of a search,
or a traceback that names the place and quotes the line. What is left out of a cut one was not shown. What the agent wrote itself it
knows. Lines keep their identity through edits and undo, so that a file need not be viewed again after each.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from itertools import count

from swefuse.collect.prompts import MOST_BLIND
from swefuse.library.claims import CUT, LOOKING, passes, says_green
from swefuse.library.coherence import replay
from swefuse.records import Action, Kind, Step, Task, Trajectory, Verdict
from swefuse.verify.kinds.qa import ANSWER

Files = Mapping[str, str]
_ROW = re.compile(r"([1-9]\d{0,8})>(.*)", re.DOTALL)
_FOUND = re.compile(r"(.+?):([1-9]\d{0,8})>(.*)", re.DOTALL)
_PLACE = re.compile(r'File "([^"\n]+)", line (\d{1,9})\b|(?<![^\s:"\'`])([^\s:"\'`]+):(\d{1,9})\b')
_SPAN = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_TEST_ID = re.compile(r"(?<![\w./-])[\w./-]+\.py(?:::\w+)+(?:\[[^\]\s`\"]*\]?)?")
_RESULT = re.compile(r"\b(?:FAIL|PASS|ERROR) [A-Za-z_][\w.]*\(")
_QUOTED_RESULT = re.compile(r"(?:FAIL|PASS|ERROR) (?:[A-Za-z_][\w.]*\(|\S+\.py::)")
_RAISED = re.compile(r"(?:E\s+)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration)) ?: +(\S.*)")
_GAP = re.compile(r"\.\.\.|…")


def seen(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """What a kept step builds on was in an earlier observation, or written by the agent; an instruction that is not hidden counts.

    Held to that are: the lines that an edit replaces, or one of the two between which it inserts; and in thoughts, test ids like
    ``test_m.py::test_f``, results like ``FAIL f(1)``, in quotation marks or backticks also the whole result and an exception with
    its message, ``ZeroDivisionError: division by zero``; and the claim that all tests pass, which needs a test before. ``...`` in a
    quotation stands for anything. Everything else in a thought is free.

    Example: ``@edit m.py:4`` after a view that showed lines 1 to 3 ->
    ``step 2: edits line 4 of m.py, which no earlier observation shows``.
    """
    shown = _Shown(task)
    blind = 0
    for number, step, before, after in replay(task, trajectory):
        if step.action is not None:
            shown.written(step.action)
        blind = blind + 1 if after is not before else 0 if step.action and step.action.name in LOOKING else blind
        if step.keep and (problem := _unseen(step, shown, before if after is not before else None)) is not None:
            return f"step {number}: {problem}"
        if step.keep and blind > MOST_BLIND:
            return f"step {number}: the {blind}th edit in a row, and nothing was looked at in between"
        shown.follow(step, before, after)
    return None


def effective(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """Every kept edit, create and undo changes the files, and no kept create names a file that is there.

    Example: ``@create m.py`` with the text that m.py has -> ``step 2: creates m.py, which exists with the same text``.
    """
    for number, step, before, after in replay(task, trajectory):
        if not step.keep or step.action is None or step.action.name not in ("edit", "create", "undo"):
            continue
        if step.action.name == "create" and step.action.path in before:
            same = before[step.action.path] == step.action.text
            return f"step {number}: creates {step.action.path}, which exists with {'the same' if same else 'another'} text"
        if step.before == step.after or dict(before) == dict(after):
            return f"step {number}: its {step.action.name} changes nothing"
    return None


def fresh(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """No kept step repeats an earlier one, kept or not, without anything new to learn.

    A view repeats one of the same file with the same text that showed the same, unless that observation had been cut; a test
    repeats one of the same state that showed the same; anything else repeats the same action in the same state with the same state
    after it and the same observation. A state to which ``undo`` returned is the same state.

    Example: ``@test``, ``@view m.py``, ``@test`` -> ``step 3: repeats step 1 and shows nothing new``.
    """
    known: dict[Hashable, int] = {}
    for number, step, before, _ in replay(task, trajectory):
        if step.action is None:
            continue
        here = before.get(step.action.path) if step.action.name == "view" else (step.before, step.after)
        key = (step.action, here, step.observation)
        if step.keep and key in known:
            return f"step {number}: repeats step {known[key]} and shows nothing new"
        if not (step.action.name == "view" and CUT.search(step.observation)):
            known.setdefault(key, number)
    return None


def _unseen(step: Step, shown: _Shown, edited: Files | None) -> str | None:
    """What is wrong with a step; ``edited``: the files before it if it changed them."""
    action = step.action
    if action is not None and action.name in ("edit", "create") and edited is not None and (lack := shown.unread(action)):
        return lack
    if action is not None and action.name == "edit" and edited is not None and (line := shown.lacking(action, edited)) is not None:
        return f"edits line {line} of {action.path}, which no earlier observation shows"
    if not step.thought:
        return None
    if step.before not in shown.green and (claim := says_green(step.thought)):
        return f'says "{claim}", and no test of this state showed that before'
    quote = next((quote for quote in _quotations(step.thought, shown)), None)
    return None if quote is None else f'quotes "{quote}", which no earlier observation shows'


def _quotations(thought: str, shown: _Shown) -> Iterator[str]:
    """The quotations of a thought that nothing shows."""
    for match in _TEST_ID.finditer(thought):
        if not shown.said(match[0]) and not shown.names_test(match[0]):
            yield match[0]
    for match in _RESULT.finditer(thought):
        rest = " ".join(thought[match.start() :].split())
        if not shown.result(match[0], rest):
            yield rest[:80]
    for match in _SPAN.finditer(thought):
        span = next(group for group in match.groups() if group is not None).strip()
        raised = _RAISED.fullmatch(span)
        if (raised and not shown.said(span[raised.start(1) :]) and not shown.on_a_line(raised[1], raised[2])) or (
            _QUOTED_RESULT.match(span) and not shown.said(span)
        ):
            yield span


class _Shown:
    """What an agent has seen so far: observations, and which lines of which files, by an identity that edits and undo keep."""

    def __init__(self, task: Task) -> None:
        self._numbers = count()
        self._task = task
        self.green: set[str] = set()  # states of which a test showed passes and no failure
        self._initial = task.files
        self._ids: dict[str, tuple[int, ...]] = {}
        self._states: list[dict[str, tuple[int, ...]]] = [{}]  # lines of the files that were written, one entry per state to undo
        self._known: set[int] = set()
        self._texts: dict[str, set[str]] = {}
        self._said: list[str] = []
        self._split: dict[str, tuple[str, list[str]]] = {}  # file -> its text and the lines of that, to split it once
        if not task.hide_instruction:
            self._read(task.instruction, "", task.files)

    def written(self, action: Action) -> None:
        """The agent knows what it writes, from the thought about it on."""
        if action.name in ("edit", "create"):
            text = action.new if action.name == "edit" else action.text
            self._texts.setdefault(action.path, set()).update(text.split("\n"))

    def follow(self, step: Step, before: Files, after: Files) -> None:
        """Take a step and read its observation."""
        action = step.action
        if action is not None and after is not before:
            if action.name == "undo":
                self._states.pop()
            else:
                self._states.append({**self._states[-1], action.path: self._rewritten(action, before, after)})
        if action is not None and action.name in ("test", "run") and passes(step.observation):
            self.green.add(step.before)
        placed = action is not None and action.name in ("view", "edit", "create")
        self._read(step.observation, action.path if action is not None and placed else "", after)

    def lacking(self, action: Action, files: Files) -> int | None:
        """The first line that an edit needs and nothing has shown; None if it needs no more than is known."""
        ids, first = self._lines(action.path, files), action.line - 1
        if not action.old:
            near = ids[max(0, first - 1) : first + 1]
            return None if any(line in self._known for line in near) else action.line
        last = first + action.old.count("\n") - action.old.endswith("\n")
        unknown = (at for at in range(first, min(max(first, last) + 1, len(ids))) if ids[at] not in self._known)
        return next((at + 1 for at in unknown), None)

    def unread(self, action: Action) -> str | None:
        """Why it is too early to write tests or an answer: of the code that they are about nothing has been shown."""
        kind, goal = self._task.kind, self._task.goal
        if kind is Kind.TESTGEN and action.path == goal.get("tests") and (module := goal.get("module", "")) in self._initial:
            return None if module in self._texts else f"writes tests of {module}, of which no earlier observation shows a line"
        if kind is Kind.QA and action.path == goal.get("answer", ANSWER):
            code = {path for path in self._initial if path.endswith(".py")} - {action.path}
            if code and not code & self._texts.keys():
                return "writes the answer, and no earlier observation shows a line of the code that the question is about"
        return None

    def said(self, quote: str) -> bool:
        """Does an observation hold this, ``...`` standing for anything?"""
        pieces = [piece.strip() for piece in _GAP.split(" ".join(quote.split()))]
        return any(_in_order(pieces, text) for text in self._said)

    def result(self, start: str, rest: str) -> bool:
        """Is ``rest`` of a thought, which has ``start``, at its beginning a result as an observation has it?"""
        rows = [row for text in self._said for row in _rows_from(text, start)]
        short = rest[len(start) :].startswith(("...", "…"))
        return any(short or rest.startswith(re.split(r" gave | raised |, expected ", row)[0]) for row in rows)

    def names_test(self, id_: str) -> bool:
        """Does a line that the agent knows of the file of a test id name that test?"""
        path, *names = id_.partition("[")[0].split("::")
        word = re.compile(rf"\b{re.escape(names[-1])}\b")
        places = (lines for known, lines in self._texts.items() if known == path or known.endswith(f"/{path}"))
        return any(word.search(line) for lines in places for line in lines)

    def on_a_line(self, name: str, message: str) -> bool:
        """Does one line that the agent knows hold both?"""
        return any(name in line and message in line for lines in self._texts.values() for line in lines)

    def _lines(self, path: str, files: Files) -> tuple[int, ...]:
        if path in self._states[-1]:
            return self._states[-1][path]
        if path not in self._ids:
            self._ids[path] = self._new(self._initial.get(path, files.get(path, "")).count("\n") + 1)
        return self._ids[path]

    def _new(self, number: int) -> tuple[int, ...]:
        return tuple(next(self._numbers) for _ in range(number))

    def _rewritten(self, action: Action, before: Files, after: Files) -> tuple[int, ...]:
        """Identities of the lines after an edit: those at both ends that are as they were keep theirs, the others get new ones."""
        new = after[action.path].split("\n")
        if action.name == "create":
            ids = self._new(len(new))
            self._known.update(ids)
            return ids
        old, ids = before[action.path].split("\n"), self._lines(action.path, before)
        head, tail = min(len(old), len(new), action.line - 1), 0
        while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        made = self._new(len(new) - head - tail)
        if all(line in self._known for line in ids[head : len(old) - tail]):
            self._known.update(made)
        return (*ids[:head], *made, *ids[len(old) - tail :])

    def _read(self, text: str, path: str, files: Files) -> None:
        self._said.append(" ".join(text.split()))
        rows = text.split("\n")
        quoted: set[str] | None = None
        for row in rows:
            if path and (match := _ROW.fullmatch(row)):
                self._show(path, int(match[1]), match[2], files)
            elif (match := _FOUND.fullmatch(row)) and match[1] in files:
                self._show(match[1], int(match[2]), match[3], files)
            else:
                for place in _PLACE.finditer(row):
                    quoted = {each.strip().lstrip("> ").strip() for each in rows} if quoted is None else quoted
                    self._quote(place[1] or place[3], int(place[2] or place[4]), quoted, files)

    def _show(self, path: str, number: int, row: str, files: Files) -> None:
        if path in files and self._row(path, number, files) == row:
            self._known.add(self._lines(path, files)[number - 1])
            self._texts.setdefault(path, set()).add(row)

    def _quote(self, path: str, number: int, quoted: set[str], files: Files) -> None:
        """A place in a traceback, whose path may be absolute, and the lines around it."""
        while path not in files and "/" in path:
            path = path.partition("/")[2]
        row = self._row(path, number, files) if path in files else None
        if row is not None and row.strip() and row.strip() in quoted:
            self._show(path, number, row, files)

    def _row(self, path: str, number: int, files: Files) -> str | None:
        text, rows = self._split.get(path, ("", [""]))
        if text != files[path]:
            rows = files[path].split("\n")
            self._split[path] = files[path], rows
        return rows[number - 1] if 1 <= number <= len(rows) else None


def _in_order(pieces: list[str], text: str) -> bool:
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _rows_from(text: str, start: str) -> Iterator[str]:
    """What follows each occurrence of ``start`` in a text, with it, up to the next result."""
    at = text.find(start)
    while at >= 0:
        yield re.split(r" (?=(?:FAIL|PASS|ERROR) )", text[at:])[0]
        at = text.find(start, at + 1)
