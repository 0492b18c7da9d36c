"""The bundle that is written when something fails that is not the user's fault, so that it can be attached to a report.

It holds the traceback, the command, the resolved config, versions and the last events of the run. It never holds the environment,
and whatever looks like a secret is blanked out.
"""

from __future__ import annotations

import os
import platform
import re
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

_NAME = r"(?:api[-_]?key|access[-_]?key|secret|passw(?:or)?d|(?:auth|access|api|hf|bearer)[-_]?token|authorization)"
_ASSIGNED = re.compile(rf"(?i)(\w*{_NAME}\w*[\"']?\s*[=:]\s*[\"']?)(?:bearer\s+)?[^\s\"',;]+")
_LOGIN = re.compile(r"(://)[^/\s@]+@")
_SECRET_VARIABLE = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_LAST_EVENTS = 200
_notes: dict[str, str] = {}


def note(name: str, text: str) -> None:
    """Remember a text for the bundle of this process. ``out`` is the run folder, whose events go along."""
    _notes[name] = text


def scrub(text: str, environment: Mapping[str, str] | None = None) -> str:
    """``text`` without logins in addresses, values of keys with secret names and values of secret environment variables."""
    for name, value in (os.environ if environment is None else environment).items():
        if _SECRET_VARIABLE.search(name) and len(value) >= 6:
            text = text.replace(value, f"[{name}]")
    return _LOGIN.sub(r"\1[hidden]@", _ASSIGNED.sub(r"\1[hidden]", text))


def write_bundle(error: BaseException, arguments: Sequence[str], parent: Path | None = None) -> Path | None:
    """Write the bundle below ``parent`` (default: here, else the temporary folder). None if no place can be written to."""
    files = {
        "traceback.txt": "".join(traceback.format_exception(error)),
        "command.txt": "swefuse " + " ".join(arguments) + "\n",
        "config.toml": _notes.get("config", ""),
        "versions.txt": _versions(),
        "events.jsonl": _events(),
    }
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for place in [parent] if parent else [Path.cwd(), Path(tempfile.gettempdir())]:
        folder = place / f"swefuse-crash-{stamp}-{os.getpid()}"
        try:
            folder.mkdir(exist_ok=True)
            for name, text in files.items():
                if text:
                    (folder / name).write_text(scrub(text), encoding="utf-8", errors="backslashreplace")
        except OSError:
            continue
        return folder
    return None


def _versions() -> str:
    packages = sorted({f"{item.name}=={item.version}" for item in distributions() if item.name})
    return "\n".join([f"python {platform.python_version()}", platform.platform(), *packages]) + "\n"


def _events() -> str:
    try:
        text = (Path(_notes["out"]) / "events.jsonl").read_text(encoding="utf-8", errors="replace")
    except (KeyError, OSError):
        return ""
    return "".join(text.splitlines(keepends=True)[-_LAST_EVENTS:])
