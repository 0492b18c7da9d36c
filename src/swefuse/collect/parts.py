"""The log of a collection: what is done, a part a line. One call holds it at a time, and any later one goes on with it."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Self

from swefuse.errors import DataError, UserError
from swefuse.records import Trajectory

LOG = "parts.jsonl"
LOCK = "collect.lock"
_SHOWN = 5  # differences that are named
_ABSENT = "nothing"


@dataclass(slots=True)
class Row:
    """One attempt: what became of it and what it took. ``why`` is empty where its trajectory is kept.

    ``outcome`` is empty where the policy gave no answer: then nothing was judged that it did. ``tried``: ways that came to a
    verdict, one or none for an episode and as many as there were for a search. ``again``: it says nothing of the policy, because
    something else failed, and is to be asked again. ``policy_s``: seconds that the policy took for it alone.
    ``detail``: more of the reason.
    """

    task: str
    attempt: int
    why: str
    outcome: str = ""
    stop: str = ""
    trajectory: str = ""
    prompt_tokens: int = 0
    tokens: int = 0
    policy_s: float = 0.0
    cost: float = 0.0
    malformed: int = 0
    tried: int = 1
    again: bool = False
    undone: dict[str, int] = field(default_factory=dict)
    detail: str = ""


@dataclass(slots=True)
class Part:
    """A piece of the work. ``refused``: what refused attempts did; only the log remembers it. ``call`` did it, the first is 1, and
    was done with it ``at`` so many seconds."""

    number: int
    rows: list[Row]
    made: list[Trajectory]
    refused: list[Trajectory]
    verified: int
    call: int = 0
    at: float = 0.0

    @property
    def open(self) -> bool:
        """Whether a part of it is to be asked again."""
        return any(row.again for row in self.rows)


class Log:
    """The log in ``folder``, locked until it is closed; ``parts`` are those that it holds, a later line in place of an earlier one.

    ``head``: what must be the same in every call; the first part that is done settles it. Raises UserError where another call is at
    work in the folder, or where it holds another collection, and DataError for a line that is damaged; a last line that a kill tore
    is dropped. Threads share it.
    """

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        self.path = folder / LOG
        self.parts: dict[int, Part] = {}
        self._places: dict[int, int] = {}
        self._walls: dict[int, float] = {}
        self._turn = Lock()
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = (folder / LOCK).open("ab")
        try:
            _take(self._lock, folder)
            self._head = json.loads(json.dumps(head))
            self._read()
            self._file = self.path.open("ab")
        except BaseException:
            self._lock.close()
            raise
        self._call = 1 + max(self._walls, default=0)
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.close()  # and so is unlocked

    def _read(self) -> None:
        lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        if lines and lines[-1]:
            with self.path.open("r+b") as file:
                file.truncate(sum(len(line) + 1 for line in lines[:-1]))
        if len(lines[:-1]) < 2:  # nothing is done: whoever comes next may do something else here
            self.path.write_bytes(b"")
            return
        at = 0
        for number, line in enumerate(lines[:-1], 1):
            try:
                if number == 1:
                    self._compare(json.loads(line))
                else:
                    self._remember(_part(json.loads(line)), at)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if isinstance(error, UserError):
                    raise
                mend = "choose another --out" if number == 1 else "delete the line to have its part collected again"
                raise DataError(f"{self.path}:{number}: the line is damaged ({type(error).__name__}: {error}); {mend}") from error
            at += len(line) + 1

    def _compare(self, held: Mapping[str, Any]) -> None:
        if differing := list(differences(held, self._head)):
            more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
            what = "; ".join(differing[:_SHOWN])
            raise UserError(f"{self.path.parent} holds another collection ({what}{more}): choose another --out, or call as before")

    def add(self, part: Part) -> None:
        """Write a part that is done."""
        with self._turn:
            part.call, part.at = self._call, time.monotonic() - self._started
            body = {
                "number": part.number, "rows": [plain(row) for row in part.rows], "verified": part.verified, "call": part.call,
                "at": part.at, "made": _dumped(part.made), "refused": _dumped(part.refused),
            }  # fmt: skip
            line = json.dumps(body).encode() + b"\n"
            if not self._file.seek(0, 2):
                self._file.write(json.dumps(self._head).encode() + b"\n")  # the first part claims the folder
            place = self._file.tell()
            self._file.write(line)
            self._file.flush()
            part.refused = []  # it may be much, and is read again where it is wanted
            self._remember(part, place)

    def _remember(self, part: Part, place: int) -> None:
        self.parts[part.number], self._places[part.number] = part, place
        self._walls[part.call] = max(self._walls.get(part.call, 0.0), part.at)

    def refused(self) -> Iterator[str]:
        """What refused attempts did, in the order of the parts: trajectories as lines of JSON."""
        with self.path.open("rb") as file:
            for number in sorted(self._places):
                file.seek(self._places[number])
                yield from (json.dumps(one, separators=(",", ":")) for one in json.loads(file.readline())["refused"])

    @property
    def wall_s(self) -> float:
        """Seconds that all calls took until their last part."""
        return sum(self._walls.values())


def _take(lock: Any, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UserError(
            f"another call is collecting into {folder} now: wait until it has ended, or choose another --out"
        ) from error


def _dumped(made: list[Trajectory]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json") for one in made]


def _part(raw: Mapping[str, Any]) -> Part:
    made = [Trajectory.model_validate(one) for one in raw["made"]]
    rows = [Row(**row) for row in raw["rows"]]
    return Part(int(raw["number"]), rows, made, [], int(raw["verified"]), int(raw["call"]), float(raw["at"]))


def plain(row: Row) -> dict[str, Any]:
    """A row as JSON has it."""
    return {name: getattr(row, name) for name in Row.__slots__}


def differences(held: Mapping[str, Any], head: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """What is not the same in two heads, in words with both values."""
    for name in [*head, *(name for name in held if name not in head)]:
        was, now = held.get(name, _ABSENT), head.get(name, _ABSENT)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from differences(was, now, "" if name == "settings" else f"{prefix}{name}.")
        elif was != now:
            yield f"{prefix}{name} was {_shown(was)} and is now {_shown(now)}"


def _shown(value: Any) -> str:
    return _ABSENT if value == _ABSENT else "not given" if value is None else json.dumps(value, ensure_ascii=False)
