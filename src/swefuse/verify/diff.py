"""Reading unified diffs as models, mailers and git write them: bytes in, hunks out, errors with the line and the reason.

What cannot be read one way only is refused. What people's tools do to diffs without changing their meaning is read through and
noted: prose and code fences around, a stripped final newline, hunk headers that count wrong, binary sections that carry no data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from swefuse.errors import PatchError
from swefuse.workspace import check_path

MOST_BYTES = 4 << 20
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MODE = re.compile(r"(new file mode|deleted file mode|old mode|new mode) (\d+)$")
_EXTENDED = ("index ", "similarity index ", "dissimilarity index ")
_ESCAPES = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_SIGNATURE = ("-- ", "--")  # what ends a mail
_REGULAR = ("100644", "100755", "100664")


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. ``start``: 1-based line of the old file. ``lines``: ``(" ", "-" or "+", text with its line end)``. ``number``: its
    header's line in the patch, counted from 1."""

    start: int
    lines: tuple[tuple[str, str], ...]
    number: int

    @property
    def old(self) -> list[str]:
        """The lines that must be there."""
        return [text for sign, text in self.lines if sign != "+"]


@dataclass(slots=True)
class Section:
    """What a patch does to one file. ``old`` or ``new`` is None where there is no file before or after; both are as the patch has
    them, with ``a/`` and ``b/``. ``git``: written by git, which means two names when it writes two."""

    old: str | None
    new: str | None
    number: int
    git: bool
    hunks: list[Hunk] = field(default_factory=list)
    copies: bool = False


@dataclass(slots=True)
class Diff:
    """The sections in order, and in words what was read through."""

    sections: list[Section] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_diff(patch: bytes) -> Diff:
    """The sections of a patch. Raises PatchError, with the line in the patch, when there is none or one cannot be read."""
    if len(patch) > MOST_BYTES:
        raise PatchError(f"the patch has {len(patch)} bytes, more than {MOST_BYTES}")
    if not patch.strip():
        raise PatchError("the patch is empty")
    lines = patch.decode("utf-8", "surrogateescape").split("\n")
    if not lines[-1]:
        lines.pop()
    reader = _Reader(lines)
    reader.read()
    if not reader.diff.sections and not reader.diff.notes:
        raise PatchError("no diff in the text: no line starts with 'diff --git' or with '--- ' followed by '+++ '")
    return reader.diff


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.diff = Diff()

    def line(self, ahead: int = 0) -> str | None:
        """The line at the place where we are, or None behind the last one."""
        place = self.at + ahead
        return self.lines[place] if place < len(self.lines) else None

    def fail(self, reason: str, at: int | None = None) -> PatchError:
        """The error for a line of the patch."""
        return PatchError(f"line {(self.at if at is None else at) + 1} of the patch: {reason}")

    def header(self) -> bool:
        """Whether a section begins here."""
        line, after = self.line(), self.line(1)
        if line is None:
            return False
        return line.startswith("diff --git ") or (line.startswith("--- ") and after is not None and after.startswith("+++ "))

    def read(self) -> None:
        """All sections; what stands between them is prose."""
        while self.at < len(self.lines):
            if self.header():
                self.section()
                continue
            line = self.line() or ""
            if _HUNK.match(line):
                raise self.fail("a hunk without the '--- ' and '+++ ' lines that name its file")
            self.at += 1

    def section(self) -> None:
        """One file's part, from its first header line to its last hunk."""
        began, first = self.at, self.line() or ""
        git = first.startswith("diff --git ")
        section = Section(*_git_names(first), began + 1, git)
        says = False
        if git:
            self.at += 1
            says = self.extended(section)
        line = self.line() or ""
        if self.header() and not line.startswith("diff --git "):
            section.old, section.new = self.name(section.old is None), self.name(section.new is None)
            while _HUNK.match(self.line() or ""):
                section.hunks.append(self.hunk())
            if not section.hunks:
                raise self.fail("a hunk header '@@ -line,count +line,count @@' was expected")
        elif line.startswith(("Binary files ", "GIT binary patch")):
            self.binary(section)
            return
        elif not says:
            self.diff.notes.append(f"line {began + 1}: a section that changes nothing was passed over")
            return
        if not (section.old or section.new) or "" in (section.old, section.new):
            raise self.fail("the file is not named", began)
        for path in (section.old, section.new):
            try:
                check_path(path or "x")
            except PatchError as error:
                raise self.fail(str(error), began) from None
        self.diff.sections.append(section)

    def extended(self, section: Section) -> bool:
        """Git's lines between ``diff --git`` and the hunks; returns whether they alone say what happens."""
        says = False
        while (line := self.line()) is not None:
            line = line.rstrip("\r")
            word, _, path = line.partition(" ")
            mode = _MODE.match(line)
            if mode:
                if mode[2] not in _REGULAR:
                    raise self.fail(f"mode {mode[2]}: only plain files, no links and no submodules")
                if mode[1] == "new file mode":
                    section.old, says = None, True
                elif mode[1] == "deleted file mode":
                    section.new, says = None, True
                elif mode[1] == "new mode":
                    self.diff.notes.append(f"line {self.at + 1}: file modes are not kept")
                    says = True
            elif word in ("rename", "copy") and path.startswith("from "):
                section.old = f"a/{_unquote(path.removeprefix('from '))}"
            elif word in ("rename", "copy") and path.startswith("to "):
                section.new, section.copies, says = f"b/{_unquote(path.removeprefix('to '))}", word == "copy", True
            elif not line.startswith(_EXTENDED):
                break
            self.at += 1
        return says

    def name(self, gone: bool) -> str | None:
        """The path of a ``---`` or ``+++`` line; ``gone``: git said before that there is no such file."""
        text = (self.line() or "")[4:]
        self.at += 1
        path = _unquote(text) if text.startswith('"') else text.partition("\t")[0].rstrip("\r")
        return None if gone or path == "/dev/null" else path

    def binary(self, section: Section) -> None:
        if (self.line() or "").startswith("GIT "):
            raise self.fail("binary data: only text files can be changed")
        self.diff.notes.append(f"line {self.at + 1}: a binary section without data was left out ({section.new or section.old})")
        self.at += 1

    def hunk(self) -> Hunk:
        """One hunk, by its counts or, where these are wrong, by where its lines end."""
        number = self.at
        match = _HUNK.match(self.line() or "")
        assert match, "the caller has looked"
        start, old, new = int(match[1]), int(match[2] or 1), int(match[4] or 1)
        self.at += 1
        end = self.counted(old, new)
        if end is None:
            end = self.measured()
            self.diff.notes.append(f"line {number + 1}: the hunk header counts wrong")
        body = [self.lines[place] for place in range(self.at, end)]
        self.at = end
        lines: list[tuple[str, str]] = []
        for text in body:
            if text.startswith("\\"):
                if lines:
                    lines[-1] = (lines[-1][0], lines[-1][1].removesuffix("\n"))
            else:
                lines.append((_sign(text), (text[1:] if text[:1] in " -+" else text) + "\n"))
        if not any(sign != " " for sign, _ in lines):
            raise self.fail("the hunk changes nothing", number)
        if start == 0 and any(sign != "+" for sign, _ in lines):
            raise self.fail("line 0 of a file that has lines", number)
        return Hunk(start, tuple(lines), number + 1)

    def counted(self, old: int, new: int) -> int | None:
        """Where the hunk ends by its counts; None when they do not fit what stands there."""
        place = self.at
        while old > 0 or new > 0:
            sign = _sign(self.lines[place]) if place < len(self.lines) else ""
            if not sign:
                return None
            old -= sign in " -"
            new -= sign in " +"
            if old < 0 or new < 0:
                return None
            place += 1
        if place < len(self.lines) and self.lines[place].startswith("\\"):
            place += 1
        return None if place < len(self.lines) and self.goes_on(place) else place

    def goes_on(self, place: int) -> bool:
        """Whether a line behind the counted ones still belongs to the hunk."""
        line, after = self.lines[place], self.lines[place + 1 : place + 2]
        if line.startswith("--- ") and after and after[0].startswith("+++ "):  # the next file
            return False
        return bool(_sign(line)) and bool(line.strip()) and line not in _SIGNATURE

    def measured(self) -> int:
        """Where the hunk ends by its lines: before the next header, prose, or blank lines that nothing of the hunk follows."""
        place, last = self.at, self.at
        while place < len(self.lines):
            line = self.lines[place]
            following = self.lines[place + 1] if place + 1 < len(self.lines) else ""
            if not _sign(line) or line in _SIGNATURE:
                break
            if line.startswith("--- ") and following.startswith("+++ "):
                break
            place += 1
            if line.strip("\r"):
                last = place
        return last


