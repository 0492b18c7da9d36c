"""What the gate asks for: which checks, and their limits and lists."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

CHECKS = (
    "syntax", "verdict", "static", "coherence", "observed", "seen", "consistent", "effective", "fresh", "truthful", "trainable",
    "length", "repeats", "contamination", "licence", "secrets", "tamper",
)  # fmt: skip
PERMISSIVE = (
    "MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "PSF-2.0", "Python-2.0", "Unlicense", "CC0-1.0",
    "CC-BY-4.0", "Zlib", "BSL-1.0", "HPND", "X11", "NCSA", "BlueOak-1.0.0", "MIT-CMU", "BSD-1-Clause", "WTFPL",
)  # fmt: skip


class GateConfig(BaseModel):
    """Settings of the gate. What differs from the defaults is part of the gate's version in every decision."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    checks: tuple[str, ...] = Field(
        CHECKS,
        min_length=1,
        description="checks, in order; also types (mypy), bandit, and your own as package.module:function",
    )
    steps: int = Field(200, ge=1, description="most steps")
    observation: int = Field(50_000, ge=100, description="most characters of one observation")
    message: int = Field(100_000, ge=100, description="most characters that an agent writes in one step")
    characters: int = Field(1_000_000, ge=1000, description="most characters of all messages and observations together")
    tokens: int = Field(131_072, ge=1, description="most tokens that a model wrote, where they are recorded")
    similar: float = Field(0.9, gt=0, le=1, description="from which likeness on a trajectory repeats another, as a share")
    evaluation: tuple[str, ...] = Field(
        (),
        description="sets that must not be trained on: 'heldout', 'humaneval', JSON or JSON lines files, folders of Python",
    )
    words: int = Field(13, ge=5, description="so many words in a row, shared with a text of an evaluation set, are too many")
    licences: tuple[str, ...] = Field(PERMISSIVE, description="licences that are allowed, as SPDX names")
    denied: tuple[str, ...] = Field((), description="licences that are refused even if allowed, as SPDX names")
    unknown_licence: bool = Field(True, description="whether a licence that nobody stated is let through, and only reported")
    internal: tuple[str, ...] = Field(
        (), description="ends of host names that must not get out, beside .internal, .corp and the like"
    )
