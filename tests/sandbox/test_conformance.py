"""The built-in sandbox passes the suite that every sandbox must pass, as whoever runs these tests and as a plain user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import swefuse
from swefuse.sandbox.base import Job, Output, Sandbox
from swefuse.sandbox.conformance import SAFETY, SERVICE, Check, environment_is_clean, failures, no_host_files, no_network
from swefuse.sandbox.local import LocalSandbox
from swefuse.sandbox.probes import probe

SYSTEM_PYTHON = Path("/usr/bin/python3")
AS_USER = """
import sys
sys.path.insert(0, sys.argv[1])
from swefuse.sandbox.conformance import SAFETY, SERVICE, failures
from swefuse.sandbox.local import LocalSandbox
pytest_free = [c for c in SERVICE + SAFETY if c.__name__ not in
               ("unparsable_files_are_reported", "forks_are_bounded", "protected_files_stay")]
with LocalSandbox() as sandbox:
    print(len(pytest_free), failures(sandbox, tuple(pytest_free)))
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with LocalSandbox() as made:
        yield made


@pytest.mark.parametrize("check", SERVICE + SAFETY, ids=lambda check: check.__name__)
def test_local_sandbox_conforms(sandbox: Sandbox, check: Check) -> None:
    assert check(sandbox) == ""


def test_probe_reports_full_isolation() -> None:
    report = probe()
    assert (report.level, report.lacks) == ("full", ())
    assert len(report.checks) == len(SAFETY)


@pytest.mark.skipif(
    os.geteuid() != 0 or not SYSTEM_PYTHON.exists(), reason="needs root, to become somebody else, and a system Python"
)
def test_a_plain_user_gets_the_same_walls() -> None:
    source = str(Path(swefuse.__file__).parents[1])
    version = subprocess.run(
        [SYSTEM_PYTHON, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True, text=True
    )
    readable = subprocess.run(
        [SYSTEM_PYTHON, "-c", f"open({swefuse.__file__!r})"], user=20001, group=20001, extra_groups=[], capture_output=True
    )
    if version.stdout.strip() != "True" or readable.returncode:
        pytest.skip("the system Python is too old, or a plain user cannot read this checkout")
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", AS_USER, source],
        user=20001,
        group=20001,
        extra_groups=[],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
    )
    assert done.stdout == f"{len(SERVICE + SAFETY) - 3} {{}}\n", done.stderr


class PlainSubprocess:
    """No sandbox at all: what the suite must find fault with."""

    identity = "none"

    def run(self, job: Job) -> Output:
        body = "import json, sys\nfiles, entry, calls = json.loads(sys.argv[1])\nspace = {}\n"
        body += "exec(files[entry.split(':')[0]], space)\nfrom swefuse.sandbox.values import encode\n"
        body += "import ast\nfor id_, args in calls:\n    value = space['f'](*ast.literal_eval(args))\n"
        body += "    print(json.dumps({'id': id_, 'value': encode(value)}))\n"
        text = json.dumps([dict(job.files), job.entry, job.calls])
        done = subprocess.run([sys.executable, "-c", body, text], capture_output=True, text=True)
        return Output(done.stdout)

    def close(self) -> None:
        pass

    def __enter__(self) -> PlainSubprocess:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def test_the_suite_finds_fault_with_a_plain_subprocess() -> None:
    harmless = (environment_is_clean, no_network, no_host_files)
    assert failures(PlainSubprocess(), harmless).keys() == {check.__name__ for check in harmless}
