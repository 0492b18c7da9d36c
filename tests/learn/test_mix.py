from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learn_samples import TASKS, episodes
from swefuse.config import dump, load
from swefuse.errors import ConfigError, DataError
from swefuse.learn.batch import About, Example, bucketed, times
from swefuse.learn.mix import MixSettings, chosen, difficulties, hardness, hides, known_ranks, load_rates, ranks, weights
from swefuse.learn.sft import SftSettings, batch_order
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Kind, Trajectory


def example(length: int = 3, **about: Any) -> Example:
    return Example((1,) * length, (1,), ((),), "row", About(**about))


def settings(mix: dict[str, Any], **others: Any) -> SftSettings:
    return SftSettings.model_validate({"steps": 60, "batch": 4, "mix": mix, **others})


def test_equal_weights_are_the_order_of_before() -> None:
    lengths = [3 + (7 * number) % 11 for number in range(30)]
    rows = [example(length, source="corpus", kind="bugfix") for length in lengths]
    plain = batch_order(rows, settings({}))
    assert plain == batch_order(rows, settings({"sources": {"corpus": 0.25}}))
    short = sorted(range(30), key=lambda n: (lengths[n], n))[:15]
    early, late = bucketed([lengths[n] for n in short], 4, 0), bucketed(lengths, 4, 1)
    assert plain == [[short[n] for n in next(early)] for _ in range(21)] + [next(late) for _ in range(39)]


def test_what_weighs_twice_is_seen_twice_as_often_and_what_weighs_nothing_never() -> None:
    rows = [example(source="a", kind="qa")] * 10 + [example(source="b", kind="qa")] * 10 + [example(source="c", kind="qa")] * 5
    order = batch_order(rows, settings({"sources": {"a": 2.0, "c": 0.0}, "curriculum": "none"}, steps=300))
    seen = Counter(rows[number].about.source for batch in order for number in batch)
    assert seen["c"] == 0 and seen["a"] / seen["b"] == pytest.approx(2.0, rel=0.05)
    assert order == batch_order(rows, settings({"sources": {"a": 2.0, "c": 0.0}, "curriculum": "none"}, steps=300))
    assert order != batch_order(rows, settings({"sources": {"a": 2.0, "c": 0.0}, "curriculum": "none"}, steps=300, seed=1))


def test_sources_and_kinds_multiply_and_are_scaled_to_one_on_average() -> None:
    rows = [example(source=s, kind=k) for s, k in (("a", "qa"), ("a", "bugfix"), ("b", "qa"), ("b", "bugfix"))]
    mix = MixSettings(sources={"a": 3.0}, kinds={"qa": 0.5})
    assert weights(rows, mix) == pytest.approx([1.5 * 4 / 6, 3 * 4 / 6, 0.5 * 4 / 6, 4 / 6])
    assert weights(rows, MixSettings()) is None and weights(rows, MixSettings(sources={"a": 2, "b": 2})) is None


@given(st.lists(st.floats(0, 3), min_size=1, max_size=8), st.integers(0, 99), st.integers(1, 30))
def test_no_item_is_ever_further_off_its_share_than_one(often: list[float], seed: int, epochs: int) -> None:
    total = [sum(column) for column in zip(*(times(often, seed, epoch) for epoch in range(epochs)), strict=True)]
    assert all(abs(count - weight * epochs) < 1 + 1e-6 for count, weight in zip(total, often, strict=True))


def test_a_weight_that_names_nothing_is_refused_with_the_nearest_name() -> None:
    made = episodes(ScriptedPolicy("reference"))
    items = list(zip(TASKS, made, strict=True))
    with pytest.raises(ConfigError, match=r"mix.sources: no trajectory has source 'tset'; did you mean 'test'\?"):
        chosen(items, MixSettings(sources={"tset": 2.0}), 0)
    with pytest.raises(ConfigError, match=r"mix.kinds: no trajectory has kind 'bugfx'; did you mean 'bugfix'\?"):
        batch_order([example(source="a", kind="bugfix")] * 4, settings({"kinds": {"bugfx": 2.0}}))
    for refused in (lambda: chosen(items, MixSettings(kinds={"bugfix": 0.0}), 0),
                    lambda: weights([example(kind="bugfix")], MixSettings(kinds={"bugfix": 0.0}))):  # fmt: skip
        with pytest.raises(ConfigError, match="every trajectory the weight 0"):
            refused()


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_what_cannot_be_a_weight_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        MixSettings(sources={"a": weight})


def test_ranks_by_hand() -> None:
    assert ranks([5.0, 1.0, 5.0, 9.0, 2.0]) == [0.625, 0.0, 0.625, 1.0, 0.25]
    assert ranks([4.0]) == [0.5] and ranks([]) == []
    assert known_ranks([None, 3.0, None, 8.0]) == [0.5, 0.0, 0.5, 1.0] and known_ranks([None, None]) is None


