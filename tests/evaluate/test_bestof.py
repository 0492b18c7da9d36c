"""Best of N by every judge, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.errors import DataError
from swefuse.evaluate.bestof import JUDGES, Sample, best_of, headroom


def samples(
    *outcomes: bool | None, finals: str = "", logprobs: tuple[float, ...] = (), values: tuple[float, ...] = ()
) -> list[Sample]:
    return [
        Sample(one, finals[n] if finals else str(n), logprobs[n] if logprobs else 0.0, values[n] if values else None, 1)
        for n, one in enumerate(outcomes)
    ]


def test_each_judge_keeps_its_own() -> None:
    group = samples(False, True, True, False, finals="abba", logprobs=(-3, -2, -1, -9), values=(0.1, 0.2, 0.3, 0.9))
    assert best_of(group, 4, "majority") == 0, "two states came twice, and the first of them is kept"
    assert best_of(group, 4, "logprob") == 1 and best_of(group, 4, "value") == 0
    assert best_of(group, 4, "oracle") == 1 and best_of(group, 4, "random") == 0.5
    assert best_of(group, 2, "value") == 0.5 and best_of(group, 2, "oracle") == 1 and best_of(group, 1, "oracle") == 0.5
    assert best_of(samples(False, True, True, finals="abb"), 3, "majority") == 1


def test_only_full_groups_of_graded_samples_count() -> None:
    group = samples(None, False, True, None, True, True, values=(9, 1, 2, 9, 0, 0))
    assert best_of(group, 4, "value") == 1 and best_of(group, 2, "value") == 1
    assert best_of(group, 3, "random") == pytest.approx(2 / 3) and best_of(group, 5, "random") is None
    assert best_of(samples(True, True), 2, "value") is None, "there are no scores"
    for n in (0, 17):
        with pytest.raises(DataError, match="from 1 to 16"):
            best_of(group, n, "value")


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.integers(-5, 0), st.integers(0, 9)), min_size=4, max_size=16))
def test_no_judge_is_better_than_the_oracle_or_unlike_another_for_equals(rows: list[tuple[bool, str, int, int]]) -> None:
    group = [Sample(passed, final, float(logprob), float(value), 1) for passed, final, logprob, value in rows]
    found = {judge: best_of(group, 4, judge) for judge in ("random", *JUDGES)}
    top = found["oracle"]
    assert top is not None and all(value is not None and 0 <= value <= top for value in found.values())
    same = [Sample(rows[0][0], "a", 0.0, 0.0, 1)] * 4
    assert len({best_of(same, 4, judge) for judge in ("random", *JUDGES)}) == 1


def test_headroom_by_hand() -> None:
    assert headroom(0.2, 0.4, 0.6) == pytest.approx(0.5) and headroom(0.2, 0.1, 0.4) == pytest.approx(-0.5)
    assert headroom(0.5, 0.5, 0.5) is None and headroom(None, 0.5, 0.6) is None
