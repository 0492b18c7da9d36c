"""Bugs that are put into a repository become tasks if tests notice them every time, and everything else is refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from history import MIT, History

from swefuse.errors import DataError, UserError
from swefuse.records import Outcome, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.mutate import Order, Wanted, plan, run, survey_all, try_bugs
from swefuse.tasks.sites import Flaw, flaws, injected, sites
from swefuse.tasks.store import load_tasks
from swefuse.tasks.survey import Refusal
from swefuse.tasks.symptoms import clean, instruction
from swefuse.tasks.workers import init_worker
from swefuse.verify import Candidate, verify_many
from swefuse.workspace import apply_edit

CALC = '''def total(xs):
    """Their sum."""
    found = 0
    for x in xs:
        found += x
    return found


def count_down(n):
    while n > 0:
        n -= 1
    return n


def unused(x):
    return x + 1


def start(x):
    return x > 0


READY = start(1)
assert READY
'''
TILL = """from shop.calc import total


class Till:
    def __init__(self):
        self.items = []

    @property
    def sum(self):
        return total(self.items) + 0

    def put(self, price, count=1):
        for _ in range(count):
            self.items.append(price)
        return len(self.items)
"""
TEST_CALC = """import os

import pytest

from shop.calc import count_down, total


def test_total():
    assert total([1, 2]) == 3


def test_nothing():
    assert total([]) == 0


def test_count_down():
    assert count_down(3) == 0


@pytest.mark.parametrize("x", [os.urandom(4).hex()])
def test_other_each_time(x):
    pass
"""
TEST_TILL = """from tests.prices import CHEAP

from shop.till import Till


def test_put():
    till = Till()
    assert till.put(CHEAP, 2) == 2
    assert till.sum == 2 * CHEAP


def test_new():
    assert Till().items == []
