"""Pairs are weighed as ``learn/entropy.py`` weighs them, and large files are read piece by piece."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_samples import cache, lines, pairs, tasks

from swefuse.learn.entropy import Weigher
from swefuse.tasks.store import save_tasks
from swefuse.web.diversity import plane
from swefuse.web.places import Place
from swefuse.web.scans import Tasks, Verdicts
from swefuse.web.verdicts import MODES, curve, kept, weigh


def held(tmp_path: Path) -> Place:
    lines(tmp_path / "rlvr" / "pairs.jsonl", pairs("t"))
    return Place("r", tmp_path, None)


@pytest.mark.parametrize("mode", MODES)
def test_weights_are_those_of_training(tmp_path: Path, mode: str) -> None:
    found, older = kept(held(tmp_path))
    assert len(found) == 24 and not older
    wanted = Weigher(mode, 3.0, 0.5, 0.02, 0.1).weights([pair.known for pair in found])  # type: ignore[arg-type]
    assert weigh(found, mode, 3.0, 0.5).weights == pytest.approx(wanted)  # type: ignore[arg-type]


def test_what_the_run_had_gives_what_the_run_gave(tmp_path: Path) -> None:
    found, _ = kept(held(tmp_path))
    assert weigh(found, "soft", 2.0, 0.8).weights == pytest.approx([pair.weight for pair in found])


def test_the_curve_is_the_formula() -> None:
    assert dict(curve("soft", 2.0, 0.8, 3)) == {0.0: 1.0, 0.5: math.exp(-1), 1.0: math.exp(-2)}
    assert [w for _, w in curve("hard", 2.0, 0.5, 3)] == [1.0, 0.0, 0.0] and curve("posterior", 1, 1) == []


def test_tasks_are_read_piece_by_piece_to_the_same_list(tmp_path: Path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", tasks() * 40)
    scan, steps = Tasks(tmp_path / "tasks.jsonl"), 0
    while not scan.whole:
        scan.advance(1e-5)
        steps += 1
    assert steps > 3 and [row.id for row in scan.rows] == [task.id for task in tasks() * 40]
    assert Tasks(tmp_path / "tasks.jsonl").find(tasks()[2].id) == tasks()[2]
    assert scan.find("nothing") is None


def test_verdicts_are_counted(tmp_path: Path) -> None:
    cache(tmp_path / "v.sqlite")
    counts = Verdicts(tmp_path / "v.sqlite")
    counts.advance(10.0)
    assert counts.whole and dict(counts.outcomes) == {"PASSED": 3, "FAILED": 4, "TAMPERED": 1} and counts.cpu_s == 3.5
    (tmp_path / "no").write_bytes(b"nothing")
    broken = Verdicts(tmp_path / "no")
    broken.advance()
    assert broken.broken and broken.whole


WORDS = st.lists(st.sampled_from(["+a", "-b", "+return", "-x", "+y"]), max_size=6)


@settings(deadline=None, max_examples=30)
@given(st.lists(WORDS, max_size=8))
def test_a_map_is_the_same_again_and_puts_equal_changes_together(texts: list[list[str]]) -> None:
    places = plane(texts)
    assert places == plane(texts) and len(places) == len(texts)
    assert all(math.isfinite(value) for place in places for value in place)
    for one, place in zip(texts, places, strict=True):
        assert places[texts.index(one)] == pytest.approx(place)
