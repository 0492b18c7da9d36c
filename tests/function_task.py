"""A task of one function with one bug."""

from __future__ import annotations

from swefuse.records import Call, Kind, Provenance, Suite, Task

PATH = "solution.py"
BUGGY = 'def double(x: int) -> int:\n    """Twice x."""\n    return x - x\n'
MENDED = BUGGY.replace("x - x", "x + x")


def function_task(text: str = BUGGY, visible: int = 2, split: str = "train") -> Task:
    """Calls ``t0`` to ``t3``, of which the first ``visible`` are shown; ``t0`` passes before the repair, the others fail."""
    calls = tuple(Call(id=f"t{x}", args=f"({x},)", want=str(2 * x), visible=x < visible) for x in range(4))
    ids = tuple(call.id for call in calls)
    suites = (Suite(form="calls", entry=f"{PATH}:double", calls=calls, fail_to_pass=ids[1:], pass_to_pass=ids[:1]),)
    origin = Provenance(source="demo", function="double", parameters={"line": "3", "nth": "1", "old": "-", "new": "+"})
    return Task(
        id=Task.make_id(Kind.BUGFIX, {PATH: text}, suites), kind=Kind.BUGFIX, instruction="Repair double.", files={PATH: text},
        editable=(PATH,), suites=suites, provenance=origin, split=split,
    )  # fmt: skip
