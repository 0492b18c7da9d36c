from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.learn.phases import Phases, length, shared, spent

spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)).map(lambda pair: (float(pair[0]), float(sum(pair)))))


@given(spans, spans)
def test_seconds_in_both_are_those_that_a_count_of_ticks_finds(
    one: list[tuple[float, float]], other: list[tuple[float, float]]
) -> None:
    ticks = [{n for start, end in some for n in range(int(start), int(end))} for some in (one, other)]
    assert length(one) == len(ticks[0]) and shared(one, other) == len(ticks[0] & ticks[1])


def test_a_round_tells_its_seconds_by_phase() -> None:
    now = [0.0]
    phases = Phases(lambda: now[0])

    def wait(seconds: float) -> None:
        now[0] += seconds

    with phases("sample"):
        wait(3.0)
        with phases("verify"):  # as another thread would
            wait(1.0)
    with phases("verify"):
        wait(1.0)
    with pytest.raises(KeyError), phases("update"):
        wait(2.0)
        raise KeyError
    found = phases.seconds()
    assert found == {
        "sample": 4.0, "verify": 2.0, "describe": 0.0, "value": 0.0, "update": 2.0, "both": 1.0, "total": 7.0, "overlap": 0.5
    }  # fmt: skip
    assert Phases(lambda: 1.0).seconds()["overlap"] == 0


def test_what_a_run_took_is_told_in_a_line(tmp_path: Path) -> None:
    row = {"sample": 1.0, "verify": 2.0, "describe": 0.5, "value": 0.1, "update": 0.4, "both": 0.9, "total": 4.0, "overlap": 0.9}
    log = tmp_path / "metrics.jsonl"
    log.write_text("".join(json.dumps({"round": n, "seconds": row}) + "\n" for n in (1, 2)) + '{"round": 3}\n')
    told = (
        "2 rounds took 8.0 s: sample 2.0 s, verify 4.0 s, describe 1.0 s, value 0.2 s, update 0.8 s; "
        "sample and verify at once 1.8 s"
    )
    assert spent(log) == told
    log.write_text('{"round": 1}\n')
    assert spent(log) == ""
