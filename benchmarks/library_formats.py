"""Random trajectories and files through every outside format: how often a law of reading and writing is broken.

``python benchmarks/library_formats.py [--examples N] [--only FORMAT] --json``: for each format as many transcripts, written and
read again, as files, read and written again. See ``tests/format_cases.py`` for what they hold: line ends of Unicode, half
characters, arguments that are no JSON, fields that nobody knows.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS)]

from format_cases import NAMES, came_back, files, stayed, transcripts  # noqa: E402 - it lies beside the tests
from swefuse.cli.console import stage_progress  # noqa: E402
from swefuse.library.formats import FORMATS  # noqa: E402

EXAMPLES = 10_000


def tried(name: str, count: int, progress: Callable[[int, int], None]) -> tuple[int, int]:
    """How many of ``count`` examples, half of each law, broke it, and how many there were."""
    one, two = (count + 1) // 2, count // 2
    first = broken(name, transcripts(FORMATS[name]), came_back, one, lambda seen: progress(seen, count))
    other = broken(name, files(FORMATS[name]), stayed, two, lambda seen: progress(one + seen, count))
    return first[0] + other[0], first[1] + other[1]


def broken(name: str, strategy: Any, law: Callable[[Any, Any], str], count: int, done: Callable[[int], None]) -> tuple[int, int]:
    """How many of the examples of a strategy break a law, and how many were tried."""
    failed = seen = 0

    @settings(
        max_examples=count, deadline=None, database=None, phases=[Phase.generate], derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def one(example: Any) -> None:
        nonlocal failed, seen
        seen += 1
        try:
            told = law(FORMATS[name], example)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
            told = f"{name}: {type(error).__name__}: {error}"
        if told:
            failed += 1
            print(told[:500], file=sys.stderr)
        if seen % 500 == 0:
            done(seen)

    one()
    return failed, seen


def main() -> None:
    """Try all formats and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="for each format, half of them for each law")
    parser.add_argument("--only", choices=NAMES, help="this format alone")
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    options = parser.parse_args()
    found: dict[str, tuple[int, int]] = {}
    for name in [options.only] if options.only else NAMES:
        with stage_progress(name) as progress:
            found[name] = tried(name, options.examples, progress)
    figures = {
        "format_failures": sum(failed for failed, _ in found.values()),
        "format_examples": sum(seen for _, seen in found.values()),
        "format_fewest_examples": min(seen for _, seen in found.values()),
    }
    print(json.dumps(figures) if options.json else "\n".join(f"{name:24} {value:9}" for name, value in figures.items()))
    sys.exit(1 if figures["format_failures"] else 0)


if __name__ == "__main__":
    main()
