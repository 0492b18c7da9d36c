"""States that a stopped run goes on from: written whole or not at all, checked when read, the one before kept."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from swefuse.config import apart
from swefuse.errors import ConfigError, DataError
from swefuse.learn import ranks
from swefuse.learn.shards import whole
from swefuse.records import content_hash

_MARK = b"swefuse state 1\n"


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write ``state`` (tensors, numbers, texts, and lists and dicts of them) to ``path``; what was there becomes ``path.old``.

    Of several processes only the first one writes.
    """
    if not ranks.first():
        return
    buffer = io.BytesIO()
    torch.save(state, buffer)
    body = buffer.getvalue()
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(_MARK + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        path.replace(_old(path))
    partial.replace(path)


def load_state(path: Path) -> dict[str, Any] | None:
    """The newest state that is whole; None where none was written. Raises DataError where both that are there are damaged."""
    there = [one for one in (path, _old(path)) if one.exists()]
    for one in there:
        head, _, body = one.read_bytes().removeprefix(_MARK).partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() == head:
            state: dict[str, Any] = torch.load(io.BytesIO(body), weights_only=True)
            return state
    if there:
        raise DataError(f"{path} is damaged, and so is the state before it; delete them to begin anew")
    return None


def fingerprint(model: torch.nn.Module) -> str:
    """A short name of a model's weights: of the names, the shapes and the first numbers of each."""
    parts = [[name, list(p.shape), whole(p.detach()).flatten()[:16].double().tolist()] for name, p in model.named_parameters()]
    return content_hash(parts)[:20]


class Best:
    """The weights that did best in a check, kept beside the state: ``value``, ``step``, and ``since`` how many checks they stand.

    What is checked is executed, such as pass@1 on held-out tasks; the loss falls on long after that has stopped rising.
    """

    def __init__(self, path: Path, check: Callable[[], float]) -> None:
        self.path, self.check = path, check
        self.value, self.step, self.since = -math.inf, 0, 0

    def look(self, model: torch.nn.Module, step: int) -> float:
        """Check the model after ``step`` steps, and keep its weights where it is the best so far; what the check gave."""
        value = self.check()
        if value > self.value:
            save_state(self.path, {"value": value, "step": step, "model": model.state_dict()})
            self.value, self.step, self.since = value, step, 0
        else:
            self.since += 1
        return value

    def state(self) -> dict[str, float]:
        """What ``resume`` takes."""
        return {"value": self.value, "step": self.step, "since": self.since}

    def resume(self, state: Mapping[str, float]) -> None:
        """Go on after a stop."""
        self.value, self.step, self.since = state["value"], int(state["step"]), int(state["since"])

    def restore(self, model: torch.nn.Module) -> None:
        """Give ``model`` the best weights, if any were kept."""
        kept = load_state(self.path)
        if kept is not None:
            model.load_state_dict(kept["model"])


def check_same(path: Path, state: dict[str, Any], key: str, now: Any) -> None:
    """Raises ConfigError where a state was made with another ``key`` (settings, tasks) than the run has ``now``; of settings it
    names those that differ."""
    before = state.get(key)
    if before != now:
        told = f" ({apart(before, now)})" if isinstance(before, dict) and isinstance(now, dict) else ""
        raise ConfigError(f"{path} was made with other {key}{told}: go on with the same, or choose another folder")


def keep_lines(path: Path, key: str, done: int) -> None:
    """Cut a log to its lines whose ``key`` is at most ``done``: the others are of a call that was stopped, and come again."""
    if not ranks.first():
        return
    lines = path.read_text(encoding="utf-8").splitlines() if done and path.exists() else []
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text("".join(f"{line}\n" for line in lines if _number(line, key) <= done), encoding="utf-8")
    partial.replace(path)


def _number(line: str, key: str) -> float:
    try:
        return float(json.loads(line)[key])
    except ValueError:
        return math.inf  # cut by a kill


def _old(path: Path) -> Path:
    return path.with_name(f"{path.name}.old")
