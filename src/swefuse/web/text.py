"""Texts of any size as lines for a page: cut before they are looked at, so that ten megabytes cost what a page shows."""

from __future__ import annotations

from typing import NamedTuple

LINES = 200
WIDTH = 400


class Cut(NamedTuple):
    """``lines`` to show, and whether more is left out: ``more`` lines at the end, or the ends of long lines (``long``)."""

    lines: list[str]
    more: int
    long: bool

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.more and not self.long

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def cut(text: str, lines: int = LINES, width: int = WIDTH) -> Cut:
    """The first ``lines`` lines of ``text``, each of at most ``width`` characters."""
    total = text.count("\n") + (not text.endswith("\n") and bool(text))
    found: list[str] = []
    at, long = 0, False
    while len(found) < lines and at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        long = long or end - at > width
        found.append(text[at : min(end, at + width)] + ("…" if end - at > width else ""))
        at = end + 1
    return Cut(found, max(0, total - len(found)), long)
