"""Tests inside somebody else's image, with the image's Python and packages: a container for each job, without network.

An environment of the name ``image:REFERENCE`` asks for it, whichever sandbox is in use. Docker or Podman must be able to run
containers; what the image is and how it came here is their business. A candidate runs as another user than the one that holds the
tests; the walls are the container's.
"""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from swefuse.errors import SandboxError
from swefuse.sandbox import environments, recorder
from swefuse.sandbox.base import Job, Output
from swefuse.sandbox.container import ContainerSandbox
from swefuse.sandbox.limits import marks

PROGRAMS = ("podman", "docker")
_HERE = Path(__file__).resolve().parent
_TMP = "/tmp:size=256m,mode=1777"  # noqa: S108 - inside
_GRACE_S = 120.0  # to start a container, lay out the files and tell the result
_PULL_S = 3600.0
_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")  # process 1 has them, no candidate does
_VARIABLES = {
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
# where the images of this field keep the interpreter of their tests, before what is on PATH
_START = """
for one in /testbed/.venv/bin/python /opt/miniconda3/envs/testbed/bin/python python3 python; do
    found=$(command -v "$one") && exec "$found" -E -s /swefuse/image_inside.py
done
echo "there is no python in the image" >&2
exit 1
"""


class Images:
    """Runs jobs in images by ``program``. Raises SandboxError where that cannot run containers."""

    def __init__(self, program: str) -> None:
        self._command = [program, *ContainerSandbox(program).works()]

    def there(self, image: str, pull: bool = False) -> str:
        """Id of an image, empty where it is not on this machine; with ``pull`` it is fetched first."""
        if pull and not self.there(image):
            self._call(["pull", "--quiet", image], _PULL_S)
        done = self._call(["image", "inspect", "--format", "{{.Id}}", image], _GRACE_S)
        return done.stdout.decode().strip() if done.returncode == 0 else ""

    def files(self, image: str) -> dict[str, str]:
        """The work tree of an image: what its repository knows, or everything in its folder. Raises SandboxError."""
        found: dict[str, str] = self._ask(image, {"do": "files"}, 2048, _GRACE_S)["files"]
        return found

    def run(self, job: Job) -> Output:
        """Run a job whose environment is an image. Raises SandboxError."""
        image = job.environment.removeprefix(environments.IMAGE)
        if job.kind != "pytest":
            raise SandboxError(f"tests of the form {job.kind!r} are not run in an image, and the environment is {image}")
        wanted = {**{name: getattr(job, name) for name in recorder.WANTED}, "parse": job.parse}
        asked = {
            "do": "run", "files": dict(job.files), "protected": [path for path in job.protected if path in job.files],
            "wanted": wanted, "recorder": "/swefuse/recorder.py", "cpu_s": job.cpu_s, "wall_s": job.wall_limit,
            "memory_mb": job.memory_mb,
        }  # fmt: skip
        reply = self._ask(image, asked, job.memory_mb, job.wall_limit + _GRACE_S)
        records = reply["records"]
        begin = marks(records[:3].encode(), job.kind, reply["limit"])
        if not begin:
            cause = records.lstrip("+=") or reply["text"].strip() or "it died"
            raise SandboxError(f"the tests could not be started in {image}: {cause[-500:]}")
        return Output(
            records[begin:], reply["limit"], reply["cpu_s"], reply["wall_s"], reply["text"], f"it runs in the image {image}"
        )

    def _ask(self, image: str, asked: dict[str, Any], memory_mb: int, seconds: float) -> dict[str, Any]:
        name = f"swefuse-image-{secrets.token_hex(6)}"
        command = ["run", "--rm", "-i", "--pull", "never", "--name", name, "--log-driver", "none", "--network", "none"]
        command += ["--user", "0:0", "--cap-drop", "ALL", *(f"--cap-add={one}" for one in _CAPABILITIES)]
        command += ["--security-opt", "no-new-privileges", "--pids-limit", "256", "--ulimit", "nofile=1024:1024"]
        command += ["--ulimit", "nproc=1024:1024", "--ulimit", "core=0:0", "--tmpfs", _TMP]
        command += ["--memory", f"{memory_mb + 256}m", "--memory-swap", f"{memory_mb + 256}m"]
        for file in ("image_inside.py", "recorder.py"):
            command += ["--volume", f"{_HERE / file}:/swefuse/{file}:ro"]
        command += [part for key, value in _VARIABLES.items() for part in ("--env", f"{key}={value}")]
        given = json.dumps(asked).encode("ascii")
        try:
            done = self._call([*command, "--entrypoint", "/bin/sh", image, "-c", _START], seconds, given)
        except BaseException:
            self._call(["rm", "-f", name], _GRACE_S)
            raise
        try:
            reply: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            told = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
            raise SandboxError(f"{self._command[0]} did not run a job in {image}: {told[:300]}") from None
        return reply

    def _call(self, arguments: list[str], seconds: float, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # noqa: S603 - our own program
                [*self._command, *arguments], input=given, capture_output=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired as error:
            raise SandboxError(f"{self._command[0]} {arguments[0]} gave no answer in {seconds:.0f} s") from error


@cache
def images() -> Images:
    """The first of PROGRAMS that can run containers here. Raises SandboxError where there is none."""
    lacks = []
    for program in PROGRAMS:
        try:
            return Images(program)
        except SandboxError as error:
            lacks.append(str(error))
    raise SandboxError(f"images need podman or docker: {'; '.join(lacks)}")


def usable(image: str, pull: bool = False) -> str:
    """Why an image cannot be used here; empty where it can."""
    if not any(map(shutil.which, PROGRAMS)):
        return "neither podman nor docker is installed"
    try:
        return (
            "" if images().there(image, pull) else f"{image} is not on this machine" + (" and could not be pulled" if pull else "")
        )
    except SandboxError as error:
        return str(error)
