"""Which sandbox a run uses: the first that proves itself on this machine. Never a weak one that nobody asked for."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from swefuse.errors import SandboxError
from swefuse.sandbox import open_sandbox
from swefuse.sandbox.base import Sandbox
from swefuse.sandbox.conformance import SAFETY, Check, forks_are_bounded, limits_kill, protected_files_stay
from swefuse.sandbox.local import REMEDY

AUTO = "auto"
LADDER = ("local", "bwrap", "podman", "docker")  # all of them full, the fastest first
WEAK = ("landlock", "local-weak")
_SLOW = (limits_kill, forks_are_bounded)  # a second of waiting; `swefuse doctor` has them
_log = logging.getLogger(__name__)


def resolve(name: str, allow_weak: bool = False) -> str:
    """The name to open: ``name`` itself, or for ``auto`` the first of LADDER that holds what is thrown at it here.

    With ``allow_weak`` one of WEAK where none does, and a warning that says so. Another than the first is told as a warning too.
    Raises SandboxError, naming what each lacks, when there is none. Attacks for real, once for each process.
    """
    return _chosen(allow_weak, LADDER, WEAK) if name == AUTO else name


@cache
def _chosen(allow_weak: bool, ladder: tuple[str, ...], weak: tuple[str, ...]) -> str:
    problems: list[str] = []
    for name in ladder:
        problem = trial(name)
        if not problem:
            if problems:
                _log.warning("candidates run in the sandbox %r, because %s", name, "; ".join(problems))
            return name
        problems.append(f"{name}: {problem}")
    if not allow_weak:
        raise SandboxError(f"no sandbox holds untrusted code here ({'; '.join(problems)}). {REMEDY}")
    for name in weak:
        problem = trial(name, ())
        if not problem:
            _log.warning("WEAK SANDBOX %r, only for code that you trust, because %s", name, "; ".join(problems))
            return name
        problems.append(f"{name}: {problem}")
    raise SandboxError(f"no sandbox starts here, not even a weak one: {'; '.join(problems)}")


def trial(name: str, checks: Sequence[Check] | None = None) -> str:
    """What is wrong with a sandbox on this machine, by the quick ones of the safety checks; empty when it holds."""
    if checks is None:
        left_out = _SLOW if find_spec("pytest") else (*_SLOW, protected_files_stay)
        checks = [check for check in SAFETY if check not in left_out]
    try:
        with open_sandbox(name) as sandbox:
            return _problem(sandbox, checks)
    except SandboxError as error:
        return str(error).partition(REMEDY)[0].rstrip(". ")


def _problem(sandbox: Sandbox, checks: Sequence[Check]) -> str:
    start = getattr(sandbox, "start", None)
    if start is not None:
        start()
    return next((f"{check.__name__}: {problem}" for check in checks if (problem := check(sandbox))), "")
