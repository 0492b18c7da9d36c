"""Patch to verdict. ``verify_many`` is the way in, ``Verifier`` what each process then has."""

from swefuse.verify.many import Candidate, Patched, init_worker, verify_many, verify_one
from swefuse.verify.verifier import Verifier

__all__ = ["Candidate", "Patched", "Verifier", "init_worker", "verify_many", "verify_one"]