"""
FILES: dict[str, str | bytes | None] = {
    "LICENSE": MIT, "src/shop/__init__.py": "", "src/shop/calc.py": CALC, "src/shop/till.py": TILL, "tests/__init__.py": "",
    "tests/prices.py": "CHEAP = 5\n", "tests/test_calc.py": TEST_CALC, "tests/test_till.py": TEST_TILL,
    "tests/test_needs.py": "import no_such_module\n", "tests/test_fails.py": "def test_no():\n    assert False\n",
}  # fmt: skip
CALC_PATH, TILL_PATH = "src/shop/calc.py", "src/shop/till.py"
SETTINGS = Wanted(tasks=8)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> History:
    made = History(tmp_path_factory.mktemp("git") / "shop")
    made.commit("begin", FILES)
    init_worker()
    return made


@pytest.fixture(scope="module")
def mutated(shop: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mutated")
    make(shop, out, SETTINGS)
    return out


def make(shop: History, out: Path, settings: Wanted, executor: InlineExecutor | None = None) -> dict[str, Any]:
    executor = executor or InlineExecutor()
    out.mkdir(exist_ok=True)
    return run(survey_all([shop.folder], out, settings, executor), out, settings, executor)


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "attempts.jsonl").read_text().splitlines()]


def bugs(task: Task) -> list[Flaw]:
    return [Flaw(**json.loads(text)) for name, text in sorted(task.provenance.parameters.items()) if name.startswith("bug")]


def test_a_bug_is_a_task_that_the_verifier_confirms(shop: History, mutated: Path) -> None:
    tasks = load_tasks(mutated / "tasks.jsonl")
    assert len(tasks) == 8
    both = [Candidate(task, files, fresh=True) for task in tasks for files in (task.reference or {}, task.files)]
    verdicts = list(verify_many(both, InlineExecutor()))
    for task, reference, initial in zip(tasks, verdicts[::2], verdicts[1::2], strict=True):
        assert (reference.outcome, initial.outcome) == (Outcome.PASSED, Outcome.FAILED)
        (suite,) = task.suites
        assert {id_ for id_, result in initial.tests.items() if result.outcome != "passed"} == set(suite.fail_to_pass)
        assert suite.fail_to_pass and suite.pass_to_pass and not [id_ for id_ in suite.expected if "each_time" in id_]
        assert task.reference is not None and task.reference[CALC_PATH] == CALC
        origin = task.provenance
        assert (origin.source, origin.repo, origin.commit, origin.licence) == ("mutation", "shop", shop.sha["begin"], "MIT")
        (bug,) = bugs(task)
        assert (bug.function, bug.kind) == (origin.function, origin.operator) and task.editable == (bug.path,)
        assert set(task.protected) == {path for path in FILES if path.startswith("tests/")}, "helpers of tests too"


def test_only_functions_that_tests_reach_are_broken_and_methods_are(mutated: Path) -> None:
    functions = {row["function"] for row in rows(mutated)}
    assert functions <= {f"{CALC_PATH}:{name}" for name in ("total", "count_down")} | {
        f"{TILL_PATH}:Till.{name}" for name in ("__init__", "sum", "put")
    }
    assert f"{TILL_PATH}:Till.sum" in functions, "a decorator stands before it"
    assert {row["tests"] for row in rows(mutated) if row["function"].endswith("put")} <= {"tests/test_till.py", ""}


def test_the_steps_of_the_solution_lead_to_the_reference(mutated: Path) -> None:
    for task in load_tasks(mutated / "tasks.jsonl"):
        state = dict(task.files)
        for step in task.solution:
            state = apply_edit(state, step.action)
        assert state == task.reference


def test_the_instruction_tells_what_fails_and_not_where(mutated: Path) -> None:
    tasks = load_tasks(mutated / "tasks.jsonl")
    for task in tasks:
        assert task.suites[0].fail_to_pass[0] in task.instruction
        assert "src/" not in task.instruction and "/box" not in task.instruction and "line" not in task.instruction
        assert all(bug.old.strip() not in task.instruction for bug in bugs(task))
    assert [task for task in tasks if "      assert " in task.instruction]


def test_files_that_give_nothing_are_counted(shop: History, mutated: Path, tmp_path: Path) -> None:
    def tried(order: Order) -> None:
        raise AssertionError(f"tried again: {order}")

    class Idle(InlineExecutor):
        def map(self, fn: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
            return map(tried, items)

    before = (mutated / "tasks.jsonl").read_bytes(), (mutated / "attempts.jsonl").read_bytes()
    summary = make(shop, mutated, SETTINGS, Idle())
    assert summary["tasks"] == 8 and summary["tried"] == len(rows(mutated)), "nothing was tried again"
    assert summary["refused"][Refusal.MISSING_MODULE] == summary["refused"][Refusal.NONE_PASSES] == 1
    assert ((mutated / "tasks.jsonl").read_bytes(), (mutated / "attempts.jsonl").read_bytes()) == before
    barred = make(shop, tmp_path, Wanted(licences=("BSD",)))
    assert barred == {"tasks": 0, "tried": 0, "refused": {Refusal.LICENCE: 1}}


class Ahead(InlineExecutor):
    """Draws items ahead of their results, as processes do."""

    def map(self, fn: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        source = iter(items)
        while part := list(islice(source, 5)):
            yield from [fn(item) for item in part]


def test_same_seed_same_tasks_however_they_are_made(shop: History, mutated: Path, tmp_path: Path) -> None:
    wanted = [task.id for task in load_tasks(mutated / "tasks.jsonl")]
    make(shop, tmp_path / "ahead", SETTINGS, Ahead())
    assert [task.id for task in load_tasks(tmp_path / "ahead" / "tasks.jsonl")] == wanted
    assert [row["key"] for row in rows(tmp_path / "ahead")] == [row["key"] for row in rows(mutated)]
    make(shop, tmp_path / "parts", Wanted(tasks=3), Ahead())
    make(shop, tmp_path / "parts", SETTINGS)
    assert [task.id for task in load_tasks(tmp_path / "parts" / "tasks.jsonl")] == wanted
    make(shop, tmp_path / "other", Wanted(tasks=8, seed=1))
    assert [task.id for task in load_tasks(tmp_path / "other" / "tasks.jsonl")] != wanted


def test_several_bugs_are_each_noticed_and_lie_in_different_functions(shop: History, mutated: Path, tmp_path: Path) -> None:
    make(shop, tmp_path, Wanted(tasks=3, bugs=2))
    tasks = load_tasks(tmp_path / "tasks.jsonl")
    assert len(tasks) == 3
    (known,) = {one.commit: one for one in survey_all([shop.folder], tmp_path, SETTINGS, InlineExecutor())}.values()
    surveys = {one.tests: one for one in known.surveys}
    for task in tasks:
        found = bugs(task)
        assert len({(bug.path, bug.function) for bug in found}) == 2 and len(task.solution) == 2
        assert "more than one fault" in task.instruction and task.provenance.operator == "+".join(bug.kind for bug in found)
        for bug in found:
            order = Order(shop.folder, known.commit, "", "f", (bug,), (surveys[task.suites[0].files[0]],))
            assert try_bugs(order).failing, f"{bug} alone is noticed"


@pytest.mark.parametrize(
    ("flaw", "refusal"),
    [
        (Flaw(CALC_PATH, "count_down", "constant", 11, "        n -= 1", "        n -= 0"), Refusal.HANGS),
        (Flaw(CALC_PATH, "start", "comparison", 20, "    return x > 0", "    return x < 0"), Refusal.NOT_COLLECTED_WITH_BUG),
        (Flaw(CALC_PATH, "total", "constant", 3, "    found = 0", "    found = 1"), ""),
        (Flaw(CALC_PATH, "unused", "constant", 16, "    return x + 1", "    return x + 2"), Refusal.NOT_NOTICED),
        (Flaw(CALC_PATH, "total", "return", 6, "    return found", "    import os; os._exit(0)"), Refusal.HANGS),
        (Flaw(CALC_PATH, "total", "return", 6, "    return found", "    import os; return os.urandom(2)[0] % 2"), ""),
        (Flaw(CALC_PATH, "total", "variable", 99, "no such line", "x"), Refusal.ERROR),
    ],
)  # fmt: skip
def test_bugs_that_are_no_tasks_have_a_reason(shop: History, mutated: Path, flaw: Flaw, refusal: str) -> None:
    (project,) = survey_all([shop.folder], mutated, SETTINGS, InlineExecutor())
    files = tuple(one for one in project.surveys if one.tests == "tests/test_calc.py")
    found = try_bugs(Order(shop.folder, project.commit, "", "f", (flaw,), files))
    if "urandom" in flaw.new:  # what fails in one run only decides nothing
        assert (
            found.refusal in ("", Refusal.NOT_STEADY, Refusal.NOT_NOTICED) and "tests/test_calc.py::test_total" not in found.passing
        )
    else:
        assert found.refusal == refusal
        assert bool(found.failing) == (not refusal)


def test_a_bug_with_which_all_fail_and_one_of_two_that_is_not_noticed(shop: History, mutated: Path) -> None:
    (project,) = survey_all([shop.folder], mutated, SETTINGS, InlineExecutor())
    files = tuple(one for one in project.surveys if one.tests == "tests/test_till.py")
    start = Flaw(TILL_PATH, "Till.__init__", "statement", 6, "        self.items = []", "        self.items = None")
    idle = Flaw(CALC_PATH, "unused", "constant", 16, "    return x + 1", "    return x + 2")
    put = Flaw(TILL_PATH, "Till.put", "boundary", 13, "        for _ in range(count):", "        for _ in range(count - 1):")
    for flaws_, refusal in (((start,), Refusal.ALL_FAIL), ((put, idle), Refusal.PART_NOT_NOTICED), ((put,), "")):
        assert try_bugs(Order(shop.folder, project.commit, "", "f", flaws_, files)).refusal == refusal


def test_a_bare_repository_at_another_revision(shop: History, tmp_path: Path) -> None:
    shop.git("clone", "--quiet", "--bare", str(shop.folder), str(tmp_path / "bare"))
    with pytest.raises(UserError, match="has no revision v9"):
        survey_all([tmp_path / "bare"], tmp_path, Wanted(revision="v9"), InlineExecutor())
    (project,) = survey_all([tmp_path / "bare"], tmp_path, Wanted(revision="main"), InlineExecutor())
    assert project.commit == shop.sha["begin"] and next(plan(project, SETTINGS)).files
    (tmp_path / "surveys.jsonl").write_text("{")
    with pytest.raises(DataError, match=r"surveys\.jsonl is damaged"):
        survey_all([tmp_path / "bare"], tmp_path, SETTINGS, InlineExecutor())


def test_every_flaw_of_a_method_parses_is_another_text_and_can_be_mended() -> None:
    found = {site.name: flaws(TILL, site) for site in sites(TILL_PATH, TILL)}
    assert found.keys() == {"Till.__init__", "Till.sum", "Till.put"} and found["Till.sum"] and found["Till.put"]
    for flaw in (flaw for one in found.values() for flaw in one):
        broken = injected({TILL_PATH: TILL}, (flaw,))
        compile(broken[TILL_PATH], TILL_PATH, "exec")
        assert broken[TILL_PATH] != TILL and apply_edit(broken, flaw.mending)[TILL_PATH] == TILL
    both = (found["Till.sum"][0], found["Till.put"][-1])
    state = injected({TILL_PATH: TILL}, both)
    for flaw in sorted(both, key=lambda one: one.line):
        state = apply_edit(state, flaw.mending)
    assert state[TILL_PATH] == TILL


def test_bugs_that_give_themselves_away_come_last(shop: History, mutated: Path) -> None:
    (project,) = survey_all([shop.folder], mutated, SETTINGS, InlineExecutor())
    for seed in range(3):
        orders = list(plan(project, Wanted(per_function=9, seed=seed)))
        put = [order.flaws[0] for order in orders if order.function.endswith("Till.put")]
        odd = [len(re.findall(r"\bself\b", flaw.old)) != len(re.findall(r"\bself\b", flaw.new)) for flaw in put]
        assert True in odd and False in odd and odd == sorted(odd)
        total = [order.flaws[0] for order in orders if order.function.endswith("total")]
        assert not total[-1].new and total[-1].old == "    found = 0\n", "a NameError would tell"
        assert len({flaw.kind for flaw in total[:3]}) == 3, "no kind comes again before the others had their turn"


def test_a_function_that_cannot_be_looked_at_alone_is_left_alone() -> None:
    text = 'class A:\n    def f(self, x):\n        y = """\nleft of it\n"""\n        return x + 1\n'
    (site,) = sites("a.py", text)
    assert flaws(text, site) == []
    assert sites("a.py", "def f(:\n") == []


def test_messages_lose_what_says_too_much_or_nothing() -> None:
    said = "TypeError: <A object at 0x7f3a1c> in /box/src/shop/calc.py:12, line 7\n/tmp/pytest-1/x.txt is '/a/b'"
    assert clean(said) == "TypeError: <A object at 0x…> in calc.py\nx.txt is '/a/b'"
    assert clean("\n".join("abcdefgh")).endswith("f …") and len(clean("x" * 900)) < 500
    text = instruction(["t::a", "t::b", "t::c", "t::d", "t::e", "t::f"], [("t::c", "E: no\nx")], 1)
    assert text.startswith("These tests fail:\n- t::c\n      E: no\n      x\n- t::a\n") and "- and 1 more\n" in text
    assert instruction(["t::a"], [], 2).startswith("This test fails:\n- t::a\nThere is more than one fault.")
