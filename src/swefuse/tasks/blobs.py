"""File contents beside a file of tasks, each kept once: tasks of one repository have nearly everything in common."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from swefuse.errors import DataError
from swefuse.workspace import blob_ref

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_TABLE = "CREATE TABLE IF NOT EXISTS blob (sha TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID"


def beside(path: Path) -> Path:
    """The file of contents that belongs to a file of tasks: ``tasks.jsonl`` has ``tasks.blobs``."""
    return path.with_suffix(".blobs")


def add(path: Path, texts: Iterable[str]) -> None:
    """Add contents to a file, which is made when it is missing; what is there stays. Raises OSError or sqlite3.Error."""
    with closing(sqlite3.connect(path, timeout=30)) as file, file:
        file.execute(_TABLE)
        known = {row[0] for row in file.execute("SELECT sha FROM blob")}
        fresh = {sha: text for text in texts if (sha := blob_ref(text)) not in known}
        rows = ((sha, zstd.compress(text.encode("utf-8", "surrogateescape"))) for sha, text in fresh.items())
        file.executemany("INSERT OR IGNORE INTO blob VALUES (?, ?)", rows)


class Blobs:
    """The contents of one file, read when they are asked for; equal ones are the same string. DataError for what is wrong."""

    def __init__(self, path: Path) -> None:
        self._path, self._known = path, dict[str, str]()
        if not path.is_file():
            raise DataError(f"{path}: this file belongs to the tasks and is missing; copy both, or mine them again")

    def files(self, where: str, named: Mapping[str, str]) -> dict[str, str]:
        """Contents of a state whose values are their SHA-256."""
        return {path: self._text(where, sha) for path, sha in named.items()}

    def _text(self, where: str, sha: str) -> str:
        if sha not in self._known:
            try:
                with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as file:
                    row = file.execute("SELECT body FROM blob WHERE sha = ?", (sha,)).fetchone()
                text = zstd.decompress(row[0]).decode("utf-8", "surrogateescape") if row else None
            except (sqlite3.Error, zstd.ZstdError) as error:
                raise DataError(f"{self._path}: cannot be read: {error}; mine the tasks again") from error
            if text is None or blob_ref(text) != sha:
                raise DataError(f"{where}: {self._path} does not hold the content {sha[:12]} that it should; mine the tasks again")
            self._known[sha] = text
        return self._known[sha]
