"""Which tokens of a trajectory train a model: to be looked at, and the laws that must hold of them.

A mask that is off by one trains a model to write observations, or never to stop, and no loss curve tells. So what is trained is
shown in the text itself, and checked against rows that are put together in other ways: as a prompt, padded, and packed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import torch

from swefuse.learn.batch import Example, collate, kept_apart
from swefuse.learn.chat import ChatCodec, Row
from swefuse.learn.examples import make_example
from swefuse.learn.tokens import Codec
from swefuse.records import Task, Trajectory


class StepTokens(NamedTuple):
    """Of one step: its action (empty where it is none), whether it is kept, the tokens that the agent wrote, and those trained."""

    action: str
    keep: bool
    written: int
    trained: int


class Piece(NamedTuple):
    """A stretch of the row that is trained, or is not."""

    trained: bool
    tokens: int
    text: str


@dataclass(frozen=True)
class Mask:
    """``ids`` of the row, ``trained`` for each, ``steps``, and ``broken``: each law that does not hold, with what was found.

    ``hints``: what is right here and may surprise elsewhere.
    """

    ids: tuple[int, ...]
    trained: tuple[bool, ...]
    steps: tuple[StepTokens, ...]
    broken: tuple[str, ...]
    hints: tuple[str, ...] = ()

    def pieces(self, codec: Codec) -> list[Piece]:
        """The row's text by stretches of one kind. Characters whose bytes two stretches share show as replacement characters."""
        tokenizer = codec.tokenizer
        assert tokenizer is not None, "a codec that was made for a model has its tokenizer"
        found = []
        for trained, members in groupby(zip(self.ids, self.trained, strict=True), key=lambda one: one[1]):
            ids = [token for token, _ in members]
            text = str(tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))
            found.append(Piece(trained, len(ids), text))
        return found


def inspect(codec: Codec, task: Task, trajectory: Trajectory) -> Mask:
    """The mask of a trajectory for a codec's model. Raises DataError when nothing of it is trained, as training would."""
    example, row = make_example(codec, task, trajectory), codec.row(task, trajectory.steps)
    chosen = set(example.positions)
    steps = tuple(
        StepTokens(step.action.name if step.action else "", step.keep, end - start, len(chosen.intersection(range(start, end))))
        for step, (start, end) in zip(trajectory.steps, row.spans, strict=True)
    )
    trained = tuple(at in chosen for at in range(len(row.ids)))
    broken = [*_sums(example, steps), *_prefixes(codec, task, trajectory, row), *_starts(codec, row), *_layouts(example)]
    return Mask(row.ids, trained, steps, tuple(broken), _hints(codec, trajectory))


def _sums(example: Example, steps: Sequence[StepTokens]) -> list[str]:
    """The mask covers what the agent wrote in kept steps, and nothing else."""
    wanted = sum(step.written for step in steps if step.keep)
    count = len(set(example.positions))
    found = [] if count == wanted else [f"{count} tokens are trained, kept steps hold {wanted}"]
    for number, step in enumerate(steps, 1):
        if step.trained != (step.written if step.keep else 0):
            found.append(f"step {number}: {step.trained} of its {step.written} tokens are trained, and keep={step.keep}")
    if len(example.allowed) != len(example.positions):
        found.append(f"{len(example.allowed)} lists of open tokens for {len(example.positions)} trained ones")
    return found


def _prefixes(codec: Codec, task: Task, trajectory: Trajectory, row: Row) -> list[str]:
    """The prompt of every turn is how the row begins, up to where the agent wrote, and its ids are those of its trace."""
    found = []
    for number, (step, (start, end)) in enumerate(zip(trajectory.steps, row.spans, strict=True)):
        prompt = codec.row(task, trajectory.steps[:number], prompt=True).ids
        if prompt != row.ids[:start]:
            found.append(f"step {number + 1}: its prompt of {len(prompt)} tokens is not how the row begins")
        if step.trace is not None and row.ids[start:end] != step.trace.token_ids:
            found.append(f"step {number + 1}: the row does not hold the ids that the model wrote")
    return found


def _starts(codec: Codec, row: Row) -> list[str]:
    tokenizer = codec.tokenizer
    start = None if tokenizer is None else tokenizer.bos_token_id
    at = [place for place, token in enumerate(row.ids) if token == start] if start is not None else []
    ends = tokenizer is not None and start == tokenizer.eos_token_id
    return [f"the token that begins a text stands at {at}"] if not ends and (len(at) > 1 or any(at)) else []


def _layouts(example: Example) -> list[str]:
    """Ids, targets and positions are the same alone, beside a longer row, and packed behind another one."""
    example = replace(example, allowed=((),) * len(example.positions))  # what was open is no matter of layout
    longer = replace(example, ids=(*example.ids, *example.ids[:7]))
    alone, beside = collate([example], 1 + max(example.ids), 0), collate([example, longer], 1 + max(example.ids), 0)
    packed = collate([longer, example], 1 + max(example.ids), 0, room=len(longer.ids) + len(example.ids))
    size, count = len(example.ids), len(example.positions)
    found = []
    if not torch.equal(beside.ids[0, :size], alone.ids[0]) or not torch.equal(beside.targets[:count], alone.targets):
        found.append("padding changes what is trained")
    if int(beside.mask[0].sum()) != size:
        found.append("padding counts as part of the row")
    places, _ = kept_apart(packed.mask)
    back = slice(len(longer.ids), len(longer.ids) + size)
    same = torch.equal(packed.ids[0, back], alone.ids[0]) and torch.equal(packed.targets[count:], alone.targets)
    if not same or places[0, back].tolist() != list(range(size)):
        found.append("packing changes what is trained")
    if alone.targets.tolist() != [example.ids[at] for at in example.positions]:
        found.append("the targets are not the trained tokens")
    return found


def _hints(codec: Codec, trajectory: Trajectory) -> tuple[str, ...]:
    if not isinstance(codec, ChatCodec):
        return ()
    told = []
    thinking = sum("</think>" in step.raw for step in trajectory.steps[:-1])
    if codec.template.drops_thinking and thinking:
        told.append(f"the template leaves out what {thinking} earlier answers said in <think>; this row keeps it, a server may not")
    if not codec.template.knows_tools and codec.dialect == "tools":
        told.append("tools, calls and results are told in words: the template has none, or has them in another form")
    if not codec.template.keeps_system:
        told.append("what the system says begins the first question: the template has no place for it, or moves it")
    return tuple(told)
