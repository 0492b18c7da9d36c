"""The files of a report: frozen keys, strict reading, one sentence that follows from the intervals."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import report_sample

from swefuse.errors import DataError
from swefuse.evaluate.report import load, save
from swefuse.evaluate.report_model import COMPARISONS, MODELS, SPLITS, Difference, ReportData, headline

PLAIN = json.loads(report_sample.report().model_dump_json())


def _write(run: Path, report: dict[str, Any], data: str = "") -> Path:
    (run / "report.json").write_text(json.dumps(report), "utf-8")
    if data:
        (run / "report_data.json").write_text(data, "utf-8")
    return run


def test_the_keys_of_report_json_are_frozen() -> None:
    scores = {"greedy", "sampled", "pass4", "bestof4", "n"}
    assert set(PLAIN) == {"seed", "seconds", "peak_rss_mb", "counts", "versions", "results", "differences", "value"}
    assert set(PLAIN["results"]) == set(PLAIN["differences"]) == {"recombined", "unseen", "real"}
    assert all(set(models) == {"random", "rule", "base", "sft", "control", "rlvr"} for models in PLAIN["results"].values())
    assert all(set(one) == scores for models in PLAIN["results"].values() for one in models.values())
    assert all(set(pairs) == {"rlvr-sft", "rlvr-control"} for pairs in PLAIN["differences"].values())
    assert PLAIN["differences"]["real"]["rlvr-sft"] == {"sampled": [0.034, -0.006, 0.075]}
    assert set(PLAIN["value"]) == {"three_way", "majority", "decisive", "auc", "ece"}
    assert "total" in PLAIN["seconds"]


def test_both_files_survive_the_disk_exactly_even_with_hostile_text(tmp_path: Path) -> None:
    report, data = report_sample.report(), report_sample.data()
    save(tmp_path, report, data)
    again, more = load(tmp_path)
    assert again == report
    assert more.model_dump_json() == data.model_dump_json()  # by text: one value is not a number
    assert not list(tmp_path.glob(".*"))


BROKEN = {
    "results.real.rlvr.sampled": 1.01,
    "results.real.rlvr.n": 3.5,
    "results.real": {},
    "results.unheard": {},
    "differences.real.rlvr-sft.sampled": [0.1, 0.3, 0.2],
    "value.auc": "0.9",
    "value.platt_auc": 0.9,
    "seconds": {"sft": 1.0},
    "seed": "0",
}


@pytest.mark.parametrize("place", BROKEN)
def test_a_wrong_value_is_refused_with_file_and_field(tmp_path: Path, place: str) -> None:
    changed = copy.deepcopy(PLAIN)
    *path, last = place.split(".")
    inner = changed
    for key in path:
        inner = inner[key]
    inner[last] = BROKEN[place]
    with pytest.raises(DataError, match=rf"report\.json: {place.split('.')[0]}"):
        load(_write(tmp_path, changed))


def test_every_missing_key_is_refused(tmp_path: Path) -> None:
    for key in PLAIN:
        with pytest.raises(DataError, match=key):
            load(_write(tmp_path, {k: v for k, v in PLAIN.items() if k != key}))


def test_no_report_and_no_data_are_different_things(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no report\.json"):
        load(tmp_path)
    assert load(_write(tmp_path, PLAIN))[1] == ReportData()
    with pytest.raises(DataError, match=r"report_data\.json: the whole file"):
        load(_write(tmp_path, PLAIN, "{"))


@pytest.mark.parametrize(
    ("bins", "message"), [(([0.0, 1.0], [1, 2]), "one more"), (([0.0, 0.0, 1.0], [1, 2]), "rise"), (([0.0], []), "one more")]
)
def test_histogram_edges_must_fit_their_counts(tmp_path: Path, bins: tuple[list[float], list[int]], message: str) -> None:
    text = json.dumps({"histograms": [{"title": "h", "by": [{"label": "r", "bins": bins[0], "counts": bins[1]}]}]})
    with pytest.raises(DataError, match=message):
        load(_write(tmp_path, PLAIN, text))


ABOVE, OPEN, BELOW, NONE = (0.1, 0.05, 0.15), (0.1, -0.01, 0.2), (-0.1, -0.2, -0.01), None


@pytest.mark.parametrize(
    ("sft", "control", "expected"),
    [
        (ABOVE, ABOVE, "better than both SFT and the equal-compute control on recombined, unseen and real functions."),
        (ABOVE, OPEN, "not shown to be better than both on recombined"),
        (ABOVE, BELOW, "worse than at least one of them on recombined"),
        (ABOVE, NONE, "did not compare"),
    ],
)
def test_the_headline_claims_only_what_both_intervals_show(sft: Any, control: Any, expected: str) -> None:
    pairs = dict(zip(COMPARISONS, (Difference(sampled=sft), Difference(sampled=control)), strict=True))
    said = headline(report_sample.report().model_copy(update={"differences": {split: pairs for split in SPLITS}}))
    assert expected in said
    assert MODELS[-1].upper() in said
