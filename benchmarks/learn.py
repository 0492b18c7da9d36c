"""How well the two stages learn. Run from the repository's root; figures go to stdout, progress to stderr.

``python benchmarks/learn.py --json`` prints one flat JSON object on its last line. Rows that need what is not given are left out:
``--run DIR`` is the folder of a finished quickstart, of one seed or (for ``rlvr_gain_low``) of several; ``--entropy DIR`` that of
``swefuse bench entropy``. Rows that a finished run holds are read from it; the others are measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swefuse.tasks.build import TasksConfig

HUMAN = ("nano_human_sampled", "nano_human_random", "nano_human_reach", "nano_human_rows")
Row = Callable[[], dict[str, float]]
NAMES = (
    "resume_max_diff", "update_vs_trl_x", "update_mem_x", "nano_real_sampled", "value_decisive", "value_ece", "rlvr_gain_low",
    "noise_kept_entropy", "noise_kept_off", "plan_error", "overlap_round_x", "overlap_share", "overlap_busy_x", *HUMAN,
)  # fmt: skip


def read(path: Path) -> Any:
    """A JSON file of a run."""
    return json.loads(path.read_bytes())


def seeds_of(run: Path) -> list[Path]:
    """The folders of a run's seeds."""
    return sorted(run.glob("seed-*")) or [run]


def value(run: Path) -> dict[str, float]:
    """Means over the seeds; the Platt fit beside the head."""
    found = [read(folder / "eval" / "value.json") for folder in seeds_of(run)]
    mean = {
        f"value_{key}{suffix}": sum(one[name][key] for one in found) / len(found)
        for key in ("decisive", "ece")
        for name, suffix in (("head", ""), ("platt", "_platt"))
    }
    return mean


def nano(run: Path) -> dict[str, float]:
    """Sampled pass@1 after SFT on held-out real functions, and that of the rule."""
    found = [read(folder / "report.json")["results"]["real"] for folder in seeds_of(run)]
    return {
        "nano_real_sampled": sum(one["sft"]["sampled"] for one in found) / len(found),
        "nano_real_rule": sum(one["rule"]["sampled"] for one in found) / len(found),
    }


def gain(run: Path) -> dict[str, float]:
    """RLVR against the control of equal compute, all held-out tasks and seeds: mean and lower end of the interval, in points."""
    mean, low, _ = read(run / "seeds.json")["together"]["all"]["differences"]["rlvr-control"]["sampled"]
    return {"rlvr_gain_low": 100 * low, "rlvr_gain": 100 * mean}


def noise(folder: Path) -> dict[str, float]:
    """Shares of the clean gain that are kept with 20 % false passes: by the best weighting that needs no truth, and by off."""
    cells = [c for c in read(folder / "entropy.json")["cells"] if c["noise"] == "false_pass:0.2" and c["objective"] == "group"]
    kept = {c["mode"]: c["kept"] for c in cells}
    best = max((mode for mode in kept if mode in ("soft", "hard", "posterior", "recorded")), key=lambda mode: kept[mode])
    return {"noise_kept_entropy": 100 * kept[best], "noise_kept_off": 100 * kept["off"]}


def rows(options: argparse.Namespace) -> dict[tuple[str, ...], Row]:
    """What gives which figures, of those that can be had with what is given."""
    import overlapping
    import planning

    made: dict[tuple[str, ...], Row] = {
        ("plan_error",): planning.plan_error,
        ("overlap_round_x", "overlap_share", "overlap_busy_x"): overlapping.overlap,
    }
    if options.run:
        import resuming
        import updating

        first = seeds_of(options.run)[0]
        made["resume_max_diff",] = lambda: resuming.resume_max_diff(first)
        made["update_vs_trl_x", "update_mem_x"] = lambda: updating.update_vs_trl(first / "models" / "sft", first / "tasks")
        made["value_decisive", "value_ece"] = lambda: value(options.run)
        made["nano_real_sampled",] = lambda: nano(options.run)
        if (options.run / "seeds.json").exists():
            made["rlvr_gain_low",] = lambda: gain(options.run)
        if options.fix:
            import humanfix

            made[HUMAN] = lambda: humanfix.human(first / "models" / "sft", options.fix, TasksConfig())
    if options.entropy:
        made["noise_kept_entropy", "noise_kept_off"] = lambda: noise(options.entropy)
    return made


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    parser.add_argument("--only", choices=NAMES, help="run what gives this figure, and those that come with it")
    parser.add_argument("--run", type=Path, metavar="DIR", help="a finished quickstart")
    parser.add_argument("--fix", type=Path, metavar="FILE", help="HumanEvalFix as JSON lines, for its bugs in held-out functions")
    parser.add_argument("--entropy", type=Path, metavar="DIR", help="what 'swefuse bench entropy' wrote")
    options = parser.parse_args()
    found: dict[str, float] = {}
    for names, row in rows(options).items():
        if options.only in (None, *names):
            found |= row()
    found = {name: round(float(value), 6) for name, value in found.items()}
    print(json.dumps(found) if options.json else "\n".join(f"{name:28} {value:12.4f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
