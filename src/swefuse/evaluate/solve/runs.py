"""The tests of a working copy, run in the sandbox as it is now: which fail, which pass, and where those that fail come by."""

from __future__ import annotations

import json
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from swefuse.code.imports import imported_modules
from swefuse.errors import UserError, nearest
from swefuse.evaluate.solve import watch
from swefuse.sandbox import environments
from swefuse.sandbox.base import Job, Output, Sandbox
from swefuse.tasks.attempts import ended
from swefuse.tasks.commits import is_test, is_test_file
from swefuse.tasks.requirements import marker
from swefuse.tasks.symptoms import clean

MEMORY_MB = 2048
TRACED = 10.0  # what a run that is watched may take, as a multiple
# options of pytest that change what is printed and nothing else
_SHOWS = re.compile(r"-[qvsrxl]\S*|--(verbose|quiet|no-header|no-summary|showlocals|exitfirst|tb=\S+|color=\S+|disable-warnings)")
_REMEDY = "name test files, folders or tests, such as --tests 'pytest tests/test_x.py::test_y', and a marker with -m"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What ``--tests`` asks for: ``targets`` are files, folders and node ids, none for all; ``markers`` is pytest's ``-m``."""

    targets: tuple[str, ...] = ()
    markers: str | None = None

    def takes(self, id_: str) -> bool:
        """Whether a test is among the targets."""
        return not self.targets or any(
            id_ == one or id_.startswith((f"{one}::", f"{one}[", f"{one}/")) or one == "." for one in self.targets
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """What a run of the tests showed.

    ``files``: the test files that were run. ``unsteady``: tests that say now this and now that, which count for nothing; ``lost``:
    those that came to no end; ``broken``: why a file could not be collected, empty where all could be. ``details``: what failing
    tests say. ``frames`` and ``reached``: see ``watch.read``. ``watched``: whether it was looked at where tests come by.
    """

    files: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    broken: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    frames: Mapping[str, watch.Places] = field(default_factory=dict)
    reached: Mapping[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    watched: bool = False
    cpu_s: float = 0.0
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Bench:
    """Where tests run: a sandbox, an environment by name, and CPU seconds for one run of them all."""

    sandbox: Sandbox
    environment: str = ""
    cpu_s: float = 120.0


def read_command(text: str) -> Wanted:
    """What a command such as ``pytest -q tests/test_x.py -m 'not slow'`` asks for.

    Raises UserError for another program than pytest, and for options that would be passed over in silence.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"--tests {text!r} cannot be read: {error}") from error
    while words and re.fullmatch(r"python[\d.]*|-m", words[0]) and len(words) > 1:
        words.pop(0)
    if not words or PurePosixPath(words[0]).name not in ("pytest", "py.test"):
        raise UserError(
            f"--tests runs pytest, not {words[0] if words else 'nothing'!r}: it runs cases of unittest too; "
            f"{_REMEDY}, or leave the tests out with --no-tests"
        )
    targets: list[str] = []
    markers: str | None = None
    rest = words[1:]
    while rest:
        word = rest.pop(0)
        if word == "-m" and rest:
            markers = rest.pop(0)
        elif word.startswith("-m") and len(word) > 2:
            markers = word[2:].lstrip("=")
        elif not word.startswith("-"):
            targets.append(str(PurePosixPath(word.partition("::")[0])) + "".join(word.partition("::")[1:]))
        elif not _SHOWS.fullmatch(word):
            raise UserError(f"--tests: the option {word} of pytest is not taken over here; {_REMEDY}")
    return Wanted(tuple(targets), markers)


def files_of(wanted: Wanted, files: Mapping[str, str]) -> tuple[str, ...]:
    """The test files to run. Raises UserError where a target is not there, or there is none."""
    every = sorted(path for path in files if is_test_file(path))
    if not wanted.targets:
        if not every:
            raise UserError("there is no test file (test_*.py); --no-tests works without, and proves nothing")
        return tuple(every)
    found: dict[str, None] = {}
    for target in wanted.targets:
        path = target.partition("::")[0]
        inside = [one for one in every if path == "." or one.startswith(f"{path}/")]
        if path in files and path.endswith(".py"):
            inside = [path]
        if not inside:
            raise UserError(f"--tests: there is no test {path!r} in the working copy{nearest(path, every)}")
        found |= dict.fromkeys(inside)
    return tuple(found)


def observe(bench: Bench, state: Mapping[str, str], wanted: Wanted, look: bool = True) -> Observed:
    """Run the tests, and once more where some fail, to see which are steady; with ``look`` that run is watched.

    Raises UserError where they take longer than they may, and where none could be run, with what to do about it.
    """
    paths = files_of(wanted, state)
    output = run(bench, state, paths, wanted, bench.cpu_s)
    found = _read(output, wanted)
    if output.limit:
        raise UserError(
            f"the tests were stopped at the {output.limit} limit, {bench.cpu_s:.0f} CPU seconds in all: name fewer with --tests, "
            "or allow more with --limit"
        )
    if not (found.failing or found.passing or found.lost):
        raise UserError(_nothing(found.broken, output))
    found = replace(found, files=paths, cpu_s=output.cpu_s, wall_s=output.wall_s)
    return _again(bench, state, wanted, found, look) if found.failing else found


def _nothing(broken: str, output: Output) -> str:
    why = broken or (output.text.strip().splitlines() or ["pytest said nothing"])[-1]
    lacks = "No module named" in why
    remedy = "--environment auto installs what the project says that it needs" if lacks else "see that 'pytest' runs them"
    return f"no test could be run: {why[:300]}; {remedy}, or leave them out with --no-tests"


def _again(bench: Bench, state: Mapping[str, str], wanted: Wanted, first: Observed, look: bool) -> Observed:
    """The same tests once more. Those that say something else now count for nothing."""
    ahead = dict.fromkeys(id_.partition("::")[0] for id_ in first.failing)  # seen even where the others take too long
    paths = tuple(dict.fromkeys([*ahead, *first.files]))
    watched = {**state, watch.FILE: watch.text(first.failing)} if look else state
    output = run(bench, watched, (watch.FILE, *paths) if look else paths, wanted, TRACED * bench.cpu_s)
    second = _read(output, wanted)
    frames, reached = watch.read(output.text) if look else ({}, {})
    steady = first
    if ended(output):
        now = {**dict.fromkeys(second.passing, "passed"), **dict.fromkeys(second.failing, "failed")}
        failing = tuple(id_ for id_ in first.failing if now.get(id_) == "failed")
        passing = tuple(id_ for id_ in first.passing if now.get(id_) == "passed")
        unsteady = tuple(id_ for id_ in (*first.failing, *first.passing) if id_ not in {*failing, *passing})
        steady = replace(first, failing=failing, passing=passing, unsteady=unsteady)
    return replace(
        steady, frames=frames, reached=reached, watched=bool(reached),
        cpu_s=first.cpu_s + output.cpu_s, wall_s=first.wall_s + output.wall_s,
    )  # fmt: skip


def run(bench: Bench, state: Mapping[str, str], paths: Sequence[str], wanted: Wanted, cpu_s: float) -> Output:
    """One run of whole test files."""
    texts = tuple(text for path, text in sorted(state.items()) if path.endswith(".py") and path != watch.FILE)
    return bench.sandbox.run(
        Job(
            "pytest", state, tests=tuple(paths), protected=guards(state), nonce=secrets.token_hex(16),
            preload=imported_modules(texts), markers=marker(dict(state)) if wanted.markers is None else wanted.markers,
            environment=environments.folder(bench.environment), cpu_s=cpu_s, memory_mb=MEMORY_MB,
        )
    )  # fmt: skip


def guards(state: Mapping[str, str]) -> tuple[str, ...]:
    """Paths that belong to the tests: whoever works on the source leaves them as they are."""
    return tuple(path for path in sorted(state) if path.endswith(".py") and is_test(path))


def _read(output: Output, wanted: Wanted) -> Observed:
    phases: dict[str, list[str]] = {}
    details: dict[str, str] = {}
    broken = ""
    for line in output.records.split("\n")[:-1]:
        record = json.loads(line)
        if "when" in record:
            if record["id"].startswith(f"{watch.FILE}::") or not wanted.takes(record["id"]):
                continue
            phases.setdefault(record["id"], []).append(record["outcome"])
            if record["outcome"] == "failed":
                details.setdefault(record["id"], clean(record["detail"]))
        elif "collect" in record:
            broken = broken or f"{record['collect']}: {' '.join(record['detail'].split())}"
    failing = tuple(id_ for id_, found in phases.items() if "failed" in found)
    passing = tuple(id_ for id_, found in phases.items() if found == ["passed"] * 3)
    known = {*failing, *passing}
    lost = tuple(id_ for id_, found in phases.items() if id_ not in known and len(found) < 2)
    return Observed(failing=failing, passing=passing, lost=lost, broken=broken, details=details)
