"""What the experiment of ``recipes.entropy`` found: figures with intervals, and sentences that follow from them alone.

A task's value is its mean over the seeds; intervals resample functions, whose tasks rise and fall together. Gains are in points of
exact held-out pass@1 over the model after stage 1.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from swefuse.errors import DataError
from swefuse.evaluate.stats import Interval, cluster_bootstrap, paired_bootstrap
from swefuse.recipes.entropy import EntropyConfig, heldout, parse_noise, rows, sharpened, sources
from swefuse.tasks.store import save_lines

Cell = tuple[str, str, str]  # objective, noise, mode


def summarise(config: EntropyConfig, quickstart: Path, out: Path) -> dict[str, Any]:
    """The figures of all arms that are done. Raises DataError where there is none."""
    found = rows(out)
    if not found:
        raise DataError(f"{out} holds no arm that is done")
    tasks = heldout(sources(quickstart), config.heldout)
    clusters = [task.provenance.body_hash or task.id for task in tasks]
    by_cell: dict[Cell, list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        by_cell[row["objective"], row["noise"], row["mode"]].append(row)
    cells = []
    for (objective, noise, mode), members in by_cell.items():
        off = by_cell.get((objective, noise, "off"), [])
        clean = by_cell.get((objective, "clean", "off"), [])
        cells.append({
            "objective": objective, "noise": noise, "mode": mode, **_figures(members, clusters),
            "against_off": _against(members, off, clusters) if mode != "off" else None,
            "kept": _kept(members, clean) if noise != "clean" else None,
            "tokens_x": _tokens(members, clean or off),
        })  # fmt: skip
    colder = sharpened(config, quickstart, out)
    return {
        "tasks": len(tasks), "functions": len(set(clusters)), "arms": len(found), "cells": cells,
        "sharpened": {heat: _colder(colder["1.0"], values, clusters) for heat, values in colder.items() if heat != "1.0"},
    }  # fmt: skip


def _colder(warm: Sequence[float], cold: Sequence[float], clusters: Sequence[str]) -> dict[str, list[float]]:
    row = {"before": warm, "after": cold}
    return {f"gain{name}": list(cluster_bootstrap(_points(row, k), clusters)) for name, k in (("", 1), ("_pass4", 4))}


def _figures(members: Sequence[dict[str, Any]], clusters: Sequence[str]) -> dict[str, Any]:
    gains = [_points(row, 1) for row in members]
    four = [_points(row, 4) for row in members]
    best = [[100 * (b - a) for a, b in zip(row["best_before"], row["best_after"], strict=True)] for row in members]
    return {
        "seeds": sorted(row["seed"] for row in members),
        "gain": list(cluster_bootstrap(_means(gains), clusters)), "by_seed": [fmean(gain) for gain in gains],
        "gain_pass4": list(cluster_bootstrap(_means(four), clusters)),
        "gain_best4": list(cluster_bootstrap(_means(best), clusters)),
        "wrong": fmean(row["wrong"] for row in members), "fitted_false_pass": fmean(row["fitted_false_pass"] for row in members),
        "effective_share": _mean([row["effective_share"] for row in members]),
        "decisive_accuracy": _mean([row["decisive_accuracy"] for row in members]),
        "kl": fmean(row["kl"] for row in members),
    }  # fmt: skip


def _points(row: dict[str, Any], k: int) -> list[float]:
    """Gain in pass@k of each task, in points."""
    pairs = zip(row["before"], row["after"], strict=True)
    return [100 * ((1 - (1 - after) ** k) - (1 - (1 - before) ** k)) for before, after in pairs]


def _means(columns: Sequence[Sequence[float]]) -> list[float]:
    return [fmean(values) for values in zip(*columns, strict=True)]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _against(members: Sequence[dict[str, Any]], off: Sequence[dict[str, Any]], clusters: Sequence[str]) -> list[float] | None:
    """The difference to ``off``, over the seeds that both have."""
    seeds = {row["seed"] for row in members} & {row["seed"] for row in off}
    if not seeds:
        return None
    own, other = ([_points(row, 1) for row in side if row["seed"] in seeds] for side in (members, off))
    return list(paired_bootstrap(_means(own), _means(other), clusters))


def _kept(members: Sequence[dict[str, Any]], clean: Sequence[dict[str, Any]]) -> float | None:
    """Share of the gain without errors that is left."""
    seeds = {row["seed"] for row in members} & {row["seed"] for row in clean}
    if not seeds:
        return None
    own, other = (fmean(fmean(_points(row, 1)) for row in side if row["seed"] in seeds) for side in (members, clean))
    return own / other if other > 0 else None


def _tokens(members: Sequence[dict[str, Any]], base: Sequence[dict[str, Any]]) -> float | None:
    """Tokens that updates put through the model, as a multiple of those of ``off`` without errors."""
    own, other = (_mean([row["trained_tokens"] for row in side]) for side in (members, base))
    return own / other if own is not None and other else None


def sentences(summary: dict[str, Any]) -> list[str]:
    """What follows from the figures."""
    cells = {(c["objective"], c["noise"], c["mode"]): c for c in summary["cells"]}
    told = [_sharpening(summary["sharpened"])] if summary["sharpened"] else []
    for objective, noise in dict.fromkeys((c["objective"], c["noise"]) for c in summary["cells"]):
        here = {mode: c for (o, n, mode), c in cells.items() if (o, n) == (objective, noise) and c["against_off"]}
        if not here:
            continue
        what = f"`{objective}`, {noise_name(noise)}"
        oracle = here.get("oracle")
        if oracle is not None:
            mean, low, high = oracle["against_off"]
            if low <= 0:
                told.append(
                    f"{what}: knowing every error is worth {mean:+.1f} points [{low:+.1f}, {high:+.1f}] against `off`, which is "
                    "within noise: no weighting can be ranked here."
                )
                continue
            told.append(f"{what}: knowing every error is worth {mean:+.1f} points [{low:+.1f}, {high:+.1f}] against `off`.")
        better = _ranked(here, lambda interval: interval.low > 0)
        worse = _ranked(here, lambda interval: interval.high < 0)
        open_ = [mode for mode in here if mode not in {*better, *worse, "oracle"}]
        told += [f"{what}: better than `off`: {_list(here, better)}." if better else f"{what}: no weighting is better than `off`."]
        told += [f"{what}: worse than `off`: {_list(here, worse)}."] if worse else []
        told += [f"{what}: within noise of `off`: {_list(here, open_)}."] if open_ else []
    return told


def _sharpening(colder: dict[str, dict[str, list[float]]]) -> str:
    """What no learning at all buys, which every gain has to be read beside."""
    heat, best = max(colder.items(), key=lambda item: item[1]["gain"][0])
    one, four = (_interval(best[name]) for name in ("gain", "gain_pass4"))
    return (
        f"Merely sampling the untrained model at temperature {heat} gives {one} points of pass@1 and {four} of pass@4: a gain in "
        "pass@1 up to that may be sharpening alone."
    )


def _interval(values: Sequence[float]) -> str:
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*values)


def _ranked(here: dict[str, dict[str, Any]], test: Any) -> list[str]:
    found = [mode for mode, c in here.items() if mode != "oracle" and test(Interval(*c["against_off"]))]
    return sorted(found, key=lambda mode: -here[mode]["against_off"][0])


def _list(here: dict[str, dict[str, Any]], modes: Sequence[str]) -> str:
    return ", ".join(f"`{mode}` ({_interval(here[mode]['against_off'])})" for mode in modes)


def noise_name(noise: str) -> str:
    """As it is told in a table."""
    return parse_noise(noise, 0).name


def markdown(summary: dict[str, Any], command: str) -> str:
    """The page: what was run, what follows, and every figure."""
    seeds = sorted({seed for c in summary["cells"] for seed in c["seeds"]})
    head = f"""# Entropy weights under a verifier that errs

