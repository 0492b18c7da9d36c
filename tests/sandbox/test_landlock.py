"""Landlock alone: weak, said to be so, and holding what it can hold."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import plain_user
from swefuse.sandbox import landlock

LIBC = ctypes.CDLL(None, use_errno=True)
pytestmark = pytest.mark.skipif(landlock.abi(LIBC) < landlock.LEAST_ABI, reason="needs Linux 6.12 or later")
CONFORM = """
import json
from swefuse.sandbox import open_sandbox
from swefuse.sandbox.conformance import failures
with open_sandbox("landlock") as sandbox:
    print(json.dumps([failures(sandbox), sandbox.identity]))
"""
REACH = """
import ctypes, os, socket, sys
from swefuse.sandbox import jail, landlock
folder = sys.argv[1]
for name in ("in", "out"):
    os.mkdir(f"{folder}/{name}")
    open(f"{folder}/{name}/file", "w").close()
jail.prctl(38, 1)
landlock.restrict(jail.LIBC, [sys.base_prefix, "/no/such/folder"], [f"{folder}/in"])
def can(act, *args):
    try:
        act(*args)
        return "yes"
    except OSError as error:
        return type(error).__name__
print(can(open, f"{folder}/in/file", "w"), can(os.unlink, f"{folder}/in/file"), can(os.listdir, sys.base_prefix))
print(can(open, f"{folder}/out/file"), can(open, f"{folder}/out/new", "w"), can(os.listdir, "/"), can(os.kill, os.getppid(), 0))
"""


def test_a_plain_user_gets_all_but_protected_files() -> None:
    done = subprocess.run(plain_user.plainly([sys.executable, "-c", CONFORM]), capture_output=True, text=True)
    assert done.stdout, done.stderr
    problems, identity = json.loads(done.stdout)
    assert problems.keys() == {"protected_files_stay"}, problems
    assert identity.startswith("local-weak-landlock-")


def test_what_is_not_named_cannot_be_reached(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", REACH, str(tmp_path)], capture_output=True, text=True)
    assert done.stdout.split() == ["yes"] * 3 + ["PermissionError"] * 4, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the user of candidates")
def test_root_is_told_when_candidates_could_not_reach_python(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    text = "import sys\nfrom swefuse.sandbox.worker import _closed\nprint(_closed(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", text, "/usr", str(closed)], capture_output=True, text=True)
    assert done.stdout.strip() in map(str, (closed, *closed.parents)), done.stderr
