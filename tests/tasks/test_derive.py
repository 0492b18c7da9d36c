"""Bodies, docstrings, tests and answers of a repository become tasks that prove themselves; what does not is refused by name."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from history import MIT, History

from swefuse.errors import DataError
from swefuse.records import Kind, Outcome, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.derive import Wanted, attempt, plan, run, survey_all
from swefuse.tasks.derive_calls import told
from swefuse.tasks.derive_edits import body_taken, without_docstring, without_tests
from swefuse.tasks.derive_parts import Order, Refusal, View, view
from swefuse.tasks.derive_questions import CALLERS, DEFAULTS, DEFINED, RAISED, questions
from swefuse.tasks.proving import Refusal as Unproven
from swefuse.tasks.sites import Site, injected, sites
from swefuse.tasks.store import load_tasks
from swefuse.tasks.survey import Refusal as Unrun
from swefuse.tasks.workers import init_worker, verifier
from swefuse.workspace import apply_edit

TEXT = '''"""Texts."""

import functools


def clip(text, width, mark="…", strict=False):
    """Return at most ``width`` characters of a text; what is cut ends with the mark. ValueError for a negative width if strict.

    >>> clip("abcdef", 4)
    'abc…'
    """
    # comments tell too much
    if width < 0:
        if strict:
            raise ValueError(width)
        width = 0
    if len(text) <= width:
        return text
    return text[: width - 1] + mark


def shout(text):
    said = text.upper()
    if not said.endswith("!"):
        said += "!"
    return said


def logged(function):
    @functools.wraps(function)
    def inner(*args):
        inner.calls += 1
        return function(*args)

    inner.calls = 0
    return inner


def title(text, size=9):
    """No example of it.

    >>> 1 + 1
    2
    """
    words = clip(text, size).split(" ")
    found = [word.capitalize() for word in words]
    return " ".join(found)


class Page:
    """Lines, such as shout( "x" )."""

    def __init__(self, lines):
        self.lines = list(lines)

    @property
    def width(self):
        """The longest line."""
        longest = 0
        for line in self.lines:
            longest = max(longest, len(line))
        return longest

    def head(self, width):
        """Return the first line, at most so wide (``width``).

        >>> Page(["abc"]).head(2)
        'a…'
        """
        if not self.lines:
            raise IndexError("empty")
        return clip(self.lines[0], width)

    def unseen(self):
        a = 1
        b = 2
        return a + b
'''
TEST_TEXT = """import pytest

from kit import Page, clip, shout
from kit.text import logged, title

LINES = ["ab", "abcd"]


@pytest.fixture
def page():
    return Page(LINES)


@pytest.mark.parametrize("args, want", [(("abcdefgh", 6), "abcde…"), (("abc", 3), "abc"), (("abcd", 3, "~"), "ab~")])
def test_clip(args, want):
    assert clip(*args) == want


def test_clip_edges():
    assert clip("", 0) == ""
    assert clip("ab", 2) == "ab"
    assert clip("wrong", 2) != "wr"
    with pytest.raises(ValueError):
        clip("a", -1, strict=True)


def test_shout():
    assert shout("hey") == "HEY!"
    assert shout("hey!") == "HEY!"
    assert title("a bc def") == "A Bc Def"


# about pages
class TestPage:
    def test_width(self, page):
        assert page.width == 4

    def test_head(self, page):
        assert page.head(1) == "…"


def test_logged():
    double = logged(lambda x: 2 * x)
    assert double(2) == 4
    assert double.calls == 1
