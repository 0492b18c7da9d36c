"""Replies kept as they come, so that a run that was killed does not pay for them again. One JSON line for each reply."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from swefuse.errors import UserError
from swefuse.policy.base import Reply, ToolCall, Usage
from swefuse.records import TokenTrace


class Journal:
    """Replies by key in the file ``path``; None keeps nothing. A line that a kill tore is ignored.

    Several processes may append to one file; each sees what stood there when it opened it, and its own lines. A file is made with
    the first reply. ``tokens`` and ``cost``: what the replies of the file took altogether. Raises UserError when the file cannot
    be opened.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.tokens, self.cost = path, 0, 0.0
        self._places: dict[str, tuple[int, int]] = {}
        self._file = -1
        if path is not None and (path.exists() or not os.access(path.parent, os.W_OK | os.X_OK)):
            self._open(path)
            self._index(path)

    def _open(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UserError(f"the journal {path} cannot be opened: {error.strerror}; name a file that can be written") from error

    def _index(self, path: Path) -> None:
        at, last = 0, b"\n"
        with path.open("rb") as lines:
            for line in lines:
                last = line
                entry = _entry(line)
                if entry is not None:
                    self._count(_reply(entry))
                    self._places.setdefault(entry["key"], (at, len(line)))
                at += len(line)
        if not last.endswith(b"\n"):
            os.write(self._file, b"\n")  # else the next reply would be glued to the torn line

    def _count(self, reply: Reply) -> None:
        self.tokens += reply.usage.prompt_tokens + reply.usage.completion_tokens
        self.cost += reply.usage.cost

    def get(self, key: str) -> tuple[Reply, str] | None:
        """The reply that was kept under ``key`` and the server's fingerprint; None if there is none."""
        if key not in self._places:
            return None
        at, length = self._places[key]
        entry = _entry(os.pread(self._file, length, at))
        return None if entry is None else (_reply(entry), str(entry.get("fingerprint", "")))

    def put(self, key: str, reply: Reply, fingerprint: str) -> None:
        """Keep a reply. It is in the hands of the operating system when this returns. Raises OSError when the disk is full."""
        if self.path is None:
            return
        if self._file < 0:
            self._open(self.path)
        entry = {
            "key": key,
            "text": reply.text,
            "tool_calls": [[call.id, call.name, call.arguments] for call in reply.tool_calls],
            "cut": reply.cut,
            "trace": reply.trace.model_dump(mode="json") if reply.trace else None,
            "usage": [reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.seconds, reply.usage.cost],
            "fingerprint": fingerprint,
        }
        line = json.dumps(entry).encode() + b"\n"  # ASCII, and so safe for whatever a model wrote
        done = 0
        while done < len(line):
            done += os.write(self._file, line[done:])
        self._places[key] = (os.lseek(self._file, 0, os.SEEK_CUR) - len(line), len(line))

    def close(self) -> None:
        """Give the file back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self.path, self._places = None, {}


def _entry(line: bytes) -> dict[str, Any] | None:
    """The entry of a line, or None if it is not whole."""
    try:
        entry = json.loads(line)
        _reply(entry)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return entry if isinstance(entry.get("key"), str) else None


def _reply(entry: dict[str, Any]) -> Reply:
    prompt, completion, seconds, cost = entry["usage"]
    return Reply(
        None,
        trace=TokenTrace.model_validate(entry["trace"]) if entry["trace"] else None,
        text=str(entry["text"]),
        tool_calls=tuple(ToolCall(*call) for call in entry["tool_calls"]),
        cut=bool(entry["cut"]),
        usage=Usage(int(prompt), int(completion), float(seconds), float(cost)),
    )
