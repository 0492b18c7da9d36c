"""Repairs in a history become tasks that have shown what they claim, and everything else is refused by name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from history import History, shop

from swefuse.errors import DataError, UserError
from swefuse.records import Outcome, Task
from swefuse.sandbox import environments
from swefuse.scale import InlineExecutor
from swefuse.tasks.attempts import Refusal, strays
from swefuse.tasks.commits import candidates
from swefuse.tasks.git import Repository
from swefuse.tasks.mine import Selection, run
from swefuse.tasks.store import load_tasks, save_tasks
from swefuse.tasks.workers import init_worker
from swefuse.verify import Candidate, verify_many
from wheels import wheel

ODD, TEXT = "fix half of odd numbers", "fix double of text"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return shop(tmp_path_factory.mktemp("git") / "shop")


@pytest.fixture(scope="module")
def mined(history: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mined")
    init_worker()
    run([history.folder], out, Selection(), InlineExecutor())
    return out


def named(mined: Path) -> dict[str, Task]:
    return {task.provenance.parameters["subject"]: task for task in load_tasks(mined / "tasks.jsonl")}


def test_candidates_are_repairs_with_source_and_tests(history: History) -> None:
    found = [commit.subject for commit in candidates(Repository(history.folder).commits())]
    assert found == [TEXT, "fix a crash", "fix what needs a module", "fix a comment only", ODD], "the newest first"
    assert [c.subject for c in candidates(Repository(history.folder).commits(since="2024-01-09"))] == [TEXT]


def test_a_repair_is_a_task_that_the_verifier_confirms(history: History, mined: Path) -> None:
    tasks = named(mined)
    assert tasks.keys() == {ODD, TEXT}
    odd = tasks[ODD]
    (suite,) = odd.suites
    assert suite.fail_to_pass == ("tests/test_calc.py::test_odd",)
    assert set(suite.pass_to_pass) == {"tests/test_calc.py::test_double", "tests/test_calc.py::test_half"}
    assert odd.editable == ("src/shop/calc.py",) and odd.protected == ("tests/test_calc.py",)
    assert odd.provenance.commit == history.sha[ODD] and odd.provenance.licence == "MIT"
    assert odd.evidence is not None and (odd.evidence.repeats, odd.evidence.flake_rate) == (2, 0.0)
    assert "test_odd" in odd.instruction and "src/shop/calc.py" not in odd.instruction, "where the fault lies is not told"
    init_worker()
    for task in tasks.values():
        reference, initial = verify_many([Candidate(task, task.reference or {}), Candidate(task, task.files)], InlineExecutor())
        assert (reference.outcome, initial.outcome) == (Outcome.PASSED, Outcome.FAILED)
        assert {id_ for id_, result in initial.tests.items() if result.outcome != "passed"} == set(task.suites[0].fail_to_pass)


def test_what_a_build_would_write_is_supplied_and_bytes_stay_bytes(mined: Path) -> None:
    task = named(mined)[ODD]
    assert 'version = "9999.0"' in task.files["src/shop/_version.py"]
    assert "Name: the-shop" in task.files["the_shop-9999.0.dist-info/METADATA"]
    assert task.files["logo.bin"].encode("utf-8", "surrogateescape") == b"\xff\xfe\0"
    assert not [path for path in task.files if ".git" in Path(path).parts]


def test_a_test_whose_id_is_another_in_each_run_decides_nothing(mined: Path) -> None:
    task = named(mined)[TEXT]
    assert task.suites[0].expected == ("tests/test_text.py::test_text",)
    assert task.evidence is not None and task.evidence.flake_rate > 0
    rows = [json.loads(line) for line in (mined / "attempts.jsonl").read_text().splitlines()]
    (row,) = (row for row in rows if row["subject"] == TEXT)
    assert len(row["dropped"]) == 2 and all("test_r[" in id_ for id_ in row["dropped"])


def test_refusals_have_a_reason_and_a_detail(mined: Path) -> None:
    rows = {row["subject"]: row for row in map(json.loads, (mined / "attempts.jsonl").read_text().splitlines())}
    assert rows["fix a comment only"]["refusal"] == Refusal.TESTS_AGREE
    assert rows["fix what needs a module"]["refusal"] == Refusal.MISSING_MODULE
    assert "no_such_module" in rows["fix what needs a module"]["detail"]
    assert rows["fix a crash"]["refusal"] == Refusal.NO_END, "test_other was not reached, which does not mean that it failed"


def test_a_second_call_tries_nothing_again(history: History, mined: Path) -> None:
    def refuse(order: object) -> None:
        raise AssertionError("tried again")

    class Idle(InlineExecutor):
        def map(self, fn, items):  # type: ignore[no-untyped-def]
            return map(refuse, items)

    before = (mined / "tasks.jsonl").read_bytes()
    assert run([history.folder], mined, Selection(), Idle())["tasks"] == 2
    assert (mined / "tasks.jsonl").read_bytes() == before


def test_other_licences_are_left_alone(history: History, tmp_path: Path) -> None:
    summary = run([history.folder], tmp_path, Selection(licences=("BSD",)), InlineExecutor(init_worker))
    assert summary == {"tasks": 0, "tried": 5, "refused": {Refusal.LICENCE.value: 5}}


def test_what_is_no_history_is_told_so(history: History, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no git repository"):
        Repository(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="has no commit"):
        Repository(History(tmp_path / "new").folder)
    history.git("clone", "--quiet", "--depth=1", f"file://{history.folder}", str(tmp_path / "shallow"))
    with pytest.raises(UserError, match="shallow clone"):
        run([tmp_path / "shallow"], tmp_path, Selection(), InlineExecutor())
    history.git("clone", "--quiet", "--bare", str(history.folder), str(tmp_path / "bare"))
    assert len(list(Repository(tmp_path / "bare").commits())) == len(history.sha) - 1, "the first has no parent"


def test_contents_are_kept_once_and_a_missing_or_wrong_one_is_named(mined: Path, tmp_path: Path) -> None:
    tasks = list(named(mined).values())
    save_tasks(tmp_path / "tasks.jsonl", tasks)
    assert load_tasks(tmp_path / "tasks.jsonl") == tasks
    assert (tmp_path / "tasks.jsonl").stat().st_size < 10_000
    (tmp_path / "tasks.blobs").write_bytes(b"no database, but long enough to look like a file of some kind")
    with pytest.raises(DataError, match=r"tasks.blobs: cannot be read"):
        load_tasks(tmp_path / "tasks.jsonl")
    (tmp_path / "tasks.blobs").unlink()
    with pytest.raises(DataError, match=r"tasks.blobs: this file belongs to the tasks and is missing"):
        load_tasks(tmp_path / "tasks.jsonl")
    save_tasks(tmp_path / "other.jsonl", tasks[:1])
    (tmp_path / "other.blobs").rename(tmp_path / "tasks.blobs")
    with pytest.raises(DataError, match=r"tasks.jsonl:2: .*does not hold the content"):
        load_tasks(tmp_path / "tasks.jsonl")


def test_another_environment_is_tried_where_the_tests_cannot_be_collected(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEFUSE_ENVIRONMENTS", str(tmp_path / "environments"))
    (tmp_path / "environments" / "with-it").mkdir(parents=True)
    (tmp_path / "environments" / "with-it" / "no_such_module.py").touch()
    out = tmp_path / "out"
    out.mkdir()
    executor = InlineExecutor(init_worker)
    assert run([history.folder], out, Selection(environments=("with-it",)), executor)["tasks"] == 3
    task = named(out)["fix what needs a module"]
    assert task.evidence is not None and task.evidence.environment == "with-it"
    (found,) = verify_many([Candidate(task, task.reference or {})], executor)
    assert found.outcome is Outcome.PASSED
    own = task.model_copy(update={"evidence": task.evidence.model_copy(update={"environment": ""})})
    (lost,) = verify_many([Candidate(own, task.reference or {})], executor)
    assert lost.outcome is Outcome.FAILED


def test_tests_that_the_project_leaves_out_are_not_run(tmp_path: Path) -> None:
    history = History(tmp_path / "shop")
    slow = "import pytest\nfrom calc import half\n\n\n@pytest.mark.stress\ndef test_long():\n    assert half(3) == 1.5\n"
    test = slow + "\n\ndef test_half():\n    assert half(3) == 1.5\n"
    options = '[tool.pytest.ini_options]\naddopts = "-m \'not stress\'"\nmarkers = ["stress: long"]\n'
    history.commit("begin", {"calc.py": "def half(x):\n    return x // 2\n", "pyproject.toml": options})
    history.commit("fix half", {"calc.py": "def half(x):\n    return x / 2\n", "test_calc.py": test})
    run([history.folder], tmp_path, Selection(), InlineExecutor())
    (task,) = load_tasks(tmp_path / "tasks.jsonl")
    assert task.suites[0].expected == ("test_calc.py::test_half",)


def test_all_tests_can_be_run_and_helpers_of_tests_are_protected(history: History, tmp_path: Path) -> None:
    run([history.folder], tmp_path, Selection(all_tests=True), InlineExecutor())
    (odd,) = (task for task in load_tasks(tmp_path / "tasks.jsonl") if task.provenance.parameters["subject"] == ODD)
    assert len(odd.suites[0].files) >= 1 and set(odd.suites[0].files) <= set(odd.protected)
    assert {path for path in odd.files if path.startswith("tests/") and path.endswith(".py")} == set(odd.protected)


def test_what_lies_in_a_submodule_is_told(tmp_path: Path) -> None:
    history = History(tmp_path / "shop")
    history.commit("begin", {"calc.py": "from vendored import half\n"})
    history.git("update-index", "--add", "--cacheinfo", f"160000,{history.sha['begin']},vendored")
    history.git("commit", "--quiet", "--message", "a submodule")
    history.git("checkout", "--quiet", "--", ".")
    (history.folder / "vendored").mkdir(exist_ok=True)
    test = "from calc import half\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
    for path, text in {"calc.py": "from vendored import half  # fixed\n", "test_calc.py": test}.items():
        (history.folder / path).write_text(text)
    history.git("add", "calc.py", "test_calc.py")
    history.git("commit", "--quiet", "--message", "fix half")
    counts = run([history.folder], tmp_path, Selection(), InlineExecutor())
    assert counts["refused"] == {Refusal.SUBMODULE.value: 1}
    (row,) = [json.loads(line) for line in (tmp_path / "attempts.jsonl").read_text().splitlines()]
    assert row["detail"].startswith("vendored; ")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://code.example/pallets/click.git", "pallets/click"),
        ("git@code.example:pallets/click", "pallets/click"),
        ("/srv/clones/click", "shop"),
        ("file:///srv/clones/click", "shop"),
        ("", "shop"),
    ],
)
def test_a_repository_is_named_as_it_was_cloned(tmp_path: Path, url: str, name: str) -> None:
    history = History(tmp_path / "shop")
    history.commit("begin", {"a.py": ""})
    if url:
        history.git("remote", "add", "origin", url)
    assert Repository(history.folder).name == name


def test_a_name_that_holds_the_time_is_not_taken_for_a_test_that_fails() -> None:
    expected = ["t.py::a[10:00:01]", "t.py::b[x]", "t.py::c", "t.py::d[1]"]
    assert strays(expected, ["t.py::a[10:00:02]", "t.py::b[x]"]) == {"t.py::a[10:00:01]"}
    assert strays(expected, ["t.py::a[10:00:01]"]) == set()
    assert strays(expected, []) == set()


def test_a_module_that_tests_lack_is_added_to_what_they_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheel(shelf, "old_thing", "1.0", {"old_thing.py": "VALUE = 1\n"})
    wheel(shelf, "pytest", "7.4.9", {})  # a name, so that the pytest that is installed is taken
    for key, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("SWEFUSE_ENVIRONMENTS", str(tmp_path / "environments"))
    history = History(tmp_path / "shop")
    history.commit("begin", {"calc.py": "def half(x):\n    return x // 2\n"})
    test = "import old_thing\nfrom calc import half\n\n\ndef test_half():\n    assert half(3) == 1.5\n"
    history.commit("fix half", {"calc.py": "def half(x):\n    return x / 2\n", "test_calc.py": test})
    run([history.folder], tmp_path, Selection(environments=("auto",)), InlineExecutor())
    (task,) = load_tasks(tmp_path / "tasks.jsonl")
    assert task.suites[0].fail_to_pass == ("test_calc.py::test_half",)
    assert task.evidence is not None and task.evidence.environment.startswith("auto-2024-04-01-")
    (again,) = [name for name in environments.known() if name != task.evidence.environment]
    assert not Path(environments.folder(again), "old_thing.py").exists(), "the first one was made of what the tree says"
