"""Verdicts that need no second run. In memory, and in SQLite where a path is given: other processes and later runs share them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import sqlite3
import sys
from collections import OrderedDict
from functools import cache
from pathlib import Path

from swefuse.records import Outcome, Verdict, content_hash
from swefuse.sandbox.environments import IMAGE, folder
from swefuse.sandbox.image import images
from swefuse.sandbox.local import surroundings

_NEVER = frozenset({Outcome.INFRA, Outcome.FLAKY, Outcome.TIMEOUT})  # they may come out differently on another day


def _open(path: Path) -> sqlite3.Connection:
    """The file, made when it is missing. Workers that start together take turns by a lock on the folder: two that switch a new file
    to WAL at the same moment fail at once, whatever the timeout."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        file = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute("CREATE TABLE IF NOT EXISTS verdict (key TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID")
    finally:
        os.close(folder)
    return file


@cache
def environment_lock(environment: str = "") -> str:
    """Content hash of what candidates can import: this Python, the installed packages with their versions, and single files.

    A change inside of a package that keeps its version, as in one installed for editing, is not seen.
    """
    if environment.startswith(IMAGE):
        return content_hash([IMAGE, images().there(environment.removeprefix(IMAGE))])
    folders = [Path(folder) for folder in surroundings(folder(environment))["site"]]
    entries = sorted(entry for folder in folders if folder.is_dir() for entry in folder.iterdir())
    found = [(entry.name, hashlib.sha256(entry.read_bytes()).hexdigest() if entry.is_file() else "") for entry in entries]
    return content_hash([sys.version, platform.machine(), found])


class VerdictCache:
    """Maps keys (content hashes) to verdicts; keeps the ``size`` most recently used in memory."""

    def __init__(self, path: Path | None = None, size: int = 100_000) -> None:
        self._memory: OrderedDict[str, Verdict] = OrderedDict()
        self._size = size
        self._file: sqlite3.Connection | None = None
        if path is not None:
            self._file = _open(path)

    def get(self, key: str) -> Verdict | None:
        """The verdict stored under ``key``, or None."""
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        row = self._file.execute("SELECT body FROM verdict WHERE key = ?", (key,)).fetchone() if self._file else None
        if row is None:
            return None
        verdict = Verdict.model_validate_json(row[0])
        self._remember(key, verdict)
        return verdict

    def put(self, key: str, verdict: Verdict) -> None:
        """Store ``verdict``, unless one from more repeats is known; INFRA, FLAKY and TIMEOUT are not kept."""
        if verdict.outcome in _NEVER or ((known := self.get(key)) is not None and known.repeats > verdict.repeats):
            return
        self._remember(key, verdict)
        if self._file:
            self._file.execute("INSERT OR REPLACE INTO verdict VALUES (?, ?)", (key, verdict.model_dump_json()))

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file:
            self._file.close()
            self._file = None

    def _remember(self, key: str, verdict: Verdict) -> None:
        self._memory[key] = verdict
        if len(self._memory) > self._size:
            self._memory.popitem(last=False)
