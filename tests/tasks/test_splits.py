"""Holding whole functions out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from small_functions import CLIP, make_spec

from swefuse.tasks.families import composed_functions, corpus_functions
from swefuse.tasks.splits import TRAIN, Evaluation, split_functions

SIZES = {"corpus": 12, "composed": 10, "real": 0}


def test_sizes_spread_and_determinism() -> None:
    specs = [*corpus_functions()[:162], *composed_functions(60)]
    kept, refused = split_functions(specs, SIZES, seed=0)
    assert Counter(spec.split for spec in kept)["unseen"] == 12
    assert Counter(spec.split for spec in kept)["recombined"] == 10
    topics = Counter(spec.topic for spec in kept if spec.split == "unseen")
    assert set(topics.values()) == {2}
    assert len(kept) + sum(refused.values()) == len(specs)
    assert (kept, refused) == split_functions(specs, SIZES, seed=0)
    assert [spec.split for spec in kept] != [spec.split for spec in split_functions(specs, SIZES, seed=1)[0]]


def test_copies_and_lookalikes_of_held_out_functions_are_refused() -> None:
    held = make_spec(CLIP, "clip", ("([], 0, 0)",))
    renamed = make_spec(CLIP.replace("value", "thing").replace("clip", "trim"), "trim", ("([], 0, 0)",))
    close = make_spec(CLIP.replace("min(", "max("), "clip", ("([], 0, 0)",))
    other = replace(corpus_functions()[0], topic="other")
    assert renamed.body_hash == held.body_hash
    kept, refused = split_functions([held, renamed, replace(close, family="real"), other], {"corpus": 2}, 0)
    assert [spec.split for spec in kept] == ["unseen", "unseen"]
    assert refused == {"same body as another function": 1, "too similar to a held-out function": 1}
    assert {spec.split for spec in split_functions([close, other], {"corpus": 0}, 0)[0]} == {TRAIN}


def test_what_is_like_an_evaluation_function_is_named() -> None:
    text = "def f(rows):\n    best = 0\n    for row in rows:\n        if row > best:\n            best = row\n    return best\n"
    spec = make_spec(text, "f")
    known = Evaluation([spec])
    assert known.like(make_spec(text.replace("row", "x").replace("def f", "def g"), "g")) == (spec.key, 1.0)
    near = known.like(make_spec(text.replace("best = 0", "best = 1"), "f"))
    assert near is not None
    assert near[0] == spec.key
    assert 0.7 < near[1] < 1
    assert known.like(make_spec("def f(a):\n    return [b for b in a if b][::-1] + [len(a), sum(a)]\n", "f")) is None
