"""Exercises of repair without tests: a bug in a function of which nobody knows what it should answer, and the edit that mends it.

What such a bug looks like is all that there is to go by, and that is what a model learns from them: to see code that nobody
would write. Nothing of this is proven and nothing of it enters a library; it is for pretraining.
"""

from __future__ import annotations

import random
from collections import Counter

from swefuse.code.operators import Bug, Edit, apply, edits, mending
from swefuse.collect.prompts import NO_TESTS, show_file
from swefuse.errors import DataError
from swefuse.records import Action, Kind, PolicyIdentity, Provenance, Step, Suite, Task, Trajectory, content_hash
from swefuse.tasks.inject import bugs_of
from swefuse.tasks.spec import MODULE, FunctionSpec
from swefuse.workspace import ref

MOST_OPEN = 400  # edits of a broken version among which one is to be found


def exercises(spec: FunctionSpec, count: int, seed: int) -> list[tuple[Task, Trajectory]]:
    """At most ``count`` bugs of one function, its kinds in turn, each with the steps that mend it; often fewer."""
    try:
        left = {kind: list(found) for kind, found in bugs_of(spec, seed).items()}
    except (DataError, RecursionError):
        return []
    rng = random.Random(f"pretext|{seed}|{spec.key}")
    made: list[tuple[Task, Trajectory]] = []
    tried: Counter[Bug] = Counter()
    while len(made) < count and tried.total() < 2 * count:
        kinds = sorted(kind for kind, found in left.items() if found)
        if not kinds:
            break
        rng.shuffle(kinds)
        kind = min(kinds, key=tried.__getitem__)
        tried[kind] += 1
        one = _exercise(spec, kind, left[kind].pop())
        if one is not None:
            made.append(one)
    return made


def _exercise(spec: FunctionSpec, kind: Bug, bug: Edit) -> tuple[Task, Trajectory] | None:
    broken = apply(spec.text, bug)
    try:
        choices = edits(broken, spec.name)
    except DataError:  # it does not parse
        return None
    mend = mending(spec.text, broken, spec.name, choices) if len(choices) <= MOST_OPEN else None
    if mend is None:
        return None
    files = {MODULE: broken}
    mended = apply(broken, mend)
    task = Task.make(
        Kind.BUGFIX, instruction=f"Find the bug of `{spec.name}` in {MODULE} and repair it.", files=files, editable=(MODULE,),
        suites=(Suite(form="calls", entry=f"{MODULE}:{spec.name}"),), reference={MODULE: mended},
        provenance=Provenance(
            source=spec.family, function=spec.name, body_hash=spec.body_hash, topic=spec.topic, operator=kind.value
        ),
        split="train",
    )  # fmt: skip
    before, after = ref(files), ref({MODULE: mended})
    steps = tuple(
        Step(thought=thought, action=action, raw="", observation=seen, before=before, after=end)
        for thought, action, seen, end in (
            ("", Action(name="view", path=MODULE), show_file(broken), before),
            ("", Action(name="test"), NO_TESTS, before),
            (mend.kind.value, mend.action(MODULE), "", after),
        )
    )
    return task, Trajectory(
        id=content_hash(["pretext", task.id]), task_id=task.id, initial=before, steps=steps, final=after, files={MODULE: mended},
        stop_reason="shown", policy=PolicyIdentity(model="pretext"), source="pretext",
    )  # fmt: skip
