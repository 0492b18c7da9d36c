"""One run on several processes, as ``torchrun`` starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from learn_samples import library, tokenizer
from safetensors.torch import load_file

from swefuse.errors import ConfigError
from swefuse.learn import manifest, ranks
from swefuse.learn.checkpoint import fingerprint
from swefuse.learn.model import load, make_nano, save

PROGRAM = str(Path(sys.executable).with_name("swefuse"))


def trained(place: Path, processes: int, *settings: str) -> tuple[list[dict[str, Any]], dict[str, torch.Tensor]]:
    """The lines of metrics.jsonl and the weights of a run on so many processes; 1 starts without torchrun."""
    out = place / f"out-{processes}-{len(list(place.iterdir()))}"
    given = ["train", "sft", "--model", str(place / "base"), "--library", str(place / "l.db"), "--out", str(out)]
    given += [word for setting in ("steps=6", "batch=4", "warmup=1", "lr=1e-3", *settings) for word in ("--set", setting)]
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "--no-python"]
    command = [*(start if processes > 1 else []), PROGRAM, *given]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split() == [str(out)], "the first process alone speaks"
    told = manifest.read(out)
    assert (told["stage"], told["library"]["trajectories"], told["settings"]["steps"]) == ("sft", 8, 6)
    assert told["base"] != told["policy"] == fingerprint(load(out / "model", "cpu")[0])
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return rows, load_file(out / "model" / "model.safetensors")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model in float32 and a library of eight trajectories."""
    made = tmp_path_factory.mktemp("processes")
    save(make_nano(tokenizer(), 64, 1), tokenizer(), made / "base")
    library(made / "l.db", *[True] * 8)
    return made


def curve(rows: list[dict[str, Any]]) -> list[tuple[float, ...]]:
    return [(row["step"], row["loss"], row["choice_loss"], row["grad_norm"]) for row in rows if "loss" in row]


def same(one: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    curves = [curve(one[0]), curve(other[0])]
    assert len(curves[0]) == len(curves[1]) == 6
    for here, there in zip(*curves, strict=True):
        assert here == pytest.approx(there, rel=1e-5)
    assert one[1].keys() == other[1].keys()
    # Muon orthogonalises in bfloat16, where a last digit of a gradient may round the other way
    assert max(float((one[1][name] - other[1][name]).abs().max()) for name in one[1]) < 1e-3


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_several_processes_train_as_one_does(place: Path) -> None:
    alone = trained(place, 1)
    for processes in (2, 4):
        same(alone, trained(place, processes))


def test_processes_share_a_batch_evenly() -> None:
    assert ranks.share(24, 0) == (24, 1) and ranks.share(24, 6) == (6, 4)
    with pytest.raises(ConfigError, match=r"micro_batch 5 does not divide batch 24$"):
        ranks.share(24, 5)


def test_several_processes_share_a_batch_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert ranks.share(24, 0) == (6, 1) and ranks.share(24, 2) == (2, 3)
    with pytest.raises(ConfigError, match="batch 26 does not divide among 4 processes"):
        ranks.share(26, 0)
    with pytest.raises(ConfigError, match="micro_batch 4 does not divide batch 24, which is 6 for each of 4 processes"):
        ranks.share(24, 4)
    monkeypatch.setenv("RANK", "1")
    assert not ranks.first()