def _sign(line: str) -> str:
    """What a line of a hunk is: " ", "-", "+" or a backslash; empty for a line that is none. Editors strip blank context lines."""
    if line in ("", "\r"):
        return " "
    return line[0] if line[0] in " -+\\" else ""


def _git_names(line: str) -> tuple[str | None, str | None]:
    """Both paths of a ``diff --git`` line, empty where they cannot be told; ``--- `` and ``rename`` lines say it better."""
    rest = line.removeprefix("diff --git ").rstrip("\r")
    if rest == line:
        return "", ""
    if rest.startswith('"'):
        found = re.match(r'("(?:[^"\\]|\\.)*") (.*)$', rest)
        return (_unquote(found[1]), _unquote(found[2])) if found else ("", "")
    middle = len(rest) // 2  # mostly the same path twice, which may hold blanks
    if len(rest) % 2 and rest[middle] == " " and strip(rest[:middle]) == strip(rest[middle + 1 :]):
        return rest[:middle], rest[middle + 1 :]
    left, _, right = rest.partition(" b/")
    return (left, f"b/{right}") if right else ("", "")


def strip(path: str) -> str:
    """``path`` without git's ``a/`` or ``b/``."""
    return path[2:] if path[:2] in ("a/", "b/") else path


def _unquote(text: str) -> str:
    """A path as git quotes it: C escapes between double quotes, bytes in octal."""
    text = text.rstrip("\r")
    if not text.startswith('"') or not text.endswith('"') or len(text) < 2:
        return text
    found = bytearray()
    for plain, octal, escape in re.findall(r"([^\\]+)|\\([0-7]{3})|\\(.)", text[1:-1]):
        found += plain.encode("utf-8", "surrogateescape")
        if octal:
            found.append(int(octal, 8) & 0xFF)
        found += _ESCAPES.get(escape, escape).encode()
    return found.decode("utf-8", "surrogateescape")