"""
FILES: dict[str, str | bytes | None] = {
    "LICENSE": MIT, "src/kit/__init__.py": "from .text import Page, clip, shout\n", "src/kit/text.py": TEXT,
    "tests/test_text.py": TEST_TEXT,
}  # fmt: skip
PATH, TESTS = "src/kit/text.py", "tests/test_text.py"
SETTINGS = Wanted(tasks=40)


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> History:
    made = History(tmp_path_factory.mktemp("git") / "kit")
    made.commit("begin", FILES)
    init_worker()
    return made


@pytest.fixture(scope="module")
def derived(kit: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("derived")
    make(kit, out, SETTINGS)
    return out


def make(kit: History, out: Path, settings: Wanted, executor: InlineExecutor | None = None) -> dict[str, Any]:
    executor = executor or InlineExecutor()
    out.mkdir(exist_ok=True)
    return run(survey_all([kit.folder], out, settings, executor), out, settings, executor)


def rows(out: Path) -> dict[tuple[str, str], str]:
    found = [json.loads(line) for line in (out / "derived.jsonl").read_text().splitlines()]
    return {(row["asked"], row["subject"].rpartition(":")[2]): row["refusal"] for row in found}


def tasks_of(out: Path, kind: Kind, asked: str = "") -> dict[str, Task]:
    found = [task for task in load_tasks(out / "tasks.jsonl") if task.kind is kind and asked in ("", task.provenance.operator)]
    return {task.provenance.function: task for task in found}


def seen(kit: History, out: Path) -> View:
    (project,) = survey_all([kit.folder], out, SETTINGS, InlineExecutor())
    return view(project)


def test_every_task_is_proven_and_its_steps_lead_to_the_reference(kit: History, derived: Path) -> None:
    tasks = load_tasks(derived / "tasks.jsonl")
    assert {task.kind for task in tasks} == set(SETTINGS.kinds)
    for task in tasks:
        assert (
            task.evidence is not None and task.evidence.repeats == 2 and task.evidence.reference_passes and task.evidence.null_fails
        )
        assert verifier().verify(task, task.reference or {}).outcome is Outcome.PASSED
        assert verifier().verify(task, task.files).outcome is not Outcome.PASSED
        state = dict(task.files)
        for step in task.solution:
            state = apply_edit(state, step.action) if step.action.name in ("edit", "create") else state
        assert state == task.reference != task.files
        origin = task.provenance
        assert (origin.source, origin.repo, origin.commit, origin.licence) == ("derived", "kit", kit.sha["begin"], "MIT")
        assert origin.function and origin.operator and (origin.body_hash or origin.operator == DEFINED)


def test_bodies_of_functions_and_methods_that_tests_reach(derived: Path) -> None:
    made = tasks_of(derived, Kind.COMPLETE)
    assert made.keys() == {"clip", "title", "Page.width", "Page.head"}
    assert {name: said for (asked, name), said in rows(derived).items() if asked == "body" and said} == dict.fromkeys(
        ("shout", "logged"), Refusal.UNSAID
    )
    task = made["clip"]
    assert "comments tell" not in task.files[PATH] and "Return at most" in task.files[PATH] and "width - 1" not in task.files[PATH]
    assert (
        f"{TESTS}::test_clip_edges" in task.suites[0].fail_to_pass
        and f"{TESTS}::TestPage::test_width" in task.suites[0].pass_to_pass
    )
    assert f"`clip` in {PATH}" in task.instruction and "docstring says" in task.instruction and f"- {TESTS}::" in task.instruction
    assert task.editable == (PATH,) and task.protected == (TESTS,)


def test_a_file_of_tests_is_to_be_written_anew(derived: Path) -> None:
    (task,) = tasks_of(derived, Kind.TESTGEN).values()
    assert task.goal == {"module": PATH, "tests": TESTS} and task.editable == (TESTS,)
    assert set(task.protected) == set(task.files) - {TESTS}
    left = task.files[TESTS]
    assert "def page" in left and "LINES" in left and "import pytest" in left
    assert "def test" not in left and "class" not in left and "about pages" not in left
    assert "`clip`, `shout`" in task.instruction and PATH in task.instruction


def test_docstrings_that_hold_what_they_must(derived: Path) -> None:
    made = tasks_of(derived, Kind.DOCGEN)
    assert made.keys() == {"clip"} and "Return at most" not in made["clip"].files[PATH]
    assert made["clip"].goal == {"function": f"{PATH}:clip"}
    said = {name: reason for (asked, name), reason in rows(derived).items() if asked == "docstring"}
    assert said == {"clip": "", "title": Unproven.REFERENCE_FAILS, "Page.head": Unproven.REFERENCE_FAILS}


def answers(derived: Path, asked: str) -> dict[str, Any]:
    made = tasks_of(derived, Kind.QA, asked)
    return {name: ast.literal_eval(task.suites[0].calls[0].want or "") for name, task in made.items()}


def test_answers_come_from_the_code(derived: Path) -> None:
    assert answers(derived, CALLERS) == {"clip": [f"{PATH}:Page.head", f"{PATH}:title"]}
    assert answers(derived, RAISED) == {"clip": ["ValueError"], "Page.head": ["IndexError"]}
    assert answers(derived, DEFAULTS) == {"clip": ["mark", "strict"]}
    assert set(answers(derived, DEFINED).values()) == {PATH}
    assert answers(derived, "value").keys() == {"clip", "shout", "title"}
    for task in tasks_of(derived, Kind.QA).values():
        assert task.files["answer.py"] == "def answer():\n    return None\n" and task.editable == ("answer.py",)
        assert "answer.py" in task.instruction and set(task.protected) == set(task.files) - {"answer.py"}
        if task.provenance.operator == "value":
            assert TESTS not in task.files, "they hold the answer"
            assert task.provenance.function not in ("shout",) or "`shout('hey" in task.instruction


def test_calls_are_told_by_asserts_rows_and_examples() -> None:
    text = {str(path): str(content) for path, content in FILES.items()}
    found = {(one.call, one.want) for one in told(text)}
    assert {("clip('abcdef', 4)", "'abc…'"), ("clip('abcd', 3, '~')", "'ab~'"), ("shout('hey')", "'HEY!'")} <= found
    assert not [call for call, want in found if call in ("clip('abc', 3)", "clip('ab', 2)")], "the answer stands in the question"
    twice = {**text, "src/kit/more.py": "def shout(x):\n    return x\n"}
    assert not [one for one in told(twice) if "shout" in one.call], "which one is not clear"


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ("def other():\n    clip = 1\n    return clip\n", CALLERS),
        ("from kit.text import clip as cut\n", CALLERS),
        ("class Box:\n    def clip(self):\n        return self.clip(1)\n", CALLERS),
        ("from kit.text import clip\n\nX = clip('a', 1)\n", CALLERS),
        ("CODE = 'clip(1)'\n", CALLERS),
        ("def clip(x):\n    return x\n", DEFINED),
        ("try:\n    from fast import clip\nexcept ImportError:\n    pass\n", DEFINED),
    ],
)
def test_questions_with_more_than_one_meaning_are_left_out(more: str, asked: str) -> None:
    text = {str(path): str(content) for path, content in FILES.items()}

    def subjects(files: dict[str, str]) -> set[str]:
        return {one.subject for one in questions(files) if one.asked == asked}

    text["tests/more/test_it.py"] = "from kit import clip\n"
    assert f"{PATH}:clip" in subjects(text)
    assert f"{PATH}:clip" not in subjects({**text, "src/kit/more.py": more})


def test_a_name_of_another_project_is_not_asked_for() -> None:
    files = {"kit/a.py": "def dumps(x):\n    return x\n", "tests/test_a.py": "from pickle import dumps\n"}
    assert not [one for one in questions(files) if one.asked == DEFINED]
    found = [one for one in questions({**files, "tests/test_a.py": "from kit import dumps\n"}) if one.asked == DEFINED]
    assert [(one.subject, one.want) for one in found] == [("kit/a.py:dumps", "'kit/a.py'")]


def test_a_module_of_classes_is_not_one_to_write_tests_of(kit: History, tmp_path: Path) -> None:
    many = History(tmp_path / "many")
    methods = "".join(f"    def m{at}(self):\n        return {at}\n\n" for at in range(3))
    code = f"def f(x):\n    return x + 1 if x > 2 else x - 1\n\n\nclass A:\n{methods}"
    test = "from m import A, f\n\n\ndef test_f():\n    assert f(1) == 0\n    assert A().m0() + A().m1() + A().m2() == 3\n"
    many.commit("begin", {"m.py": code, "test_m.py": test})
    (project,) = survey_all([many.folder], tmp_path, SETTINGS, InlineExecutor())
    assert not list(plan(view(project), Kind.TESTGEN, SETTINGS))


def test_only_plain_classes_that_a_function_raises_itself_are_asked_for() -> None:
    text = (
        "def a(x):\n    raise\n\n\ndef b(x):\n    raise x\n\n\ndef c(x):\n    raise made(x)\n\n\n"
        "def d(x):\n    def e():\n        raise KeyError\n    raise ValueError\n\n\n"
        "def f(x):\n    if x:\n        raise OSError\n    raise errors.MyError(x) from None\n"
    )
    found = {one.subject: one.want for one in questions({"m.py": text}) if one.asked == RAISED}
    assert found == {"m.py:f": "['MyError', 'OSError']"}


def test_calls_that_are_given_away_or_do_not_hold(kit: History, derived: Path) -> None:
    shown = seen(kit, derived)
    orders = {order.subject: order for order in plan(shown, Kind.QA, SETTINGS) if order.asked == "value"}
    order = orders[f"{PATH}:shout"]
    wrong = attempt(replace(order, data=("('hey',)", "'hey?'")))
    assert (wrong.refusal, wrong.detail) == (Refusal.OTHER_ANSWER, "shout('hey'): 'HEY!'")
    assert attempt(replace(order, data=("('x',)", "'X!'"))).refusal == Refusal.GIVEN_AWAY, "a docstring elsewhere has it"
    assert attempt(replace(order, subject="src/kit/none.py:f")).refusal == Unrun.ERROR
    calls = [order for order in plan(shown, Kind.QA, SETTINGS) if order.subject == f"{PATH}:shout" and order.asked == "value"]
    assert len(calls) == 1, "both calls have one answer"
    example = attempt(replace(orders[f"{PATH}:clip"], data=("('abcdef', 4)", "'abc…'"))).task
    assert example is not None and "abcdef" not in example.files[PATH], "its own docstring goes"


class Ahead(InlineExecutor):
    """Draws items ahead of their results, as processes do."""

    def map(self, fn: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        source = iter(items)
        while part := list(islice(source, 3)):
            yield from [fn(item) for item in part]


def test_same_seed_same_tasks_and_a_call_goes_on(kit: History, derived: Path, tmp_path: Path) -> None:
    wanted = Wanted(tasks=3, kinds=(Kind.QA, Kind.DOCGEN))
    make(kit, tmp_path / "one", wanted)
    ids = [task.id for task in load_tasks(tmp_path / "one" / "tasks.jsonl")]
    assert len(ids) == 4, "three questions, one docstring"
    make(kit, tmp_path / "ahead", wanted, Ahead())
    assert [task.id for task in load_tasks(tmp_path / "ahead" / "tasks.jsonl")] == ids
    make(kit, tmp_path / "parts", replace(wanted, tasks=1), Ahead())
    make(kit, tmp_path / "parts", wanted)
    assert {task.id for task in load_tasks(tmp_path / "parts" / "tasks.jsonl")} == set(ids)
    make(kit, tmp_path / "other", replace(wanted, seed=1))
    assert [task.id for task in load_tasks(tmp_path / "other" / "tasks.jsonl")] != ids

    class Idle(InlineExecutor):
        def map(self, fn: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            for item in items:
                raise AssertionError(f"tried again: {item}")
            return iter(())

    before = (derived / "tasks.jsonl").read_bytes(), (derived / "derived.jsonl").read_bytes()
    summary = make(kit, derived, SETTINGS, Idle())
    assert ((derived / "tasks.jsonl").read_bytes(), (derived / "derived.jsonl").read_bytes()) == before
    assert summary["kinds"]["complete"] == {"tasks": 4, "tried": 6} and summary["refused"][Refusal.UNSAID] == 2
    (tmp_path / "one" / "derived.jsonl").write_text("{")
    with pytest.raises(DataError, match=r"derived\.jsonl is damaged"):
        make(kit, tmp_path / "one", wanted)


def test_what_gives_nothing_is_counted(kit: History, tmp_path: Path) -> None:
    assert make(kit, tmp_path / "a", replace(SETTINGS, licences=("BSD",)))["refused"] == {Unrun.LICENCE: 1}
    bare = History(tmp_path / "bare")
    bare.commit(
        "begin", {"m.py": "def f(x):\n    return x\n", "test_m.py": "from m import f\n\n\ndef test_f():\n    assert f(1) == 1\n"}
    )
    found = make(bare, tmp_path / "b", SETTINGS)
    assert found["tasks"] == 0 and found["refused"] == {Refusal.NOTHING: 3, Refusal.FEW_BUGS: 1}


def test_a_body_without_which_all_tests_fail(kit: History, tmp_path: Path) -> None:
    small = History(tmp_path / "small")
    code = 'def f(x):\n    """Return twice x plus one, 3 for 1."""\n    y = x + x\n    y += 1\n    return y\n'
    small.commit("begin", {"m.py": code, "test_m.py": "from m import f\n\n\ndef test_f():\n    assert f(1) == 3\n"})
    make(small, tmp_path / "out", Wanted(kinds=(Kind.COMPLETE,)))
    (task,) = load_tasks(tmp_path / "out" / "tasks.jsonl")
    assert task.suites[0].fail_to_pass == ("test_m.py::test_f",) and task.suites[0].pass_to_pass == ()


def test_bodies_that_can_be_taken_out() -> None:
    def taken(text: str, name: str) -> str:
        site = next(one for one in sites("m.py", text) if one.name == name)
        flaw = body_taken(text, site)
        return injected({"m.py": text}, (flaw,))["m.py"] if flaw else ""

    stub = 'raise RuntimeError("this body is to be written")'
    assert f"def logged(function):\n    {stub}\n\n\ndef title" in taken(TEXT, "logged"), "the decorator inside goes too"
    assert f'"""The longest line."""\n        {stub}\n' in taken(TEXT, "Page.width")
    assert taken(TEXT, "Page.__init__") == "", "one line is no body to write"
    long = "def f(x):\n" + "    x += 1\n" * 41
    assert taken(long, "f") == "" and taken(long.replace("    x += 1\n", "", 1), "f")
    assert taken("def f(x): return [\n  x,\n  x,\n]\n", "f") == ""
    assert (
        taken("def f(\n    x,\n):\n    # why\n\n    x = 1\n    y = 2\n    return x\n", "f") == f"def f(\n    x,\n):\n    {stub}\n"
    )


def test_what_cannot_be_taken_out() -> None:
    site = Site("m.py", "f", 1)
    assert (
        without_docstring('def f():\n    """A."""\n', site) is None and without_docstring("def f():\n    return 1\n", site) is None
    )
    assert without_docstring('def f():\n    """A."""; return 1\n', site) is None
    assert without_docstring('def f():\n    """A."""\n    """B."""\n    return 1\n', site) is None
    assert without_docstring('def f():\n    """A.\n    """\n\n    return 1\n', site) == "def f():\n    return 1\n"
    assert without_tests("X = 1\n") is None and without_tests("def f(:\n") is None
    assert without_tests("def test_a():\n    pass\n\n\nif 1:\n    def test_b():\n        pass\n") is None
    assert without_tests("X = 1\n\n\ndef test_a():\n    pass") == "X = 1"
    assert without_tests("# a\n@mark\ndef test_a():\n    pass\n") == ""
    classes = "class A(unittest.TestCase):\n    pass\n\n\nclass Mixin:\n    def test_a(self):\n        pass\n"
    assert without_tests(f"import unittest\n\n\n{classes}\n\nX = 1\n") == "import unittest\n\n\nX = 1\n"


def test_orders_are_named_by_what_they_ask(kit: History) -> None:
    order = Order(kit.folder, "c", "MIT", "", 0, Kind.QA, "a/b.py:f", "value", ("(1,)", "2"))
    assert order.place == ("a/b.py", "f") and order.key == replace(order, seed=3, repository=Path("x")).key
    assert order.key != replace(order, data=("(1,)", "3")).key
