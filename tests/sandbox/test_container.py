"""Containers pass the suite that every sandbox must pass, and go when their owner goes, however that goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from swefuse.errors import SandboxError
from swefuse.sandbox import open_sandbox
from swefuse.sandbox.base import Job, Sandbox
from swefuse.sandbox.choose import trial
from swefuse.sandbox.conformance import SAFETY, SERVICE, Check
from swefuse.sandbox.container import ContainerSandbox, empty_image, image_name

OWNER = """
import sys
from swefuse.sandbox import open_sandbox
from swefuse.sandbox.base import Job
sandbox = open_sandbox(sys.argv[1])
sandbox.start("pytest")
print("ready", flush=True)
test = "import time\\ndef test_a():\\n    time.sleep(100)\\n"
sandbox.run(Job("pytest", {"test_a.py": test}, tests=("test_a.py",), cpu_s=100.0))
"""


@pytest.fixture(scope="module", params=["podman", "docker"])
def program(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if problem := trial(name, ()):
        pytest.skip(problem)
    return name


@pytest.fixture(scope="module")
def sandbox(program: str) -> Iterator[Sandbox]:
    with open_sandbox(program) as made:
        yield made


@pytest.mark.parametrize("check", SERVICE + SAFETY, ids=lambda check: check.__name__)
def test_containers_conform(sandbox: Sandbox, check: Check) -> None:
    assert check(sandbox) == ""


def test_candidates_share_a_container_and_nothing_else(sandbox: Sandbox) -> None:
    body = "import os\ndef f():\n    open(os.environ['TMPDIR'] + '/mine', 'x').close()\n    return os.listdir('/')\n"
    job = Job("calls", {"m.py": body}, (), "m.py:f", (("a", "()"),))
    first, second = sandbox.run(job), sandbox.run(job)
    assert first.records == second.records and '"value"' in first.records
    assert first.cold == "", "the worker is warm"


def test_a_killed_owner_leaves_no_container(program: str) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, program], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None and owner.stdout.readline() == "ready\n"
    assert _containers(program, owner.pid)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    deadline = time.monotonic() + 30
    while _containers(program, owner.pid):
        assert time.monotonic() < deadline, "the container outlives its owner"


def test_what_comes_out_is_logged_nowhere(program: str) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, program], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None and owner.stdout.readline() == "ready\n"
    try:
        (name,) = _containers(program, owner.pid)
        asked = [program, "inspect", name, "--format", "{{.HostConfig.LogConfig.Type}}"]
        assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == "none"
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()


def _containers(program: str, pid: int) -> list[str]:
    asked = [program, "ps", "--all", "--filter", f"name=swefuse-{pid}-", "--format", "{{.Names}}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()


def test_the_empty_image_holds_folders_and_links_alone() -> None:
    with tarfile.open(fileobj=BytesIO(empty_image())) as tar:
        assert all(member.isdir() or member.issym() for member in tar) and "tmp" in tar.getnames()
    assert empty_image() == empty_image() and image_name() == image_name()


def test_without_the_program_or_without_its_service_the_remedy_is_named(tmp_path: Path) -> None:
    path, os.environ["PATH"] = os.environ["PATH"], str(tmp_path)
    try:
        with pytest.raises(SandboxError, match="needs the program podman: install it"):
            ContainerSandbox("podman")
        broken = tmp_path / "docker"
        broken.write_text("#!/bin/sh\necho 'cannot connect' >&2\nexit 1\n")
        broken.chmod(0o755)
        with pytest.raises(SandboxError, match=r"docker cannot run a container: cannot connect\. See that 'docker run' works"):
            ContainerSandbox("docker").start()
    finally:
        os.environ["PATH"] = path
