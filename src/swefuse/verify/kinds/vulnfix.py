"""Close a security hole: what the code is for still works, and the analyser's rule for this kind of hole no longer fires.

>>> task = Task.make(
...     Kind.VULNFIX, instruction="`load` runs whatever text it is given. Make it safe.",
...     files={"m.py": "def load(text):\\n    return eval(text)\\n"}, editable=("m.py",), goal={"rules": "S307"},
...     suites=(suite("m.py:load", "('[1]',)", "[1]", fails=False),),
...     provenance=Provenance(source="example"),
... )
>>> judge(task, {}).reason
'S307 still fires in m.py'
>>> judge(task, {"m.py": "run = eval\\n\\n\\ndef load(text):\\n    return run(text)\\n"}).reason
'm.py, line 1: eval keeps the hole open that S307 is about'
>>> judge(task, {"m.py": "import ast\\n\\n\\ndef load(text):\\n    return ast.literal_eval(text)\\n"}).outcome.value
'PASSED'
>>> judge(task, {"m.py": "def load(text):\\n    return []  # noqa\\n"}).outcome.value
'FAILED'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from swefuse.code.lint import ASSERTS, lint
from swefuse.errors import InfraError, SandboxError
from swefuse.records import Kind
from swefuse.verify.kinds.base import Found, Rules, Trial
from swefuse.verify.kinds.vulnfix_names import Seen, holes, ways
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files

_COMMANDS = frozenset({"S602", "S604", "S605"})
_WITHOUT_SHELL = frozenset({"S603", "S607"})  # said of any command that runs without a shell, as it should


def check(trial: Trial) -> Found:
    """Whether the hole is still there in what the candidate wrote or may edit, however it is spelled; ``# noqa`` is not obeyed."""
    rules = trial.goal("rules").split(",")
    paths = sorted({*trial.changed, *trial.task.editable} - set(protected_paths(trial.task)))
    written = [path for path in paths if path.endswith(".py") and path in trial.files]
    for path in written:
        codes = _codes(path, trial.files[path])
        fires = [rule for rule in rules if rule in codes]
        if fires:
            return Found(f"{', '.join(fires)} still fires in {path}", share=0.0)
    try:
        reason = next(_elsewhere(trial, frozenset(rules), written), "")
    except (RecursionError, MemoryError):
        reason = "code is nested too deeply to be looked at"
    return Found(reason, share=0.0 if reason else 1.0)


def _elsewhere(trial: Trial, rules: frozenset[str], written: list[str]) -> Iterator[str]:
    """Where the hole went that the analyser no longer sees; what the reference solution uses as well is no such place."""
    before, good = trial.task.files, trial.task.reference or {}
    paths = [*written, *(path for path in good if good[path] != before.get(path))]
    about = "/".join(sorted(rules))

    def named(text: str) -> tuple[Seen, ...]:
        return holes(text, rules)

    excused = _uses(good, paths, named)
    for path in written:
        for seen in _look(named, trial.files[path]):
            if seen.what not in excused:
                yield f"{path}, line {seen.line}: {seen.what} keeps the hole open that {about} is about"
    excused = _uses(before, paths, ways) | _uses(good, paths, ways)
    for path in written:
        for seen in _look(ways, trial.files[path]):
            if seen.what not in excused:
                yield f"{path}, line {seen.line}: {seen.what}, which neither the code as it was nor the reference solution needs"
    usual = _WITHOUT_SHELL if rules & _COMMANDS else frozenset()
    for path in written:
        found = {code for code in _codes(path, trial.files[path]) if code.startswith("S")} - usual
        if found:
            known = {code for state in (before, good) for one in paths if one in state for code in _codes(one, state[one])}
            if found - known:
                yield f"{', '.join(sorted(found - known))} fires in {path}, a security finding that was not there before"


def _uses(state: Files, paths: list[str], look: Callable[[str], tuple[Seen, ...]]) -> set[str]:
    return {seen.what for path in paths if path.endswith(".py") and path in state for seen in _look(look, state[path])}


def _look(look: Callable[[str], tuple[Seen, ...]], text: str) -> tuple[Seen, ...]:
    try:
        return look(text)
    except (SyntaxError, ValueError):  # such a file is never imported
        return ()


@lru_cache(maxsize=4096)
def _codes(path: str, text: str) -> frozenset[str]:
    try:
        (findings,) = lint([(path, text)], ASSERTS)
    except InfraError as error:
        raise SandboxError(str(error)) from error
    return frozenset(name.partition(" ")[0] for name in findings)


RULES = Rules(
    kind=Kind.VULNFIX,
    edits="the source of the project",
    protected="test files and what configures their runner",
    verified=(
        "every test passes; ruff's security rules named in the goal fire nowhere in the editable or changed files, and these hold "
        "neither the names that such a hole needs, however they are spelled, nor ways around writing them, nor other security "
        "findings, unless the reference solution does"
    ),
    scored="share of tests that pass; 0 while the hole is there",
    goal={"rules": "codes of ruff's S rules, separated by commas, that must no longer fire"},
    check=check,
)
