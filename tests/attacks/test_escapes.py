"""Nothing gets out, uses the machine up or stays behind; as root and as a plain user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import escapes
import pytest

import plain_user
from swefuse.sandbox import open_sandbox
from swefuse.sandbox.choose import LADDER, trial
from swefuse.sandbox.local import LocalSandbox

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def sandbox() -> Iterator[LocalSandbox]:
    with LocalSandbox() as made:
        yield made


@pytest.mark.parametrize("name", escapes.ESCAPES)
def test_no_way_out(sandbox: LocalSandbox, name: str) -> None:
    assert escapes.attempt(sandbox, name) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", escapes.DRAINS)
def test_nothing_is_used_up(sandbox: LocalSandbox, name: str) -> None:
    assert escapes.attempt(sandbox, name) == ""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"), reason="needs root")
def test_a_plain_user_is_held_by_the_same_walls() -> None:
    command = plain_user.as_user([sys.executable, str(HERE / "escapes.py")])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout.splitlines()[-1] if done.stdout else "null") == {}, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("other", LADDER[1:])
def test_the_other_sandboxes_hold_too(other: str) -> None:
    if problem := trial(other, ()):
        pytest.skip(problem)
    with open_sandbox(other) as sandbox:
        found = {name: escapes.attempt(sandbox, name) for name in escapes.CASES}
    assert {name: problem for name, problem in found.items() if problem} == {}


FAULTS = ("loopback, abstract and packet sockets", "reads of secrets", "writes outside", "system calls")
FAULTLESS = f"""
import escapes
from swefuse.sandbox.local import LocalSandbox
with LocalSandbox(walls=("none",)) as weak:
    print([name for name in {FAULTS!r} if not escapes.attempt(weak, name)])
"""


def test_the_corpus_finds_fault_with_limits_alone() -> None:
    text = f"import sys\nsys.path.insert(0, {str(HERE)!r}){FAULTLESS}"
    done = subprocess.run(plain_user.plainly([sys.executable, "-c", text]), capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr or "what finds nothing here could not fail"
