"""Tests run inside an image, with its Python and its packages, and nothing that a candidate does reaches the tests or us."""

from __future__ import annotations

import ast
import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from swefuse.errors import SandboxError
from swefuse.sandbox import environments, image, image_inside, pythons
from swefuse.sandbox.base import Job, Output
from swefuse.sandbox.bwrap import BwrapSandbox
from swefuse.sandbox.conformance import read
from swefuse.sandbox.local import LocalSandbox
from swefuse.scale import InlineExecutor
from swefuse.tasks.formats import LAYOUTS
from swefuse.tasks.formats.bring import Choices, Order, run
from swefuse.tasks.formats.rows import dumps
from swefuse.tasks.proving import How, prove_task
from swefuse.tasks.store import load_tasks
from swefuse.tasks.workers import init_worker

pytestmark = pytest.mark.slow
PLACE = "opt/miniconda3/envs/testbed"
CODE = "import built\n\n\ndef half(x):\n    return x // built.TWO\n"
TEST = "from calc import half\n\n\ndef test_even():\n    assert half(4) == 2\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"
TREE = {"calc.py": CODE, "built.py": "TWO = 2\n", "old.py": "", "tests/test_calc.py": TEST}


def _libraries(program: str) -> set[str]:
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {word for line in told.splitlines() for word in line.split() if word.startswith("/")}


def _skeleton(tar: tarfile.TarFile) -> None:
    """A shell and this Python with pytest where the images of this field have theirs."""
    base, minor = Path(os.path.realpath(sys.base_prefix)), f"python3.{sys.version_info.minor}"
    python = os.path.realpath(sys.executable)
    left = {"test", "config", "ensurepip", "idlelib", "lib2to3", "tkinter", "site-packages", "__pycache__"}

    def wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        parts = Path(member.name).parts
        return None if left & set(parts) or any(part.startswith("config-") for part in parts) else member

    tar.add(base / "lib" / minor, f"{PLACE}/lib/{minor}", filter=wanted)
    for name in ("py", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        spec = find_spec(name)
        assert spec is not None and spec.origin
        source = Path(spec.origin).parent if spec.origin.endswith("__init__.py") else Path(spec.origin)
        tar.add(source, f"{PLACE}/lib/{minor}/site-packages/{source.name}", filter=lambda m: None if "__pycache__" in m.name else m)
    tar.add(python, f"{PLACE}/bin/python", recursive=False)
    modules = [str(path) for path in (base / "lib" / minor / "lib-dynload").glob("*.so")]
    for path in sorted({"/bin/sh", *_libraries("/bin/sh"), *_libraries(python)}.union(*map(_libraries, modules))):
        member = tar.gettarinfo(os.path.realpath(path), path.lstrip("/"))
        with open(os.path.realpath(path), "rb") as file:
            tar.addfile(member, file)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        images = image.images()
    except SandboxError as error:
        pytest.skip(str(error))
    archive = tmp_path_factory.mktemp("image") / "image.tar"
    with tarfile.open(archive, "w") as tar:
        _skeleton(tar)
        for path, text in TREE.items():
            member = tarfile.TarInfo(f"testbed/{path}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
        for folder in ("tmp", "etc", "proc", "dev", "sys", "swefuse", "root"):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(member)
    name = "localhost/swefuse-test-image:latest"
    subprocess.run([*images._command, "import", str(archive), name], check=True, capture_output=True)
    yield name
    subprocess.run([*images._command, "rmi", "-f", name], check=True, capture_output=True)


def outcomes(output: Output) -> dict[str, str]:
    return {record["id"]: record["outcome"] for record in read(output) if record.get("when") == "call"}


def job(name: str, **changes: Any) -> Job:
    files = {**{path: text for path, text in TREE.items() if path != "built.py"}, **changes.pop("files", {})}
    given = {"tests": ("tests/test_calc.py",), "protected": ("tests/test_calc.py",), "cpu_s": 10.0, **changes}
    return Job("pytest", files, environment=f"{environments.IMAGE}{name}", **given)


def test_an_image_runs_a_candidate_with_what_it_has_built(made: str) -> None:
    with LocalSandbox() as sandbox:
        first = sandbox.run(job(made))
        assert outcomes(first) == {"tests/test_calc.py::test_even": "passed", "tests/test_calc.py::test_odd": "failed"}
        assert made in first.cold and 0 < first.cpu_s < 10
        repaired = sandbox.run(job(made, files={"calc.py": CODE.replace("//", "/")}))
        assert set(outcomes(repaired).values()) == {"passed"}
        broken = sandbox.run(job(made, files={"calc.py": "def half(\n"}, parse=("calc.py",)))
        assert '"unparsed": "calc.py"' in broken.records
        with pytest.raises(SandboxError, match="leaves the work tree"):
            sandbox.run(job(made, files={"../x.py": ""}))
        with pytest.raises(SandboxError, match="form 'calls'"):
            sandbox.run(Job("calls", {"m.py": ""}, environment=f"{environments.IMAGE}{made}"))


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_whichever_sandbox_is_in_use(made: str) -> None:
    with BwrapSandbox() as sandbox:
        assert outcomes(sandbox.run(job(made)))["tests/test_calc.py::test_even"] == "passed"


ATTACK = """import os, signal, socket
said = []
def tried(name, what):
    try:
        what()
        said.append(name)
    except OSError:
        pass
def over(path):
    with open(path, "w") as file:
        file.write("")
tried("rewrote the tests", lambda: over("tests/test_calc.py"))
tried("removed the tests", lambda: os.remove("tests/test_calc.py"))
tried("moved the tests", lambda: os.rename("tests", "other"))
tried("wrote to process 1", lambda: over("/proc/1/fd/4"))
tried("became root", lambda: os.setuid(0))
tried("killed process 1", lambda: os.kill(1, signal.SIGKILL))
tried("reached the network", lambda: socket.create_connection(("192.0.2.1", 80), 1))
tried("made a device", lambda: os.mknod("dev", 0o60600, os.makedev(7, 0)))
tried("changed the recorder", lambda: over("/swefuse/recorder.py"))
assert not said, said
def half(x):
    return x / 2
"""


def test_a_candidate_cannot_reach_its_tests_or_the_way_out(made: str) -> None:
    with LocalSandbox() as sandbox:
        output = sandbox.run(job(made, files={"calc.py": ATTACK}))
        assert set(outcomes(output).values()) == {"passed"}, output.records


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        ("def half(x):\n    while True: pass\n", "cpu"),
        ("import time\ndef half(x):\n    time.sleep(60)\n", "wall"),
        ("def half(x):\n    return len(bytearray(700 << 20))\n", "memory"),
        ("import os\ndef half(x):\n    while True: os.write(3, b'x' * 65536)\n", "output"),
        ("import os\ndef half(x):\n    while True:\n        try: os.fork()\n        except OSError: pass\n", "cpu memory"),
    ],
    ids=["cpu", "wall", "memory", "output", "forks"],
)
def test_limits_hold_in_an_image(made: str, code: str, limit: str) -> None:
    with LocalSandbox() as sandbox:
        output = sandbox.run(job(made, files={"calc.py": code}, cpu_s=2.0, wall_s=8.0, memory_mb=512))
        assert output.limit in limit.split() and output.wall_s < 20


