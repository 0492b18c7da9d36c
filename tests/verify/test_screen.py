"""What is refused before anything runs, and what is not."""

from __future__ import annotations

import pytest
from small_task import RIGHT, make_task

from swefuse.records import Task
from swefuse.verify.screen import changed_paths, screen


def reasons(task: Task, changes: dict[str, str | None]) -> tuple[str, ...]:
    files = {path: text for path, text in {**task.files, **changes}.items() if text is not None}
    return screen(task, files, changed_paths(task, files))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"m.py": RIGHT},
        {"helper.py": ""},
        {"src/p/__init__.py": ""},
        {"docs/notes.md": "x"},
        {"m.py": None},
        {"p/json.py": ""},
        {"p/pygments.py": ""},
        {"é.py": "\udcff"},
    ],
)
def test_honest_changes_pass(task: Task, changes: dict[str, str | None]) -> None:
    assert reasons(task, changes) == ()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"tests/test_m.py": "x"}, "protected"),
        ({"tests/test_m.py": None}, "protected"),
        ({"conftest.py": ""}, "how tests run"),
        ({"pygments.py": ""}, "the place of a module"),
        ({"src/pydantic/new.py": ""}, "the place of a module"),
        ({f"d{number}/a/b/c.txt": "" for number in range(400)}, "1200 new folders, more than 1000"),
        ({"a/b/conftest.py": ""}, "how tests run"),
        ({"pytest.ini": ""}, "how tests run"),
        ({"setup.cfg": ""}, "how tests run"),
        ({"tox.ini": ""}, "how tests run"),
        ({"pyproject.toml": ""}, "how tests run"),
        ({"usercustomize.py": ""}, "how tests run"),
        ({"x.pth": ""}, "how tests run"),
        ({"m.cpython-311.pyc": ""}, "how tests run"),
        ({"_m.so": ""}, "how tests run"),
        ({"/etc/x": ""}, "leaves"),
        ({"../x": ""}, "leaves"),
        ({"a/../../x": ""}, "leaves"),
        ({".git/hooks/x": ""}, "leaves"),
        ({"a\0": ""}, "leaves"),
        ({"\ud800": ""}, "leaves"),
        ({"./m2.py": ""}, "plain"),
        ({"a//b": ""}, "plain"),
        ({"x" * 300: ""}, "plain"),
        ({"m.py/x": ""}, "both a file"),
        ({"json.py": ""}, "place of a module"),
        ({"src/json/__init__.py": ""}, "place of a module"),
        ({"pluggy.py": ""}, "place of a module"),
        ({"m.py": "x" * (1 << 20) + "x"}, "bytes"),
        ({f"f{i}.py": "" for i in range(501)}, "501 changed files"),
        ({"m.py": "\ud800"}, "hold"),
    ],
)
def test_dishonest_changes_are_named(task: Task, changes: dict[str, str | None], word: str) -> None:
    found = reasons(task, changes)
    assert len(found) == 1
    assert word in found[0]


def test_a_runner_file_may_change_where_the_task_says_so(task: Task) -> None:
    open_task = task.model_copy(update={"editable": ("m.py", "conftest.py")})
    assert reasons(open_task, {"conftest.py": ""}) == ()


def test_a_module_that_was_there_before_may_have_any_name(task: Task) -> None:
    old = task.model_copy(update={"files": {**task.files, "json.py": "a = 1\n"}})
    assert reasons(old, {"json.py": "a = 2\n"}) == ()


def test_a_package_that_the_work_tree_has_and_that_is_installed_too_may_grow(task: Task) -> None:
    own = task.model_copy(update={"files": {**task.files, "src/pydantic/__init__.py": ""}})
    assert reasons(own, {"src/pydantic/new.py": ""}) == ()


@pytest.mark.parametrize(
    "cookie", ["# coding: utf-7", "# -*- coding: latin-1 -*-", "\n# vim: set fileencoding=ascii :", "# coding: nonsense"]
)
def test_a_file_that_python_would_read_otherwise_is_refused(cookie: str) -> None:
    task = make_task([("(1,)", "2", None)])
    files = {**task.files, "m.py": f"{cookie}\n{task.files['m.py']}"}
    (reason,) = screen(task, files, changed_paths(task, files))
    assert reason.startswith("m.py: another encoding than UTF-8")
    for fine in ("# coding: utf-8\n", "\ufeff", "# a coding style\n"):
        files = {**task.files, "m.py": fine + task.files["m.py"]}
        assert screen(task, files, changed_paths(task, files)) == ()
