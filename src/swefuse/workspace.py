"""A repository state: path -> text, named by its content.

States are plain immutable mappings; an edit makes a new one. ``ref`` gives the content address that trajectories store, so that
"every step follows from the one before" can be checked by comparing hashes. Paths are relative, use ``/`` and never leave the root.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from swefuse.errors import PatchError
from swefuse.records import Action

Files = Mapping[str, str]


@lru_cache(maxsize=65536)
def blob_ref(text: str) -> str:
    """SHA-256 of one file's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def ref(files: Files) -> str:
    """Content address of a whole state; independent of the order of files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path}\0{blob_ref(files[path])}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def check_path(path: str) -> str:
    """Return ``path`` if it stays inside the root; raise PatchError if it is absolute, empty, has ``..`` or enters ``.git``."""
    pure = PurePosixPath(path)
    if not pure.parts or pure.is_absolute() or {"..", ".git"} & set(pure.parts) or "\0" in path:
        raise PatchError(f"path {path!r} leaves the workspace or names a protected place")
    return path


def line_offset(text: str, line: int) -> int:
    """Offset of the first character of 1-based ``line``; line ``n + 1`` of n lines is the end. Raises PatchError outside."""
    if line < 1:
        raise PatchError("lines are counted from 1")
    offset = 0
    for before in range(line - 1, 0, -1):
        cut = text.find("\n", offset)
        if cut < 0 and before == 1 and offset < len(text):
            return len(text)  # the last line has no line feed
        if cut < 0:
            raise PatchError(f"line {line} does not exist: the file has {text.count(chr(10)) + (offset < len(text))} lines")
        offset = cut + 1
    return offset


def locate(text: str, action: Action) -> int:
    """Offset of the ``nth`` occurrence of ``action.old`` that starts on line ``action.line``. Raises PatchError if none does."""
    start = line_offset(text, action.line)
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if not action.old:
        return start
    at = occurrence(text, action.old, action.nth, start)
    if not 0 <= at <= end:
        raise PatchError(f"{action.old!r} (occurrence {action.nth}) is not on line {action.line} of {action.path}")
    return at


def occurrence(text: str, old: str, nth: int, start: int = 0) -> int:
    """Offset of the ``nth`` occurrence of ``old`` from ``start`` on, -1 without one; they may overlap. PatchError below 1."""
    if nth < 1:
        raise PatchError("occurrences are counted from 1")
    at = start - 1
    for _ in range(nth):
        at = text.find(old, at + 1)
        if at < 0:
            return -1
    return at


def apply_edit(files: Files, action: Action) -> dict[str, str]:
    """The state after an ``edit`` or ``create`` action; the given state is left as it was.

    ``edit`` replaces the ``nth`` occurrence of ``old`` that starts on ``line`` by ``new``; an empty ``old`` inserts ``new`` as
    whole lines before ``line``. Occurrences may overlap.
    ``create`` writes a file that must not exist yet. Raises PatchError when the action does not apply or changes nothing.
    """
    path = check_path(action.path)
    if action.name == "create":
        if path in files:
            raise PatchError(f"{path} exists already; edit it instead")
        return {**files, path: action.text}
    if path not in files:
        raise PatchError(f"there is no file {path}; files: {', '.join(sorted(files))}")
    if action.old == action.new:
        raise PatchError("the edit changes nothing")
    text = files[path]
    at = locate(text, action)
    new = action.new
    if not action.old:
        new = ("\n" if at == len(text) and text and not text.endswith("\n") else "") + new + "\n"
    return {**files, path: text[:at] + new + text[at + len(action.old) :]}
