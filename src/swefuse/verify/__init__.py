"""Patch to verdict. ``Verifier`` is the way in."""

from swefuse.verify.verifier import Candidate, Patched, Verifier, init_worker, verify_many, verify_one

__all__ = ["Candidate", "Patched", "Verifier", "init_worker", "verify_many", "verify_one"]