def test_difficulty_by_hand() -> None:
    rows = [
        example(task="x", steps=4, edits=10, strength=0.5),
        example(task="y", steps=6, edits=30, strength=None),
        example(task="z", steps=8, edits=20, strength=1.0),
    ]
    records = [(0 + 0 + 0) / 3, (0.5 + 1 + 0.5) / 3, (1 + 0.5 + 1) / 3]
    assert difficulties(rows, {}) == pytest.approx(records)
    with_rates = difficulties(rows, {"x": 0.0, "z": 0.75})
    assert with_rates == pytest.approx([(records[0] + 1) / 2, records[1], (records[2] + 0) / 2])
    with pytest.raises(DataError, match="holds no task of these trajectories"):
        difficulties(rows, {"other": 0.5})


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99), st.floats(0, 1)), min_size=1, max_size=8))
def test_difficulty_is_a_share_and_what_is_harder_in_every_part_is_harder(rows: list[tuple[int, int, float]]) -> None:
    found = difficulties([example(steps=s, edits=e, strength=t) for s, e, t in rows], {})
    assert all(0 <= value <= 1 for value in found)
    for one, value in zip(rows, found, strict=True):
        for other, less in zip(rows, found, strict=True):
            if all(x >= y for x, y in zip(one, other, strict=True)):
                assert value >= less - 1e-12


def test_the_first_steps_see_what_is_easy() -> None:
    rows = [example(30 - number, steps=number) for number in range(20)]
    order = batch_order(rows, settings({"curriculum": "difficulty"}, short_first=0.5))
    assert all(number < 10 for batch in order[:30] for number in batch), "few steps, though these rows are the longer ones"
    assert {number for batch in order[30:] for number in batch} == set(range(20))
    free = batch_order(rows, settings({"curriculum": "none"}))
    assert {number for batch in free[:21] for number in batch} == set(range(20))
    assert hardness(rows, MixSettings()) == [30 - number for number in range(20)]


def test_pass_rates_are_read_as_given_and_as_an_evaluation_wrote_them(tmp_path: Path) -> None:
    file = tmp_path / "rates.jsonl"
    rows = [
        {"task_id": "x", "pass_rate": 0.25},
        {"task_id": "y", "passed": 3, "n": 4, "greedy": True},
        {"task_id": "z", "passed": 0, "n": 0},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert load_rates(file) == {"x": 0.25, "y": 0.75}
    for text in ('{"task_id": "x"}', '{"pass_rate": 1.0}', '{"task_id": "x", "pass_rate": 1.5}', "[]", "x"):
        file.write_text(text + "\n")
        with pytest.raises(DataError, match="holds no pass rates"):
            load_rates(file)
    with pytest.raises(DataError, match="holds no pass rates"):
        load_rates(tmp_path / "none")


def test_a_share_of_the_rows_shows_no_instruction() -> None:
    task, made = TASKS[0], episodes(ScriptedPolicy("reference"))[0]
    items = [(task, made.model_copy(update={"id": f"t{n}"})) for n in range(400)]
    half = MixSettings(hide_instruction=0.5)
    drawn = [found.hide_instruction for found, _ in chosen(items, half, 0)]
    assert 160 < sum(drawn) < 240 and drawn == [hides(f"t{n}", half, 0) for n in range(400)]
    again = dict(zip([one.id for _, one in reversed(items)], chosen(items[::-1], half, 0), strict=True))
    assert [again[f"t{n}"][0].hide_instruction for n in range(400)] == drawn, "whatever the order"
    assert [found.hide_instruction for found, _ in chosen(items, half, 1)] != drawn
    assert all(found.hide_instruction for found, _ in chosen(items, MixSettings(hide_instruction=1.0), 0))
    assert not any(found.hide_instruction for found, _ in chosen(items, MixSettings(), 0))


def test_nothing_is_hidden_where_no_test_could_tell() -> None:
    task, made = TASKS[0].revised(kind=Kind.QA), episodes(ScriptedPolicy("reference"))[0]
    items: list[tuple[Any, Trajectory]] = [(task, made)]
    with pytest.raises(ConfigError, match="hide_instruction has no effect"):
        chosen(items, MixSettings(hide_instruction=0.5), 0)
    both = chosen([*items, (TASKS[0], made)], MixSettings(hide_instruction=1.0), 0)
    assert [found.hide_instruction for found, _ in both] == [False, True]


def test_settings_without_effect_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'short_first' has no effect, it counts only when mix\.curriculum is"):
        load(SftSettings, None, ["short_first=0.5", "mix.curriculum=none"])
    with pytest.raises(ConfigError, match=r"'mix\.pass_rates' has no effect"):
        load(SftSettings, None, ["mix.pass_rates=rates.jsonl"])
    made = load(SftSettings, None, ["mix.curriculum=none", "mix.sources={corpus = 2}", "mix.kinds={qa = 0.5}"])
    assert made.mix.sources == {"corpus": 2.0} and made.mix.kinds == {"qa": 0.5} and "short_first" not in dump(made)
