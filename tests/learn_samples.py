"""Four small tasks, and a model and tokenizer of a size that costs nothing, for the tests of learn and of the local policy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from swefuse.collect.agent import Verify, rollouts
from swefuse.collect.episode import Start
from swefuse.learn.batch import Group
from swefuse.learn.draws import Draws
from swefuse.learn.gather import gather
from swefuse.learn.model import make_nano, train_tokenizer
from swefuse.learn.phases import Phases
from swefuse.learn.rlvr import look
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.tokens import nano_text
from swefuse.learn.update import Models, Round
from swefuse.learn.value import make_head
from swefuse.library.store import Entry, Library
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Call, Decision, Kind, Outcome, Provenance, Suite, Task, TestResult, Trajectory, Verdict

# name, text with a bug, (line, old, new) that mends it, arguments with what is right
CLIP = 'def clip(x, low):\n    """At least low."""\n    if x > low:\n        return low\n    return x\n'
TWICE = "def twice(items):\n    total = 1\n\n    # all of them\n    for item in items:\n        total += item\n    return total\n"
GAP = "def gap(a, b):\n    if a < b:\n        return b - a\n    return a + b\n"
FIRST = "def first(items, other):\n    if items:\n        return other\n    return other\n"
SOURCES = (
    ("clip", CLIP, (3, ">", "<"), {"(1, 3)": "3", "(5, 3)": "5"}),
    ("twice", TWICE, (2, "1", "0"), {"([],)": "0", "([2, 3],)": "5"}),
    ("gap", GAP, (4, "+", "-"), {"(1, 4)": "3", "(4, 1)": "3"}),
    ("first", FIRST, (3, "other", "items"), {"([], 2)": "2", "([7], 2)": "[7]"}),
)


def make_task(name: str, text: str, mend: tuple[int, str, str], answers: dict[str, str]) -> Task:
    """A function task whose tests are all visible."""
    calls = tuple(Call(id=f"t{n}", args=args, want=want, visible=True) for n, (args, want) in enumerate(answers.items()))
    suite = Suite(form="calls", entry=f"m.py:{name}", calls=calls, fail_to_pass=tuple(call.id for call in calls))
    stored = {"line": str(mend[0]), "nth": "1", "old": mend[1], "new": mend[2]}
    return Task(
        id=Task.make_id(Kind.BUGFIX, {"m.py": text}, (suite,)), kind=Kind.BUGFIX, instruction=f"Repair {name}.",
        files={"m.py": text}, editable=("m.py",), suites=(suite,), split="train",
        provenance=Provenance(source="test", parameters=stored),
    )  # fmt: skip


TASKS = tuple(make_task(*source) for source in SOURCES)


def verdict(passed: bool | None) -> Verdict:
    """A made verdict; None is INFRA."""
    outcome = Outcome.INFRA if passed is None else Outcome.PASSED if passed else Outcome.FAILED
    return Verdict(outcome=outcome, form="calls", score=float(bool(passed)))


def right(items: Any) -> list[Verdict]:
    """A verifier that knows the answer: the mended function passes, with every test, and nothing else does."""
    found = []
    for item in items:
        text, (line, old, new) = next(one[1:3] for one in SOURCES if one[1] == item.task.files["m.py"])
        rows = text.split("\n")
        rows[line - 1] = rows[line - 1].replace(old, new, 1)
        found.append(verdict(item.files["m.py"] == "\n".join(rows)))
    return found


def refuse(items: Any) -> list[Verdict]:
    """A verifier for tests that need no grade: everything fails, with a reason to show."""
    wrong = {f"t{n}": TestResult(outcome="failed", detail=f"(1, {n}) gave 1, expected {n}") for n in range(2)}
    return [Verdict(outcome=Outcome.FAILED, form="calls", tests=wrong, score=0.0) for _ in items]


def episodes(policy: Any = None, tasks: tuple[Task, ...] = TASKS, verify: Verify = refuse, samples: int = 1) -> list[Trajectory]:
    """Trajectories on ``tasks``, by default those of a random policy."""
    starts = [Start(task, seed) for task in tasks for seed in range(samples)]
    return rollouts(starts, policy or ScriptedPolicy("random"), verify, "test")


@cache
def tokenizer() -> Any:
    return train_tokenizer([nano_text(task, steps.steps) for task, steps in zip(TASKS, episodes(), strict=True)], 400)


def model(seed: int = 0, layers: int = 1) -> Any:
    """A random Llama of width 64, in float64: autocast leaves that alone, so what is exact in theory is exact here too."""
    return make_nano(tokenizer(), 64, layers, seed).double()


def group(prompt: tuple[int, ...], *candidates: tuple[int, ...]) -> Group:
    """Candidates with the whole of a ten-token vocabulary open."""
    return Group(prompt, candidates, tuple(tuple(tuple(range(10)) for _ in ids) for ids in candidates))


def library(path: Path, *trained: bool) -> Path:
    """A library of as many accepted trajectories, hand-made-0 and on; of those that are not ``trained`` no step is kept."""
    made = episodes(ScriptedPolicy("reference"))
    with Library(path, create=True) as store:
        for number, keep in enumerate(trained):
            steps = tuple(step.model_copy(update={"keep": keep}) for step in made[number % 4].steps)
            one = made[number % 4].model_copy(update={"steps": steps, "id": f"hand-made-{number}"})
            store.add_many([Entry(TASKS[number % 4], one, verdict(True), Decision(accepted=True, gate_version="1"))])
    return path


def first_round(made: Models, verify: Verify, chosen: RlvrSettings, tasks: Sequence[Task] = TASKS) -> Round:
    """What the first round of stage 2 sees, with a value head that knows nothing."""
    data = gather(made, Draws(tasks, chosen), verify, chosen, 0, Phases())
    return look(made, data, make_head(chosen.value.head, made.reference.config.hidden_size), chosen, 0, Phases())
