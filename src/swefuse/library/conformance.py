"""What every check of the gate must do, for anyone's check: ``failures(my_check)`` must be empty.

The gate meets whatever a policy wrote, so a check answers for any three records, however odd: None or one reason, the same each
time, and leaves the records as they were. An exception would stop a whole batch for one bad trajectory.
"""

from __future__ import annotations

from typing import Any

from swefuse.library.checks.basic import Item
from swefuse.library.gate import Check
from swefuse.records import (
    Action,
    Call,
    Kind,
    Outcome,
    PolicyIdentity,
    Provenance,
    Step,
    Suite,
    Task,
    TestResult,
    TokenTrace,
    Trajectory,
    Verdict,
)
from swefuse.workspace import ref

_BEFORE = {"m.py": "def f(x):\n    return x - 1\n", "test_m.py": "from m import f\n\n\ndef test_f():\n    assert f(1) == 2\n"}
_AFTER = {"m.py": "def f(x):\n    return x + 1\n"}
_NAN = float("nan")


def sound() -> Item:
    """A small task, a trajectory that mends it and a verdict that says so; the gate accepts it."""
    suite = Suite(form="calls", entry="m.py:f", calls=(Call(id="t0", args="(1,)", want="2"),), fail_to_pass=("t0",))
    task = Task.make(
        Kind.BUGFIX, instruction="repair f", files=_BEFORE,
        editable=("m.py",), protected=("test_m.py",), suites=(suite,), provenance=Provenance(source="conformance"),
    )  # fmt: skip
    start, end = ref(_BEFORE), ref({**_BEFORE, **_AFTER})
    look, shown = Action(name="view", path="m.py"), "1>def f(x):\n2>    return x - 1"
    edit = Action(name="edit", path="m.py", line=2, old="-", new="+")
    steps = (
        Step(thought="", action=look, raw="@view m.py\n", observation=shown, before=start, after=start),
        Step(thought="", action=edit, raw="@edit m.py:2\n--\n++\n", observation="ok", before=start, after=end),
        Step(thought="", action=Action(name="submit"), raw="@submit\n", observation="submitted", before=end, after=end),
    )
    trajectory = Trajectory(
        id="conformance", task_id=task.id, initial=start, steps=steps, final=end, files=_AFTER, stop_reason="submit",
        policy=PolicyIdentity(model="nobody"),
    )  # fmt: skip
    return task, trajectory, Verdict(outcome=Outcome.PASSED, form="calls", tests={"t0": TestResult(outcome="passed")}, score=1.0)


def samples() -> dict[str, Item]:
    """Sound and odd items by name."""
    task, trajectory, verdict = sound()
    look, edit, submit = trajectory.steps
    ragged = TokenTrace(token_ids=(1, 2), logprobs=(_NAN,), raw_logprobs=(), entropies=(0.0,))
    odd: dict[str, dict[str, Any]] = {
        "no steps": {"steps": (), "files": {}, "final": trajectory.initial},
        "no action": {"steps": (look, edit.model_copy(update={"action": None, "raw": "perhaps\n"}), submit)},
        "ragged trace": {"steps": (look, edit.model_copy(update={"trace": ragged}), submit)},
        "no Python": {"files": {"m.py": "def f(:\n", "new.py": "\0", "deep.py": "(" * 3000}},
        "no Unicode": {
            "files": {"m.py": "\ud800", "../m.py": "\udcff"},
            "steps": (look, edit.model_copy(update={"raw": "\ud800"}), submit),
        },
        "another task": {"task_id": "elsewhere", "initial": "", "files": {"gone.py": "x = 1\n"}},
    }
    items: dict[str, Item] = {name: (task, trajectory.model_copy(update=change), verdict) for name, change in odd.items()}
    items["sound"] = task, trajectory, verdict
    items["not graded"] = task, trajectory, Verdict(outcome=Outcome.INFRA, form="pytest", reason="the sandbox broke")
    items["no tests"] = task.model_copy(update={"suites": ()}), trajectory, verdict
    return items


def failures(check: Check) -> dict[str, str]:
    """Maps the names of the samples on which ``check`` misbehaves to what it did."""
    found = {name: _misbehaviour(check, item) for name, item in samples().items()}
    return {name: problem for name, problem in found.items() if problem}


def _misbehaviour(check: Check, item: Item) -> str:
    before = [repr(record) for record in item]
    try:
        answers = [check(*item), check(*item)]
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        return f"raised {error!r}"
    if any(answer is not None and (not isinstance(answer, str) or not answer.strip()) for answer in answers):
        return f"answered {answers[0]!r}, neither None nor a reason"
    if answers[0] != answers[1]:
        return f"answered {answers[0]!r}, then {answers[1]!r}"
    if [repr(record) for record in item] != before:
        return "changed the records"
    return ""
