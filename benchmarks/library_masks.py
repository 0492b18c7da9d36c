"""Masks of generated trajectories for five families of chat templates: how many break a law.

``python benchmarks/library_masks.py [--examples N] --json``: trajectories with kept and dropped steps, ids that a model
wrote, answers that were no action, and words that look like control tokens, in both dialects;
see ``swefuse.learn.masks`` for the laws.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "learn")]

from chat_samples import FAMILIES, real, varied  # noqa: E402 - they lie beside the tests

from swefuse.cli.console import stage_progress  # noqa: E402
from swefuse.errors import SweFuseError  # noqa: E402
from swefuse.learn.masks import inspect  # noqa: E402

EXAMPLES = 1000


def broken(family: str, count: int, progress: Callable[[int, int], None]) -> int:
    """How many of ``count`` trajectories break a law with a template of this family; half in each dialect."""
    codecs = {written: real(family, written) for written in ("compact", "tools")}
    found = 0
    for number in range(count):
        written = "tools" if number % 2 else "compact"
        task, trajectory = varied(number, codecs[written], written == "tools")
        try:
            laws = inspect(codecs[written], task, trajectory).broken
        except SweFuseError as error:
            laws = (str(error),)
        if laws:
            found += 1
            print(f"{family} {written} {trajectory.id}: {'; '.join(laws)}", file=sys.stderr)
        progress(number + 1, count)
    return found


def rows(count: int = EXAMPLES) -> dict[str, float]:
    """One figure for each family, and their sum."""
    found = {}
    for family in FAMILIES:
        with stage_progress(f"masks, {family}") as progress:
            found[f"mask_broken_{family}"] = float(broken(family, count, progress))
    return {**found, "mask_broken": sum(found.values()), "mask_trajectories": float(count * len(FAMILIES))}


def main() -> None:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="trajectories for each family")
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    options = parser.parse_args()
    found = rows(options.examples)
    print(json.dumps(found) if options.json else "\n".join(f"{name:28} {value:10.0f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
