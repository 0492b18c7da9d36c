"""From gated trajectories to training examples. Runs in worker processes: listing and encoding every open edit is the slow part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from swefuse.collect import protocol
from swefuse.collect.dialects import called
from swefuse.errors import DataError
from swefuse.learn.batch import About, Example, open_tokens
from swefuse.learn.tokens import Codec, codec_for
from swefuse.policy.base import Choice
from swefuse.records import Task, Trajectory
from swefuse.scale.executor import Executor
from swefuse.tasks.store import save_lines

Progress = Callable[[int, int], None]
_codec: Codec | None = None


def init_codec(folder: Path, written: str = "") -> None:
    """Give this process the codec of a model folder, see ``codec_for``; use it as an executor's initializer."""
    global _codec
    from swefuse.learn.model import load_tokenizer

    _codec = codec_for(load_tokenizer(folder), written)


def make_example(codec: Codec, task: Task, trajectory: Trajectory) -> Example:
    """The row of a trajectory with what is trained in it: every token that the agent wrote in a step that is kept.

    Where several messages were open, the ids that were open at each token come along. Raises DataError when nothing is trained, and
    when a model wrote it in another dialect than the codec's: its ids answered other words than the row would hold.
    """
    if any(step.trace and called(step.raw) for step in trajectory.steps) and codec.dialect != "tools":
        raise DataError(f"trajectory {trajectory.id} was written as calls of tools: train on it with dialect=tools")
    row = codec.row(task, trajectory.steps)
    positions: list[int] = []
    allowed: list[tuple[int, ...]] = []
    edits = 0
    for number, (step, (start, end)) in enumerate(zip(trajectory.steps, row.spans, strict=True)):
        if not step.keep:
            continue
        ids = row.ids[start:end]
        positions += range(start, end)
        edit = step.action if step.action is not None and step.action.name == "edit" else None
        choices = protocol.choices(task, task.files, trajectory.steps[:number]) if edit else ()
        if edit and Choice(step.thought, edit) in choices:
            allowed += open_tokens(codec.messages(task, choices), ids)
            edits += len(choices)
        else:
            allowed += [()] * len(ids)
    strength = task.evidence.strength if task.evidence else None
    about = About(task.id, task.provenance.source, task.kind.value, len(trajectory.steps), edits, strength)
    return Example(row.ids, tuple(positions), tuple(allowed), trajectory.id, about)


def without_tail(example: Example) -> Example:
    """The row up to its last choice among several messages; a row without any stays whole.

    What follows is forced by the protocol: it costs tokens and decides nothing.
    """
    last = max((n for n, ids in enumerate(example.allowed) if ids), default=-1)
    if last < 0:
        return example
    end = example.positions[last] + 1
    cut = {"ids": example.ids[:end], "positions": example.positions[: last + 1], "allowed": example.allowed[: last + 1]}
    return replace(example, **cut)  # type: ignore[arg-type]


def fitted(example: Example, longest: int) -> Example | None:
    """The row cut behind its last trained step that ends within ``longest`` tokens, never inside one; None where there is none."""
    if len(example.ids) <= longest:
        return example
    gaps = [at for at, (one, two) in enumerate(pairwise(example.positions), 1) if two > one + 1]
    ends = [at for at in (*gaps, len(example.positions)) if example.positions[at - 1] < longest]
    if not ends:
        return None
    kept = ends[-1]
    end = example.positions[kept - 1] + 1
    return replace(example, ids=example.ids[:end], positions=example.positions[:kept], allowed=example.allowed[:kept])


def all_fitted(examples: Sequence[Example], longest: int | None) -> tuple[list[Example], dict[str, Any]]:
    """Those that fit in ``longest`` tokens once they are ``fitted``, and what became of the others: how many were cut, who is left
    out.

    Raises DataError where none is left.
    """
    if longest is None:
        return list(examples), {}
    cut = {example.name: fitted(example, longest) for example in examples if len(example.ids) > longest}
    kept = [found for example in examples if (found := cut.get(example.name, example)) is not None]
    lost = sorted(name for name, found in cut.items() if found is None)
    if not kept:
        raise DataError(
            f"no trained step of any trajectory ends within the {longest} tokens that the model reads, such as {lost[0]}; "
            "take a model that reads more"
        )
    return kept, {"cut": len(cut) - len(lost), "left_out": lost} if cut else {}


def encode_here(task: Task, trajectory: Trajectory) -> Example:
    """``make_example`` with the codec of this process."""
    assert _codec is not None, "init_codec has not run in this process"
    return make_example(_codec, task, trajectory)


def _one(item: tuple[Task, Trajectory]) -> Example:
    return encode_here(*item)


def make_examples(
    items: Sequence[tuple[Task, Trajectory]], executor: Executor, progress: Progress = lambda done, total: None
) -> list[Example]:
    """Examples in the order of the items; the executor's processes must have been started with ``init_codec``."""
    found: list[Example] = []
    for example in executor.map(_one, items):
        found.append(example)
        progress(len(found), len(items))
    return found


def save_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write examples, one JSON line each; the file appears whole or not at all."""
    save_lines(
        path, (json.dumps([e.name, e.ids, e.positions, e.allowed, asdict(e.about)], separators=(",", ":")) for e in examples)
    )


def load_examples(path: Path) -> list[Example]:
    """What ``save_examples`` wrote. Raises DataError for a file that is missing or damaged."""
    found = []
    try:
        for line in path.read_text(encoding="ascii").splitlines():
            name, ids, positions, allowed, about = json.loads(line)
            found.append(Example(tuple(ids), tuple(positions), tuple(map(tuple, allowed)), name, About(**about)))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path} holds no examples: {type(error).__name__}: {error}") from error
    return found
