"""What the agent gets to see: the text of every observation.

Also what a replay, which has no model, needs to look and to speak: where that stands which a question is about or a test says, and
words for what an edit changes.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from swefuse.code.functions import Function, walk
from swefuse.errors import PatchError
from swefuse.records import Action, Kind, Suite, Task, TestResult, Verdict
from swefuse.tasks.commits import is_test
from swefuse.workspace import Files, apply_edit

MAX_OBSERVATION = 20_000
CHARACTERS_PER_TOKEN = 3  # of code, for tokenizers that are not at hand: rather more tokens than fewer
AROUND = 40  # lines before and behind one that is asked for
MOST_BLIND = 8  # edits in a row, without a look at what they did
SHOWN_PASSING = 5
SHOWN_FAILING = 20
READ_WHOLE = 10_000  # characters of source that are read as a whole, whatever of it a question names
MOST_QUOTED = 160  # characters of a line that a thought quotes; longer ones it only names
MOST_SPANS = 4  # places that a thought lists
NO_TESTS = "there are no tests to show"
_LOG = re.compile(r"(?:^|/)(?:changes|change[-_]?log|history|news|release[-_]?notes)(?:\.(?:rst|md|txt))?$", re.IGNORECASE)
_DOCS = re.compile(r"(?:^|/)docs?/|\.(?:rst|md)$|(?:^|/)(?:readme|authors)[^/]*$", re.IGNORECASE)
_UNCOLLECTED = re.compile(r"cannot collect (.+?): (?:(?!; cannot collect ).)*")
_NAMED = re.compile(r"`([A-Za-z_][\w.]*)")


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
        return NO_TESTS
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
    details = {id_: _detail(id_, failed[id_], verdict.reason) for id_ in failed}
    unreached = [details[id_] for id_, result in failed.items() if result.outcome == "missing"]
    if verdict.reason and unreached and not any(detail in verdict.reason for detail in unreached):
        rows.append(verdict.reason)  # why the run did not come so far
    rows += [f"FAIL {id_}: {details[id_]}" for id_ in list(failed)[:SHOWN_FAILING]]
    rows += [f"and {len(failed) - SHOWN_FAILING} more fail"] if len(failed) > SHOWN_FAILING else []
    rows += [f"PASS {id_}" for id_ in passed[:SHOWN_PASSING]]
    rows += [f"and {len(passed) - SHOWN_PASSING} more pass"] if len(passed) > SHOWN_PASSING else []
    if not failed and verdict.reason:
        rows.append(f"yet the check says {verdict.outcome.value}: {verdict.reason}")
    return "\n".join(rows)


def _detail(id_: str, result: TestResult, reason: str) -> str:
    """What is shown of a test; one that was never reached has nothing to say itself but that its file could not be collected."""
    if result.outcome == "missing":
        broken = (match for match in _UNCOLLECTED.finditer(reason) if id_ == match[1] or id_.startswith(f"{match[1]}::"))
        if (found := next(broken, None)) is not None:
            return found[0]
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


def names(task: Task) -> list[str]:
    """Names that the task is about, as far as the agent is told."""
    goal = task.goal.get("function", "").rpartition(":")[2]
    told = [] if task.hide_instruction else _NAMED.findall(task.instruction)
    return [name for one in (goal, *told) if (name := one.rstrip(".").rpartition(".")[2])]


def subjects(task: Task) -> list[str]:
    """The files that an answer is computed from, or the module that is to be tested, and what these import; the nearest first.

    Of a question: files that it names, then those in which a name stands that it quotes; of a small workspace all.
    """
    if task.kind is Kind.TESTGEN:
        return reached(task.files, [task.goal["module"]]) if task.goal.get("module") in task.files else []
    if task.kind is not Kind.QA:
        return []
    sources = [path for path in sorted(task.files) if path.endswith(".py") and path not in task.editable]
    text = "" if task.hide_instruction else task.instruction
    places = {path: re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-])", text) for path in sources}
    named = [path for _, path in sorted((place.start(), path) for path, place in places.items() if place)]
    words = [re.compile(rf"\b{re.escape(name)}\b") for name in dict.fromkeys(names(task))]
    others = (path for path in sources if path not in named and not is_test(path) and not role(path))
    named += [path for path in others if any(word.search(task.files[path]) for word in words)]
    small = sum(len(task.files[path]) for path in sources) <= READ_WHOLE
    return list(dict.fromkeys([*reached(task.files, named), *(sources if small or not named else ())]))


def reached(files: Files, start: Sequence[str]) -> list[str]:
    """These Python files and those of the workspace that they import, the nearest first."""
    found = dict.fromkeys(start)
    queue = list(found)
    for path in queue:
        new = [one for one in _imports(files, path) if one not in found]
        found |= dict.fromkeys(new)
        queue += dict.fromkeys(new)
    return list(found)


def _imports(files: Files, path: str) -> Iterator[str]:
    for level, modules in _modules(files.get(path, "")):
        folder = "/".join(PurePosixPath(path).parts[:-level]) if level else ""
        for module in modules:
            name = "/".join(filter(None, (folder, *module.split("."))))
            ends = (f"{name}.py", f"{name}/__init__.py") if name else ()
            fits = [one for one in files if any(one == end or (not level and one.endswith(f"/{end}")) for end in ends)]
            yield from sorted(fits, key=lambda one: (len(one), one))[:1]


@lru_cache(maxsize=4096)
def _modules(text: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """What each import statement of a file may mean, with the number of dots in front of it."""
    tree = _tree(text)
    found: list[tuple[int, tuple[str, ...]]] = []
    for node in walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            found.append((0, tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.ImportFrom):
            inside = [".".join(filter(None, (node.module, alias.name))) for alias in node.names]
            found.append((node.level, (*inside, node.module or "")))
    return tuple(found)


@lru_cache(maxsize=64)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def place_of_test(files: Files, id_: str) -> tuple[str, int, int] | None:
    """File, first and last line of the test of an id, also where its class has it from another one; None where it is not found."""
    path, *names = id_.partition("[")[0].split("::")
    tried, queue = set[tuple[str, str]](), [(path, names[0] if names[1:] else "")]
    others = [one for one in sorted(files) if one.endswith(".py") and "test" in one]
    for at, owner in queue:
        tree = _tree(files.get(at, ""))
        if tree is None or (at, owner) in tried:
            continue
        tried.add((at, owner))
        holders = [tree] if not owner else [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == owner]
        for holder in holders:
            for node in holder.body:
                if isinstance(node, Function) and node.name == names[-1]:
                    return at, min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or node.lineno
            bases = [ast.unparse(base).rpartition(".")[2] for base in getattr(holder, "bases", ())]
            queue += [(one, base) for base in bases for one in (at, *others)]
    return None


def defined(text: str, words: Sequence[str]) -> int:
    """The line on which one of these names is defined; 0 without one."""
    rows = enumerate(text.split("\n"), 1)
    return next((number for number, row in rows if any(re.match(rf"\s*(?:def|class) {word}\b", row) for word in words)), 0)


def enclosing(text: str, line: int) -> str:
    """What to search for to come to a line: the innermost function or class around it, ``def half``; empty where there is none."""
    tree = _tree(text)
    around = [
        node
        for node in (walk(tree) if tree else ())
        if isinstance(node, Function | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    node = max(around, key=lambda one: one.lineno, default=None)
    return "" if node is None else f"{'class' if isinstance(node, ast.ClassDef) else 'def'} {node.name}"


def role(path: str) -> int:
    """0: source, 1: neither source nor documentation, 2: documentation. Repairs are told in this order."""
    if path.endswith((".py", ".pyi")):
        return 0
    return 2 if _DOCS.search(path) or _LOG.search(path) else 1


def what_changes(edit: Action, text: str, sole: bool = False) -> str:
    """Which lines of a file with this ``text`` an edit changes, in a sentence; ``sole``: nothing else is amiss with the source.

    Example: ``@edit m.py:2`` that puts ``+`` for ``-`` -> ``The cause is line 2 of m.py, which reads `return x - 1`.``
    """
    path = edit.path
    where = "" if role(path) < 2 else "In the change log " if _LOG.search(path) else "In the documentation "
    if edit.name == "create":
        return f"{where}I add the file {path}."
    rows, count = text.split("\n"), edit.old.count("\n") + 1 if edit.old else 0
    after, start = apply_edit({path: text}, edit)[path].split("\n"), edit.line - 1
    old, new = rows[start : start + count], after[start : start + count + len(after) - len(rows)]
    blocks = [one for one in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes() if one[0] != "equal"]
    spans = [(start + a + 1, start + b) for _, a, b, _, _ in blocks if b > a]
    if not spans:
        number, at = sum(d - c for *_, c, d in blocks), start + blocks[0][1] + 1
        place = f"before line {at}" if at <= len(rows) - (not rows[-1]) else "at the end"
        return f"{where}I add {'a line' if number == 1 else f'{number} lines'} {place} of {path}."
    number = sum(last - first + 1 for first, last in spans)
    if number == 1:
        line = rows[spans[0][0] - 1].strip()
        quoted = f", which reads `{line}`" if line and "`" not in line and len(line) <= MOST_QUOTED else ""
        if sole and [one[0] for one in blocks] == ["replace"]:
            return f"The cause is line {spans[0][0]} of {path}{quoted}."
        place = f"line {spans[0][0]} of {path}{quoted}"
    else:
        each = [one for a, b in spans for one in ([str(a), str(b)][: b - a + 1] if b - a < 2 else [f"{a} to {b}"])]
        listed = f"{', '.join(each[:-1])} and {each[-1]}" if len(each) > 1 else each[0]
        place = (
            f"lines {listed} of {path}"
            if len(each) <= MOST_SPANS
            else f"{number} lines between {spans[0][0]} and {spans[-1][1]} of {path}"
        )
    return f"{where}I {'take out' if all(one[0] == 'delete' for one in blocks) else 'change'} {place}."
