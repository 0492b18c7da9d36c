"""``manifest.json`` beside each trained model: from what, by what and with which figures it was made."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import swefuse
from swefuse.errors import DataError
from swefuse.library.store import Filter, Library
from swefuse.records import SCHEMA
from swefuse.tasks.store import save_lines

FILE = "manifest.json"
_PACKAGES = ("swe-fuse", "torch", "transformers", "trl", "tokenizers")


@cache
def code() -> dict[str, str]:
    """Versions of what trains, and a hash over this package's own sources, which a version number does not tell."""
    digest = sha256()
    root = Path(swefuse.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return {"sources": digest.hexdigest()[:20], "python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def library(path: Path) -> dict[str, Any]:
    """What of a library it is: how many trajectories are accepted, a hash over their ids, and the snapshot, empty without one."""
    with Library(path) as store:
        told = {"snapshot": store.snapshot_name or "", "fingerprint": store.fingerprint()}
        return {"trajectories": store.count(Filter(accepted=True)), **told}


def write(out: Path, stage: str, settings: BaseModel, data: Mapping[str, Any]) -> Path:
    """Write the manifest of the model ``out/model``; it appears whole or not at all.

    ``data``: fingerprints of the models, hashes of what was learnt from, and the like. The figures are the last line of
    ``out/metrics.jsonl``.
    """
    told = {
        **data, "schema": SCHEMA, "stage": stage, "code": code(), "seed": getattr(settings, "seed", 0),
        "settings": settings.model_dump(mode="json"), "figures": _last(out / "metrics.jsonl"),
    }  # fmt: skip
    save_lines(out / FILE, [json.dumps(told, indent=1, sort_keys=True)])
    return out / FILE


def read(out: Path) -> dict[str, Any]:
    """What ``write`` wrote. Raises DataError where there is none or it is damaged."""
    try:
        found: dict[str, Any] = json.loads((out / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{out} holds no manifest of a model: {error}") from error
    return found


def _last(path: Path) -> dict[str, Any]:
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return dict(json.loads(rows[-1])) if rows else {}
