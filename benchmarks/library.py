"""Every figure of the library, each by a script of its own beside this one: the store, the gate, the formats, and masks.

``python benchmarks/library.py --json``, or ``--only NAME`` for what gives one of them. Those scripts have options of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

PARTS: dict[str, tuple[str, ...]] = {
    "library_store.py": (
        "writes_per_s", "write_cpu_ms", "kill_lost", "list_s", "search_s", "search_common_s", "stats_s", "stream_mb",
    ),
    "library_gate.py": ("gate_wrong_accepted", "gate_right_refused", "gate_per_s"),
    "library_formats.py": ("format_failures", "format_examples", "format_fewest_examples"),
    "library_masks.py": ("mask_broken", "mask_trajectories"),
}  # fmt: skip
CHOOSING = ("library_store.py", "library_gate.py")  # scripts that can run one of their figures alone


def run(script: str, only: str | None) -> dict[str, float]:
    """The figures of a script's last line; what it says on the way goes to stderr."""
    wanted = ["--only", only] if only is not None and script in CHOOSING else []
    command = [sys.executable, str(Path(__file__).with_name(script)), *wanted]
    done = subprocess.run([*command, *([] if script in CHOOSING else ["--json"])], stdout=subprocess.PIPE, text=True)
    if not done.stdout.strip():
        sys.exit(f"{script} ended with {done.returncode} and no figure")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {name: float(value) for name, value in found.items() if value is not None}


def main() -> None:
    """Run what is asked for."""
    names = [name for part in PARTS.values() for name in part]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    parser.add_argument("--only", choices=names, help="run what gives this figure, and those that come with it")
    options = parser.parse_args()
    found: dict[str, float] = {}
    for script, given in PARTS.items():
        if options.only is None or options.only in given:
            found |= run(script, options.only)
    print(json.dumps(found) if options.json else "\n".join(f"{name:28} {value:12.4f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
