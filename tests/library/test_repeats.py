"""Near-duplicates: found whatever the names, kept once, and the choice depends on neither order nor size of batches."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from library_samples import TASK, WAY, passing, walk

from swefuse.library import gate
from swefuse.library.checks.basic import Item
from swefuse.library.checks.repeats import repeats
from swefuse.library.context import Context
from swefuse.library.held import Held, renamed
from swefuse.records import Kind, Provenance, Task
from swefuse.workspace import ref

OTHER = ("@test\n", "@view m.py\n", *WAY[2:])  # the same solution, looked for in another order
NAMES = ("@view m.py\n", "@test\n", "@edit m.py:1\n-def f(x):\n-    return x - 1\n+def f(y):\n+    return y + 1\n", *WAY[3:])
CHECKS = ("coherence", "repeats")


def other_task(broken: str) -> Task:
    files = {**TASK.files, "m.py": broken}
    return Task.make(
        Kind.BUGFIX, instruction=TASK.instruction, files=files, editable=("m.py",), protected=TASK.protected, suites=TASK.suites,
        provenance=Provenance(source="x"),
    )  # fmt: skip


def made(way: tuple[str, ...], name: str, task: Task = TASK) -> Item:
    return task, walk(way, task, id=name), passing()


def test_the_first_of_a_family_is_kept() -> None:
    first, same, names, order = made(WAY, "a"), made(WAY, "b"), made(NAMES, "c"), made(OTHER, "d")
    context = Context()
    context.held.add(*first[:2])
    assert repeats(*first, context) is None  # it is no other than itself
    for item in (same, names):
        assert (repeats(*item, context) or "").startswith("repeats a, which solves the same task by the same edit")
    assert repeats(*order, context) is None
    accepted = [decision.accepted for decision in gate([names, same, order, first], CHECKS)]
    assert accepted == [False, False, True, True]


def test_distinct_tasks_of_one_function_are_no_duplicates() -> None:
    task = other_task("def f(x):\n    return x * 1\n")
    edit = ("@view m.py\n", "@test\n", "#wrong sign\n@edit m.py:2\n-*\n++\n", *WAY[3:])
    decisions = gate([made(WAY, "a"), made(edit, "b", task)], CHECKS)
    assert [decision.accepted for decision in decisions] == [True, True]


def test_the_same_under_another_task_id_is_one() -> None:
    suites = tuple(suite.model_copy(update={"pass_to_pass": ("t9",)}) for suite in TASK.suites)
    copy = TASK.revised(suites=suites)
    assert copy.id != TASK.id and ref(copy.files) == ref(TASK.files)
    found = gate([made(WAY, "a"), made(WAY, "b", copy)], CHECKS)
    assert found[1].reasons[0].startswith("repeats: repeats a, which makes the same edit on the same words")


def test_what_is_refused_otherwise_hides_nothing() -> None:
    broken = made(WAY, "a")[1].model_copy(update={"final": "elsewhere"})
    found = gate([(TASK, broken, passing()), made(WAY, "b")], CHECKS)
    assert [decision.accepted for decision in found] == [False, True]


def test_what_a_library_holds_is_loaded_when_it_is_needed() -> None:
    item, loaded = made(WAY, "a"), []

    def load(name: str) -> object:
        loaded.append(name)
        return item[1]

    held = Held(load)  # type: ignore[arg-type]
    held.add(*item[:2])
    held.stored()
    assert held.repeated(TASK, made(OTHER, "d")[1].model_copy(update={"files": {}}), 0.9) is None and not loaded
    assert held.repeated(*made(WAY, "b")[:2], 0.9) is not None and loaded == ["a"]


def test_names_do_not_count_and_values_do() -> None:
    assert renamed("def f(a):\n    return a + 1  # one\n") == renamed("def f(b): return b + 1")
    assert renamed("def f(id, sum): return id + sum") == renamed("def f(a, b): return a + b")
    assert renamed('def f(a): return f"{a} of {a.b}"') == renamed('def f(c): return f"{c} of {c.b}"')
    assert renamed("def f(a): return a\n\ndef g(a): return a") == renamed("def f(a): return a\n\ndef g(b): return b")
    for one, other in [("sum(a)", "min(a)"), ("a + 1", "a + 2"), ("a - b", "a - a"), ("a.real", "a.imag"), ("g(a)", "h(a)")]:
        assert renamed(f"def f(a, b): return {one}") != renamed(f"def f(a, b): return {other}")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([WAY, OTHER, NAMES]), min_size=1, max_size=7), st.integers(0, 999), st.integers(1, 4))
def test_neither_order_nor_size_of_batches_changes_a_decision(ways: list[tuple[str, ...]], seed: int, size: int) -> None:
    items = [made(way, f"t{number}") for number, way in enumerate(ways)]
    wanted = {item[1].id: decision for item, decision in zip(items, gate(items, CHECKS), strict=True)}
    shuffled = random.Random(seed).sample(items, len(items))
    assert {i[1].id: d for i, d in zip(shuffled, gate(shuffled, CHECKS), strict=True)} == wanted
    context, pieces = Context(), [items[at : at + size] for at in range(0, len(items), size)]
    assert {i[1].id: d for piece in pieces for i, d in zip(piece, gate(piece, CHECKS, context=context), strict=True)} == wanted
