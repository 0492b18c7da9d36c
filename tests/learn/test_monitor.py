"""What is watched in stage 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swefuse.errors import DataError
from swefuse.learn.monitor import Watch, diagnose, event, lines, page
from swefuse.learn.settings import WatchSettings
from swefuse.learn.symptoms import SYMPTOMS

WELL: dict[str, Any] = {
    "policy_entropy": 2.0, "length": 20.0, "kl": 0.1, "winner_gain": 0.2, "broken": 0.0, "useful_groups": 0.4, "head_loss": 0.5,
    "repeated": 0.3, "test_gap": 0.01,
}  # fmt: skip


def raised(*rows: dict[str, Any], **settings: Any) -> list[list[str]]:
    watch = Watch.begin(WatchSettings(**settings))
    return [[one["event"] for one in watch.events({**WELL, **row, "round": n})] for n, row in enumerate(rows, 1)]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"policy_entropy": 0.19}, "entropy_floor"),
        ({"policy_entropy": 4.1}, "entropy_ceiling"),
        ({"kl": 1.1}, "kl"),
        ({"winner_gain": -0.6}, "winners"),
        ({"length": 31.0}, "length"),
        ({"length": 13.0}, "length"),
        ({"broken": 0.3}, "broken"),
        ({"useful_groups": 0.04}, "nothing_to_learn"),
        ({"head_loss": None}, "one_class"),
        ({"repeated": 0.81}, "repeated"),
        ({"test_gap": 0.11}, "overfits_tests"),
    ],
)
def test_each_threshold_is_told_once_until_it_comes_back(row: dict[str, Any], name: str) -> None:
    assert raised({}, row, row, {}, row) == [[], [name], [], [], [name]]
    assert name in SYMPTOMS


def test_what_stays_within_is_not_told() -> None:
    assert raised({}, {"policy_entropy": 0.21, "length": 29.0, "kl": 0.9, "winner_gain": -0.4, "broken": 0.19}) == [[], []]
    assert raised({"winner_gain": None, "policy_entropy": 0.0, "length": 0}, {"kl": 0.5}, kl=0.4) == [[], ["kl"]]
    assert raised({}, {"useful_groups": 0.0, "fallback_loss": 1.0}) == [[], []], (
        "after an alarm nothing is to be learnt from groups"
    )


def test_a_watch_goes_on_where_it_was() -> None:
    one = Watch.begin(WatchSettings())
    for number in range(1, 8):
        one.rings(0.3 + number / 100)
    one.events({**WELL, "round": 1, "kl": 2.0})
    other = Watch.begin(WatchSettings())
    other.resume(json.loads(json.dumps(one.state())))
    assert other == one
    assert other.events({**WELL, "round": 2, "kl": 2.0}) == [] and other.rings(0.9) and not other.rings(0.35)


def test_events_are_explained(tmp_path: Path) -> None:
    found = [event(3, "kl", 1.5, 1.0), event(4, "broken", 0.3, 0.2), event(9, "kl", 2.5, 1.0)]
    for place in (tmp_path, tmp_path / "run" / "rlvr"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "metrics.jsonl").write_text("")
        (place / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
    told = diagnose(tmp_path)
    assert told == diagnose(tmp_path / "run")
    assert [(one["event"], one["rounds"], one["value"]) for one in told] == [("kl", [3, 9], 2.5), ("broken", [4], 0.3)]
    text = "\n".join(lines(told))
    assert "round 3, 9; last 2.5, limit 1" in text and SYMPTOMS["kl"].remedy in text
    assert lines([]) == ["nothing passed a threshold"]
    with pytest.raises(DataError, match="no run of stage 2"):
        diagnose(tmp_path / "nowhere")


def test_the_page_tells_every_symptom() -> None:
    assert all(f"| `{name}` | {one.what} | {one.cause} | {one.remedy} |" in page() for name, one in SYMPTOMS.items())
