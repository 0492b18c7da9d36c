"""Templates become proven tasks: the same ones however many work on it, none like another, and what fails is told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from swefuse.errors import DataError, UserError
from swefuse.records import Kind, Task
from swefuse.scale import InlineExecutor, ProcessExecutor
from swefuse.tasks import catalogue
from swefuse.tasks.realise import realise
from swefuse.tasks.template import Template
from swefuse.tasks.template_help import NEW
from swefuse.tasks.workers import init_worker, verifier

NARROW = """
from swefuse.records import Kind
from swefuse.tasks.template import Template, one_of

TEMPLATE = Template(
    kind=Kind.COMPLETE, domain="numerics", instruction="Write `double`.",
    parameters={"x": one_of("value", "number")},
    files={"m.py": "def double($x):\\n    return None\\n"}, solution={"m.py": "def double($x):\\n    return 2 * $x\\n"},
    entry="m.py:double", calls=("(1,)\\n(5,)", "(0,)"),
)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wide.py").write_text(NEW)
    (tmp_path / "narrow.py").write_text(NARROW)
    return tmp_path


def ids(harvest: catalogue.Harvest) -> list[tuple[str, str]]:
    return [(task.provenance.operator, task.id) for task in harvest.tasks]


def test_the_same_tasks_come_whoever_works_and_a_call_goes_on(folder: Path, tmp_path: Path) -> None:
    wanted = catalogue.templates(["wide", "narrow"], [folder])
    inline = catalogue.make(wanted, 12, InlineExecutor(init_worker))
    with ProcessExecutor(2, init_worker, ("local",), chunk=2) as executor:
        assert ids(catalogue.make(wanted, 12, executor)) == ids(inline)
    log = tmp_path / "log.jsonl"
    catalogue.make(wanted, 5, InlineExecutor(init_worker), log=log)
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines[:4], lines[4][:50]]))
    steps: list[tuple[int, int]] = []
    again = catalogue.make(
        wanted, 12, InlineExecutor(init_worker), log=log, progress=lambda done, total: steps.append((done, total))
    )
    assert ids(again) == ids(inline) and steps[-1] == (12, 12)
    assert ids(catalogue.make(wanted, 12, InlineExecutor(init_worker), seed=1)) != ids(inline)


def test_a_template_that_gives_nothing_new_is_used_up(folder: Path) -> None:
    harvest = catalogue.make(catalogue.templates(["narrow"], [folder]), 50, InlineExecutor(init_worker))
    assert len(harvest.tasks) == 2 and harvest.used_up == ["narrow"] and harvest.repeated["narrow"] >= catalogue.GIVE_UP
    one = harvest.tasks[0]
    assert one.kind is Kind.COMPLETE and one.evidence and one.evidence.reference_passes and one.provenance.source == "template"
    (suite,) = one.suites
    assert {"(1,)", "(5,)", "(0,)"} <= {call.args for call in suite.calls}
    assert [step.action.name for step in one.solution] == ["view", "test", "edit", "test", "submit"]
    assert catalogue.capacity("narrow", str(folder / "narrow.py")) == 2


def test_a_template_that_can_never_be_proven_is_asked_no_more(folder: Path) -> None:
    (folder / "wrong.py").write_text(NEW.replace('"$bug_right"', '"$bug_wrong"'))
    harvest = catalogue.make(catalogue.templates(["wrong", "narrow"], [folder]), 40, InlineExecutor(init_worker))
    assert len(harvest.tasks) == 2 and set(harvest.used_up) == {"wrong", "narrow"}
    assert harvest.refused["wrong"].total() >= catalogue.MOST_REFUSED


def test_names_and_files_that_do_not_fit_are_told(folder: Path) -> None:
    with pytest.raises(UserError, match="there is no template 'bugfix_page'; did you mean 'bugfix_page_count'"):
        catalogue.load("bugfix_page")
    with pytest.raises(UserError, match="there is no template 'nothing'"):
        catalogue.templates(["nothing"], [folder])
    (folder / "empty.py").write_text("x = 1\n")
    with pytest.raises(DataError, match=r"empty\.py: there is no TEMPLATE"):
        catalogue.load("empty", str(folder / "empty.py"))
    (folder / "broken.py").write_text("1 / 0\n")
    with pytest.raises(DataError, match=r"broken\.py: cannot be loaded: ZeroDivisionError"):
        catalogue.load("broken", str(folder / "broken.py"))
    with pytest.raises(UserError, match="not a Python file"):
        catalogue.load("gone", str(folder / "gone.py"))


def unproven(**fields: object) -> str:
    given = {
        "kind": Kind.BUGFIX,
        "domain": "numerics",
        "instruction": "",
        "name": "t",
        "entry": "m.py:f",
        "calls": ("(1,)", "(2,)"),
    }
    files = {"files": {"m.py": "def f(x):\n    return 0\n"}, "solution": {"m.py": "def f(x):\n    return x\n"}}
    made = realise(Template(**{**given, **files, **fields}), 0)  # type: ignore[arg-type]
    assert (made.task is None) == bool(made.reason)
    return made.reason


def test_a_draw_that_proves_nothing_is_refused_with_the_reason() -> None:
    init_worker()
    fails = "from m import f\n\n\ndef test_f():\n    assert f(1) == 5\n"
    asks = {"kind": Kind.QA, "solution": {}, "calls": ("(1,)",)}
    assert unproven() == ""
    assert unproven(solution={"m.py": "def f(x):\n    return 0 * x\n"}) == "the initial state passes"
    assert unproven(tests={"test_m.py": fails}).startswith("the reference does not pass: test_m.py::test_f")
    assert unproven(solution={"m.py": "def f(x:\n"}).startswith("m.py, line 1")
    assert unproven(solution={"m.py": "import random\n\n\ndef f(x):\n    return object()\n"}).startswith("fewer than two calls")
    assert unproven(**asks, files={"m.py": "def f(x):\n    return None\n"}).startswith("the answer is None")
    assert unproven(**asks, ask=lambda files, values: object()).endswith("is no literal")
    assert unproven(**asks, files={"m.py": "def f(x):\n    return x + 1\n"}) == ""
    verifier().close()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", list(Kind))
def test_the_catalogue_that_comes_along_is_proven(kind: Kind) -> None:
    wanted = catalogue.templates(kinds=[kind])
    assert len(wanted) >= 5
    with ProcessExecutor(2, init_worker, ("local",), chunk=1) as executor:
        harvest = catalogue.make(wanted, 2 * len(wanted), executor)
    found = Counter(task.provenance.operator for task in harvest.tasks)
    refused = sum(reasons.total() for reasons in harvest.refused.values())  # others take their turn
    assert set(found) == set(wanted) and len(harvest.tasks) == 2 * len(wanted) and refused <= 2, harvest.refused
    for task in harvest.tasks:
        assert Task.model_validate_json(task.model_dump_json()) == task
        assert task.kind is kind and task.instruction and task.reference != task.files and task.solution
