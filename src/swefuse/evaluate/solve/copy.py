"""A user's working copy as it is: read once, and written to only where somebody says so and nothing has changed since.

In a git work tree the files are those that git tracks and those that it would offer to track; elsewhere all, but for folders that
hold no work of the user's, such as virtual environments and caches.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from swefuse.errors import PatchError, UserError
from swefuse.tasks.git import LARGEST, listed
from swefuse.workspace import Files, check_path, ref

MOST_FILES = 20_000
MOST_BYTES = 64 << 20
_NOT_WORK = frozenset({"__pycache__", "node_modules", "venv", "site-packages", "build", "dist"})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A working copy at ``root``: path -> text, bytes that are no UTF-8 as surrogates. ``skipped``: path -> why it is not in."""

    root: Path
    files: dict[str, str]
    skipped: dict[str, str] = field(default_factory=dict)
    git: bool = False


def take(root: Path) -> Snapshot:
    """Read a working copy. Raises UserError for what is no folder, holds no Python, or is too large to be copied for each run."""
    if not root.is_dir():
        raise UserError(f"{root} is no folder; give the folder of a working copy")
    known = listed(root)
    files: dict[str, str] = {}
    skipped: dict[str, str] = {}
    size = 0
    for path in known if known is not None else _walk(root):
        text, why = _read(root, path)
        if why:
            skipped[path] = why
        elif text is not None:
            files[path] = text
            size += len(text)
        if len(files) > MOST_FILES or size > MOST_BYTES:
            raise UserError(
                f"{root} holds more than {MOST_FILES} files or {MOST_BYTES >> 20} MB, and each run of the tests gets a copy: "
                "name the folder of one project, or have git ignore what is no part of it"
            )
    if not any(path.endswith(".py") for path in files):
        raise UserError(f"{root} holds no Python file{'' if known is None else ' that git does not ignore'}")
    return Snapshot(root, files, skipped, known is not None)


def _read(root: Path, path: str) -> tuple[str | None, str]:
    """Text of a file, or why it is left out; neither for one that is not there any more."""
    place = root / path
    try:
        check_path(path)
        found = place.lstat()
        if stat.S_ISLNK(found.st_mode):
            return None, "a link"
        if not stat.S_ISREG(found.st_mode):
            return None, "" if stat.S_ISDIR(found.st_mode) else "no plain file"
        if found.st_size > LARGEST:
            return None, f"larger than {LARGEST >> 20} MB"
        return place.read_bytes().decode("utf-8", "surrogateescape"), ""
    except FileNotFoundError:
        return None, ""
    except (OSError, PatchError) as error:
        return None, str(error)[:200]


def _walk(root: Path) -> Iterator[str]:
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(
            name for name in inner
            if not name.startswith(".") and name not in _NOT_WORK and not name.endswith(".egg-info")
            and not Path(folder, name, "pyvenv.cfg").exists()
        )  # fmt: skip
        for name in sorted(names):
            if not name.endswith((".pyc", ".pyo")):
                yield Path(folder, name).relative_to(root).as_posix()


def changed(snapshot: Snapshot, after: Files) -> dict[str, str | None]:
    """Path -> new text of what differs from the snapshot; None for a file that is to go."""
    paths = sorted(snapshot.files.keys() | after.keys())
    return {path: after.get(path) for path in paths if snapshot.files.get(path) != after.get(path)}


def write(snapshot: Snapshot, after: Files) -> list[str]:
    """Write a state into the working copy, and the paths that were written. Each file appears whole, with the rights it had.

    Raises UserError, and writes nothing, where the working copy is not what the snapshot was taken of, or cannot be written to.
    """
    now = take(snapshot.root)
    if ref(now.files) != ref(snapshot.files):
        moved = list(changed(snapshot, now.files))
        raise UserError(
            f"{snapshot.root} has changed since it was read ({', '.join(moved[:3])}{' and more' if moved[3:] else ''}); "
            "nothing was written: run the command again"
        )
    todo = changed(snapshot, after)
    made: dict[str, str] = {}
    try:
        for path, text in todo.items():
            if text is not None:
                made[path] = _beside(snapshot.root / check_path(path), text)
        for path, text in todo.items():
            if text is None:
                (snapshot.root / path).unlink()
            else:
                os.replace(made.pop(path), snapshot.root / path)
    except OSError as error:
        raise UserError(f"{snapshot.root} cannot be written to: {error.strerror}: {error.filename}") from error
    finally:
        for left in made.values():
            with contextlib.suppress(OSError):
                os.unlink(left)
    return list(todo)


def _beside(place: Path, text: str) -> str:
    """A new file beside a place, with the text and the rights that the file there has."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".swefuse-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        os.chmod(name, stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o644)
    except BaseException:
        os.unlink(name)
        raise
    return name
