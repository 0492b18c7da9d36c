"""The ``pytest`` form in a warm worker: what is loaded ahead, what is never shared, and when a job goes cold by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from swefuse.sandbox.base import Job, Output
from swefuse.sandbox.local import LocalSandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[LocalSandbox]:
    with LocalSandbox() as made:
        yield made


def run(sandbox: LocalSandbox, test: str, preload: tuple[str, ...] = (), **files: str) -> Output:
    state = {"test_m.py": test, **{f"{name}.py": text for name, text in files.items()}}
    return sandbox.run(Job("pytest", state, tests=("test_m.py",), nonce="n", preload=preload, cpu_s=20))


def outcomes(output: Output) -> dict[str, str]:
    """Outcome of the call phase by test, and of the end."""
    records = [json.loads(line) for line in output.records.splitlines()]
    assert records, output
    calls = [(record["id"].partition("::")[2], record["outcome"]) for record in records if record.get("when") == "call"]
    return dict(calls + [("end", str(record["end"])) for record in records if "end" in record])


def test_modules_of_the_environment_are_there_before_the_candidate(sandbox: LocalSandbox) -> None:
    test = "import sys\nLOADED = 'colorsys' in sys.modules\ndef test_it():\n    assert LOADED\n"
    assert outcomes(run(sandbox, test, ("no_such_module", "colorsys"))) == {"test_it": "passed", "end": "0"}


def test_a_module_of_the_work_tree_is_never_taken_from_the_environment(sandbox: LocalSandbox) -> None:
    test = "import wave\ndef test_it():\n    assert wave.MINE\n"
    found = run(sandbox, test, ("wave",), wave="MINE = True\n")
    assert outcomes(found) == {"test_it": "passed", "end": "0"} and found.cold == ""
    assert outcomes(run(sandbox, "import wave\ndef test_it():\n    assert wave.open\n", ("wave",)))["test_it"] == "passed"
    late = run(sandbox, test, ("wave",), wave="MINE = True\n")
    assert outcomes(late)["test_it"] == "passed", "loaded by another task's job: the candidate's own must still be tested"
    assert late.cold == "the work tree has its own wave, which pytest or the environment uses"


def test_a_work_tree_with_a_part_of_pytest_goes_cold(sandbox: LocalSandbox) -> None:
    found = run(
        sandbox,
        "import iniconfig\ndef test_it():\n    assert iniconfig.IniConfig\n",
        ("iniconfig",),
        iniconfig="class IniConfig: pass\n",
    )
    assert "iniconfig" in found.cold
    assert "test_it" in outcomes(found)


def test_a_conftest_with_options_and_fixtures_is_used(sandbox: LocalSandbox) -> None:
    conftest = (
        "import pytest\ndef pytest_addoption(parser):\n    parser.addoption('--six', default=6)\n"
        "@pytest.fixture\ndef six(request):\n    return request.config.getoption('--six')\n"
    )
    found = run(sandbox, "def test_it(six):\n    assert six == 6\n", conftest=conftest)
    assert outcomes(found) == {"test_it": "passed", "end": "0"} and found.cold == ""


def test_what_a_candidate_does_to_its_process_ends_with_it(sandbox: LocalSandbox) -> None:
    wreck = (
        "import builtins, gc, json, os, sys, _pytest.reports\n"
        "_pytest.reports.TestReport.from_item_and_call = None\njson.dumps = os.write = builtins.len = None\n"
        "sys.path.clear()\nos.environ.clear()\ndef test_it():\n    pass\n"
    )
    run(sandbox, wreck)
    assert outcomes(run(sandbox, "import json, os\ndef test_it():\n    assert len(os.environ) > 3\n")) == {
        "test_it": "passed",
        "end": "0",
    }


@pytest.mark.parametrize(
    "body",
    [
        "import os; assert os.listdir('/proc/self/fd')",
        "import sys; assert sys.argv == ['pytest'] and '/box/repo' in sys.path",
        "import threading; t = threading.Thread(target=int); t.start(); t.join()",
        "import subprocess, sys; assert subprocess.run([sys.executable, '-c', 'print(6)'], capture_output=True).stdout == b'6\\n'",
        "import multiprocessing as m; p = m.get_context('fork').Pool(2); assert p.map(abs, [-1, 2]) == [1, 2]; p.terminate()",
        "import multiprocessing as m; p = m.get_context('spawn').Pool(1); assert p.map(abs, [-1]) == [1]; p.terminate()",
        "import tempfile, os; f = tempfile.NamedTemporaryFile(); assert f.name.startswith('/box/tmp/')",
        "import asyncio; assert asyncio.run(asyncio.sleep(0, 3)) == 3",
        "import sqlite3; assert sqlite3.connect(':memory:').execute('select 6').fetchone() == (6,)",
        "import signal, os; got = []; signal.signal(10, lambda *_: got.append(1)); os.kill(os.getpid(), 10); assert got",
        "import os; assert os.listdir('/box/tmp') == []",
    ],
)
def test_tests_find_the_machine_that_they_expect(sandbox: LocalSandbox, body: str) -> None:
    found = run(sandbox, f"def test_it():\n    {body}\n")
    assert outcomes(found) == {"test_it": "passed", "end": "0"}, found.records
    assert found.cold == ""
