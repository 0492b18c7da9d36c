"""Patch to verdict. ``Verifier`` is the way in."""

from swefuse.verify.verifier import Candidate, Verifier, init_worker, verify_many, verify_one

__all__ = ["Candidate", "Verifier", "init_worker", "verify_many", "verify_one"]
