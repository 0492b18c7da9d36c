"""Evidence: an agent acts on what it was shown, and every step that is learned from brings something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_samples import FIX, TASK, WAY, passing, walk

from swefuse.collect.prompts import MOST_BLIND, cut
from swefuse.errors import PatchError
from swefuse.library.claims import consistent, truthful
from swefuse.library.evidence import effective, fresh, seen
from swefuse.records import Kind, Task, Trajectory
from swefuse.workspace import ref

ALL = (seen, effective, fresh, consistent, truthful)
LONG = TASK.revised(files={**TASK.files, "long.py": "".join(f"x{number} = {number}\n" for number in range(1, 41))})
TRACE = (
    'Traceback (most recent call last):\n  File "/repo/m.py", line 2, in f\n    return x - 1\nZeroDivisionError: division by zero'
)


def made(messages: Sequence[str], task: Task = TASK, unkept: Sequence[int] = (), **shown: str) -> Trajectory:
    """``walk``, with other observations (``s3="…"`` for step 3), and some steps not kept."""
    trajectory = walk(messages, task)
    steps = [
        step.model_copy(update={"observation": shown.get(f"s{number}", step.observation), "keep": number not in unkept})
        for number, step in enumerate(trajectory.steps, 1)
    ]
    return trajectory.model_copy(update={"steps": tuple(steps)})


def answers(trajectory: Trajectory, task: Task = TASK) -> list[str | None]:
    return [check(task, trajectory, passing()) for check in ALL]


def sees(messages: Sequence[str], task: Task = TASK, unkept: Sequence[int] = (), **shown: str) -> str | None:
    return seen(task, made(messages, task, unkept, **shown), passing())


def test_an_honest_way_passes_every_check() -> None:
    assert answers(made(WAY)) == [None] * 5
    there_and_back = [
        "@view m.py\n",
        "@test\n",
        "@edit m.py:2\n--\n+*\n",
        "@test\n",
        "@undo\n",
        FIX,
        "@test\n",
        "#All tests pass.\n@submit\n",
    ]
    assert answers(made(there_and_back)) == [None] * 5


def test_a_line_is_shown_before_it_is_edited() -> None:
    blind = "edits line 2 of m.py, which no earlier observation shows"
    assert sees([FIX, "@submit\n"]) == f"step 1: {blind}"
    assert sees(["@view test_m.py\n", FIX]) == f"step 2: {blind}"
    assert sees([FIX], unkept=[1]) is None  # a mistake that is not learned from
    assert sees(["@search return\n", FIX]) is None
    assert sees(["@search def\n", FIX]) == f"step 2: {blind}"  # shows line 1 of m.py only
    assert sees(["@test\n", FIX], s1=f"FAIL test_m.py::test_f: error\n{TRACE}") is None
    assert sees(["@test\n", FIX], s1=TRACE.replace("return x - 1", "...")) == f"step 2: {blind}"
    assert sees(["@view m.py\n", FIX], s1="1>def f(x):\n2>    return x") == f"step 2: {blind}"  # another text
    assert sees(["@view m.py\n", FIX], s1="error: too long") == f"step 2: {blind}"
    assert sees(["@view m.py\n", "@edit m.py:1\n-(x):\n-    return x - 1\n+(x): return 1\n"]) is None
    assert sees(["@search def\n", "@edit m.py:1\n-(x):\n-    return x - 1\n+(x): return 1\n"]) == f"step 2: {blind}"
    assert sees(["@search def\n", "@edit m.py:1\n-def f(x):\n-\n+def f(x):\n+    # a\n"]) is None  # line 2 stays as it is


def test_what_a_cut_observation_leaves_out_was_not_shown() -> None:
    rows = "\n".join(f"{number}>x{number} = {number}" for number in range(1, 41))
    shown = cut(rows, 200)
    assert "[... " in shown and "\n20>" not in shown and "\n3>" in shown and "\n40>" in shown
    view = ["@view long.py\n"]
    assert sees([*view, "@edit long.py:3\n-3\n+4\n"], LONG, s1=shown) is None
    assert sees([*view, "@edit long.py:40\n-40\n+4\n"], LONG, s1=shown) is None
    unknown = "step 2: edits line 20 of long.py, which no earlier observation shows"
    assert sees([*view, "@edit long.py:20\n-20\n+4\n"], LONG, s1=shown) == unknown
    assert sees([*view, "@search x20\n", "@edit long.py:20\n-20\n+4\n"], LONG, s1=shown) is None
    assert sees([*view, "@edit long.py:20\n+y = 1\n"], LONG, s1=shown) == unknown
    assert sees([*view, "@edit long.py:41\n+y = 1\n"], LONG, s1=shown) is None  # behind the last line
    inside = "1>x1[... 500 characters left out ...]40 = 40"
    assert sees([*view, "@edit long.py:1\n-x1\n+y\n"], LONG, s1=inside) == unknown.replace("20", "1")


def test_lines_stay_known_through_edits_and_undo() -> None:
    insert, view = "@edit m.py:1\n+# a\n+# b\n", "@search return\n"
    moved = FIX.replace(":2", ":4")
    assert sees(["@view m.py\n", insert, moved]) is None
    assert sees([view, "@search def\n", insert, moved, "@undo\n", "@undo\n", FIX]) is None
    assert sees(["@search def\n", insert, moved]) == "step 3: edits line 4 of m.py, which no earlier observation shows"
    assert sees(["@search def\n", insert, "@view m.py\n", "@undo\n", FIX]) is None  # seen while another state was there
    assert sees(["@create n.py\n+a = 1\n", "@edit n.py:1\n-1\n+2\n"]) is None  # its own
    assert sees(["@create n.py\n+a = 1\n", "@undo\n", FIX]) is not None
    assert sees([FIX, "@edit m.py:2\n-+\n+*\n"], unkept=[1]) is not None  # an unkept blind edit shows nothing
    empty = TASK.revised(files={**TASK.files, "e.py": ""})
    assert sees(["@view e.py\n", "@edit e.py:1\n+a = 1\n", "@edit e.py:1\n-1\n+2\n"], empty) is None
    assert sees(["@edit e.py:1\n+a = 1\n"], empty) is not None


@pytest.mark.parametrize(
    ("thought", "fine"),
    [
        ("test_m.py::test_f fails", True),
        ("test_m.py::test_g fails", False),
        ("tests/test_m.py::test_f[1-2] fails", False),
        ("FAIL f(1,) gave 0, so the sign is wrong", True),
        ("see FAIL f(2,) here", False),
        ("see FAIL f(...) here", True),
        ("see FAIL g(...) here", False),
        ("`FAIL f(1,) gave 0, expected 2`", True),
        ("`FAIL f(1,) … expected 2`", True),
        ("`FAIL f(1,) gave 7, expected 2`", False),
        ('it said "ZeroDivisionError: division by zero"', True),
        ("it said 'E   ZeroDivisionError: division by zero'", True),
        ("it said `ZeroDivisionError: division ...`", True),
        ("it said `KeyError: 'a'`", False),
        ("it may raise ValueError: then we are lost", True),  # no quotation
        ("`ValueError` is right here, the caller's 'x' isn't", True),
        ("FAIL is what I see", True),
        ("std::vector is no test", True),
    ],
)
def test_what_a_thought_quotes_was_observed(thought: str, fine: bool) -> None:
    shown = (
        f"2 of 3 tests fail\nFAIL f(1,) gave 0, expected 2\nFAIL test_m.py::test_f: ZeroDivisionError: division by zero\n{TRACE}"
    )
    messages = ["@view m.py\n", "@test\n", f"#{thought}\n{FIX.partition(chr(10))[2]}"]
    assert (sees(messages, s2=shown) is None) == fine
    assert sees(messages, unkept=[3], s2=shown) is None
    assert fine or "which no earlier observation shows" in (sees(messages, s2=shown) or "")


def test_what_the_agent_writes_or_was_told_may_be_named() -> None:
    view = "@view m.py\n"
    raising = "@edit m.py:2\n+    raise KeyError('no a')\n"
    assert sees([view, f"#it must say `KeyError: no a`\n{raising}"]) is None
    assert sees([view, f"#it must say `KeyError: no b`\n{raising}"]) is not None
    assert sees(["#adds test_n.py::test_n\n@create test_n.py\n+def test_n(): pass\n"]) is None
    assert sees(["@view test_m.py\n", "#test_m.py::test_f it is\n@view m.py\n"]) is None
    told = TASK.model_copy(update={"instruction": "test_m.py::test_f fails"})
    thought = ["#test_m.py::test_f is wrong\n@view m.py\n"]
    assert sees(thought, told) is None
    assert sees(thought, told.model_copy(update={"hide_instruction": True})) is not None


def test_passes_are_claimed_of_a_state_in_which_a_test_showed_them() -> None:
    end, unseen = "#All tests pass.\n@submit\n", 'says "All tests pass.", and no test of this state showed that before'
    assert sees(["@view m.py\n", FIX, end]) == f"step 3: {unseen}"
    assert sees(["@view m.py\n", FIX, "@test\n", end]) is None
    assert sees(["@view m.py\n", "@test\n", FIX, end], s2="PASS f(0,) gave 0") == f"step 4: {unseen}"  # of another state
    assert sees(["@view m.py\n", "@test\n", FIX, "@undo\n", end], s2="PASS f(0,) gave 0") is None
    for shown in (
        "there are no tests to show",
        "the tests did not run: INFRA",
        "all 1 tests pass\nyet the check says FAILED: slow",
    ):
        assert sees(["@view m.py\n", FIX, "@test\n", end], s3=shown) == f"step 4: {unseen}"
    assert sees(["@view m.py\n", FIX, "@run pytest\n", end], s3="1 passed in 0.01s") is None
    assert sees(["@view m.py\n", FIX, "@run pytest\n", end], s3="1 failed in 0.01s") == f"step 4: {unseen}"
    assert sees(["@view m.py\n", FIX, "@run pytest\n", end], s3="1 failed in 0.01s", unkept=[4]) is None


def test_edits_in_a_row_are_few() -> None:
    insert = "@edit m.py:1\n+# a\n"
    edits = [insert] * (MOST_BLIND + 1)
    assert sees(["@view m.py\n", *edits[1:]]) is None
    assert (
        sees(["@view m.py\n", *edits])
        == f"step {MOST_BLIND + 2}: the {MOST_BLIND + 1}th edit in a row, and nothing was looked at in between"
    )
    assert sees(["@view m.py\n", *edits[1:], "@test\n", *edits[1:]]) is None
    assert sees(["@view m.py\n", *edits], unkept=[MOST_BLIND + 2]) is None


def test_tests_and_answers_are_written_after_a_look_at_the_code() -> None:
    files = {
        "m.py": TASK.files["m.py"],
        "n.py": "y = 1\n",
        "test_n.py": "import m\n",
        "answer.py": "def answer():\n    return None\n",
    }
    tests = TASK.revised(kind=Kind.TESTGEN, files=files, suites=(), goal={"module": "m.py", "tests": "test_n.py"})
    write, create = "@edit test_n.py:1\n+x = 1\n", "@create test_n.py\n+x = 1\n"
    early = "writes tests of m.py, of which no earlier observation shows a line"
    assert sees(["@view test_n.py\n", write], tests) == f"step 2: {early}"
    assert sees(["@view test_n.py\n", "@view n.py\n", write], tests) == f"step 3: {early}"
    assert sees(["@view test_n.py\n", "@search return x\n", write], tests) is None
    new = tests.revised(files={path: text for path, text in files.items() if path != "test_n.py"})
    assert sees([create], new) == f"step 1: {early}" and sees(["@view m.py\n", create], new) is None
    question = TASK.revised(kind=Kind.QA, files=files, suites=(), goal={"answer": "answer.py"})
    answer = "@edit answer.py:2\n-None\n+2\n"
    unread = "writes the answer, and no earlier observation shows a line of the code that the question is about"
    assert sees(["@view answer.py\n", answer], question) == f"step 2: {unread}"
    assert sees(["@view answer.py\n", answer], question, unkept=[2]) is None
    assert sees(["@view answer.py\n", "@view n.py\n", answer], question) is None
    alone = question.revised(files={"answer.py": files["answer.py"]})
    assert sees(["@view answer.py\n", answer], alone) is None  # there is nothing else


def test_edits_have_effects() -> None:
    for raw in (FIX, "@create n.py\n+a\n"):
        (step,) = made([raw]).steps
        idle = step.model_copy(update={"after": step.before})
        trajectory = made([raw]).model_copy(update={"steps": (idle,)})
        assert effective(TASK, trajectory, passing()) == f"step 1: its {step.action.name if step.action else ''} changes nothing"
        dropped = trajectory.model_copy(update={"steps": (idle.model_copy(update={"keep": False}),)})
        assert effective(TASK, dropped, passing()) is None
    for text, which in [(TASK.files["m.py"], "the same"), ("x", "another")]:
        (step,) = made(["@create n.py\n+a\n"]).steps
        assert step.action is not None
        over = step.model_copy(update={"action": step.action.model_copy(update={"path": "m.py", "text": text})})
        trajectory = made(WAY).model_copy(update={"steps": (over,)})
        assert effective(TASK, trajectory, passing()) == f"step 1: creates m.py, which exists with {which} text"
    assert effective(TASK, made([FIX, "@undo\n"]), passing()) is None


def repeats(messages: Sequence[str], unkept: Sequence[int] = (), **shown: str) -> str | None:
    return fresh(TASK, made(messages, TASK, unkept, **shown), passing())


def test_no_step_repeats_another_without_news() -> None:
    insert = "@edit m.py:1\n+# a\n"
    assert repeats(["@view m.py\n", "@view m.py\n"]) == "step 2: repeats step 1 and shows nothing new"
    assert repeats(["@view m.py\n", "@view m.py\n"], unkept=[2]) is None
    assert repeats(["@view m.py\n", "@view m.py\n"], unkept=[1]) is not None  # it is in the context
    assert repeats(["@view m.py\n", "@view test_m.py\n", FIX, "@view m.py\n"]) is None
    assert repeats(["@view test_m.py\n", FIX, "@view test_m.py\n"]) is not None  # that file is as it was
    assert repeats(["@test\n", "@view m.py\n", "@test\n"]) == "step 3: repeats step 1 and shows nothing new"
    assert repeats(["@test\n", FIX, "@test\n"]) is None
    assert repeats(["@test\n", "@test\n"], s1="the tests did not run: INFRA") is None
    assert repeats(["@search x\n", "@search x\n"]) is not None
    assert repeats(["@search x\n", insert, "@search x\n", "@search y\n"]) is None
    assert repeats(["@test\n", FIX, "@undo\n", "@test\n"]) == "step 4: repeats step 1 and shows nothing new"
    assert repeats(["@view m.py\n", FIX, "@undo\n", "@view m.py\n"]) is not None
    long = "1>def f(x):\n[... 9 lines left out ...]"
    assert repeats(["@view m.py\n", FIX, "@undo\n", "@view m.py\n"], s1=long, s4=long) is None
    assert repeats([FIX, "@undo\n", FIX]) == "step 3: repeats step 1 and shows nothing new"
    assert repeats([insert, FIX.replace(":2", ":3"), "@undo\n", "@undo\n"]) is None


MESSAGES = st.sampled_from(
    ["@view m.py\n", "@view test_m.py\n", "@test\n", "@search return\n", "@undo\n", FIX, "@edit m.py:1\n+# a\n",
     "@create n.py\n+a\n",
     "#All tests pass.\n@view m.py\n", "#the tests still fail\n@test\n", "#see test_m.py::test_f, `KeyError: a`\n@search def\n",
     "@edit m.py:2\n-+\n+-\n"],
)  # fmt: skip


def tried(messages: Sequence[str], task: Task = TASK) -> Trajectory | None:
    try:
        return walk([*messages, "#1 passed\n@submit\n"], task)
    except (PatchError, IndexError):  # an action that does not apply here
        return None


@given(st.lists(MESSAGES, max_size=8), st.sets(st.integers(0, 8)))
def test_what_is_not_kept_is_never_a_new_reason(messages: list[str], dropped: set[int]) -> None:
    trajectory = tried(messages)
    if trajectory is None:
        return
    steps = tuple(step.model_copy(update={"keep": at not in dropped}) for at, step in enumerate(trajectory.steps))
    for before, after in zip(answers(trajectory), answers(trajectory.model_copy(update={"steps": steps})), strict=True):
        assert before is not None or after is None
    nothing = tuple(step.model_copy(update={"keep": False}) for step in steps)
    assert answers(trajectory.model_copy(update={"steps": nothing}))[:3] == [None] * 3


@given(st.lists(MESSAGES, max_size=8), st.text(st.characters(codec="utf-8", exclude_characters="rde"), max_size=30))
def test_files_that_are_never_touched_do_not_matter(messages: list[str], text: str) -> None:
    wider = TASK.revised(files={**TASK.files, "zzz/other.py": text})
    narrow, wide = tried(messages), tried(messages, wider)
    assert (narrow is None) == (wide is None)
    if narrow is not None and wide is not None:
        assert answers(narrow) == answers(wide, wider)
        assert wide.initial == ref(wider.files)


@given(st.lists(MESSAGES, max_size=8), st.data())
def test_whatever_an_observation_holds_the_checks_answer(messages: list[str], data: Any) -> None:
    trajectory = tried(messages)
    if trajectory is None:
        return
    pieces = st.sampled_from(
        ["m.py:2>", "2>", "FAIL f(", "3 of 2 tests fail", "`", '"', "test_m.py::test_f[", "…", "99999999999", "\n", "x "]
    )
    texts = st.lists(pieces, max_size=6).map("".join)
    steps = tuple(s.model_copy(update={"observation": data.draw(texts), "thought": data.draw(texts)}) for s in trajectory.steps)
    strange = trajectory.model_copy(update={"steps": steps})
    assert answers(strange) == answers(strange)
