"""Environments: folders of packages that go before those installed, for tasks whose tests need another pytest or older libraries.

One lies below ``home()`` under the name of its packages, such as ``pytest-7.4.4``. The interpreter stays the program's own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from swefuse.errors import DataError, InfraError, UserError, nearest

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


def home() -> Path:
    """Where environments lie: ``$SWEFUSE_ENVIRONMENTS``, else below the user's cache folder."""
    given = os.environ.get("SWEFUSE_ENVIRONMENTS")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swefuse" / "environments"


def known() -> list[str]:
    """Names of the environments that there are."""
    return sorted(path.name for path in home().iterdir() if path.is_dir() and _NAME.fullmatch(path.name)) if home().is_dir() else []


def folder(name: str) -> str:
    """The folder of an environment; empty for the empty name, the program's own. Raises DataError when it is not there."""
    if not name:
        return ""
    path = home() / name
    if not _NAME.fullmatch(name) or not path.is_dir():
        hint = nearest(name, known())
        raise DataError(f"there is no environment {name!r} in {home()}{hint}; 'swefuse tasks environment' makes one")
    return str(path)


def make(requirements: Sequence[str]) -> str:
    """Install packages into an environment of their own and return its name; one that is there already is left as it is.

    Raises UserError for what names no package with a version, InfraError when pip fails.
    """
    parts = [re.fullmatch(r"([A-Za-z0-9][\w.-]*)==([\w.+]+)", one) for one in requirements]
    wrong = [one for one, part in zip(requirements, parts, strict=True) if part is None]
    if wrong or not requirements:
        raise UserError(
            f"an environment is made of packages with versions, such as pytest==7.4.4, not {', '.join(wrong) or 'nothing'}"
        )
    name = "+".join(sorted(f"{part[1].lower()}-{part[2]}" for part in parts if part))
    if (home() / name).is_dir():
        return name
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home(), prefix=".making-") as place:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", f"{place}/new", *requirements]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise InfraError(
                f"pip could not install {' '.join(requirements)}: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}"
            )
        os.chmod(f"{place}/new", 0o755)  # noqa: S103 - candidates run as another user
        shutil.move(f"{place}/new", home() / name)
    return name
