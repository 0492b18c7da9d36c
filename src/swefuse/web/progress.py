"""How far a run is: its stages, the one at work, the time that is left, and the figures of training so far."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from swefuse.web.files import Row, modified, number, rows, table
from swefuse.web.places import Place

STAGES = ("tasks", "collect", "gate", "base", "encode", "sft", "rlvr", "control", "evaluate", "report")
EVALUATED = 6  # policies that the quickstart measures
SILENT_S = 600.0  # a run that wrote nothing for so long may have been ended
_LAST = 10  # rounds that the time left is told from


class Stage(NamedTuple):
    """One stage: ``seconds`` it took, None while it is not done; ``state`` is done, running or waiting."""

    name: str
    state: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of a run. ``done`` of ``total`` steps of the present stage (0: not known), ``left_s`` seconds of it are left.

    ``rounds``: metrics of stage 2, ``steps``: those of stage 1, ``events``: what stage 2 raised. ``wrote``: when the run last
    wrote, seconds since 1970.
    """

    stages: tuple[Stage, ...]
    stage: str
    done: int
    total: int
    left_s: float | None
    wrote: float
    rounds: list[Row] = field(repr=False)
    steps: list[Row] = field(repr=False)
    events: list[Row] = field(repr=False)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.stage in ("", "report") and all(stage.state == "done" for stage in self.stages)

    @property
    def share(self) -> float | None:
        """How far the present stage is, in [0, 1]; None where nobody knows."""
        return min(1.0, self.done / self.total) if self.total else None

    @property
    def said(self) -> str:
        """The state in a word or two."""
        if self.finished:
            return "finished"
        silent = time.time() - self.wrote > SILENT_S
        return f"{self.stage}, silent" if silent else self.stage


def status(place: Place) -> Status:
    """Read a run's state from its files. A folder of one stage alone has that stage only."""
    state, config = table(place.file("state.json")), table(place.file("config.toml"))
    rounds = rows(place.file("rlvr/metrics.jsonl") or _own(place, "round"))
    steps = rows(place.file("sft/metrics.jsonl") or _own(place, "step"))
    events = rows(place.file("rlvr/events.jsonl", "events.jsonl"))
    taken = state.get("done") if isinstance(state.get("done"), dict) else {}
    stages = _stages(place, taken or {}, bool(config))
    stage = next((one.name for one in stages if one.state == "running"), "")
    done, total, left = _inside(place, stage, config, rounds)
    return Status(stages, stage, done, total, left, _wrote(place), rounds, steps, events)


def _own(place: Place, key: str) -> Path | None:
    """The log of a folder of one stage, by what its rows count; None where they count something else."""
    path = place.file("metrics.jsonl")
    first: Row = next(iter(rows(path)), {})
    return path if key in first else None


def _stages(place: Place, taken: Row, recipe: bool) -> tuple[Stage, ...]:
    if not recipe:
        whole = "done" if place.file("manifest.json", "results.json", "summary.json") or place.library else "running"
        kind = "rlvr" if _own(place, "round") else "sft" if _own(place, "step") else "tasks" if place.file("tasks.jsonl") else ""
        kind = kind or ("evaluate" if place.file("results.jsonl") else "library")
        return (Stage(kind, whole, None),)
    at = next((number for number, name in enumerate(STAGES) if name not in taken), len(STAGES))
    return tuple(
        Stage(name, "done" if name in taken else "running" if number_ == at else "waiting", number(taken, name))
        for number_, name in enumerate(STAGES)
    )


def _inside(place: Place, stage: str, config: Row, rounds: Sequence[Row]) -> tuple[int, int, float | None]:
    """Steps done and to do of the present stage, and the seconds that are left of it."""
    if stage == "rlvr":
        done, total = len(rounds), int(number(config.get("rlvr", {}), "rounds") or 0)
        times = [number(row.get("seconds", {}), "total") or 0.0 for row in rounds[-_LAST:]]
        return done, total, sum(times) / len(times) * max(0, total - done) if times and total else None
    if stage in ("sft", "control"):
        log = place.folder / stage / "metrics.jsonl"
        last = next((row for row in reversed(rows(log)) if number(row, "step") is not None), {})
        done = int(number(last, "step") or 0)
        total = int(number(config.get("sft", {}), "steps") or 0) if stage == "sft" else 0
        return done, total, _paced(place, modified(log), done, total)
    if stage == "evaluate":
        files = [path for path in (place.folder / "eval").glob("*.jsonl")] if (place.folder / "eval").is_dir() else []
        newest = max(map(modified, files), default=0.0)
        return len(files), EVALUATED, _paced(place, newest, len(files), EVALUATED)
    return 0, 0, None


def _paced(place: Place, until: float, done: int, total: int) -> float | None:
    """Seconds left at the pace since the stage before ended."""
    began = modified(place.folder / "state.json")
    return max(0.0, until - began) / done * max(0, total - done) if done and total and began else None


def _wrote(place: Place) -> float:
    names = ("state.json", "rlvr/metrics.jsonl", "sft/metrics.jsonl", "control/metrics.jsonl", "metrics.jsonl", "report.json")
    folders = (place.folder, place.folder / "eval", place.folder / "tasks")
    found = [modified(place.folder / name) for name in names] + [modified(folder) for folder in folders]
    return max([*found, modified(place.library) if place.library else 0.0])
