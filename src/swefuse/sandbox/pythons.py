"""Other Pythons of this machine, for tests of a time whose code does not run with this one. A job in one always runs cold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from swefuse.errors import UserError, nearest

OLDEST = (3, 7)  # what the runner of tests inside the sandbox needs
FILE = "interpreter.json"  # in an environment's folder: that its packages are for another Python than the program's
_NAMES = range(OLDEST[1], 20)
_ASK = "import json, sys; print(json.dumps([sys.version_info[:3], sys.executable, sys.base_prefix]))"


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter: its ``version`` such as ``3.8.18``, the program, and the folder of its standard library and packages."""

    version: str
    executable: str
    prefix: str

    @property
    def series(self) -> str:
        """Such as ``3.8``."""
        return ".".join(self.version.split(".")[:2])


def _places() -> Iterator[str]:
    """Programs that may be a Python: those named in ``$SWEFUSE_PYTHONS`` (divided as PATH is), of pyenv and uv, and on PATH."""
    yield from (one for one in os.environ.get("SWEFUSE_PYTHONS", "").split(os.pathsep) if one)
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    kept = [
        Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python"),
    ]
    for folder in kept:
        yield from sorted((str(path) for path in folder.glob("*/bin/python3")), key=_numbers, reverse=True)
    yield from (path for minor in _NAMES if (path := shutil.which(f"python3.{minor}")))


def _numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]


@cache
def asked(executable: str) -> Python | None:
    """What a program says of itself; None where it is no Python of OLDEST or later that can be run."""
    try:
        done = subprocess.run([executable, "-I", "-S", "-c", _ASK], capture_output=True, text=True, check=True, timeout=20)  # noqa: S603
        version, program, prefix = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if tuple(version[:2]) < OLDEST:
        return None
    return Python(".".join(map(str, version)), os.path.realpath(program), os.path.realpath(prefix))


def found() -> dict[str, Python]:
    """The Pythons of this machine beside the program's own by their series, the oldest first; of two the one found first."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    known: dict[str, Python] = {}
    for place in _places():
        python = asked(place)
        if python is not None and python.series != own:
            known.setdefault(python.series, python)
    return dict(sorted(known.items(), key=lambda item: _numbers(item[0])))


def named(series: str) -> Python:
    """The Python of a series such as ``3.8``. Raises UserError where this machine has none."""
    known = found()
    if series not in known:
        raise UserError(
            f"there is no Python {series!r} on this machine{nearest(series, list(known))}; those found beside the program's own: "
            f"{', '.join(known) or 'none'} (pyenv's, uv's, python3.N on PATH, and what SWEFUSE_PYTHONS names)"
        )
    return known[series]


def write(python: Python, environment: Path) -> None:
    """Say in an environment that its packages are for ``python``."""
    (environment / FILE).write_text(json.dumps(asdict(python)) + "\n", encoding="utf-8")


def of(environment: str) -> Python | None:
    """The Python that an environment's folder asks for; None for the program's own."""
    file = Path(environment, FILE)
    return Python(**json.loads(file.read_text(encoding="utf-8"))) if environment and file.exists() else None
