"""What every worker process of this room holds: one verifier, whose sandbox also answers questions about functions."""

from __future__ import annotations

from pathlib import Path

from swefuse.sandbox.base import Sandbox
from swefuse.verify import Verifier
from swefuse.verify import init_worker as init_verifier
from swefuse.verify.tests import Limits

# a hanging version in pytest form costs its whole limit; a function's tests need a few hundredths of a second
PYTEST_CPU_S = 4.0
_verifier: Verifier | None = None


def init_worker(sandbox_name: str = "local", verdicts: Path | None = None, pytest_cpu_s: float = PYTEST_CPU_S) -> None:
    """Initializer for executors: the verifier of this process. What it finds goes into the file ``verdicts`` for later stages."""
    global _verifier
    _verifier = init_verifier(sandbox_name, verdicts is not None, verdicts, Limits(pytest_cpu_s=pytest_cpu_s))


def verifier() -> Verifier:
    """The verifier of this process."""
    if _verifier is None:
        init_worker()
    assert _verifier is not None
    return _verifier


def sandbox() -> Sandbox:
    """The sandbox of this process."""
    return verifier().sandbox
