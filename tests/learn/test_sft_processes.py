"""One run on several processes, as ``torchrun`` starts them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load_file

from learn_samples import TASKS, episodes, library, tokenizer
from swefuse.errors import ConfigError
from swefuse.learn import manifest, ranks
from swefuse.learn.checkpoint import fingerprint, load_state
from swefuse.learn.model import load, make_nano, save, train_tokenizer
from swefuse.learn.sft import SftSettings, fine_tune, run
from swefuse.learn.shards import check_ties
from swefuse.learn.tokens import nano_text

PROGRAM = str(Path(sys.executable).with_name("swefuse"))


def trained(
    place: Path, processes: int, *settings: str, base: str = "base", out: Path | None = None
) -> tuple[list[dict[str, Any]], dict[str, torch.Tensor]]:
    """The lines of metrics.jsonl and the weights of a run on so many processes; 1 starts without torchrun."""
    out = out or place / f"out-{processes}-{len(list(place.iterdir()))}"
    given = ["train", "sft", "--model", str(place / base), "--library", str(place / "l.db"), "--out", str(out)]
    given += [word for setting in ("steps=6", "batch=4", "warmup=1", "lr=1e-3", *settings) for word in ("--set", setting)]
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "--no-python"]
    command = [*(start if processes > 1 else []), PROGRAM, *given]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "SWEFUSE_FLOAT32": "1"}
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
    even = train_tokenizer([nano_text(task, steps.steps) for task, steps in zip(TASKS, episodes(), strict=True)], 380)
    save(make_nano(even, 64, 2), even, made / "even")
    library(made / "l.db", *[True] * 8)
    return made


def curve(rows: list[dict[str, Any]]) -> list[tuple[float, ...]]:
    return [(row["step"], row["loss"], row["choice_loss"], row["grad_norm"]) for row in rows if "loss" in row]


def same(one: tuple[Any, Any], other: tuple[Any, Any], near: float = 1e-3) -> None:
    curves = [curve(one[0]), curve(other[0])]
    assert len(curves[0]) == len(curves[1]) == 6
    for here, there in zip(*curves, strict=True):
        assert here == pytest.approx(there, rel=1e-5)
    assert one[1].keys() == other[1].keys()
    # Muon orthogonalises in bfloat16, where a last digit of a gradient may round the other way
    assert max(float((one[1][name] - other[1][name]).abs().max()) for name in one[1]) < near


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_several_processes_train_as_one_does(place: Path) -> None:
    same(trained(place, 1), trained(place, 4))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_processes_that_hold_a_part_of_the_weights_train_as_one_does_and_go_on_after_a_stop(place: Path) -> None:
    alone = trained(place, 1, "optimizer=adamw", base="even")
    out = place / "shared"
    chosen = ("optimizer=adamw", "shard=fsdp", "micro_batch=1", "recompute=true", "save_every=3")
    shared = trained(place, 2, *chosen, base="even", out=out)
    same(alone, shared, 1e-4)
    model, _ = load(out / "model", "cpu")
    assert torch.equal(model.state_dict()["model.norm.weight"], shared[1]["model.norm.weight"])

    (out / "state.pt").unlink()  # as if the run had ended before its last state
    shutil.rmtree(out / "model")
    state = load_state(out / "state.pt")
    assert state is not None and state["done"] == 3
    assert all(state["model"][name].shape == weight.shape for name, weight in shared[1].items())
    log = out / "metrics.jsonl"
    log.write_text("".join(json.dumps({**row, "kept": True}) + "\n" for row in shared[0]))
    again = trained(place, 2, *chosen, base="even", out=out)
    assert [row["step"] for row in again[0] if "loss" in row and "kept" in row] == [1, 2, 3]
    same(shared, again, 1e-7)


def test_what_cannot_be_shared_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ({}, {"optimizer": "adamw", "lora": 4}):
        with pytest.raises(ValidationError, match="shard = fsdp needs optimizer = adamw and lora = 0"):
            SftSettings(shard="fsdp", **other)
    settings = SftSettings(shard="fsdp", optimizer="adamw", steps=1, batch=1)
    with pytest.raises(ConfigError, match="drop one of them"):
        run(settings, place / "base", place / "l.db", place / "no", check=place)
    with pytest.raises(ConfigError, match="there is one; start more with torchrun"):
        run(settings, place / "base", place / "l.db", place / "no")
    model, _ = load(place / "base", "cpu")
    with pytest.raises(ConfigError, match="leave it out here"):
        fine_tune(model, tokenizer(), [], settings, place / "no", lambda done, total: None)
    check_ties(model)
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert model.config.vocab_size % 2
    with pytest.raises(ConfigError, match=r"cannot cut model.embed_tokens.weight, tied to lm_head.weight: its \d+ rows"):
        check_ties(model)
    check_ties(load(place / "even", "cpu")[0])


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
