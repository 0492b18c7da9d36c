"""What batches of stage 1 are made of: how often each trajectory is seen, what comes first, and who sees no instruction."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from swefuse.collect.plan import tests_tell
from swefuse.config import OnlyWhen
from swefuse.errors import ConfigError, DataError, nearest
from swefuse.learn.batch import Example, bucketed
from swefuse.records import Task, Trajectory, content_hash

Item = tuple[Task, Trajectory]


class MixSettings(BaseModel):
    """Which trajectories a batch of stage 1 is made of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: dict[str, float] = Field(
        default_factory=dict,
        description="how often trajectories are seen by the source of their task, against 1 for the others; 0: never",
    )
    kinds: dict[str, float] = Field(default_factory=dict, description="the same by the kind of task, such as bugfix; both multiply")
    curriculum: Literal["none", "length", "difficulty"] = Field(
        "length", description="what the first steps are held to, for the share short_first: nothing, the shorter or the easier half"
    )
    pass_rates: Annotated[Path | None, OnlyWhen("curriculum", "difficulty")] = Field(
        None, description="file of how often the model solves each task before training, such as results.jsonl of swefuse eval"
    )
    hide_instruction: float = Field(
        0.0, ge=0, le=1, description="share of rows without the instruction, of those whose failing tests tell what to do"
    )

    @field_validator("sources", "kinds")
    @classmethod
    def _sensible(cls, weights: dict[str, float]) -> dict[str, float]:
        """Refuse what cannot be a weight."""
        for name, weight in weights.items():
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"the weight of {name!r} is {weight}; it must be 0 or more")
        return weights


def raw_weight(source: str, kind: str, mix: MixSettings) -> float:
    """How often a trajectory of that source and kind is seen, against 1 for one that nothing names."""
    return mix.sources.get(source, 1.0) * mix.kinds.get(kind, 1.0)


def check_names(sources: Iterable[str], kinds: Iterable[str], mix: MixSettings) -> None:
    """Raises ConfigError for a weight of a name that no trajectory has, naming the nearest that some have."""
    for key, weights, there in (("sources", mix.sources, set(sources)), ("kinds", mix.kinds, set(kinds))):
        for name in weights:
            if name not in there:
                raise ConfigError(f"mix.{key}: no trajectory has {key[:-1]} {name!r}{nearest(name, there)}")


def chosen(items: Sequence[Item], mix: MixSettings, seed: int) -> list[Item]:
    """The trajectories that are seen at all, with the instruction hidden in a share of them, drawn by trajectory and seed.

    Raises ConfigError for weights that name nothing or leave nothing, and for a share that cannot act.
    """
    check_names([task.provenance.source for task, _ in items], [task.kind.value for task, _ in items], mix)
    kept = [(task, one) for task, one in items if raw_weight(task.provenance.source, task.kind.value, mix) > 0]
    if items and not kept:
        raise ConfigError("mix.sources and mix.kinds give every trajectory the weight 0; leave some in")
    if not mix.hide_instruction:
        return kept
    if not any(tests_tell(task) for task, _ in kept):
        raise ConfigError("mix.hide_instruction has no effect: no task here has failing tests that are shown; leave it out")
    return [(hidden(task) if hides(one.id, mix, seed) else task, one) for task, one in kept]


def hides(trajectory_id: str, mix: MixSettings, seed: int) -> bool:
    """Whether the row of a trajectory is drawn for the share without an instruction."""
    return int(content_hash([seed, "hide", trajectory_id])[:8], 16) / 0x1_0000_0000 < mix.hide_instruction


def hidden(task: Task) -> Task:
    """The task without its instruction, where failing tests can stand for it."""
    return task.model_copy(update={"hide_instruction": True}) if tests_tell(task) else task


