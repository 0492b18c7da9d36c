"""How well trajectories are made. Run from the repository's root; figures go to stdout, progress to stderr.

``python benchmarks/collect.py --json`` prints one flat JSON object on its last line. Rows that need what is not given are left out:
``--tasks DIR`` holds the tasks of a quickstart and ``--model DIR`` its SFT model; ``--smollm2 DIR`` is where SmolLM2 lies or is
converted to (``pip install 'swe-fuse[smollm2]'``).
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path

Row = Callable[[], dict[str, float]]
NAMES = (
    "grammar_accept", "mask_ms_32k", "mask_ms_50k", "sample_x_single", "sample_x_batch", "syntax_errors_free",
    "syntax_errors_constrained", "state_grammar_x", "rollback_yield_x", "kill_lost",
)  # fmt: skip


def rows(options: argparse.Namespace) -> dict[tuple[str, ...], Row]:
    """What gives which figures, of those that can be had with what is given."""
    import collecting
    import completion
    import nano
    import sampling
    import syntax

    made: dict[tuple[str, ...], Row] = {
        ("grammar_accept",): lambda: syntax.grammar_accept(options.workers),
        ("mask_ms_32k", "mask_ms_50k"): syntax.mask_ms,
        ("sample_x_single", "sample_x_batch"): sampling.sampling,
    }
    if options.smollm2:
        made["syntax_errors_free", "syntax_errors_constrained"] = lambda: completion.syntax_errors(options.smollm2, options.workers)
    if options.tasks:
        made["kill_lost",] = lambda: collecting.kills(options.tasks)
    if options.tasks and options.model:
        made["rollback_yield_x",] = lambda: collecting.rollback(options.tasks, options.model, options.workers)
        made["state_grammar_x",] = lambda: nano.state_grammar(options.tasks, options.model, options.workers)
    return made


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    parser.add_argument("--only", choices=NAMES, help="run what gives this figure, and those that come with it")
    parser.add_argument("--tasks", type=Path, metavar="DIR", help="tasks of a quickstart")
    parser.add_argument("--model", type=Path, metavar="DIR", help="the model that its SFT made")
    parser.add_argument("--smollm2", type=Path, metavar="DIR", help="folder of SmolLM2, made where it is missing")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    found: dict[str, float] = {}
    for names, row in rows(options).items():
        if options.only in (None, *names):
            found |= row()
    found = {name: round(float(value), 3) for name, value in found.items()}
    print(json.dumps(found) if options.json else "\n".join(f"{name:28} {value:12.3f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
