"""The whole path in one command: tasks, proof, trajectories, gate, SFT, RLVR and its control, evaluation, report.

Every step writes into the run's folder and is then marked in ``state.json``; ``resume`` goes on after the last finished one
and ends with
the same figures, since each step reads only files and seeds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from swefuse import config as config_files
from swefuse.errors import ConfigError, DataError
from swefuse.recipes.config import QuickstartConfig
from swefuse.recipes.contamination import check_unseen
from swefuse.recipes.memory import PeakMemory
from swefuse.recipes.steps import STEPS, Run
from swefuse.recipes.summary import summarise_seeds
from swefuse.tasks.store import save_lines

Progress = Callable[[int, int], None]
Bars = Callable[[str], AbstractContextManager[Progress]]

__all__ = ["QuickstartConfig", "run"]


def no_bars(title: str) -> AbstractContextManager[Progress]:
    """Progress that nobody sees."""
    return nullcontext(lambda done, total: None)


def run(config: QuickstartConfig, out: Path, resume: bool = False, bars: Bars = no_bars) -> list[Path]:
    """Run everything for every seed; returns the folders whose ``report.html`` tells the story, one a seed.

    With several seeds ``out`` holds a folder for each, and ``seeds.json`` beside them.

    Raises ConfigError when ``out`` holds another run, or one with other settings, and where the pretrained nano has seen functions
    that the settings hold out; DataError when the run's state is damaged.
    """
    check_unseen(config)
    folders = []
    for seed in range(config.seed, config.seed + config.seeds):
        folder = out if config.seeds == 1 else out / f"seed-{seed}"
        one = config.model_copy(update={
            "seed": seed, "seeds": 1,
            "tasks": config.tasks.model_copy(update={"seed": seed}),
            "sft": config.sft.model_copy(update={"seed": seed}),
            "rlvr": config.rlvr.model_copy(update={"seed": seed}),
        })  # fmt: skip
        _run_seed(one, folder, resume, bars, f"seed {seed}: " if config.seeds > 1 else "")
        folders.append(folder)
    if config.seeds > 1:
        summarise_seeds(folders, out)
    return folders


def _run_seed(config: QuickstartConfig, out: Path, resume: bool, bars: Bars, label: str) -> None:
    state = _open(config, out, resume)
    work = Run(config, out)
    try:
        for name, step in STEPS.items():
            if name in state["done"]:
                continue
            started, before = time.monotonic(), work.tally.copy()
            with PeakMemory() as memory, bars(label + name) as progress:
                step(work, progress)
            state["done"][name] = round(time.monotonic() - started, 2)
            state.setdefault("verified", {})[name] = dict(work.tally - before)
            state["peak_rss_mb"] = max(state["peak_rss_mb"], memory.peak_mb)
            save_lines(out / "state.json", [json.dumps(state, indent=1)])
    finally:
        work.close()


def _open(config: QuickstartConfig, out: Path, resume: bool) -> dict[str, Any]:
    text = config_files.dump(config)
    file, state = out / "config.toml", out / "state.json"
    begun = file.exists() or state.exists()
    if begun and not resume:
        raise ConfigError(f"{out} holds a run already; give another folder, or --resume to go on with this one")
    if begun and (other := config_files.changed(file, config)):
        raise ConfigError(
            f"{out} was started with other settings ({file}: {other}); resume with the same ones or give another folder"
        )
    if not begun:
        out.mkdir(parents=True, exist_ok=True)
        save_lines(file, [text.removesuffix("\n")])
    return _read_state(state) if state.exists() else {"done": {}, "peak_rss_mb": 0.0}


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(path.read_bytes())
        if not isinstance(state["done"], dict) or not isinstance(state["peak_rss_mb"], float):
            raise TypeError("not what a run writes")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is damaged ({error}); delete it to run every step again") from error
    return state
