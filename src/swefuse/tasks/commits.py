"""Which commits of a history may be tasks: those that repair something and change a test with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from swefuse.records import Kind
from swefuse.tasks.git import Commit
from swefuse.workspace import Files

MOST_SOURCES = 10
_REPAIRS = re.compile(
    r"\b(fix(es|ed|ing)?|bug(s|fix)?|resolve[sd]?|correct(s|ed|ly)?|handl(e|es|ed|ing)|regressions?|crash(es|ed)?|errors?|wrong"
    r"|prevent(s|ed)?|avoid(s|ed)?|fail(s|ed|ing|ures?)?|broken|missing|invalid|respect(s|ed)?|ensure[sd]?|allow(s|ed)?)\b|#\d+",
    re.IGNORECASE,
)
# what hardly ever repairs behaviour, whatever else the subject says, unless it names a fault
_NO_REPAIR = re.compile(
    r"\b(typos|lint(s|ing)?|flake8|mypy|pyright|typing|docs|polish|drops?|removes? (?!support)|eliminate|speed ?ups?"
    r"|clean(s|ed)? ?ups?|chores?|terminology|update dev|changelog|inspections|coverage|dedup\w*|undeprecate|soft-deprecate)\b",
    re.IGNORECASE,
)
_FAULT = re.compile(r"\b(bug(s|fix)?|regressions?|crash(es|ed)?|wrong|broken)\b", re.IGNORECASE)
_TIDIES = re.compile(
    r"\b(refactor(s|ed|ing)?|simplif(y|ies|ied|ication)|clean(s|ed|ing)?[- ]?ups?|tid(y|ies|ied)|restructure[sd]?|dedup\w*"
    r"|extract(s|ed)?|consolidat(e|es|ed)|inline[sd]?|streamline[sd]?|dead code|unused"
    r"|remove(s|d)? (redundan\w+|duplicat\w+|unnecessary))\b",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(r"(test_.*|.*_test|tests)\.py")
_NO_SOURCE = frozenset({"docs", "doc", "examples", "example", "benchmarks", "bench", "scripts", "tools", "setup.py", "noxfile.py"})


@dataclass(frozen=True, slots=True)
class Sides:
    """A commit taken apart: paths of its tests with what belongs to them, of its source, and the test files that are to be run."""

    tests: tuple[str, ...]
    sources: tuple[str, ...]
    run: tuple[str, ...]


def is_test(path: str) -> bool:
    """Whether a path belongs to the tests: below a folder of tests, or named like a test file or conftest.py."""
    pure = PurePosixPath(path)
    return bool({"test", "tests", "testing"} & set(pure.parts[:-1])) or is_test_file(path) or pure.name == "conftest.py"


def is_test_file(path: str) -> bool:
    """Whether pytest would look for tests in it."""
    return bool(_TEST_FILE.fullmatch(PurePosixPath(path).name))


def is_source(path: str) -> bool:
    """Whether it is Python that the project consists of."""
    pure = PurePosixPath(path)
    return pure.suffix == ".py" and not is_test(path) and not _NO_SOURCE & {pure.parts[0], pure.name}


def candidates(commits: Iterable[Commit], kind: Kind = Kind.BUGFIX) -> Iterator[Commit]:
    """Commits that may become tasks of a kind.

    ``bugfix``: the subject speaks of a repair, and source and tests are changed, both in Python, and not too much of them.
    ``refactor``: it speaks of tidying up, and source is changed. ``testgen``: test files are changed, and no source.
    """
    for commit in commits:
        sources = sum(is_source(path) for path, _ in commit.changes)
        tests = any(is_test(path) and path.endswith(".py") and status != "D" for path, status in commit.changes)
        if kind is Kind.TESTGEN:
            found = not sources and any(is_test_file(path) and status != "D" for path, status in commit.changes)
        else:
            speaks = _TIDIES.search(commit.subject) if kind is Kind.REFACTOR else _repairs(commit.subject)
            found = 1 <= sources <= MOST_SOURCES and bool(speaks) and (tests or kind is Kind.REFACTOR)
        if found:
            yield commit


def _repairs(subject: str) -> bool:
    return bool(_REPAIRS.search(subject)) and (not _NO_REPAIR.search(subject) or bool(_FAULT.search(subject)))


def sides(commit: Commit, after: Files, all_tests: bool = False) -> Sides:
    """Take a commit apart. Where only helpers of tests changed, the test files beside and below them are run.

    ``all_tests``: all test files of the project are run, so that what breaks elsewhere is seen.
    """
    tests = tuple(path for path, _ in commit.changes if is_test(path))
    sources = tuple(path for path, _ in commit.changes if not is_test(path))
    run = tuple(path for path in (sorted(after) if all_tests else tests) if path in after and is_test_file(path))
    if not run:
        folders = {str(PurePosixPath(path).parent) for path in tests}
        near = (path for path in after if is_test_file(path) and folders & {str(parent) for parent in PurePosixPath(path).parents})
        run = tuple(sorted(near))
    return Sides(tests, sources, run)


def states(commit: Commit, parts: Sides, before: Files, after: Files) -> tuple[dict[str, str], dict[str, str]]:
    """``(initial, reference)``: the parent with the commit's tests, and the same with the commit's source."""
    initial = _moved(before, after, parts.tests)
    return initial, _moved(initial, after, parts.sources)


def _moved(state: Mapping[str, str], after: Files, paths: Iterable[str]) -> dict[str, str]:
    found = dict(state)
    for path in paths:
        found.pop(path, None)
        if path in after:
            found[path] = after[path]
    return found
