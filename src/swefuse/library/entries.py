"""What goes into a library and what comes out of it: entries, filters, summaries and counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from swefuse.records import Decision, Record, Task, Trajectory, Verdict


@dataclass(frozen=True, slots=True)
class Entry:
    """One trajectory with its task, the verdict that the gate was given, and what the gate decided."""

    task: Task
    trajectory: Trajectory
    verdict: Verdict
    decision: Decision


class Ruling(Record):
    """What a library keeps of an entry beside task and trajectory."""

    verdict: Verdict
    decision: Decision


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries: all that is set must match. ``source`` is the task's, ``collector`` the trajectory's.

    ``split``: the library's own once it is split, else the task's. ``min_strength`` in [0, 1]: of the task's tests; where nobody
    has measured it does not match. ``min_steps`` and ``max_steps`` are both included. ``query``: words that must all occur in
    instruction, thoughts, paths or patch, in any order and case; ``time*`` matches every word that begins so.

    Example: ``Filter(accepted=True, kind="bugfix", min_strength=0.8, query="timezone")``.
    """

    accepted: bool | None = None
    kind: str | None = None
    source: str | None = None
    split: str | None = None
    operator: str | None = None
    collector: str | None = None
    task_id: str | None = None
    refused_by: str | None = None
    repo: str | None = None
    tag: str | None = None
    min_strength: float | None = None
    min_steps: int | None = None
    max_steps: int | None = None
    query: str | None = None


EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Summary:
    """What the index knows of one entry, without unpacking it. ``split`` as ``Filter`` says."""

    trajectory_id: str
    task_id: str
    accepted: bool
    gate_version: str
    kind: str
    source: str
    split: str
    operator: str
    collector: str
    model: str
    steps: int
    reasons: tuple[str, ...]
    repo: str = ""
    strength: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spread:
    """How numbers lie: the least, the one in the middle, the one that nine of ten do not exceed, the greatest, and their mean."""

    least: int = 0
    median: int = 0
    ninety: int = 0
    greatest: int = 0
    mean: float = 0.0


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of entries. ``by`` maps kind, source, split, operator and collector to value -> (accepted, refused).

    ``reasons`` maps a check to how many entries it refused; one entry may count under several. ``superseded`` counts entries
    that were gated again later, ``bytes`` all packed bodies. ``steps`` and ``characters`` (of what the agent wrote and saw) are of
    the accepted ones, as is ``diversity``: how many different tasks, functions, repositories and shapes of edits there are (an edit
    with every name, number and text made the same). ``tags`` counts entries by tag.
    """

    accepted: int
    refused: int
    by: dict[str, dict[str, tuple[int, int]]]
    reasons: dict[str, int]
    superseded: int
    bytes: int
    steps: Spread = Spread()
    characters: Spread = Spread()
    diversity: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
