"""Find out by trying how well this machine can hold untrusted code."""

from __future__ import annotations

from swefuse.errors import SandboxError
from swefuse.sandbox.base import SandboxReport
from swefuse.sandbox.conformance import SAFETY, Check
from swefuse.sandbox.local import REMEDY, weak_sandbox


def probe(checks: tuple[Check, ...] = SAFETY) -> SandboxReport:
    """Run the safety checks in a local sandbox, without isolation where there is none to be had. ``full`` only if all hold."""
    with weak_sandbox() as sandbox:
        results: dict[str, str] = {}
        for check in checks:
            try:
                results[check.__name__] = check(sandbox)
            except SandboxError as error:
                results[check.__name__] = str(error)
        lacks = tuple(name for name, problem in results.items() if problem)
        if sandbox.lack:
            lacks = (sandbox.lack, *lacks)
        return SandboxReport("weak", lacks, REMEDY, results) if lacks else SandboxReport("full", checks=results)
