"""Commands that run another one in a cage of its own, as who we are or, for root, as somebody without any rights."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

UID = 20001
_CAGE = ("unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc")


def caged(command: Sequence[str]) -> list[str]:
    """The command in namespaces of its own, so that even an attack that breaks out meets nobody. As it is without ``unshare``."""
    if shutil.which("unshare") is None:
        return list(command)
    own = () if os.geteuid() == 0 else ("--user", "--map-current-user")
    return [_CAGE[0], *own, *_CAGE[1:], *_up(command)]


def as_user(command: Sequence[str]) -> list[str]:
    """For root: the command in a cage, as a user without rights who can still reach this interpreter."""
    opened = "\n".join(_reachable(Path(path)) for path in dict.fromkeys([sys.base_prefix, sys.prefix]))
    become = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--", *command]
    script = f"set -e\n{opened}\nip link set lo up 2>/dev/null || true\ncd /\nexec env -i PATH=/usr/bin:/bin {shlex.join(become)}"
    return [*_CAGE, "sh", "-c", script]


def plainly(command: Sequence[str]) -> list[str]:
    """The command as a user without rights: the caller, or for root somebody else, in a cage."""
    return as_user(command) if os.geteuid() == 0 else list(command)


def _up(command: Sequence[str]) -> list[str]:
    return ["sh", "-c", f"ip link set lo up 2>/dev/null || true\nexec {shlex.join(command)}"]


def _reachable(folder: Path) -> str:
    """Shell lines that make a folder reachable for everybody, in this mount namespace only, and nothing beside it."""
    closed = next((parent for parent in reversed(folder.resolve().parents) if not parent.stat().st_mode & 0o001), None)
    if closed is None:
        return ""
    inner, outer = shlex.quote(str(folder.resolve())), shlex.quote(str(closed))
    return (
        f"held=$(mktemp -d)\nmount --bind {inner} $held\nmount -t tmpfs -o mode=755 none {outer}\n"
        f"mkdir -p {inner}\nmount --bind $held {inner}"
    )
