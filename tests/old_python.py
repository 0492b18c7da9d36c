"""A Python of other times, for tests on machines that have none: this one under another version number, and what pytest needs."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

_PARTS = ("py", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


def program(folder: Path, version: tuple[int, int, int] = (3, 8, 18)) -> Path:
    """A program that says it is Python of that version, sets OLD_PYTHON and otherwise is this Python."""
    own = os.path.realpath(sys.executable)
    said = f'[[{", ".join(map(str, version))}], "{folder}/python3", "{folder}"]'
    folder.mkdir(parents=True)
    place = folder / "python3"
    place.write_text(f'#!/bin/sh\ncase "$*" in *base_prefix*) echo \'{said}\'; exit;; esac\nOLD_PYTHON=1 exec {own} "$@"\n')
    for one in (place, *place.parents[:4]):
        one.chmod(0o755)
    return place


def runner(folder: Path) -> Path:
    """The installed pytest and what it needs, copied below ``folder``."""
    folder.mkdir(parents=True)
    for name in _PARTS:
        spec = find_spec(name)
        assert spec is not None and spec.origin
        source = Path(spec.origin)
        if source.name == "__init__.py":
            shutil.copytree(source.parent, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder)
    return folder