def test_what_a_tree_holds_is_what_its_repository_knows(tmp_path: Path) -> None:
    for path, text in {"a.py": "1\n", "b/c.py": "\n", ".hidden/d.py": "", "__pycache__/e.py": ""}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "bytes.bin").write_bytes(b"\xff\0")
    assert image_inside.walked(str(tmp_path)) == ["a.py", "b/c.py", "bytes.bin"] and image_inside.tracked(str(tmp_path)) == []
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "b", "link.py", "bytes.bin"], check=True)
    assert image_inside.tracked(str(tmp_path)) == ["b/c.py", "bytes.bin"]
    assert image_inside.read(str(tmp_path / "bytes.bin")) == "\udcff\0"
    assert image_inside.parents("a/b/c") == ["a/b", "a"] and image_inside.parents("/a/b") == ["/a", "/"]
    ast.parse(Path(image_inside.__file__).read_text(), feature_version=pythons.OLDEST)


def test_a_row_whose_environment_is_an_image_becomes_a_proven_task(made: str, tmp_path: Path) -> None:
    patch = "--- a/calc.py\n+++ b/calc.py\n@@ -4,2 +4,2 @@\n def half(x):\n-    return x // built.TWO\n+    return x / built.TWO\n"
    raw = {
        "instance_id": "o__n-1", "repo": "o/n", "base_commit": "a" * 40, "patch": patch, "test_patch": "",
        "problem_statement": "halves",
        "FAIL_TO_PASS": ["tests/test_calc.py::test_odd"], "PASS_TO_PASS": ["tests/test_calc.py::test_even"], "image_name": made,
    }  # fmt: skip
    layout = LAYOUTS["swebench"]
    row = layout.row("rows:1", dumps(raw), raw)
    gone = layout.row(
        "rows:2",
        dumps({**raw, "instance_id": "2", "image_name": "localhost/none:1"}),
        {**raw, "instance_id": "2", "image_name": "localhost/none:1"},
    )
    init_worker()
    summary = run([Order(row, Choices()), Order(gone, Choices())], tmp_path, InlineExecutor())
    assert summary["tasks"] == 1 and list(summary["refused"].values()) == [1]
    assert "localhost/none:1 is not on this machine" in summary["which"][0]["detail"]
    (task,) = load_tasks(tmp_path / "tasks.jsonl")
    proven = prove_task(task, How())
    assert proven.refusal is None, proven