`{command}`

{summary["arms"]} arms, seeds {", ".join(map(str, seeds))}; {summary["tasks"]} held-out tasks of {summary["functions"]} functions.
pass@1 and pass@4 are exact. Gains are points over the model after stage 1, with the 95 % interval that resamples functions; `kept`
is the share of the gain that `off` has without errors, `wrong` the share of changed states whose verdict was wrong, `e` the rate of
false passes that the value model fitted, `in effect` the effective sample size of the pairs, `tokens` what updates put through the
model against `off` without errors: groups of equal rewards cost nothing, and a doubted label makes none equal. `best of 4` is
exact, too: what passes of four draws when the value model of the arm keeps one, over the untrained model with one kept by its own
log-prob. `soft 4` is soft with a λ of 4, `hard 0.3` hard with a τ of 0.3.

"""
    said = "".join(f"* {sentence}\n" for sentence in sentences(summary))
    table = (
        "\n| objective | errors | weights | gain | by seed | against off | pass@4 | best of 4 | kept | wrong | e | in effect "
        "| tokens |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    )
    return head + said + table + "".join(_line(c) for c in summary["cells"])


def _line(c: dict[str, Any]) -> str:
    against = "" if c["against_off"] is None else _interval(c["against_off"])
    cells = [
        c["objective"], noise_name(c["noise"]), c["mode"], _interval(c["gain"]),
        " ".join(f"{gain:+.1f}" for gain in c["by_seed"]), against, _interval(c["gain_pass4"]), _interval(c["gain_best4"]),
        "" if c["kept"] is None else f"{c['kept']:.0%}", f"{c['wrong']:.0%}", f"{c['fitted_false_pass']:.2f}",
        "" if c["effective_share"] is None else f"{c['effective_share']:.0%}",
        "" if c["tokens_x"] is None else f"{c['tokens_x']:.1f}x",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def write(config: EntropyConfig, quickstart: Path, out: Path, command: str) -> dict[str, Any]:
    """``entropy.json`` and ``entropy.md`` in ``out``; returns the figures."""
    summary = summarise(config, quickstart, out)
    save_lines(out / "entropy.json", [json.dumps(summary, indent=1)])
    save_lines(out / "entropy.md", [markdown(summary, command).removesuffix("\n")])
    return summary
