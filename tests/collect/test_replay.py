"""A reference solution is told in several ways, each carried out for real and true to what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_task import function_task
from swefuse.collect.agent import Judge
from swefuse.collect.prompts import MOST_BLIND, place_of_test, subjects, what_changes
from swefuse.collect.replay import GRAINS, ORDERS, Plan, changes, plans, replay, replays
from swefuse.errors import DataError, PatchError
from swefuse.library.claims import consistent
from swefuse.library.coherence import coherence
from swefuse.library.evidence import seen
from swefuse.records import Action, Kind, ModelStep, Outcome, Provenance, Suite, Task
from swefuse.verify import Verifier
from swefuse.workspace import apply_edit

CODE = "def half(x):\n    return x // 2\n\n\ndef third(x):\n    y = x\n    return y // 3\n"
RIGHT = "def half(x):\n    return x / 2\n\n\ndef third(x):\n    if not x:\n        return 0\n    return x / 3\n"
TEST = "from calc import half, third\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
TEST += "\n\ndef test_third():\n    assert third(0) == 0\n"
LINES = st.lists(st.sampled_from(["a = 1", "b = a", "", "    c()", "return x // 2"]), max_size=6)


def file_task(reference: dict[str, str] | None = None) -> Task:
    files = {"calc.py": CODE, "tests/test_calc.py": TEST}
    test = "tests/test_calc.py"
    suites = (Suite(form="pytest", files=(test,), fail_to_pass=(f"{test}::test_half",), pass_to_pass=(f"{test}::test_third",)),)
    return Task.make(
        Kind.BUGFIX, instruction="Repair half.", files=files, editable=("calc.py",), protected=(test,), suites=suites,
        reference=reference or {**files, "calc.py": RIGHT}, provenance=Provenance(source="t"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Verifier() as made:
        yield Judge(lambda items: [made.verify(item.task, item.files) for item in items])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("grain", GRAINS)
def test_every_way_passes_and_its_steps_chain(judge: Judge, order: str, grain: str) -> None:
    task = file_task()
    made = replay(task, judge, Plan(order, grain))  # type: ignore[arg-type]
    assert made.verdict is not None and made.verdict.outcome is Outcome.PASSED
    assert coherence(task, made, made.verdict) is None and all(one.keep for one in made.steps)
    names = [" ".join(filter(None, (one.action.name, one.action.path))) for one in made.steps if one.action]
    test, code = "view tests/test_calc.py", "view calc.py"  # the test's text comes before any diagnosis
    starts = {
        "test_first": ["test", test, code],
        "look_first": [code, "test", test],
        "search_first": ["test", "search", test, code],
    }
    start = starts[order]
    assert names[: len(start)] == start and names[len(start)] == "edit calc.py" and names[-2:] == ["test", "submit"]
    first = next(one for one in made.steps if one.action and one.action.name == "edit")
    told = next(one.observation for one in made.steps if one.action and one.action.name == "test")
    quoted = first.thought.split("\n")[0].strip("`")
    assert quoted.startswith("FAIL tests/test_calc.py::test_half") and quoted in told
    assert made.steps[-1].thought == "The tests pass now."


def told(task: Task, judge: Judge, grain: str = "lines", order: str = "test_first") -> list[tuple[str, str]]:
    """Action and place of every step, and what is thought."""
    made = replay(task, judge, Plan(order, grain))  # type: ignore[arg-type]
    assert made.verdict is not None and made.verdict.outcome is Outcome.PASSED and all(one.keep for one in made.steps)
    assert seen(task, made, made.verdict) is consistent(task, made, made.verdict) is None
    return [(f"{one.action.name} {one.action.path}:{one.action.line}", one.thought) for one in made.steps if one.action]


def repaired(code: str, right: str, others: Mapping[str, tuple[str, str]] = MappingProxyType({})) -> Task:
    """A task of ``calc.py`` and other files, each as it is and as it should be."""
    files = {**file_task().files, "calc.py": code, **{path: was for path, (was, _) in others.items()}}
    reference = {**files, "calc.py": right, **{path: becomes for path, (_, becomes) in others.items()}}
    editable = tuple(path for path in files if path not in file_task().protected)
    return file_task().revised(files=files, reference=reference, editable=editable)


ONE = CODE.replace("x // 2", "x / 2")  # a repair of one line


def test_the_cause_is_named_only_where_one_line_of_the_source_is_all_there_is(judge: Judge) -> None:
    for grain in GRAINS:
        thought = told(repaired(CODE, ONE), judge, grain)[3][1]
        assert thought.endswith("The cause is line 2 of calc.py, which reads `return x // 2`.")
        change_log = repaired(CODE, ONE, {"CHANGES.rst": ("v1\n", "v2\n\n- half\n\nv1\n")})
        assert "The cause is line 2 of calc.py" in told(change_log, judge, grain)[3][1]
        several = [thought for _, thought in told(file_task(), judge, grain)]
        assert not any("cause" in thought for thought in several)


def test_source_comes_first_and_documentation_last_after_a_test_run(judge: Judge) -> None:
    others = {
        "CHANGES.rst": ("v1\n", "v2\n\nv1\n"),
        "docs/index.rst": ("half\n", "half of x\n"),
        "setup.cfg": ("a = 1\n", "a = 2\n"),
        "ahead.py": ("x = 1\n", "x = 2\n"),
    }
    steps = told(repaired(CODE, ONE, others), judge)
    edits = [what for what, _ in steps if what.startswith("edit")]
    assert edits == ["edit calc.py:2", "edit ahead.py:1", "edit setup.cfg:1", "edit CHANGES.rst:1", "edit docs/index.rst:1"]
    said = dict(steps)
    assert said["edit ahead.py:1"] == "I change line 1 of ahead.py, which reads `x = 1`."
    assert said["edit setup.cfg:1"] == "The tests pass now.\nI change line 1 of setup.cfg, which reads `a = 1`."
    assert said["edit CHANGES.rst:1"] == "The tests still pass.\nIn the change log I add 2 lines before line 1 of CHANGES.rst."
    assert said["edit docs/index.rst:1"] == "In the documentation I change line 1 of docs/index.rst, which reads `half`."
    assert said["submit :0"] == "The tests still pass."


def test_a_thought_names_the_lines_that_change_and_quotes_them_whole() -> None:
    text = "def f(a):\n    b = 1\n    while a < b:\n        pass\n    return a\n"

    def said(line: int, old: str, new: str, sole: bool = False) -> str:
        return what_changes(Action(name="edit", path="m.py", line=line, old=old, new=new), text, sole)

    assert said(3, "<", "<=", True) == "The cause is line 3 of m.py, which reads `while a < b:`."
    assert said(3, "<", "<=") == "I change line 3 of m.py, which reads `while a < b:`."
    long = "    b = 1\n    while a < b:\n        pass\n    return a"
    assert said(2, long, long.replace("return a", "return b"), True).startswith("The cause is line 5 of m.py")
    assert said(2, long, long.replace("b = 1", "b = 2").replace("return a", "return b")) == "I change lines 2 and 5 of m.py."
    assert said(2, long, "    return a") == "I take out lines 2 to 4 of m.py."
    assert said(2, "    b = 1\n", "", True) == "I take out line 2 of m.py, which reads `b = 1`."
    assert said(2, "", "    c = 1", True) == "I add a line before line 2 of m.py."
    assert said(6, "", "c = 1\nd = 1", True) == "I add 2 lines at the end of m.py."
    assert what_changes(Action(name="create", path="n.py", text="a"), "") == "I add the file n.py."


def test_many_changes_of_a_file_are_joined_and_tests_are_run_between_files(judge: Judge) -> None:
    rows = [f"a{number} = {number}" for number in range(60)]
    other = [f"{row}0" if number % 4 == 0 else row for number, row in enumerate(rows)]
    before, after = "\n".join(rows) + "\n", "\n".join(other) + "\n"
    task = repaired(CODE, ONE, {f"m{number}.py": (before, after) for number in range(3)})
    for grain in GRAINS:
        steps, since = told(task, judge, grain), 0
        for what, _ in steps:
            since = since + 1 if what.startswith("edit") else 0 if what.startswith("test") else since
            assert since <= MOST_BLIND
        assert sum(what.startswith("edit") for what, _ in steps) < 1 + 3 * 15


def test_a_file_is_edited_from_its_end_only_where_numbers_would_shift(judge: Judge) -> None:
    shifting, fixed = told(file_task(), judge), told(repaired(CODE, ONE.replace("y // 3", "y / 3")), judge)
    assert [what for what, _ in shifting if what.startswith("edit")] == ["edit calc.py:6", "edit calc.py:2"]
    plan = "I change calc.py in 2 places, from its end to its start, so that the numbers of its lines hold."
    assert plan in shifting[3][1].split("\n")
    assert [what for what, _ in fixed if what.startswith("edit")] == ["edit calc.py:2", "edit calc.py:7"]
    assert "I change calc.py in 2 places." in fixed[3][1].split("\n")


def test_a_file_that_is_too_long_to_be_shown_is_searched_and_seen_in_part(judge: Judge) -> None:
    filler = "".join(f"# {'x' * 60} {number}\n" for number in range(600))
    steps = told(repaired(CODE + filler, ONE + filler), judge, order="look_first")
    assert [what for what, _ in steps][:4] == ["test :0", "view tests/test_calc.py:0", "search :0", "view calc.py:2"]


def test_a_test_that_a_class_has_from_another_file_is_found() -> None:
    mixin = "class Mixin:\n    @staticmethod\n    def other(): pass\n\n    @skip\n    def test_a(self):\n        pass\n"
    files = {
        "tests/__init__.py": mixin,
        "tests/test_m.py": "from . import Mixin\n\n\nclass TestM(Mixin):\n    def test_b(self): pass\n",
    }
    assert place_of_test(files, "tests/test_m.py::TestM::test_b[1]") == ("tests/test_m.py", 5, 5)
    assert place_of_test(files, "tests/test_m.py::TestM::test_a") == ("tests/__init__.py", 5, 7)
    assert place_of_test(files, "tests/test_m.py::TestM::test_c") is None
    assert place_of_test({"t.py": "def f(:"}, "t.py::test_a") is None


def test_an_import_that_fails_is_shown_quoted_and_looked_at(judge: Judge) -> None:
    broken = CODE.replace("def third", "def fourth")
    suites = (file_task().suites[0].model_copy(update={"fail_to_pass": file_task().suites[0].expected, "pass_to_pass": ()}),)
    task = repaired(broken, ONE)
    steps = told(task.revised(suites=suites), judge)
    error = "cannot collect tests/test_calc.py: ImportError: cannot import name 'third' from 'calc'"
    assert steps[1][0] == "view tests/test_calc.py:0" and error in steps[3][1]


def test_a_question_is_about_what_it_names_and_what_that_imports() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": "from .b import g\nfrom pkg import c\n",
        "pkg/b.py": "import os\n",
        "pkg/c.py": "",
        "pkg/d.py": f"# {'x' * 20_000}",  # no small workspace
        "e.py": "import pkg.a\nf()\n",
        "answer.py": "def answer(): return None\n",
    }
    task = Task.make(
        Kind.QA, instruction="What does `pkg.a.f(1)` of pkg/a.py give?", files=files, editable=("answer.py",), suites=(),
        provenance=Provenance(source="t"),
    )  # fmt: skip
    assert subjects(task) == ["pkg/a.py", "e.py", "pkg/b.py", "pkg/c.py", "pkg/__init__.py"]
    assert "pkg/d.py" in subjects(task.model_copy(update={"hide_instruction": True}))
    assert subjects(file_task()) == []


def test_what_the_model_solution_thinks_is_said_once(judge: Judge) -> None:
    task = repaired(CODE, ONE.replace("y // 3", "y / 3"))
    one = ModelStep(thought="The floor is wrong.", action=Action(name="edit", path="calc.py", line=9, new="x"))
    thoughts = [thought for _, thought in told(task.model_copy(update={"solution": (one,)}), judge)]
    assert sum("The floor is wrong." in thought for thought in thoughts) == 1 and "The floor is wrong." in thoughts[3]
    each = tuple(
        ModelStep(thought=f"Fault {line}.", action=Action(name="edit", path="calc.py", line=line, old="//", new="/"))
        for line in (2, 7)
    )
    thoughts = [thought for _, thought in told(task.model_copy(update={"solution": each}), judge)]
    assert "Fault 2." in thoughts[3] and "Fault 7." in thoughts[4] and "Fault 7." not in thoughts[3]


def test_grains_differ_in_what_an_edit_changes() -> None:
    narrow, lines, span = (list(changes(file_task(), grain)) for grain in ("narrow", "lines", "span"))
    assert len(span) == 1 < len(lines) == len(narrow)
    assert ("//", "/") in [(edit.old, edit.new) for edit in narrow]
    assert ("    return x // 2", "    return x / 2") in [(edit.old, edit.new) for edit in lines]


@given(before=LINES, after=LINES, ends=st.tuples(st.booleans(), st.booleans()), grain=st.sampled_from(GRAINS))
def test_the_edits_of_any_change_give_it(before: list[str], after: list[str], ends: tuple[bool, bool], grain: str) -> None:
    old, new = ("\n".join(rows) + ("\n" if rows and end else "") for rows, end in zip((before, after), ends, strict=True))
    task = file_task().model_copy(update={"files": {"m.py": old}, "reference": {"m.py": new}})
    state = dict(task.files)
    try:
        for edit in changes(task, grain):  # type: ignore[arg-type]
            state = apply_edit(state, edit)
    except PatchError:
        return
    assert state == task.reference


def test_ways_are_many_and_the_same_each_time(judge: Judge) -> None:
    task = file_task()
    assert plans(task, 9) == plans(task, 9) and len(set(plans(task, 9))) == 9
    made, problem = replays(task, judge, 5)
    assert len(made) == len({one.id for one in made}) == 5 and problem == ""
    small = function_task()
    first, *_ = replays(small, judge, 2)[0]
    assert [one.action.name for one in first.steps if one.action] == ["view", "test", "edit", "test", "submit"]
    assert first.policy.model == "scripted/reference"


def test_what_cannot_be_told_says_why(judge: Judge) -> None:
    gone = file_task(reference={"tests/test_calc.py": TEST, "other.py": "x = 1\n"})
    assert replays(gone, judge, 3) == ([], "calc.py is removed, for which there is no action")
    many = file_task(reference={**file_task().files, **{f"m{n}.py": "x = 1\n" for n in range(9)}})
    assert replays(many, judge, 1)[1] == "the solution changes more than 8 files"
    with pytest.raises(DataError, match="no reference"):
        replay(file_task().model_copy(update={"reference": None}), judge, Plan("look_first", "lines"))
