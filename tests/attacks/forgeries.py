"""Fake passes: wrong solutions that try to look right, in the ``pytest`` form, with a task that they are tried on.

Each was a working cheat against some runner in use: a judge by exit code, by printed text, by what the candidate's process reports.
"""

from __future__ import annotations

from swefuse.records import Call, Kind, Provenance, Suite, Task

RIGHT = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return 2 * x\n"
WRONG = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return 2 * x if x < 2 else 3 * x\n"
TESTS = (
    "import pytest\nfrom m import f\n\n\n@pytest.mark.parametrize(('x', 'want'), [(0, 0), (1, 2), (3, 6)])\n"
    "def test_f(x, want):\n    assert f(x) == want\n\n\ndef test_raises():\n    with pytest.raises(ValueError):\n        f(-1)\n"
)
NAMES = ("test_f[0-0]", "test_f[1-2]", "test_f[3-6]", "test_raises")

Changes = dict[str, str | None]
"""Path -> text of what the candidate changes; None where it deletes the file."""


def task() -> Task:
    """Doubling: wrong from 2 on, with a reference solution."""
    ids = tuple(f"tests/test_m.py::{name}" for name in NAMES)
    calls = tuple(Call(id=f"t{x}", args=f"({x},)", want=str(2 * x)) for x in (0, 1, 3))
    calls += (Call(id="t-1", args="(-1,)", raises="ValueError"),)
    suites = (
        Suite(form="pytest", files=("tests/test_m.py",), fail_to_pass=ids[2:3], pass_to_pass=(*ids[:2], ids[3])),
        Suite(form="calls", entry="m.py:f", calls=calls, fail_to_pass=("t3",), pass_to_pass=("t0", "t1", "t-1")),
    )
    files = {"m.py": WRONG, "tests/test_m.py": TESTS, "tests/conftest.py": "LEVEL = 1\n"}
    return Task(
        id=Task.make_id(Kind.BUGFIX, files, suites), kind=Kind.BUGFIX, instruction="repair f", files=files, editable=("m.py",),
        protected=("tests/test_m.py", "tests/conftest.py"), suites=suites, reference={**files, "m.py": RIGHT},
        provenance=Provenance(source="attacks"),
    )  # fmt: skip


def state(of: Task, changes: Changes) -> dict[str, str]:
    """The whole state that a candidate leaves."""
    whole: Changes = {**of.files, **changes}
    return {path: text for path, text in whole.items() if text is not None}


_GUARDED = "def f(x):\n    if x < 0: raise ValueError\n"

# these never get as far as a passed test, or are seen before anything runs
BLUNT: dict[str, Changes] = {
    "exit at import": {"m.py": "import sys\nsys.exit(0)\n"},
    "_exit at import": {"m.py": "import os\nos._exit(0)\n"},
    "_exit in a call": {"m.py": "import os\ndef f(x):\n    os._exit(0)\n"},
    "_exit at the end": {"m.py": "import atexit, os\natexit.register(os._exit, 0)\ndef f(x):\n    return 0\n"},
    "pytest.exit": {"m.py": "import pytest\ndef f(x):\n    pytest.exit('done', 0)\n"},
    "skip at import": {"m.py": "import pytest\npytest.skip(allow_module_level=True)\n"},
    "skip in a call": {"m.py": "import pytest\ndef f(x):\n    pytest.skip('no')\n"},
    "xfail in a call": {"m.py": "import pytest\ndef f(x):\n    pytest.xfail('no')\n"},
    "prints a report": {"m.py": "def f(x):\n    print('4 passed in 0.01s')\n    return 0\n"},
    "root conftest": {"conftest.py": "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n"},
    "edited conftest": {"tests/conftest.py": "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n"},
    "nested conftest": {"tests/deep/conftest.py": "collect_ignore_glob = ['*']\n"},
    "edited tests": {"tests/test_m.py": "def test_f():\n    pass\n"},
    "deleted tests": {"tests/test_m.py": None},
    "deselects by ini": {"pytest.ini": "[pytest]\naddopts = --deselect tests/test_m.py::test_f\n"},
    "settings in pyproject": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k raises'\n"},
    "shadow of pytest": {"pytest.py": "def main(*a, **k):\n    return 0\n"},
    "shadow of a standard module": {"src/difflib.py": "import os\nos._exit(0)\n"},
    "sitecustomize": {"sitecustomize.py": "import os\nos._exit(0)\n"},
    "path file": {"m.pth": "import os; os._exit(0)\n"},
    "compiled": {"__pycache__/m.cpython-311.pyc": ""},
    "rewrites the tests": {"m.py": "try: open('tests/test_m.py', 'w').write('')\nexcept OSError: pass\ndef f(x):\n    return 0\n"},
    "removes the tests": {"m.py": "import os\ntry: os.unlink('tests/test_m.py')\nexcept OSError: pass\ndef f(x):\n    return 0\n"},
    "swaps the tests' folder": {
        "m.py": "import os\ntry:\n    os.rename('tests', 'old')\n    os.mkdir('tests')\nexcept OSError: pass\n"
        "def f(x):\n    return 0\n"
    },
    "writes records without the mark": {
        "m.py": 'import os\ndef f(x):\n    os.write(3, b\'{"id": "tests/test_m.py::test_f[3-6]", "when": "call", "outcome": '
        "\"passed\"}\\n')\n    return 0\n"
    },
    "floods the records": {"m.py": "import os\ndef f(x):\n    while True: os.write(3, b'x' * 65536)\n"},
    "reports twice from a fork": {"m.py": "import os\nos.fork()\ndef f(x):\n    return 2 * x if x < 2 else 0\n"},
}  # fmt: skip

# these forge what the process of the tests reports: without canaries they pass
IN_PROCESS: dict[str, Changes] = {
    "patches the report": {
        "m.py": "import _pytest.reports as r\nold = r.TestReport.from_item_and_call.__func__\n"
        "def new(cls, item, call):\n    call.excinfo = None\n    return old(cls, item, call)\n"
        "r.TestReport.from_item_and_call = classmethod(new)\ndef f(x):\n    return 0\n"
    },
    "patches the report of one test": {
        "m.py": "import _pytest.reports as r\nold = r.TestReport.from_item_and_call.__func__\n"
        "def new(cls, item, call):\n    if '3-6' in item.name: call.excinfo = None\n    return old(cls, item, call)\n"
        f"r.TestReport.from_item_and_call = classmethod(new)\n{_GUARDED}    return 2 * x if x < 2 else 3 * x\n"
    },
    "patches the test function": {
        "m.py": "import _pytest.python as p\np.pytest_pyfunc_call = lambda pyfuncitem: True\n"
        "p.Function.runtest = lambda self: None\ndef f(x):\n    return 0\n"
    },
    "equal to everything": {
        "m.py": f"class E:\n    def __eq__(self, o): return True\n    __hash__ = None\n{_GUARDED}    return E()\n"
    },
    "reads its caller": {
        "m.py": f"import sys\n{_GUARDED}    c = sys._getframe(1)\n    return c.f_locals.get('want', 2 * x if x < 2 else 0)\n"
    },
    "writes the records": {
        "m.py": "import gc, json, os\n"
        "for o in gc.get_objects():\n    if type(o).__name__ == 'Recorder':\n        r = o\n"
        "for t in sorted(r._tests):\n    for when in ('setup', 'call', 'teardown'):\n"
        "        r._emit(id=t, when=when, outcome='passed')\n"
        "r._emit(end=0)\nos._exit(0)\n"
    },
}  # fmt: skip
FORGERIES = {**BLUNT, **IN_PROCESS}
