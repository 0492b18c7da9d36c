"""Near-duplicates against similarities counted exactly."""

from __future__ import annotations

import random

from swefuse.code.duplicates import NearIndex, shingles, similarity, structure


def _text(seed: int, length: int = 60) -> list[str]:
    return [f"w{random.Random(f'{seed}|{at}').randrange(1000)}" for at in range(length)]


def test_runs_of_five_tokens_are_compared() -> None:
    assert shingles("a = b + 1") == ["a = b + 1"]
    assert shingles("a = b + 1;") == ["= b + 1 ;", "a = b + 1"]
    assert shingles("x y") == ["x y"]
    assert similarity("a b c d e f", "a b c d e g") == 1 / 3
    assert similarity("a", "a") == 1


def test_a_copy_is_found_and_another_text_is_not() -> None:
    index = NearIndex()
    texts = [" ".join(_text(seed)) for seed in range(50)]
    assert [index.add(text) for text in texts] == [None] * 50
    assert [index.add(text) for text in texts] == list(range(50))
    assert index.nearest(" ".join(_text(99))) is None


def test_what_is_left_out_is_similar_and_what_is_kept_is_not() -> None:
    index, kept = NearIndex(), list[str]()
    for seed in range(30):
        words = _text(seed)
        for changes in (0, 1, 2, 6, 20):
            rng = random.Random(f"{seed}|{changes}")
            new = [word if at not in rng.sample(range(60), changes) else f"n{at}" for at, word in enumerate(words)]
            found = index.add(" ".join(new))
            if found is None:
                kept.append(" ".join(new))
            else:
                assert similarity(" ".join(new), kept[found]) > 0.5
    pairs = [similarity(one, other) for at, one in enumerate(kept) for other in kept[:at]]
    assert max(pairs) < 0.9 and 30 < len(kept) < 150


def test_names_and_values_are_no_structure() -> None:
    one = "import a\n\n\ndef f(x, *, y=1):\n    global z\n    return x.p + f'{y}' + 'b'\n"
    same = "import c\n\n\ndef g(u, *, v=7):\n    global w\n    return u.q + f'{v}' + 'd'\n"
    assert structure(one) == structure(same)
    for other in (one.replace("=1", "='1'"), one.replace("+ 'b'", "- 'b'"), one.replace("x, *, y", "x, y"), one + "pass\n"):
        assert structure(other) != structure(one)
    assert structure("def f(:") == "def f(:"
