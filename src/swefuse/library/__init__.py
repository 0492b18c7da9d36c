"""What may be learned from, and where it is kept. ``gate`` decides, ``Library`` stores."""

from swefuse.library.gate import CHECKS, GATE_VERSION, Check, gate
from swefuse.library.store import Entry, Filter, Library, Stats, Summary

__all__ = ["CHECKS", "GATE_VERSION", "Check", "Entry", "Filter", "Library", "Stats", "Summary", "gate"]
