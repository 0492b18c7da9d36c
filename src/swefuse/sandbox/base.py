"""What every sandbox takes and gives: the seam between verification and the ways of running untrusted code.

A sandbox judges nothing. It runs a ``Job`` and hands back an ``Output``: the raw records that came out of the candidate's
process, which limit stopped it, and what it cost. In the ``calls`` form a ``Job`` holds no expected values, so there the candidate
can neither read nor forge them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

WALL_FACTOR = 5  # elapsed seconds for each CPU second, where nobody says otherwise
Limit = Literal["", "cpu", "wall", "memory", "output"]


@dataclass(frozen=True, slots=True)
class Job:
    """One candidate to run.

    ``files`` is the whole state, path -> text. ``parse`` names the Python files that must compile before anything runs.
    ``calls``: ``entry`` is ``module.py:function``, ``calls`` holds pairs of id and text of a tuple literal, the arguments; modules
    are imported from memory, and the candidate gets no second process or thread. With ``count_lines`` the ``end`` record says how
    many lines of Python the calls, or in the other form the tests, have executed.
    ``pytest``: ``tests`` are node ids, or files to run whole; with ``fail_fast`` none is run after the first that does not pass;
    ``protected`` paths are read-only for the candidate; ``nonce`` marks genuine records; ``preload`` names modules of the
    environment that a sandbox may import ahead, never the work tree's own; ``shuffle`` above 0 is the seed of another order of the
    tests; ``fresh_process`` asks for a new interpreter, whatever could be warm; ``environment`` is a folder of packages that go
    before those installed, such as another pytest; ``markers`` is pytest's ``-m``, which leaves tests out.
    ``cpu_s`` bounds CPU seconds of all processes together, ``wall_s`` (default: five times that, at least 1) elapsed seconds,
    ``memory_mb`` the address space of the process, for ``pytest`` the resident memory of all processes together.
    """

    kind: Literal["calls", "pytest"]
    files: Mapping[str, str]
    parse: tuple[str, ...] = ()
    entry: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    count_lines: bool = False
    tests: tuple[str, ...] = ()
    fail_fast: bool = False
    protected: tuple[str, ...] = ()
    nonce: str = ""
    preload: tuple[str, ...] = ()
    shuffle: int = 0
    markers: str = ""
    fresh_process: bool = False
    environment: str = ""
    cpu_s: float = 0.1
    wall_s: float | None = None
    memory_mb: int = 1024

    @property
    def wall_limit(self) -> float:
        """Elapsed seconds after which the job is killed."""
        return max(WALL_FACTOR * self.cpu_s, 1.0) if self.wall_s is None else self.wall_s


@dataclass(frozen=True, slots=True)
class Output:
    """What a job left behind. ``records`` is untrusted text, one JSON object per line; a cut last line has no newline.

    ``limit`` names the limit that killed the job, or is empty. ``text`` is the end of stdout and stderr (``pytest`` only, at most
    1 MB). ``cpu_s`` counts all processes of the job, ``wall_s`` is elapsed seconds. ``cold`` says why a job could not run in a warm
    worker, and is empty where it did.
    """

    records: str
    limit: Limit = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    text: str = ""
    cold: str = ""


class Sandbox(Protocol):
    """Runs jobs one after another. SandboxError: a job could not be run at all, which is never the candidate's failure."""

    @property
    def identity(self) -> str:
        """Name, level and Python version, for the verdict's ``sandbox`` field."""
        ...

    def run(self, job: Job) -> Output:
        """Run one job to its end or to its first limit; afterwards nothing of it is left."""
        ...

    def close(self) -> None:
        """End all processes. A closed sandbox starts again when the next job comes."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """What probing a sandbox showed. ``checks`` maps each probe to an empty text (held) or to what went wrong."""

    level: Literal["full", "weak"]
    lacks: tuple[str, ...] = ()
    remedy: str = ""
    checks: dict[str, str] = field(default_factory=dict)
