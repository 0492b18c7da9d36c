"""What a source tree needs to be imported without being installed: its own metadata and the version file of a build."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from swefuse.workspace import Files

VERSION = "9999.0"
_VERSION_FILE = re.compile(r"(?:version[-_]file|write_to)\s*=\s*[\"']([\w./-]+\.py)[\"']")
_NAME = re.compile(r"^\s*name\s*=\s*[\"']?([A-Za-z0-9][\w.-]*)", re.MULTILINE)
_STATED = re.compile(r"^__version__\s*=\s*[\"']([\w.+-]+)[\"']", re.MULTILINE)
_LICENCES = (
    ("Apache-2.0", "apache license"), ("MPL-2.0", "mozilla public license"), ("AGPL-3.0", "affero general public license"),
    ("LGPL", "lesser general public license"), ("GPL", "gnu general public license"), ("Unlicense", "unencumbered software"),
    ("ISC", "permission to use, copy, modify, and/or distribute"), ("BSD", "redistribution and use in source and binary forms"),
    ("MIT", "permission is hereby granted, free of charge"), ("PSF-2.0", "python software foundation license"),
)  # fmt: skip


def distribution(files: Files) -> tuple[str, str]:
    """``(name, version)`` of the project; an empty name where none is stated, VERSION where the version is not stated plainly."""
    try:
        project: dict[str, Any] = tomllib.loads(files.get("pyproject.toml", "")).get("project", {})
    except tomllib.TOMLDecodeError:
        project = {}
    name = project.get("name")
    if not isinstance(name, str):
        found = _NAME.search(files.get("setup.cfg", "")) or _NAME.search(files.get("setup.py", "").replace("(", "(\n"))
        name = found[1] if found else ""
        constant = re.search(rf"^{re.escape(name)}\s*=\s*[\"']([\w.-]+)[\"']", files.get("setup.py", ""), re.MULTILINE)
        name = constant[1] if name and constant else name  # name=NAME
    version = project.get("version")
    if not isinstance(version, str):
        stated = (
            _STATED.search(text) for path, text in files.items() if path.endswith(("__init__.py", "_version.py", "version.py"))
        )
        version = next((found[1] for found in stated if found), VERSION)
    return name, version


def supplied(files: Files) -> dict[str, str]:
    """Files that an installation would have added: metadata of the distribution, and a generated version file."""
    found: dict[str, str] = {}
    name, version = distribution(files)
    if name:
        folder = f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
        found[f"{folder}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    for source in ("pyproject.toml", "setup.py", "setup.cfg"):
        for path in _VERSION_FILE.findall(files.get(source, "")):
            if path not in files:
                numbers = ", ".join(part for part in version.split(".") if part.isdigit())
                found[path] = f'__version__ = version = "{version}"\n__version_tuple__ = version_tuple = ({numbers},)\n'
    return found


def licence(files: Files) -> str:
    """A short name of the licence that the tree holds, as far as its text is known; empty for none or another."""
    for path, text in sorted(files.items()):
        if "/" not in path and path.upper().startswith(("LICENSE", "LICENCE", "COPYING", "UNLICENSE")):
            words = " ".join(text.lower().split())
            return next((name for name, phrase in _LICENCES if phrase in words), "")
    return ""
