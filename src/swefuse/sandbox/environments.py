"""Environments: folders of packages that go before those installed, for tasks whose tests need another pytest or older libraries.

One lies below ``home()`` under the name of its packages, such as ``pytest-7.4.4``. The interpreter is the program's own, or another
of this machine (``pythons``), which the environment then names.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from swefuse.errors import DataError, InfraError, UserError, nearest
from swefuse.sandbox import pythons
from swefuse.sandbox.pythons import Python

IMAGE = "image:"  # such as image:swebench/some-image:latest, in which a container runs the tests
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


def home() -> Path:
    """Where environments lie: ``$SWEFUSE_ENVIRONMENTS``, else below the user's cache folder."""
    given = os.environ.get("SWEFUSE_ENVIRONMENTS")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swefuse" / "environments"


def known() -> list[str]:
    """Names of the environments that there are."""
    return sorted(path.name for path in home().iterdir() if path.is_dir() and _NAME.fullmatch(path.name)) if home().is_dir() else []


def folder(name: str) -> str:
    """The folder of an environment; the name itself for the empty one, the program's own, and for an image's.

    Raises DataError when it is not there.
    """
    if not name or name.startswith(IMAGE):
        return name
    path = home() / name
    if not _NAME.fullmatch(name) or not path.is_dir():
        hint = nearest(name, known())
        raise DataError(f"there is no environment {name!r} in {home()}{hint}; 'swefuse tasks environment' makes one")
    return str(path)


def version(name: str) -> str:
    """Version of the Python with which tests run in an environment, such as ``3.8.18``; empty for an image, which has its own."""
    if name.startswith(IMAGE):
        return ""
    python = pythons.of(folder(name))
    return python.version if python else platform.python_version()


def packages(name: str) -> list[str]:
    """What an environment was made of, as pip takes it, or, where it is not here, as far as its name tells."""
    if name in known() and (file := home() / name / "requirements.txt").exists():
        return file.read_text(encoding="utf-8").split("\n")[:-1]
    return ["==".join(one.rsplit("-", 1)) for one in name.split("+") if not one.startswith(("auto-", "python-", IMAGE)) and one]


def make(requirements: Sequence[str], python: Python | None = None) -> str:
    """Install packages into an environment of their own and return its name; one that is there already is left as it is.

    ``python``: the interpreter that they are for, where that is not the program's own.

    Raises UserError for what names no package with a version, InfraError when pip fails.
    """
    parts = [re.fullmatch(r"([A-Za-z0-9][\w.-]*)==([\w.+]+)", one) for one in requirements]
    wrong = [one for one, part in zip(requirements, parts, strict=True) if part is None]
    if wrong or not requirements:
        raise UserError(
            f"an environment is made of packages with versions, such as pytest==7.4.4, not {', '.join(wrong) or 'nothing'}"
        )
    name = "+".join(sorted(f"{part[1].lower()}-{part[2]}" for part in parts if part))
    return _made(f"{name}+python-{python.series}" if python else name, requirements, python=python)


def dated(requirements: Sequence[str], date: str, python: Python | None = None) -> str:
    """Install what is required as it was on a date (``YYYY-MM-DD``), as wheels, and return the environment's name.

    An index that does not say when its files came, and the pip of another ``python``, which is as old as that and knows no dates,
    give the newest ones that fit. Raises InfraError when pip fails.
    """
    series = python.series if python else f"3.{sys.version_info.minor}"
    digest = hashlib.sha256("\n".join([*sorted(requirements), series]).encode()).hexdigest()[:10]
    name = f"auto-{date}-{digest}" + (f"+python-{series}" if python else "")
    options = ["--only-binary", ":all:", "--uploaded-prior-to", f"{date}T00:00:00Z"]
    if python:
        return _made(name, requirements, options[:2], python)
    try:
        return _made(name, requirements, options)
    except InfraError as error:
        if not re.search(r"upload|no such option", str(error)):
            raise
        return _made(name, requirements, options[:2])


def _made(name: str, requirements: Sequence[str], options: Sequence[str] = (), python: Python | None = None) -> str:
    if (home() / name).is_dir():
        return name
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home(), prefix=".making-") as place:
        command = [
            python.executable if python else sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            *options,
            "--target",
            f"{place}/new",
        ]
        done = subprocess.run([*command, *requirements], capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise InfraError(
                f"pip could not install {' '.join(requirements)}: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}"
            )
        Path(place, "new", "requirements.txt").write_text("".join(f"{one}\n" for one in requirements), encoding="utf-8")
        if python:
            pythons.write(python, Path(place, "new"))
        os.chmod(f"{place}/new", 0o755)  # noqa: S103 - candidates run as another user
        with contextlib.suppress(OSError):  # another process was first
            os.rename(f"{place}/new", home() / name)
    return name
