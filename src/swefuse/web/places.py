"""Which runs and libraries there are to look at: names for URLs, and the only way from a name to a path."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from swefuse.errors import DataError, UserError, nearest

DEPTH = 4
MOST = 2000  # places that are looked for; more would make a list that nobody reads
FRESH_S = 2.0
_MARKS = ("state.json", "config.toml", "metrics.jsonl", "report.json", "tasks.jsonl", "results.jsonl")


@dataclass(frozen=True, slots=True)
class Place:
    """A run's folder, or a library that lies alone (``folder`` is then the one that holds it)."""

    name: str
    folder: Path
    library: Path | None

    def file(self, *names: str) -> Path | None:
        """The first of ``names`` that is a file of the run; they are constants of this package, never a reader's words."""
        return next((self.folder / name for name in names if (self.folder / name).is_file()), None)


class Places:
    """The places below some paths. New runs appear by themselves; names stay as long as the paths do."""

    def __init__(self, roots: Sequence[Path]) -> None:
        """Raises UserError for a path that is not there."""
        for root in roots:
            if not root.exists():
                raise UserError(f"{root} is not there; name a run's folder, a folder that holds runs, or the file of a library")
        self._roots = tuple(root.absolute() for root in roots)
        self._seen: tuple[float, dict[str, Place]] = (-FRESH_S, {})

    def all(self) -> dict[str, Place]:
        """Name -> place, in the order of names; what was found a moment ago is taken as it was."""
        when, found = self._seen
        if time.monotonic() - when > FRESH_S:
            found = dict(sorted({place.name: place for root in self._roots for place in self._below(root)}.items()))
            self._seen = (time.monotonic(), found)
        return found

    def get(self, name: str) -> Place:
        """The place of that name; of no name the first one. Raises DataError when there is none."""
        known = self.all()
        if not name and known:
            return next(iter(known.values()))
        if name not in known:
            raise DataError(f"there is no run {name!r}{nearest(name, known)}" if known else "there is no run to look at yet")
        return known[name]

    def _below(self, root: Path) -> Iterator[Place]:
        if root.is_file():
            yield Place(root.stem, root.parent, root)
            return
        prefix = f"{root.name}/" if len(self._roots) > 1 else ""
        for number, folder in enumerate(_runs(root, DEPTH)):
            if number >= MOST:
                return
            inside = folder.relative_to(root).as_posix()
            if folder.is_file():
                yield Place(prefix + inside, folder.parent, folder)
            else:
                library = folder / "library.db"
                name = root.name if inside == "." else prefix + inside
                yield Place(name, folder, library if library.is_file() else None)


def _runs(folder: Path, depth: int) -> Iterator[Path]:
    """Folders of runs, and libraries beside them. Links to folders are not followed, so that nothing is met twice."""
    if is_run(folder):
        yield folder
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and depth and not entry.name.startswith("."):
            yield from _runs(Path(entry.path), depth - 1)
        elif entry.name.endswith(".db") and entry.is_file():
            yield Path(entry.path)


def is_run(folder: Path) -> bool:
    """Whether a folder is what a stage or a recipe wrote."""
    return any((folder / mark).is_file() for mark in _MARKS)
