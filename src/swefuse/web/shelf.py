"""What the pages ask of a library: one page of entries at a time, counts, and a sample; each opens the library for itself."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from swefuse.errors import DataError, nearest
from swefuse.library.store import Entry, Filter, Library, Stats, Summary
from swefuse.web.files import modified
from swefuse.web.places import Place

PAGE = 50
SAMPLE, WINDOWS = 240, 8  # entries of a map, and from how many places of the list they come


class Part(NamedTuple):
    """A page of entries, and how many match in all."""

    rows: list[Summary]
    total: int


def path_of(place: Place, snapshot: str = "") -> Path:
    """The library's file, or one of its snapshots. Raises DataError where a run has none."""
    if place.library is None:
        raise DataError(f"{place.name} has no library yet; it appears once trajectories went through the gate")
    if not snapshot:
        return place.library
    with Library(place.library) as library:
        names = [one.name for one in library.snapshots()]
    if snapshot not in names:
        raise DataError(f"the library of {place.name} has no snapshot {snapshot!r}{nearest(snapshot, names)}")
    return place.library.with_name(f"{place.library.name}@{snapshot}")


def get(place: Place, trajectory: str) -> Entry:
    """An entry. Raises DataError for an unknown or damaged one."""
    with Library(path_of(place)) as library:
        return library.get(trajectory)


def changed(place: Place) -> float:
    """When the library was last written to."""
    path = path_of(place)
    return max(modified(path), modified(path.with_name(f"{path.name}-wal")))


def stats(place: Place, snapshot: str = "") -> Stats:
    """Counts, made anew when the file was written to."""
    return _stats(path_of(place, snapshot), changed(place))


def snapshots(place: Place) -> list[str]:
    """Names of the library's snapshots."""
    return _snapshots(path_of(place), changed(place))


@lru_cache(maxsize=16)
def _stats(path: Path, stamp: float) -> Stats:
    with Library(path) as library:
        return library.stats()


@lru_cache(maxsize=16)
def _snapshots(path: Path, stamp: float) -> list[str]:
    with Library(path) as library:
        return [one.name for one in library.snapshots()]


def page(place: Place, which: Filter, start: int = 0, snapshot: str = "") -> Part:
    """Entries that match, from number ``start`` on: the most relevant or the newest first. Raises DataError for no word."""
    path = path_of(place, snapshot)
    with Library(path) as library:
        return Part(library.search(which, PAGE, start), _count(path, changed(place), which))


@lru_cache(maxsize=256)
def _count(path: Path, stamp: float, which: Filter) -> int:
    with Library(path) as library:
        return library.count(which)


def named(place: Place, words: str) -> str:
    """The id of the trajectory that words are, or empty: an id is no word of a text, but people search for it."""
    with Library(path_of(place)) as library:
        try:
            return library.get(words.strip()).trajectory.id
        except DataError:
            return ""


def sample(place: Place, which: Filter, snapshot: str = "") -> list[Entry]:
    """At most ``SAMPLE`` entries that match, from evenly spread places of the list."""
    path = path_of(place, snapshot)
    with Library(path) as library:
        total = library.count(which)
        if total <= SAMPLE:
            rows = library.search(which, SAMPLE)
        else:
            starts = [number * (total - SAMPLE // WINDOWS) // (WINDOWS - 1) for number in range(WINDOWS)]
            rows = [row for start in starts for row in library.search(which, SAMPLE // WINDOWS, start)]
        ids = dict.fromkeys(row.trajectory_id for row in rows)
        return [library.get(id_) for id_ in ids]
