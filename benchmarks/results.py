"""The tables of docs/results.md from a finished quickstart of several seeds: ``python benchmarks/results.py RUN``.

With ``--cold`` also what mere sharpening brings: exact pass@1 at lower temperatures of the models after stage 1, the control and
stage 2, for which every open edit of the held-out tasks is verified once and kept in RUN. Tables go to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

SPLITS = ("recombined", "unseen", "real")
MODELS = ("random", "rule", "base", "sft", "control", "rlvr")
NAMES = {"sft": "SFT", "rlvr": "RLVR"}
TEMPERATURES = (1.0, 0.6, 0.4, 0.25)


def read(path: Path) -> Any:
    """A JSON file of a run."""
    return json.loads(path.read_bytes())


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Rows in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _points(value: Sequence[float] | None) -> str:
    return "" if value is None else "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * number for number in value))


def solved(run: Any) -> Iterator[Sequence[str]]:
    """Greedy, sampled, pass@4 and best of 4 of every model, seed by seed."""
    for split in SPLITS:
        for model in MODELS:
            cells = []
            for seed in run["seeds"]:
                found = seed["results"][split][model]
                keys = ("greedy", "sampled", "pass4", *(("bestof4",) if found["bestof4"] is not None else ()))
                cells.append(" / ".join(_share(found[key]) for key in keys))
            yield [split if model == MODELS[0] else "", NAMES.get(model, model), *cells]


def differences(run: Any) -> Iterator[Sequence[str]]:
    """What stage 2 has more than its opponents, sampled, seed by seed."""
    for split in (*SPLITS, "all"):
        for pair in ("rlvr-sft", "rlvr-control"):
            other = NAMES.get(pair.partition("-")[2], pair.partition("-")[2])
            yield [split, other, *(_points(seed["differences"][split].get(pair)) for seed in run["seeds"])]


def together(run: Any) -> Iterator[Sequence[str]]:
    """All seeds at once, paired over tasks."""
    for split in (*SPLITS, "all"):
        for pair, found in run["together"][split]["differences"].items():
            a, b = (NAMES.get(name, name) for name in pair.split("-"))
            yield [split, f"{a} minus {b}", _points(found["greedy"]), _points(found["sampled"])]


def value(folders: Sequence[Path]) -> Iterator[Sequence[str]]:
    """The value model beside what it has to beat, on held-out pairs."""
    found = [read(folder / "eval" / "value.json") for folder in folders]
    yield ["majority class", *(f"{one['head']['majority']:.3f}" for one in found)]
    for key, name in (("logprob", "sum of log-probs"), ("platt", "Platt (4 numbers)"), ("head", "value head")):
        keys = ("three_way", "decisive", "auc", "ece")
        yield [name, *(" / ".join(f"{one[key][k]:.3f}" for k in keys) for one in found)]


def tell(done: int, total: int) -> None:
    """Where the verification of a board stands."""
    print(f"\rtasks: {done}/{total}", end="" if done < total else "\n", file=sys.stderr)


def cold(folder: Path, workers: int) -> Iterator[Sequence[str]]:
    """Exact pass@1 by temperature, and pass@4 at temperature 1."""
    from swefuse.learn import board
    from swefuse.learn.model import load, steady
    from swefuse.learn.tokens import codec_for
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale.executor import ProcessExecutor
    from swefuse.tasks.store import load_tasks
    from swefuse.verify.many import init_worker, verify_many

    steady(0, workers)
    tasks = load_tasks(folder / "tasks" / "tasks.jsonl")
    boards: dict[str, list[board.Place]] = {}
    for split in ("unseen", "real"):
        chosen, kept = [task for task in tasks if task.split == split], folder / f"board-{split}.jsonl"
        if not kept.exists():
            with ProcessExecutor(workers, init_worker, (resolve(AUTO),), chunk=16) as executor:
                board.save_board(kept, board.make_board(chosen, lambda items: verify_many(items, executor), tell))
        boards[split] = board.load_board(kept, chosen)
    for name in ("sft", "control", "rlvr"):
        model, tokenizer = load(folder / "models" / name)
        codec = codec_for(tokenizer)
        for split, places in boards.items():
            found = [board.exact_pass(model, codec, places, heat) for heat in TEMPERATURES]
            four = fmean(1 - (1 - chance) ** 4 for chance in found[0])
            yield [folder.name, NAMES.get(name, name), split, *(f"{fmean(row):.3f}" for row in found), f"{four:.3f}"]


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of 'swefuse quickstart --seeds N', N above 1")
    parser.add_argument("--cold", action="store_true", help="exact pass@1 at lower temperatures, too")
    parser.add_argument("--workers", type=int, default=2, help="processes that verify, and threads that compute")
    options = parser.parse_args()
    run = read(options.run / "seeds.json")
    folders = [options.run / f"seed-{seed['seed']}" for seed in run["seeds"]]
    seeds = [f"seed {seed['seed']}" for seed in run["seeds"]]
    print(table(["split", "model", *seeds], solved(run)))
    print(table(["split", "RLVR minus", *seeds], differences(run)))
    print(table(["split", "difference", "greedy", "sampled"], together(run)))
    print(table(["", *seeds], value(folders)))
    print("".join(f"{seed['seconds']:.0f} s, {seed['peak_rss_mb']} MB\n" for seed in run["seeds"]))
    if options.cold:
        head = ["run", "model", "split", *(f"T = {heat:g}" for heat in TEMPERATURES), "pass@4"]
        print(table(head, (row for folder in folders for row in cold(folder, options.workers))))


if __name__ == "__main__":
    main()
