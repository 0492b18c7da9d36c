"""The bubblewrap sandbox passes the suite that every sandbox must pass."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from swefuse.errors import SandboxError
from swefuse.sandbox import open_sandbox
from swefuse.sandbox.base import Job, Sandbox
from swefuse.sandbox.bwrap import BwrapSandbox
from swefuse.sandbox.conformance import SAFETY, SERVICE, Check

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox("bwrap") as made:
        yield made


@pytest.mark.parametrize("check", SERVICE + SAFETY, ids=lambda check: check.__name__)
def test_bubblewrap_conforms(sandbox: Sandbox, check: Check) -> None:
    assert check(sandbox) == ""


def test_what_the_start_of_python_costs_is_not_held_against_the_candidate(sandbox: Sandbox) -> None:
    output = sandbox.run(Job("calls", {"m.py": "def f():\n    return 1\n"}, (), "m.py:f", (("a", "()"),), cpu_s=0.02))
    assert output.limit == "" and '"value": 1' in output.records and output.cold


def test_a_job_that_cannot_be_laid_out_is_no_failure_of_the_candidate(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="leaves the work tree"):
        sandbox.run(Job("pytest", {"../m.py": ""}, tests=("m.py",)))


def test_without_the_program_the_remedy_is_named(tmp_path: Path) -> None:
    path, os.environ["PATH"] = os.environ["PATH"], str(tmp_path)
    try:
        with pytest.raises(SandboxError, match="apt install bubblewrap"):
            BwrapSandbox()
    finally:
        os.environ["PATH"] = path
