"""A small task in both forms, for the tests of this room."""

from __future__ import annotations

from swefuse.records import Call, Kind, Provenance, Suite, Task

RIGHT = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return 2 * x\n"
WRONG = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return 2 * x if x < 2 else 3 * x\n"


def calls_and_tests(function: str, rows: list[tuple[str, str | None, str | None]]) -> tuple[tuple[Call, ...], str]:
    """The same tests twice: as calls, and as the text of a pytest file for module ``m``."""
    calls = tuple(
        Call(id=f"t{i}", args=args, want=want, raises=raises, visible=i < 2) for i, (args, want, raises) in enumerate(rows)
    )
    text = f"import pytest\nfrom m import {function}\n"
    for call in calls:
        body = f"    assert {function}(*{call.args}) == {call.want}\n" if call.want is not None else ""
        body = body or f"    with pytest.raises({call.raises}):\n        {function}(*{call.args})\n"
        text += f"\n\ndef test_{call.id}():\n{body}"
    return calls, text


def make_task(
    rows: list[tuple[str, str | None, str | None]], source: str = WRONG, entry: str = "m.py:f", files: dict[str, str] | None = None
) -> Task:
    """A task with a suite in each form; the last row is the fail-to-pass one."""
    calls, text = calls_and_tests(entry.rpartition(":")[2], rows)
    state = {"m.py": source, "tests/test_m.py": text, **(files or {})}
    ids = [call.id for call in calls]
    nodes = [f"tests/test_m.py::test_{id_}" for id_ in ids]
    suites = (
        Suite(form="calls", entry=entry, calls=calls, fail_to_pass=tuple(ids[-1:]), pass_to_pass=tuple(ids[:-1])),
        Suite(form="pytest", files=("tests/test_m.py",), fail_to_pass=tuple(nodes[-1:]), pass_to_pass=tuple(nodes[:-1])),
    )
    return Task(
        id=Task.make_id(Kind.BUGFIX, state, suites), kind=Kind.BUGFIX, instruction="repair f", files=state, editable=("m.py",),
        protected=("tests/test_m.py",), suites=suites, provenance=Provenance(source="test"),
    )  # fmt: skip
