"""A row becomes a task only if running it shows what it claims; everything else is refused by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from history import HALVED, History
from outside import CUT, DOUBLE, HALF, ODD_ID, ONE_ID, repaired, row, smith, windows, written

from swefuse.records import Outcome, Task
from swefuse.scale import InlineExecutor
from swefuse.tasks.formats import LAYOUTS, clones, rows_export
from swefuse.tasks.formats.bring import Choices, Order, run
from swefuse.tasks.formats.convert import Refusal
from swefuse.tasks.formats.rows import read_rows
from swefuse.tasks.store import load_tasks
from swefuse.tasks.workers import init_worker
from swefuse.verify import Candidate, Patched, verify_many

CALC = "src/shop/calc.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> History:
    return repaired(tmp_path_factory.mktemp("clones") / "shop")


def brought(made: History, out: Path, *rows: dict[str, Any], name: str = "swebench", **settings: Any) -> dict[str, Any]:
    """The summary of bringing rows in."""
    init_worker()
    found = read_rows(LAYOUTS[name], written(out / "rows.jsonl", *rows))
    chosen = Choices(**{"repos": made.folder.parent, **settings})
    return run([Order(one, chosen) for one in found], out, InlineExecutor())


def only(out: Path) -> Task:
    (task,) = load_tasks(out / "tasks.jsonl")
    return task


def test_a_row_becomes_a_task_and_the_task_the_row_again(made: History, tmp_path: Path) -> None:
    given = row(made)
    summary = brought(made, tmp_path, given)
    assert summary == {"tasks": 1, "rows": 1, "refused": {}, "which": []}
    task = only(tmp_path)
    (suite,) = task.suites
    assert (suite.fail_to_pass, suite.pass_to_pass) == ((ODD_ID,), (DOUBLE, HALF))
    assert task.instruction == given["problem_statement"] and task.editable == (CALC,)
    assert "test_odd" in task.files["tests/test_calc.py"] and task.files[CALC] != HALVED == (task.reference or {})[CALC]
    assert task.provenance.licence == "MIT" and task.provenance.commit == made.sha["begin"]
    assert task.evidence is not None and task.evidence.failing_ids == (ODD_ID,) and task.evidence.reference_passes
    (verdict,) = verify_many([Patched(task, given["patch"].encode(), "pytest")], InlineExecutor())
    assert verdict.outcome is Outcome.PASSED
    line = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert rows_export.export("swebench", [task]).lines == line


def test_patches_with_carriage_returns_survive(made: History, tmp_path: Path) -> None:
    assert brought(made, tmp_path, windows(made))["tasks"] == 1
    task = only(tmp_path)
    assert task.suites[0].expected == (ONE_ID,) and (task.reference or {})["src/shop/win.py"].count("\r\n") == 2
    (line,) = rows_export.export("swebench", [task]).lines
    assert json.loads(line)["patch"].count("\r\n") == 3


def test_a_bug_of_swesmith_is_turned_round(made: History, tmp_path: Path) -> None:
    assert brought(made, tmp_path, smith(made), name="swesmith")["tasks"] == 1
    task = only(tmp_path)
    assert (task.reference or {})[CALC] == HALVED != task.files[CALC], "the patch brings the bug in"
    assert task.provenance.commit == made.sha["repair"][:8] and task.suites[0].fail_to_pass == (ODD_ID,)
    assert "test_odd" in task.instruction, "the row has no words of its own"
    reference, initial = verify_many([Candidate(task, task.reference or {}), Candidate(task, task.files)], InlineExecutor())
    assert (reference.outcome, initial.outcome) == (Outcome.PASSED, Outcome.FAILED)
    assert rows_export.export("swesmith", [task]).exact == 1
    assert rows_export.export("swebench", [task]).refused == [(task, rows_export.NO_CLONE)]
    named = rows_export.export("swebench", [task], made.folder.parent, {"": "acme/shop"})
    assert named.refused == [(task, rows_export.OTHER_STATE)], "its bug is in no commit"


def test_ids_that_were_cut_at_a_blank_are_found_where_one_test_fits(made: History, tmp_path: Path) -> None:
    cut = [ODD_ID, "tests/test_calc.py::test_half_of[1"]
    assert brought(made, tmp_path, row(made, FAIL_TO_PASS=cut))["tasks"] == 1
    assert only(tmp_path).suites[0].fail_to_pass == (ODD_ID, "tests/test_calc.py::test_half_of[1 / 2]")
    cut[1] = "tests/test_calc.py::test_half_of[3"
    assert brought(made, tmp_path, row(made, FAIL_TO_PASS=cut))["refused"] == {Refusal.NO_SUCH_TEST.value: 1}
    assert CUT.count('"3 ') == 2


REFUSED = [
    (Refusal.LANGUAGE, {"language": "c"}),
    (Refusal.NO_TESTS, {"FAIL_TO_PASS": "[]", "PASS_TO_PASS": []}),
    (Refusal.NO_TESTS, {"FAIL_TO_PASS": ""}),
    (Refusal.TEST_NAMES, {"FAIL_TO_PASS": ["test_odd (tests.test_calc.Odd)"]}),
    (Refusal.IMAGE, {"repo": "acme/other", "image_name": "docker.io/acme/other:1"}),
    (Refusal.REPOSITORY, {"repo": "acme/other"}),
    (Refusal.REPOSITORY, {"repo": "../shop"}),
    (Refusal.COMMIT, {"base_commit": "0" * 40}),
    (Refusal.COMMIT, {"base_commit": "--all"}),
    (Refusal.PATCH, {"patch": ""}),
    (Refusal.PATCH, {"test_patch": "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n"}),
    (Refusal.NO_SUCH_TEST, {"FAIL_TO_PASS": ["tests/test_calc.py::test_gone"]}),
    (Refusal.TESTS_AGREE, {"FAIL_TO_PASS": [ODD_ID, DOUBLE], "PASS_TO_PASS": []}),
    (Refusal.HELD_FAIL, {"FAIL_TO_PASS": ["tests/test_calc.py::test_half_of[1 / 2]"], "PASS_TO_PASS": [ODD_ID]}),
]


@pytest.mark.parametrize(("reason", "changes"), REFUSED)
def test_refusals(reason: Refusal, changes: dict[str, Any], made: History, tmp_path: Path) -> None:
    summary = brought(made, tmp_path, row(made, **changes), name="swerebench")
    assert summary["refused"] == {reason.value: 1} and load_tasks(tmp_path / "tasks.jsonl") == []
    (told,) = map(json.loads, (tmp_path / "refused.jsonl").read_text().splitlines())
    assert told["reason"] == reason and told["instance"] == "acme__shop-1" and told["where"].endswith("rows.jsonl:1")
    assert summary["which"] == [told]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Refusal.REFERENCE_FAILS, "assert False"),
        (Refusal.MISSING_MODULE, "import no_such_module"),
        (Refusal.NOTHING_COLLECTED, "raise ValueError(1)"),
        (Refusal.FLAKY, "assert not SEEN\n\n\nSEEN = []\n\n\ndef test_other():\n    SEEN.append(1)"),
        (Refusal.NO_END, "import os; from shop.calc import half; half(3) == 1 and os._exit(1)"),
    ],
)
def test_what_running_shows_is_refused_by_name(reason: Refusal, text: str, made: History, tmp_path: Path) -> None:
    inside = reason in (Refusal.REFERENCE_FAILS, Refusal.FLAKY, Refusal.NO_END)
    more = "def test_more():\n    " + text if inside else f"{text}\n\n\ndef test_more():\n    pass"
    lines = f"{more}\n".splitlines()
    added = "--- /dev/null\n+++ b/tests/test_more.py\n" + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{one}\n" for one in lines)
    held = ["tests/test_more.py::test_more", *(["tests/test_more.py::test_other"] if "other" in text else [])]
    given = row(made, test_patch=row(made)["test_patch"] + added, PASS_TO_PASS=held)
    summary = brought(made, tmp_path, given, repeats=5)
    assert summary["refused"] == {reason.value: 1}, summary["which"]


def test_licences_repeated_rows_and_images(made: History, tmp_path: Path) -> None:
    assert brought(made, tmp_path, row(made), licences=("BSD",))["refused"] == {Refusal.LICENCE.value: 1}
    summary = brought(made, tmp_path, row(made), row(made, version="2.0"), licences=("MIT",))
    assert (summary["tasks"], summary["refused"]) == (1, {Refusal.REPEATED.value: 1})
    image = {"repo_name": "shop", "docker_image": "x/shop:1", "commit_hash": made.sha["begin"], "expected_output_json": "{}"}
    assert brought(made, tmp_path, image, name="r2e")["refused"] == {Refusal.ONLY_IMAGE.value: 1}
    assert brought(made, tmp_path, row(made), repos=None, licences=("BSD",))["refused"] == {Refusal.REPOSITORY.value: 1}


def test_a_second_call_keeps_what_is_proven_and_tries_the_rest_again(made: History, tmp_path: Path) -> None:
    class Counting(InlineExecutor):
        tried: Sequence[str] = ()

        def map(self, fn, items):  # type: ignore[no-untyped-def]
            self.tried = [order.row.instance for order in items]
            return map(fn, items)

    init_worker()
    found = read_rows(LAYOUTS["swebench"], written(tmp_path / "rows.jsonl", row(made), windows(made, patch="")))
    orders, counting = [Order(one, Choices(made.folder.parent)) for one in found], Counting()
    first = run(orders, tmp_path, counting)
    assert (first["tasks"], list(counting.tried)) == (1, ["acme__shop-1", "acme__shop-2"])
    before = load_tasks(tmp_path / "tasks.jsonl")
    assert run(orders, tmp_path, counting) == first and list(counting.tried) == ["acme__shop-2"]
    assert load_tasks(tmp_path / "tasks.jsonl") == before
    brought(made, tmp_path, windows(made))
    assert len(load_tasks(tmp_path / "tasks.jsonl")) == 2, "tasks of other rows stay"


@pytest.mark.parametrize("place", ["acme__shop", "acme+shop/repo", "acme+shop", "acme/shop.git", "shop.git"])
def test_clones_are_found_under_these_names(place: str, made: History, tmp_path: Path) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    made.git("clone", "--quiet", *(["--bare"] if "/" in place else []), str(made.folder), str(tmp_path / place))
    found = clones.find(tmp_path, "acme/shop")
    assert found is not None and found.path == (tmp_path / place).resolve()
    assert clones.find(tmp_path / place, "acme/shop") is None, "a folder inside of a repository is no clone"
