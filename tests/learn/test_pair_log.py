"""The pairs that a run keeps to be looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learn_samples import TASKS, first_round, model, right, tokenizer
from swefuse.learn import pair_log
from swefuse.learn.entropy import normalised_entropy, verdict_probabilities
from swefuse.learn.rlvr import train
from swefuse.learn.settings import RlvrSettings, WatchSettings, WeightSettings
from swefuse.learn.tokens import codec_for
from swefuse.learn.update import Models
from swefuse.records import Pair

SETTINGS = RlvrSettings(
    rounds=2, tasks=4, samples=4, micro_batch=16, lr=1e-3, watch=WatchSettings(max_infra=0.5),
    weight=WeightSettings(mode="soft", warmup=1),
)  # fmt: skip


def models() -> Models:
    return Models(model(), model(), codec_for(tokenizer()))


def test_a_run_keeps_pairs_with_all_that_their_weight_was_made_from(tmp_path: Path) -> None:
    train(models(), TASKS, right, SETTINGS, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / pair_log.FILE).read_text().splitlines()]
    assert {row["round"] for row in rows} == {1, 2} and len(rows) == 2 * 4 * 6
    for row in rows:
        assert tuple(row["p"]) == pytest.approx(verdict_probabilities(*row["q"]))
        assert row["h"] == pytest.approx(normalised_entropy(row["p"]))
        assert {row[side]["outcome"] for side in "ab"} <= {"PASSED", "FAILED"}
        passed = [row[side]["outcome"] == "PASSED" for side in "ab"]
        assert row["label"] == {(True, False): "A", (False, True): "B"}.get((passed[0], passed[1]), "tie")
        assert row["a"]["diff"].startswith("--- a/m.py\n+++ b/m.py\n@@")
    assert {row["mode"] for row in rows if row["round"] == 1} == {"off"}, "nothing is weighed in the warm-up"
    assert {row["weight"] for row in rows if row["round"] == 1} == {1.0}


def test_what_is_kept_is_bounded_and_begins_with_what_is_doubted() -> None:
    pairs = [Pair(task_id="t", a=0, b=n, label="A", p=(0.9 - n / 100, n / 100, 0.1)) for n in range(1, 80)]
    few = SETTINGS.model_copy(update={"rounds": 400})
    kept = pair_log.chosen(pairs, 3, few)
    assert len(kept) == pair_log.MOST // 400 == 10
    assert [pair.b for pair in kept[:5]] == [79, 78, 77, 76, 75], "the surest of what the verifier contradicted"
    assert kept == pair_log.chosen(pairs, 3, few) != pair_log.chosen(pairs, 4, few)
    assert len({(pair.a, pair.b) for pair in kept}) == 10
    assert len(pair_log.chosen(pairs, 0, SETTINGS)) == pair_log.OF_ROUND
    assert len(pair_log.chosen(pairs[:3], 0, SETTINGS)) == 3


def test_long_texts_are_cut() -> None:
    seen = first_round(models(), right, SETTINGS)
    flat = [t.model_copy(update={"files": {"m.py": "x = 1\n" * 5000}}) for t in seen.data.flat]
    data = type(seen.data)(seen.data.tasks, tuple(tuple(flat[at : at + 4]) for at in range(0, len(flat), 4)), seen.data.groups)
    for row in pair_log.rows(seen._replace(data=data), 0, SETTINGS):
        assert len(row["a"]["diff"]) == pair_log.LENGTH + 1 and row["a"]["diff"].endswith("…")
