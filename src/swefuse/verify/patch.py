"""Patches on workspaces: apply a unified diff, and make one. A patch is bytes and stays bytes; nothing is applied by halves."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from swefuse.errors import PatchError, nearest
from swefuse.verify.diff import Hunk, Section, read_diff, strip
from swefuse.workspace import Files

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=@,~ ")


@dataclass(frozen=True, slots=True)
class Applied:
    """The state after a patch, and in words what had to be read through or adapted."""

    files: dict[str, str]
    notes: tuple[str, ...] = ()


def apply_patch(files: Files, patch: bytes) -> Applied:
    """The state after a unified diff. A hunk may have moved; its lines must be there, and no fuzz is allowed.

    Where file and patch differ in line ends alone, the file's own are kept. Raises PatchError with the line in the patch and the
    reason; ``files`` is left as it was.
    """
    diff = read_diff(patch)
    state, notes = dict(files), list(diff.notes)
    for section in diff.sections:
        _apply_section(state, section, notes)
    return Applied(state, tuple(notes))


def _apply_section(state: dict[str, str], section: Section, notes: list[str]) -> None:
    where = f"line {section.number} of the patch"
    old, new = _names(state, section)
    path = old or new or ""
    if old is None and path in state:
        raise PatchError(f"{where}: {path} is to be made and exists already")
    if old is not None and old not in state:
        raise PatchError(f"{where}: there is no file {old}{nearest(old, state)}")
    after = _apply_hunks(state.get(path, ""), section.hunks, path, notes)
    if new is None:
        if after:
            raise PatchError(f"{where}: {path} is to be deleted, but the patch does not remove all of it")
        del state[path]
        return
    if old not in (None, new):
        if new in state:
            raise PatchError(f"{where}: {old} is to become {new}, which exists already")
        if not section.copies:
            del state[path]
    state[new] = after


def _names(state: Mapping[str, str], section: Section) -> tuple[str | None, str | None]:
    """The paths before and after, as the workspace names them."""
    names = []
    for path in (section.old, section.new):
        stripped = None if path is None else strip(path)
        names.append(path if path in state and stripped not in state else stripped)
    old, new = names
    if not section.git and None not in names and old != new:  # diff -u of a backup: patch(1) takes the name that there is
        old = new = new if new in state else old
    return old, new


def _apply_hunks(text: str, hunks: Sequence[Hunk], path: str, notes: list[str]) -> str:
    lines = _lines(text)
    crlf = sum(line.endswith("\r\n") for line in lines) * 2 > len(lines)
    found: list[str] = []
    done = moved = 0  # lines of the file that are behind us; how far the last hunk lay from where it said
    for hunk in hunks:
        said = hunk.start - bool(hunk.old)
        at = _find(lines, hunk.old, done, max(done, said + moved))
        if at is None or (hunk.start == 0 and lines):
            why = _why(lines, hunk, max(done, said + moved))
            raise PatchError(f"line {hunk.number} of the patch: the hunk does not fit {path}: {why}")
        moved = at - said
        there = lines[at : at + len(hunk.old)]
        foreign = any(_ends_differ(line, text) for line, text in zip(there, hunk.old, strict=True))
        if foreign:
            notes.append(f"line {hunk.number}: line ends of the patch differ from those of {path}, which were kept")
        found += [*lines[done:at], *_replaced(there, hunk, crlf if foreign else None)]
        done = at + len(hunk.old)
    found += lines[done:]
    # a line without line feed can only be the last one
    ended = [line if line.endswith("\n") else line + ("\r\n" if crlf else "\n") for line in found[:-1]]
    return "".join([*ended, *found[-1:]])


def _replaced(there: Sequence[str], hunk: Hunk, crlf: bool | None) -> Iterator[str]:
    """What comes in place of the lines ``there``; ``crlf`` says which line ends new lines get, None: those of the patch."""
    kept = iter(there)
    for sign, text in hunk.lines:
        if sign == "+":
            yield text if crlf is None or not text.endswith("\n") else _bare(text) + ("\r\n" if crlf else "\n")
            continue
        line = next(kept)
        if sign == " ":
            yield line


def _ends_differ(line: str, text: str) -> bool:
    """Whether only one of two equal lines has a carriage return; a missing line feed at the end of a file does not count."""
    return line.removesuffix("\n").endswith("\r") != text.removesuffix("\n").endswith("\r")


def _find(lines: Sequence[str], old: Sequence[str], first: int, expected: int) -> int | None:
    """Where ``old`` stands, from ``first`` on, nearest to ``expected``; line ends need not be the same."""
    if not old:
        return min(expected, len(lines))
    bare, wanted = [_bare(line) for line in lines], [_bare(line) for line in old]
    places = [at for at in range(first, len(lines) - len(old) + 1) if bare[at] == wanted[0] and bare[at : at + len(old)] == wanted]
    return min(places, key=lambda at: (abs(at - expected), at), default=None)


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _why(lines: Sequence[str], hunk: Hunk, expected: int) -> str:
    """The first line that differs where the hunk was expected."""
    if hunk.start == 0:
        return f"it is for an empty file, and this one has {len(lines)} lines"
    for offset, text in enumerate(hunk.old):
        at = expected + offset
        if at >= len(lines):
            return f"it expects {_bare(text)[:100]!r} on line {at + 1}, and the file has {len(lines)} lines"
        if _bare(lines[at]) != _bare(text):
            return f"line {at + 1} is {_bare(lines[at])[:100]!r}, not {_bare(text)[:100]!r}"
    return "its lines stand before those of an earlier hunk"


def make_patch(before: Files, after: Files) -> bytes:
    """The unified diff from one state to another, as git writes it; empty when they are the same."""
    parts: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        left, right = _quote(f"a/{path}"), _quote(f"b/{path}")
        parts.append(f"diff --git {left} {right}\n")
        if old is None:
            parts.append("new file mode 100644\n")
        elif new is None:
            parts.append("deleted file mode 100644\n")
        if old or new:
            names = ("/dev/null" if old is None else left, "/dev/null" if new is None else right)
            parts += _hunks(old or "", new or "", *names)
    return "".join(parts).encode("utf-8", "surrogateescape")


def _hunks(old: str, new: str, left: str, right: str) -> list[str]:
    found: list[str] = []
    for line in difflib.unified_diff(_lines(old), _lines(new), left, right):
        head = line.startswith(("--- ", "+++ ")) and len(found) < 2
        if head:  # git ends a name with blanks in it by a tab
            line = line.rstrip("\n") + ("\t\n" if " " in line[4:].rstrip("\n") and not line[4:].startswith('"') else "\n")
        found.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return found


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _quote(path: str) -> str:
    if set(path) <= _PLAIN:
        return path
    found: list[str] = []
    for byte in path.encode("utf-8", "surrogateescape"):
        plain = chr(byte) in _PLAIN or (32 < byte < 127 and chr(byte) not in '"\\')
        found.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(found)}"'
