"""Environments: folders of packages that go before those installed, for tasks whose tests need another pytest or older libraries.

One lies below ``home()`` under the name of its packages, such as ``pytest-7.4.4``. The interpreter stays the program's own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
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
    return _made(name, requirements)


def dated(requirements: Sequence[str], date: str) -> str:
    """Install what is required as it was on a date (``YYYY-MM-DD``), as wheels, and return the environment's name.

    An index that does not say when its files came gives the newest ones that fit. Raises InfraError when pip fails.
    """
    digest = hashlib.sha256("\n".join([*sorted(requirements), f"3.{sys.version_info.minor}"]).encode()).hexdigest()[:10]
    options = ["--only-binary", ":all:", "--uploaded-prior-to", f"{date}T00:00:00Z"]
    try:
        return _made(f"auto-{date}-{digest}", requirements, options)
    except InfraError as error:
        if not re.search(r"upload|no such option", str(error)):
            raise
        return _made(f"auto-{date}-{digest}", requirements, options[:2])


def _made(name: str, requirements: Sequence[str], options: Sequence[str] = ()) -> str:
    if (home() / name).is_dir():
        return name
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home(), prefix=".making-") as place:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", *options, "--target", f"{place}/new"]
        done = subprocess.run([*command, *requirements], capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise InfraError(
                f"pip could not install {' '.join(requirements)}: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}"
            )
        Path(place, "new", "requirements.txt").write_text("".join(f"{one}\n" for one in requirements), encoding="utf-8")
        os.chmod(f"{place}/new", 0o755)  # noqa: S103 - candidates run as another user
        with contextlib.suppress(OSError):  # another process was first
            os.rename(f"{place}/new", home() / name)
    return name