def weights(examples: Sequence[Example], mix: MixSettings) -> list[float] | None:
    """How often each example is seen in an epoch: 1 on average over those that are seen at all; None where all are seen alike.

    Raises ConfigError for weights that name nothing or leave nothing.
    """
    check_names([e.about.source for e in examples], [e.about.kind for e in examples], mix)
    raw = [raw_weight(e.about.source, e.about.kind, mix) for e in examples]
    if len(set(raw)) == 1 and raw[0] > 0:
        return None
    if not any(raw):
        raise ConfigError("mix.sources and mix.kinds give every trajectory the weight 0; leave some in")
    scale = sum(weight > 0 for weight in raw) / sum(raw)
    return [weight * scale for weight in raw]


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value among all, 0 for the least and 1 for the greatest; equal values share the mean of their places."""
    if len(values) < 2:
        return [0.5] * len(values)
    first: dict[float, int] = {}
    count: dict[float, int] = {}
    for place, value in enumerate(sorted(values)):
        first.setdefault(value, place)
        count[value] = count.get(value, 0) + 1
    return [(first[value] + (count[value] - 1) / 2) / (len(values) - 1) for value in values]


def known_ranks(values: Sequence[float | None]) -> list[float] | None:
    """``ranks`` among the values that are known, 0.5 for the others; None where none is."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    places = iter(ranks(known))
    return [0.5 if value is None else next(places) for value in values]


def difficulties(examples: Sequence[Example], rates: Mapping[str, float]) -> list[float]:
    """How hard each example is in [0, 1]: the mean of its ranks by steps, open edits and strength of the tests.

    Where the pass rate of its task is known, that is half of it: what a model solves anyway is easy. Raises DataError where rates
    are given and none is of these tasks.
    """
    parts = [
        known_ranks([float(e.about.steps) for e in examples]),
        known_ranks([float(e.about.edits) for e in examples]),
        known_ranks([e.about.strength for e in examples]),
    ]
    found = [sum(row) / len(row) for row in zip(*(part for part in parts if part is not None), strict=True)]
    failing = [None if e.about.task not in rates else 1 - rates[e.about.task] for e in examples]
    places = known_ranks(failing)
    if rates and places is None:
        raise DataError("mix.pass_rates holds no task of these trajectories; was another split evaluated?")
    if places is None:
        return found
    return [own if rate is None else (own + place) / 2 for own, rate, place in zip(found, failing, places, strict=True)]


def load_rates(path: Path) -> dict[str, float]:
    """Pass rates by task id, from lines of JSON with ``task_id`` and ``pass_rate``, or ``passed`` of ``n`` samples.

    A task whose samples were all left ungraded is left out. Raises DataError for anything else.
    """
    found: dict[str, float] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row: dict[str, Any] = json.loads(line)
            if "pass_rate" not in row and not row["n"]:
                continue
            rate = float(row["pass_rate"] if "pass_rate" in row else row["passed"] / row["n"])
            if not 0 <= rate <= 1:
                raise ValueError(f"a pass rate of {rate}")
            found[str(row["task_id"])] = rate
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"{path} holds no pass rates ({type(error).__name__}: {error}); one JSON object a line is expected"
        ) from error
    return found


def hardness(examples: Sequence[Example], mix: MixSettings) -> list[float]:
    """What the curriculum sorts by: the difficulty, or the length of the row."""
    if mix.curriculum != "difficulty":
        return [float(len(example.ids)) for example in examples]
    return difficulties(examples, load_rates(mix.pass_rates) if mix.pass_rates else {})


class Order:
    """The rows that batches are drawn from. ``hard``: what the curriculum sorts by; ``often``: how often each is seen, or None."""

    def __init__(self, lengths: Sequence[int], hard: Sequence[float] | None = None, often: Sequence[float] | None = None) -> None:
        self.lengths, self.hard, self.often = lengths, lengths if hard is None else hard, often

    def batches(self, steps: int, first: int, size: int, seed: int) -> list[list[int]]:
        """The batches of all steps: the ``first`` ones from the easier half of what is seen, then from all.

        Raises DataError when what is seen does not fill one batch.
        """
        seen = [n for n in range(len(self.lengths)) if self.often is None or self.often[n] > 0]
        easy = sorted(seen, key=lambda number: (self.hard[number], number))[: max(size, len(seen) // 2)]
        early = islice(self._drawn(easy, size, seed), first)
        return [*early, *islice(self._drawn(seen, size, seed + 1), steps - first)]

    def _drawn(self, among: Sequence[int], size: int, seed: int) -> Iterable[list[int]]:
        often = None if self.often is None else [self.often[number] for number in among]
        if often is not None:  # an epoch is as long as there are rows
            often = [weight * len(often) / sum(often) for weight in often]
        for batch in bucketed([self.lengths[number] for number in among], size, seed, often):
            yield [among[place] for place in batch]
