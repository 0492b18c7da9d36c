"""Tasks on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swefuse.errors import DataError
from swefuse.records import Call, Kind, Provenance, Suite, Task
from swefuse.tasks.store import Keeper, load_tasks, save_lines, save_tasks


def a_task() -> Task:
    suites = (Suite(form="calls", entry="m.py:f", calls=(Call(id="t", args="()", want="1"),), fail_to_pass=("t",)),)
    files = {"m.py": "def f():\n    return 2\n"}
    id_ = Task.make_id(Kind.BUGFIX, files, suites)
    return Task(
        id=id_, kind=Kind.BUGFIX, instruction="x", files=files, editable=("m.py",), suites=suites, provenance=Provenance(source="t")
    )


def test_round_trip(tmp_path: Path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", [a_task(), a_task()])
    assert load_tasks(tmp_path / "tasks.jsonl") == [a_task(), a_task()]


def test_line_ends_of_unicode_inside_a_text_are_no_line_ends_of_the_file(tmp_path: Path) -> None:
    files = {"m.py": 'MARK = "\u2028\x85\x0c"\n\ndef f():\n    return 2\n'}
    task = a_task()
    odd = task.model_copy(update={"files": files, "id": Task.make_id(task.kind, files, task.suites)})
    save_tasks(tmp_path / "tasks.jsonl", [odd, task])
    assert load_tasks(tmp_path / "tasks.jsonl") == [odd, task]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instructions": "y"}, r"unknown field 'instructions'; did you mean 'instruction'\?"),
        ({"suites": [{"form": "calls", "cals": []}]}, r"unknown field 'suites\.0\.cals'; did you mean 'calls'\?"),
        ({"provenance": {"source": "t", "license": "MIT"}}, r"unknown field 'provenance\.license'; did you mean 'licence'\?"),
        ({"evidence": {"repeats": 1, "reference_passes": True, "null_fails": True, "pyhton": ""}}, r"did you mean 'python'\?"),
        ({"kind": "bugfux"}, r"field 'kind': Input should be 'bugfix'"),
        ({"schema_version": 99}, "schema_version 99, this version reads 1"),
        ({"files": {"m.py": "other"}}, "field 'id' does not match"),
    ],
)
def test_a_wrong_field_is_named_with_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "tasks.jsonl"
    good = a_task().model_dump(mode="json")
    save_lines(path, [json.dumps(good), json.dumps(good | change)])
    with pytest.raises(DataError, match=rf"tasks\.jsonl:2: .*{message}"):
        load_tasks(path)


def test_other_damage(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load_tasks(tmp_path / "none.jsonl")
    (tmp_path / "t.jsonl").write_text('{"id": ')
    with pytest.raises(DataError, match=r"t\.jsonl:1: not a task: Invalid JSON"):
        load_tasks(tmp_path / "t.jsonl")


def test_nothing_is_left_half_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    save_lines(path, ["old"])

    def lines() -> Iterator[str]:
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_lines(path, lines())
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_made_is_kept_at_the_end_whatever_ends_it(tmp_path: Path) -> None:
    task = a_task()
    made, rows = dict[str, Task](), dict[str, dict[str, Any]]()
    with pytest.raises(KeyboardInterrupt), Keeper(tmp_path / "t", tmp_path / "l", made, rows) as keeper:
        made["a"], rows["a"] = task, {"key": "a"}
        keeper.tick()
        assert not (tmp_path / "t").exists(), "it is too early"
        raise KeyboardInterrupt
    assert load_tasks(tmp_path / "t") == [task] and (tmp_path / "l").read_text() == '{"key": "a"}\n'
