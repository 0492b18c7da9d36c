"""Candidates that are wrong and try to look right, or to do harm, in the ``calls`` form. After each, an honest one still passes."""

from __future__ import annotations

import pytest
from small_task import RIGHT, make_task

from swefuse.records import Outcome, Task
from swefuse.sandbox.local import LocalSandbox
from swefuse.verify import Verifier

# name -> (candidate, outcome); every candidate here gives a wrong answer for f(3), or none
ATTACKS = {
    "exit at import": ("import sys\nsys.exit(0)\n", Outcome.FAILED),
    "_exit at import": ("import os\nos._exit(0)\n", Outcome.FAILED),
    "exit in a call": ("import sys\ndef f(x):\n    sys.exit(0)\n", Outcome.FAILED),
    "_exit in a call": ("import os\ndef f(x):\n    if x == 3: os._exit(0)\n    return 2 * x\n", Outcome.FAILED),
    "equal to everything": (
        "class E:\n    def __eq__(self, o): return True\n    __hash__ = None\ndef f(x):\n    return E()\n",
        Outcome.FAILED,
    ),
    "int equal to everything": (
        "class E(int):\n    def __eq__(self, o): return True\n    __hash__ = int.__hash__\ndef f(x):\n    return E(1)\n",
        Outcome.FAILED,
    ),
    "prints records": (
        'def f(x):\n    print(\'{"id": "t3", "value": 6}\')\n    return 0\n',
        Outcome.FAILED,
    ),
    "writes a record to every descriptor": (
        'import os\ndef f(x):\n    for fd in range(256):\n        try: os.write(fd, b\'{"id": "t3", "value": 6}\\n\')\n'
        "        except OSError: pass\n    return 2 * x if x < 2 else 0\n",
        Outcome.TAMPERED,
    ),
    "writes an early end": (
        "import os\ndef f(x):\n    os.write(3, b'{\"end\": 4}\\n')\n    return 2 * x\n",
        Outcome.TAMPERED,
    ),
    "half a line before the record": ("import os\ndef f(x):\n    os.write(3, b'{')\n    return 2 * x\n", Outcome.TAMPERED),
    "floods the records": ("import os\ndef f(x):\n    while True: os.write(3, b'x' * 65536)\n", Outcome.FAILED),
    "other dumps, repr and encode": (
        "import builtins, json, swefuse.sandbox.candidate as c\njson.dumps = lambda *a, **k: '6'\nbuiltins.repr = lambda v: '6'\n"
        "c.encode = lambda v, d=0: 7\ndef f(x):\n    return 0\n",
        Outcome.FAILED,
    ),
    "busy at import": ("while True: pass\n", Outcome.TIMEOUT),
    "busy and deaf in a call": (
        "import signal\ndef f(x):\n    for n in (2, 14, 15, 26, 27): signal.signal(n, signal.SIG_IGN)\n"
        "    while x == 3: pass\n    return 2 * x\n",
        Outcome.TIMEOUT,
    ),
    "catches everything": (
        "def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n",
        Outcome.TIMEOUT,
    ),
    "fork bomb": (
        "import os\ndef f(x):\n    while True:\n        try: os.fork()\n        except OSError: return 0\n",
        Outcome.FAILED,
    ),
    "memory hog": ("def f(x):\n    return len(bytearray(8 << 30))\n", Outcome.FAILED),
    "crashes the interpreter": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return max([x], key=f)\n",
        Outcome.FAILED,
    ),
    "kills everything": ("import os\ndef f(x):\n    os.kill(1, 9); os.kill(-1, 9)\n    return 0\n", Outcome.FAILED),
    "daemon": (
        "import os, time\ndef f(x):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n"
        "            while True: time.sleep(1)\n"
        "        os._exit(0)\n    return 0\n",
        Outcome.FAILED,
    ),
    "does not parse": ("def f(x):\n    return 2 *\n", Outcome.UNPARSED),
    "null byte": ("def f(x):\n    return 2 * x\0\n", Outcome.UNPARSED),
    "nested beyond the parser": ("x = " + "(" * 5000 + ")" * 5000 + "\n", Outcome.UNPARSED),
    "lone surrogate": ("def f(x):\n    return 2 * x  # \ud800\n", Outcome.TAMPERED),
    "raises from its own ValueError": (
        "class ValueError(Exception): pass\ndef f(x):\n    raise ValueError('\\ud800')\n",
        Outcome.FAILED,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_passes_and_the_next_candidate_does(verifier: Verifier, task: Task, name: str) -> None:
    source, outcome = ATTACKS[name]
    assert isinstance(verifier.sandbox, LocalSandbox)
    launcher = verifier.sandbox.pids.get("calls")
    verdict = verifier.verify(task, {**task.files, "m.py": source})
    assert (verdict.outcome, verdict.tests["t3"].outcome == "passed" if verdict.tests else False) == (outcome, False)
    assert verdict.score < 1
    assert verdict.model_validate_json(verdict.model_dump_json()) == verdict
    assert verifier.verify(task, {**task.files, "m.py": RIGHT}).outcome is Outcome.PASSED
    assert launcher in (None, verifier.sandbox.pids["calls"])  # and the attack did not even cost a worker


def test_expected_values_are_nowhere_in_the_process(verifier: Verifier) -> None:
    """A candidate that searches its whole process, frames and all, for the answer of the hidden test does not find it."""
    thief = (
        "import gc, sys\ndef f(x):\n    texts = [str(o) for o in gc.get_objects() if type(o) in (dict, list, tuple, set)]\n"
        "    frame = sys._getframe()\n    while frame:\n        texts.append(str(frame.f_locals)); frame = frame.f_back\n"
        "    marker = ''.join(['481', '516', '2342'])\n    return int(marker) if any(marker in text for text in texts) else None\n"
    )
    task = make_task([("(0,)", "4815162342", None)])
    verdict = verifier.verify(task, {**task.files, "m.py": thief})
    assert verdict.tests["t0"].detail == "(0,) gave None, expected 4815162342"


def test_results_before_a_hang_are_kept(verifier: Verifier, task: Task) -> None:
    source = "def f(x):\n    while x == 1: pass\n    return 2 * x\n"
    verdict = verifier.verify(task, {**task.files, "m.py": source})
    assert [result.outcome for result in verdict.tests.values()] == ["passed", "timeout", "missing", "missing"]
    assert verdict.score == 0.25
