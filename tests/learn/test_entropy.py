from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.learn.entropy import (
    MODES,
    EntropyAlarm,
    Known,
    Mode,
    Weigher,
    effective_size,
    kept_below,
    moved,
    normalised_entropy,
    posterior_pass,
    verdict_probabilities,
)

chance = st.floats(0, 1)
Q = (0.8, 0.5)
P = (0.4, 0.1, 0.5)
H = -(0.4 * log(0.4) + 0.1 * log(0.1) + 0.5 * log(0.5)) / log(3)


def raw(weigher: Weigher, q: tuple[float, float] = Q, recorded: tuple[bool, bool] = (True, False), label: str = "A") -> float:
    return weigher.raw(Known(verdict_probabilities(*q), q, recorded, label, 0.75, "tie"))


@given(chance, chance)
def test_a_verdict_is_a_distribution_and_swaps_with_its_candidates(a: float, b: float) -> None:
    p = verdict_probabilities(a, b)
    assert min(p) >= 0 and sum(p) == pytest.approx(1)
    assert verdict_probabilities(b, a) == (p[1], p[0], p[2])
    assert 0 <= normalised_entropy(p) <= 1


@given(st.tuples(chance, chance, chance).filter(lambda p: sum(p) > 1e-3))
def test_the_entropy_lies_between_nought_and_one(p: tuple[float, float, float]) -> None:
    assert 0 <= normalised_entropy([x / sum(p) for x in p]) <= 1


def test_entropy_by_hand() -> None:
    assert verdict_probabilities(*Q) == pytest.approx(P)
    assert normalised_entropy(P) == pytest.approx(H)
    assert normalised_entropy((0, 0, 1)) == 0
    assert normalised_entropy((1 / 3, 1 / 3, 1 / 3)) == pytest.approx(1)
    assert all(normalised_entropy((x, x, x)) <= 1 for x in (1 / 3, 0.3333333333333333, 0.33333333333333337))


def test_posterior_of_a_pass_by_hand() -> None:
    assert posterior_pass(0.5, True, 0.2, 0.0) == pytest.approx(0.5 / 0.6)
    assert posterior_pass(0.5, True, 0.2, 0.1) == pytest.approx(0.45 / 0.55)
    assert posterior_pass(0.5, False, 0.2, 0.1) == pytest.approx(0.05 / 0.45)
    assert posterior_pass(0.5, False, 0.2, 0.0) == 0
    assert posterior_pass(0.0, True, 0.0, 0.0) == 0, "what cannot happen divides nothing by nothing"


def test_every_mode_by_hand() -> None:
    assert raw(Weigher("off")) == 1
    assert raw(Weigher("soft", lam=2.0)) == pytest.approx(exp(-2 * H))
    assert raw(Weigher("random", lam=2.0)) == pytest.approx(exp(-2 * H))
    assert [raw(Weigher("hard", tau=tau)) for tau in (0.8, 0.9)] == [0, 1]
    assert [raw(Weigher("recorded"), label=label) for label in ("A", "B", "tie")] == pytest.approx(P)
    assert raw(Weigher("agreement")) == 0.75
    assert [raw(Weigher("oracle"), label=label) for label in ("A", "B", "tie")] == [0, 0, 1]
    with pytest.raises(ValueError, match="for experiments"):
        Weigher("oracle").raw(Known(P, Q, (True, False), "A"))
    assert raw(Weigher("prior")) == 1
    doubted = Known(P, Q, (True, False), "A")
    assert Weigher("prior").expected(doubted) == P and Weigher("soft").expected(doubted) is None
    assert Weigher("posterior", false_pass=0.2).expected(doubted) == Weigher(false_pass=0.2).posterior(Q, (True, False))
    posterior = (9 / 11 * 8 / 9, 1 / 9 * 2 / 11, 1 - 8 / 11 - 2 / 99)  # of passes 9/11 and 1/9
    weigher = Weigher("posterior", lam=2.0, false_pass=0.2, false_fail=0.1)
    assert weigher.posterior((0.5, 0.5), (True, False)) == pytest.approx(posterior)
    assert raw(weigher, (0.5, 0.5)) == pytest.approx(exp(-2 * normalised_entropy(posterior)))


def test_hard_keeps_strictly_below_tau() -> None:
    even = verdict_probabilities(0.5, 0.5)
    assert raw(Weigher("hard", tau=normalised_entropy(even)), (0.5, 0.5)) == 0


