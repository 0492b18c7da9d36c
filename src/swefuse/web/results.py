"""Evaluations of runs side by side: the figures of every model with intervals, and what one has more than another."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from swefuse.errors import DataError, MissingExtraError
from swefuse.evaluate.comparison import Comparison, compare
from swefuse.evaluate.report_model import Intervals, Scores, load
from swefuse.evaluate.run import Result, load_results, summarise
from swefuse.evaluate.stats import cluster_bootstrap
from swefuse.web.places import Place

MOST = 12  # evaluations of one run


class Measured(NamedTuple):
    """One model of one run on one split."""

    run: str
    model: str
    split: str
    scores: Scores
    intervals: Intervals

    @property
    def label(self) -> str:
        """How the model is named in an address."""
        return f"{self.run}:{self.model}"


def files(place: Place) -> dict[str, Path]:
    """Model -> file of results."""
    folder = place.folder / "eval"
    found = {path.stem: path for path in sorted(folder.glob("*.jsonl"))[:MOST]} if folder.is_dir() else {}
    own = place.file("results.jsonl")
    return {**found, **({place.folder.name: own} if own else {})}


def measured(place: Place) -> Iterator[Measured]:
    """Every model on every split. What a report tells is taken from it; the rest is computed once for each file."""
    told = _reported(place)
    if told:
        yield from told
        return
    for model, path in files(place).items():
        for split, (scores, intervals) in figures(path, *_stamp(path)).items():
            yield Measured(place.name, model, split, scores, intervals)


def _reported(place: Place) -> list[Measured]:
    """What report.json and report_data.json say; nothing where there is none that can be read."""
    if not place.file("report.json"):
        return []
    try:
        report, data = load(place.folder)
    except DataError:
        return []
    return [
        Measured(place.name, model, split, scores, data.intervals.get(split, {}).get(model, Intervals()))
        for split, models in report.results.items()
        for model, scores in models.items()
    ]


def _stamp(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=64)
def results(path: Path, *stamp: int) -> tuple[Result, ...]:
    """The results of a file. Raises DataError for one that holds none."""
    return tuple(load_results(path))


@lru_cache(maxsize=64)
def figures(path: Path, *stamp: int) -> dict[str, tuple[Scores, Intervals]]:
    """By split the figures of a file with their intervals; nothing for a file that is being written or is damaged."""
    try:
        every = results(path, *stamp)
    except DataError:
        return {}
    found = {}
    for split in dict.fromkeys(one.split for one in every):
        of = [one for one in every if one.split == split]
        greedy = [one for one in of if one.greedy is not None]
        intervals = Intervals(
            greedy=_interval([float(bool(one.greedy)) for one in greedy], greedy),
            sampled=_interval([one.sampled for one in of if one.n], [one for one in of if one.n]),
        )
        found[split] = (Scores.model_validate(summarise(of)), intervals)
    return found


def _interval(values: Sequence[float], of: Sequence[Result]) -> tuple[float, float] | None:
    try:
        found = cluster_bootstrap(values, [one.function or one.task_id for one in of])
    except (DataError, MissingExtraError):
        return None  # too few functions, or no numpy: the figure stands without
    return found.low, found.high


def differences(one: Path, base: Path) -> dict[str, Comparison | str]:
    """By split what the first file's model has more than the other's on the same tasks, or why that cannot be told."""
    return _differences(one, base, _stamp(one), _stamp(base))


@lru_cache(maxsize=256)
def _differences(one: Path, base: Path, *stamps: tuple[int, int]) -> dict[str, Comparison | str]:
    left, right = results(one, *stamps[0]), results(base, *stamps[1])
    found: dict[str, Comparison | str] = {}
    for split in dict.fromkeys(row.split for row in left):
        try:
            found[split] = compare([row for row in left if row.split == split], [row for row in right if row.split == split])
        except (DataError, MissingExtraError) as error:
            found[split] = str(error)
    return found
