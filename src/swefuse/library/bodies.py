"""Whole records as a library keeps them: zstd-compressed JSON under the SHA-256 of that JSON, so that damage is noticed."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from typing import NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from swefuse.errors import DataError
from swefuse.library.entries import Entry, Ruling
from swefuse.records import SCHEMA, Record, Task, Trajectory, from_json, to_json

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

R = TypeVar("R", bound=Record)
LEVEL = 1  # 3 takes a third longer for 3 % less


class Shas(NamedTuple):
    """Where the three bodies of an entry are."""

    task: str
    trajectory: str
    ruling: str


def written(entry: Entry) -> list[bytes]:
    """Task, trajectory and ruling as JSON. Raises DataError for what JSON cannot hold."""
    try:
        records = (entry.task, entry.trajectory, Ruling(verdict=entry.verdict, decision=entry.decision))
        return [to_json(record).encode() for record in records]
    except (PydanticSerializationError, TypeError, ValueError) as error:
        raise DataError(f"trajectory {entry.trajectory.id} of task {entry.task.id} cannot be stored: {error}") from error


def key(body: bytes) -> str:
    """The name of a body."""
    return hashlib.sha256(body).hexdigest()


def pack(body: bytes) -> bytes:
    """What lies in the file for a body."""
    return zstd.compress(body, LEVEL)


def unpack(sha: str, data: bytes) -> bytes:
    """The inverse of ``pack``. Raises DataError where the data is not what its name says."""
    try:
        body = zstd.decompress(data)
    except zstd.ZstdError as error:
        raise DataError(f"body {sha} is damaged ({error}); restore a copy of the library") from error
    if key(body) != sha:
        raise DataError(f"body {sha} is damaged (its hash differs); restore a copy of the library")
    return body


def fetch(db: sqlite3.Connection, sha: str) -> bytes:
    """A body by its name. Raises DataError where it is missing or damaged."""
    found = db.execute("SELECT data FROM body WHERE sha = ?", (sha,)).fetchone()
    if found is None:
        raise DataError(f"body {sha} is missing; restore a copy of the library")
    return unpack(sha, found[0])


def read(kind: type[R], body: bytes) -> R:
    """The record in a body. Raises DataError where it does not follow its schema, or follows another one."""
    try:
        record = from_json(kind, body)
    except ValidationError as error:
        raise DataError(
            f"a stored {kind.__name__} does not follow its schema; was it written by another version? {error}"
        ) from error
    if isinstance(record, Task | Trajectory) and record.schema_version != SCHEMA:
        raise DataError(f"a stored {kind.__name__} has schema {record.schema_version}, this version reads {SCHEMA}")
    return record


def entry(db: sqlite3.Connection, seq: int) -> Entry:
    """The whole entry of that number, which must exist. Raises DataError where a body is missing or damaged."""
    shas = db.execute("SELECT task_sha, trajectory_sha, ruling_sha FROM entry WHERE seq = ?", (seq,)).fetchone()
    task, trajectory, ruling = (fetch(db, sha) for sha in shas)
    packed = read(Ruling, ruling)
    return Entry(read(Task, task), read(Trajectory, trajectory), packed.verdict, packed.decision)