def test_the_hazard_of_weights_that_do_not_look_at_the_label() -> None:
    """A false pass makes a fake win of two failing candidates. A head that knows them is sure of a tie, and that counts as sure."""
    fake, true = (0.01, 0.01), (0.9, 0.01)
    weighers = {mode: Weigher(mode, false_pass=0.2) for mode in MODES}

    def moves(mode: Mode, q: tuple[float, float]) -> float:
        """How far the pair moves its candidates apart: its weight, times what is left of the win where the label is doubted."""
        after = weighers[mode].posterior(q, (True, False))
        return raw(weighers[mode], q) * (after[0] - after[1] if mode == "posterior" else 1.0)

    assert moves("soft", fake) / moves("soft", true) > 1.3, "the fake win counts more than a true one"
    assert moves("posterior", fake) / moves("posterior", true) < 0.1 and moves("recorded", fake) / moves("recorded", true) < 0.1
    for sure in (1e-3, 1e-6):
        assert raw(weighers["soft"], (sure, sure)) > 0.9
        assert raw(weighers["hard"], (sure, sure)) == 1
        assert moves("posterior", (sure, sure)) < 0.01
        assert raw(weighers["recorded"], (sure, sure)) < 0.01


ROWS = [Known(verdict_probabilities(q, 0.3), (q, 0.3), (True, False), "A", q, "A") for q in (0.1, 0.5, 0.7, 0.95)]


@pytest.mark.parametrize("mode", MODES)
def test_weights_have_mean_one_unless_told_otherwise(mode: Mode) -> None:
    weigher = Weigher(mode, tau=0.9, false_pass=0.2)
    assert sum(weigher.weights(ROWS)) == pytest.approx(len(ROWS))
    plain = Weigher(mode, tau=0.9, false_pass=0.2, normalise=False).weights(ROWS)
    assert sorted(plain) == pytest.approx(sorted(weigher.raw(row) for row in ROWS))
    mean = sum(plain) / len(plain)
    assert weigher.weights(ROWS) == pytest.approx([weight / mean for weight in plain])


def test_random_is_soft_in_another_order() -> None:
    soft, shuffled = Weigher("soft").weights(ROWS), Weigher("random").weights(ROWS, seed=1)
    assert sorted(shuffled) == sorted(soft) and shuffled != soft
    assert shuffled == Weigher("random").weights(ROWS, seed=1)


def test_nothing_kept_and_nothing_given() -> None:
    assert Weigher("hard", tau=0.0).weights(ROWS) == [0.0] * 4
    assert Weigher().weights([]) == []


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"mode": "sharp"}, {"lam": -1.0}, {"tau": -0.5}):
        with pytest.raises(ValueError):
            Weigher(**wrong)  # type: ignore[arg-type]


def test_effective_size() -> None:
    assert effective_size([1, 1, 1, 1]) == 4
    assert effective_size([1, 3]) == pytest.approx(16 / 10)
    assert effective_size([2, 0]) == 1
    assert effective_size([]) == 0


def test_the_alarm_rings_above_three_deviations_once_it_knows_them() -> None:
    alarm = EntropyAlarm(k=3.0, patience=5)
    assert not any(alarm.update(h) for h in (0.4, 0.6, 0.4, 0.6, 0.5)), "no alarm while it learns"
    # mean 0.5, deviation sqrt(0.04 / 4) = 0.1: it rings above 0.8
    assert alarm.update(0.81) and alarm.update(0.81), "an outlier does not become the new normal"
    assert not alarm.update(0.79) and not alarm.update(0.0)


def test_a_calm_past_does_not_ring_at_every_breath() -> None:
    alarm = EntropyAlarm(k=3.0, patience=5)
    assert not any(alarm.update(0.5) for _ in range(5))
    assert not alarm.update(0.529) and alarm.update(0.6), "the deviation counts as 0.01 at least"


def test_a_setting_moves_to_its_end() -> None:
    assert [moved(1.0, 3.0, share, "fixed") for share in (0, 0.5, 1)] == [1.0, 1.0, 1.0]
    assert [moved(1.0, 3.0, share, "linear") for share in (0, 0.25, 1)] == [1.0, 1.5, 3.0]
    assert [moved(1.0, 3.0, share, "cosine") for share in (0, 0.25, 0.5, 1)] == pytest.approx([1.0, 2 - 2**-0.5, 2.0, 3.0])


@given(st.lists(chance, min_size=1, max_size=20), chance)
def test_a_share_of_the_pairs_is_kept(entropies: list[float], share: float) -> None:
    kept = sum(h < kept_below(entropies, share) for h in entropies)
    assert kept >= max(1, round(share * len(entropies))) and (
        len(set(entropies)) < len(entropies) or kept <= share * len(entropies) + 1
    )


def test_a_share_of_nothing() -> None:
    assert kept_below([], 0.5) == 1.0 and kept_below([1.0, 1.0], 1.0) > 1.0
    assert kept_below([0.1, 0.2, 0.3, 0.4], 0.5) == pytest.approx(0.2)
