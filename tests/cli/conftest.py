"""A real task and a library with one accepted and one refused trajectory of it, made by the real loop in the real sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from swefuse.collect.agent import rollouts
from swefuse.collect.episode import Start
from swefuse.library.gate import gate
from swefuse.library.store import Entry, Library
from swefuse.policy.scripted import ScriptedPolicy, pick_reference
from swefuse.records import Call, Kind, Provenance, Suite, Task
from swefuse.scale import InlineExecutor
from swefuse.verify import verify_many

SOURCE = 'def double(x: int) -> int:\n    """Twice x."""\n    return x - x\n'


@pytest.fixture(scope="session")
def task() -> Task:
    calls = tuple(Call(id=f"t{x}", args=f"({x},)", want=str(2 * x), visible=x < 2) for x in range(4))
    ids = tuple(call.id for call in calls)
    suites = (Suite(form="calls", entry="solution.py:double", calls=calls, fail_to_pass=ids[1:], pass_to_pass=ids[:1]),)
    files = {"solution.py": SOURCE}
    mending = {"line": "3", "nth": "1", "old": "-", "new": "+"}
    origin = Provenance(source="demo", operator="arithmetic", function="double", parameters=mending)
    return Task(
        id=Task.make_id(Kind.BUGFIX, files, suites), kind=Kind.BUGFIX, instruction="Repair double.", files=files,
        editable=("solution.py",), suites=suites, provenance=origin, split="train",
    )  # fmt: skip


@pytest.fixture(scope="session")
def library(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "library.db"
    policies = [
        ScriptedPolicy("reference"),
        ScriptedPolicy("wrong", lambda request, rng: next(c for c in request.choices if c != pick_reference(request, rng))),
    ]
    made = [rollouts([Start(task)], policy, lambda items: verify_many(items, InlineExecutor()), "replay")[0] for policy in policies]
    verdicts = [trajectory.verdict for trajectory in made]
    batch = [(task, trajectory, verdict) for trajectory, verdict in zip(made, verdicts, strict=True) if verdict]
    with Library(path, create=True) as store:
        store.add_many(Entry(*item, decision) for item, decision in zip(batch, gate(batch), strict=True))
    return path


@pytest.fixture
def lib(library: Path, tmp_path: Path) -> Path:
    """A library that a test may change."""
    return Path(shutil.copy(library, tmp_path))
